from mail_template import compose

TEMPLATE = "Thank you, {{first}}, order {{number}} is on its way\nYours"


def test_one_name():
    assert compose("Hello {{ first }}!\n", {"first": "Ada"}).subject == "Hello Ada!"


def test_two_names_in_a_line():
    mail = compose(TEMPLATE, {"first": "Ada", "number": 81})
    assert mail.subject == "Thank you, Ada, order 81 is on its way"
