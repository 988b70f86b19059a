from draft_copy import Desk


def test_a_draft_has_the_sections_of_the_template():
    desk = Desk()
    desk.begin("first")
    assert desk.pages() == 2


def test_a_draft_leaves_the_template_alone():
    desk = Desk()
    desk.begin("first", "risks")
    desk.begin("second")
    assert desk.pages() == 5
