from staff.approvals import approve
from staff.directory import Directory

LINES = ["Grace", "Lin > Grace", "Sam > Lin"]


def test_the_head_approves_for_herself():
    assert approve(Directory(LINES), "grace", "Oslo") == "Grace"


def test_who_approves_a_trip():
    assert approve(Directory(LINES), "lin", "Bern") == "Grace"
