from theme_merge import style


def test_no_settings():
    assert style("{}") == "--link: #00f; --text: #000"


def test_the_users_colour_is_used():
    shown = style('{"colors": {"text": "#222"}, "sidebar": true}')
    assert "--text: #222" in shown
