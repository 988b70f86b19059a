from release_order import Release, needs_update

RELEASES = [Release("1.9.3", "2024-01-10"), Release("1.10.0", "2024-05-02"), Release("1.2.0", "2023-02-01")]


def test_an_old_one_needs_an_update():
    assert needs_update("1.2.0", RELEASES)


def test_ten_comes_after_nine():
    assert needs_update("1.9.3", RELEASES)
