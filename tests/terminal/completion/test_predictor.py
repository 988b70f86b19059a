"""The parts of a suggestion: lines by their beginning against a plain search, bounds, and measured confidence."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from dragoman.terminal.completion import predictor
from dragoman.terminal.completion.predictor import (
    Calibration,
    CommandPredictor,
    CooccurrenceTable,
    LineTable,
    TypingContext,
    command_shape,
)

DAY_S = 86_400.0
words = st.text("ab/ ", min_size=1, max_size=5)


@given(st.lists(st.tuples(words, st.booleans()), min_size=1, max_size=120), words)
def test_the_best_of_a_beginning_are_those_of_a_plain_search(uses: list[tuple[str, bool]], beginning: str) -> None:
    """With so low a bound that the best of nearly every beginning are kept, and asked for in between."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(predictor, "_MOST_SCANNED", 3)
        patch.setattr(predictor, "_BEST", 4)
        found, weights = LineTable(), dict[str, float]()
        for number, (text, asks) in enumerate(uses):
            found.use(text, number * DAY_S, 0)
            weights[text] = weights.get(text, 0.0) + 2 ** (number / 14)
            if asks:
                found.with_beginning(text[:2])
        found.build_best()
        best = found.with_beginning(beginning)
        meant = {text: weight for text, weight in weights.items() if text.startswith(beginning)}
        chosen = sorted((found.weights[number] for number in best.ids), reverse=True)
        assert chosen == pytest.approx(sorted(meant.values(), reverse=True)[: len(chosen)])
        assert len(chosen) == (min(4, len(meant)) if len(meant) > 3 else len(meant))
        assert best.mass == pytest.approx(sum(meant.values()))
        assert (best.kinds, best.uses) == (len(meant), sum(text.startswith(beginning) for text, _ in uses))


def test_a_use_counts_half_after_two_weeks() -> None:
    table = LineTable()
    old, new = table.use("old", 0, 0), table.use("new", 14 * DAY_S, 0)
    assert table.weights[new] == pytest.approx(2 * table.weights[old])


def test_a_clock_that_was_wrong_by_centuries_breaks_nothing() -> None:
    table = LineTable()
    for at_s in (0.0, 1e12, -1e12):
        table.use("make", at_s, 0)
    assert 0 < table.weights[0] < float("inf")


def test_a_full_memory_takes_no_new_lines_and_is_made_smaller_without_the_least(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(predictor, "_MAX_LINES", 10)
    monkeypatch.setattr(predictor, "_KEPT_LINES", 6)
    full = CommandPredictor()
    for number in range(10):
        for _ in range(number + 1):
            full.train(f"make {number}", TypingContext("/p", "ls"), 0.0, 0)
    assert full.is_full
    full.train("make new", TypingContext("/p", "ls"), 0.0, 0)
    assert len(full.lines) == 10
    pruned = full.pruned()
    assert not pruned.is_full
    kept = {f"make {number}" for number in range(4, 10)}
    assert {line for line, _ in pruned.predict("mak", TypingContext("/p", "ls"), 20)} == kept
    assert pruned.predict("mak", TypingContext("/p", "ls"), 1)[0][0] == "make 9"
    pruned.train("make new", TypingContext("/p", "ls"), 0.0, 0)
    assert "make new" in {line for line, _ in pruned.predict("make n", TypingContext(), 5)}


def test_what_goes_together_is_bounded_by_its_least_and_its_oldest() -> None:
    together: CooccurrenceTable[str] = CooccurrenceTable(keys=2, lines=4)
    for line in range(4):
        together.add("a", line, line + 1.0)
    together.add("a", 9, 5.0)
    assert set(together.of("a")) == {1, 2, 3, 9}
    together.add("b", 1, 1.0)
    together.add("a", 3, 1.0)
    together.add("c", 1, 1.0)
    assert together.of("b") == {}
    assert together.of("a")[3] == 5.0


@pytest.mark.parametrize(
    ("line", "what"),
    [("git add -A", "git add"), ("ls -la", "ls"), ("make", "make"), ("cargo test --lib x", "cargo test")],
)
def test_the_shape_of_a_command_is_what_is_done(line: str, what: str) -> None:
    assert command_shape(line) == what


def test_confidence_is_what_was_measured_and_never_less_for_the_likelier() -> None:
    measured = Calibration()
    assert measured.confidence(0.33) == pytest.approx(0.325)
    for number in range(1_000):
        measured.observe(0.33, number % 10 < 6)
        measured.observe(0.52, number % 10 < 1)
    assert measured.confidence(0.33) == pytest.approx(0.6, abs=0.02)
    assert measured.confidence(0.52) >= measured.confidence(0.33)
    assert measured.confidence(1.0) <= 1.0
