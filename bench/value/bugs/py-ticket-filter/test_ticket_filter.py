from ticket_filter import open_tickets

LINES = ["12;open;No light", "70412;open;No sound", "70412;closed;No picture"]


def test_tickets_of_a_small_account():
    assert open_tickets(LINES, 12) == ["No light"]


def test_tickets_of_a_large_account():
    assert open_tickets(LINES, int("70412")) == ["No sound"]
