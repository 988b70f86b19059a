from meeting_zones import invitation


def test_the_invitation_of_a_colleague_here():
    assert invitation("Sync", "2024-03-04 09:30", 45, "Lisbon") == "Sync: 09:30-10:15"


def test_the_invitation_of_a_colleague_abroad():
    assert invitation("Sync", "2024-03-04 09:30", 45, "Tokyo") == "Sync: 18:30-19:15"
