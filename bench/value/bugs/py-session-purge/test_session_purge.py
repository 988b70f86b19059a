from session_purge import Site


def test_a_fresh_session_stays():
    site = Site()
    site.sign_in("ada", 5)
    site.tick(10)
    assert site.users() == ["ada"]


def test_all_old_sessions_go():
    site = Site()
    for number, user in enumerate(["ada", "bo", "cy", "di"]):
        site.sign_in(user, 10 if number < 3 else 95)
    site.tick(100)
    assert site.purged == 3
