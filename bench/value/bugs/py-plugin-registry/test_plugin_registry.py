from plugin_registry import Pipeline


def upper(text):
    return text.upper()


def strip(text):
    return text.strip()


def test_upper():
    assert Pipeline(upper).run(["a", "b"]) == ["A", "B"]


def test_strip():
    assert Pipeline(strip).run([" abc "]) == ["abc"]
