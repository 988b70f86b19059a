from menu_actions import session


def test_one_entry():
    assert session(["Open"], ["open"]) == ["Open done"]


def test_each_entry_does_its_own_thing():
    lines = session(["open", "save", "print"], ["save", "open"])
    assert len(lines) == 2
    assert "save done" in lines
