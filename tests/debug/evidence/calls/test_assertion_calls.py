"""The functions behind an assertion, from its source."""

from __future__ import annotations

import textwrap

import pytest

from dragoman.debug.evidence.calls.assertion_calls import calls_behind

CASES = {
    "called in the assertion": ("def test():\n    assert total(3) == 4  # <\n", ["total"]),
    "called in a method of unittest": (
        "class T:\n    def test(self):\n        self.assertEqual(shop.total(3), 4)  # <\n",
        ["total"],
    ),
    "the value of a name": (
        """
        def test():
            other = unrelated()
            got = total(3)
            assert got == 4  # <
        """,
        ["total"],
    ),
    "the value of a name by way of others": (
        """
        def test():
            raw = load("x")
            parsed = parse(raw)
            assert parsed["a"] == 4  # <
        """,
        ["parse", "load"],
    ),
    "the nearest assignment counts": (
        """
        def test():
            got = first()
            got = second()
            assert got == 4  # <
        """,
        ["second"],
    ),
    "methods that changed the object": (
        """
        def test():
            cart = Cart()
            cart.add(1)
            other.add(2)
            cart.remove(1)
            assert cart.items == []  # <
        """,
        ["remove", "add", "Cart.__init__"],
    ),
    "functions that the object was passed to": (
        """
        def test():
            slept = []
            retry(work, sleep=slept.append)
            other(1)
            assert slept == [1]  # <
        """,
        ["retry", "work"],
    ),
    "a function that a thread runs with the object": (
        """
        def test():
            store = {}
            Thread(target=count, args=(store,)).start()
            assert store == {"a": 1}  # <
        """,
        ["count", "Thread.__init__"],
    ),
    "unpacked, awaited and looped": (
        """
        async def test():
            head, tail = await split("ab")
            for part in pieces(tail):
                assert part == head  # <
        """,
        ["pieces", "split"],
    ),
    "a statement over several lines": (
        """
        def test():
            assert total(
                3,  # <
            ) == 4
        """,
        ["total"],
    ),
    "a fixture": ("def test(prices):\n    assert prices == [1]  # <\n", ["prices"]),
    "builtins and assertion helpers are not the user's": (
        "def test():\n    assert sorted(list(rank(2))) == pytest.approx([1])  # <\n",
        ["rank"],
    ),
    "another function's names are not read": (
        """
        def helper():
            got = wrong()
        def test():
            got = right()
            assert got  # <
        """,
        ["right"],
    ),
    "what comes after did not compute it": (
        """
        def test():
            got = right()
            assert got  # <
            got = wrong()
        """,
        ["right"],
    ),
    "in the head of a `with`, its body is left out": (
        """
        def test():
            with opened("x"):  # <
                parse("1")
        """,
        ["opened"],
    ),
    "what was to raise is in the body of its `with`": (
        """
        def test():
            with pytest.raises(ValueError), opened("x"):  # <
                parse("1")
        """,
        ["opened", "parse"],
    ),
}


@pytest.mark.parametrize("case", CASES)
def test_the_functions_that_computed_what_is_compared(case: str) -> None:
    source, functions = CASES[case]
    source = textwrap.dedent(source)
    line = next(number for number, text in enumerate(source.splitlines(), 1) if "# <" in text)
    assert calls_behind(source, line) == functions


def test_a_source_that_is_not_python_has_no_calls() -> None:
    assert calls_behind("def broken(:\n", 1) == []


def test_a_line_without_a_statement_has_no_calls() -> None:
    assert calls_behind("def test():\n    assert total()\n\n\n", 4) == []


def test_at_most_six_functions_are_named() -> None:
    source = "def test():\n    assert " + " + ".join(f"f{number}()" for number in range(20))
    assert calls_behind(source, 2) == [f"f{number}" for number in range(6)]
