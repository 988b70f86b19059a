"""The small parts of the engine: states, handles, hit conditions, output."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from dragoman.core.clock import SystemClock
from dragoman.core.errors import DragomanError
from dragoman.debug.breakpoints.hit_conditions import parse_hit_condition
from dragoman.debug.model import LIVE_STATES, SessionState
from dragoman.debug.session.lifecycle import Transition, next_state
from dragoman.debug.session.output import SessionOutput
from dragoman.debug.stops.handles import Handles


@pytest.mark.parametrize(
    ("text", "stops"),
    [
        ("3", [3]),
        ("== 3", [3]),
        ("=3", [3]),
        ("> 5", [6, 7, 8, 9, 10]),
        (">= 8", [8, 9, 10]),
        ("< 3", [1, 2]),
        ("<=2", [1, 2]),
        ("% 2 == 0", [2, 4, 6, 8, 10]),
        ("%3", [3, 6, 9]),
        (" % 4 == 1 ", [1, 5, 9]),
    ],
)
def test_each_form_of_a_hit_condition_has_one_meaning(text: str, stops: list[int]) -> None:
    condition = parse_hit_condition(text)
    assert [count for count in range(1, 11) if condition.holds(count)] == stops
    assert parse_hit_condition(str(condition)) == condition


@pytest.mark.parametrize("text", ["", "x", "> ", "% 0", "% 2 == 2", "-1", "3 4", "1e3", "> 5; rm", "9" * 40, "％2"])
def test_what_is_not_a_hit_condition_is_refused_with_the_forms(text: str) -> None:
    with pytest.raises(DragomanError, match="% 2 == 0") as caught:
        parse_hit_condition(text)
    assert caught.value.code == "bad_hit_condition"


def test_a_handle_names_its_stop() -> None:
    first, second = Handles(1), Handles(2)
    old, new = first.assign_variables(7), second.assign_variables(7)
    assert old != new
    assert (first.resolve_variables(old), second.resolve_variables(new)) == (7, 7)
    with pytest.raises(DragomanError) as caught:
        second.resolve_variables(old)
    assert caught.value.code == "stale_reference"


def test_a_frame_is_not_a_variable_though_the_adapter_numbers_them_alike() -> None:
    handles = Handles(1)
    frame, variables = handles.assign_frame(7), handles.assign_variables(7)
    assert frame != variables
    assert (handles.resolve_frame(frame), handles.resolve_variables(variables)) == (7, 7)
    with pytest.raises(DragomanError) as caught:
        handles.resolve_variables(frame)
    assert caught.value.code == "unknown_reference"


@given(targets=st.lists(st.integers(1, 2**31)))
def test_a_target_has_one_handle_and_zero_stays_zero(targets: list[int]) -> None:
    handles = Handles(3)
    numbers = [handles.assign_variables(target) for target in targets]
    assert [handles.resolve_variables(number) for number in numbers] == targets
    assert len(set(numbers)) == len(set(targets))
    assert handles.assign_variables(0) == 0


@pytest.mark.parametrize("number", [0, -1, 5, 3_000_002, 4_000_001, 2**70])
def test_a_number_that_was_never_handed_out_is_reported_as_such(number: int) -> None:
    handles = Handles(3)
    handles.assign_variables(9)
    with pytest.raises(DragomanError) as caught:
        handles.resolve_variables(number)
    assert caught.value.code == "unknown_reference"


def test_an_ended_session_stays_ended_whatever_an_adapter_still_says() -> None:
    for happening in Transition:
        if happening is not Transition.LAUNCHED:
            assert next_state(SessionState.TERMINATED, happening) is SessionState.TERMINATED


def test_every_live_state_can_end_and_nothing_returns_to_idle() -> None:
    for state in LIVE_STATES:
        assert next_state(state, Transition.ENDED) is SessionState.TERMINATED
        followers = {next_state(state, happening) for happening in Transition if happening is not Transition.LAUNCHED}
        assert SessionState.IDLE not in followers


@given(texts=st.lists(st.text(max_size=30), max_size=30), kept=st.integers(1, 50), cursor=st.integers(0, 200))
def test_output_gives_what_is_kept_and_counts_what_is_not(texts: list[str], kept: int, cursor: int) -> None:
    output = SessionOutput(kept)
    for text in texts:
        output.append("stdout", text)
    whole = "".join(texts)
    shown, missed = output.since(cursor, most=1000)
    assert whole.endswith(shown)
    assert len(shown) + missed == max(0, len(whole) - cursor)
    assert output.end == len(whole)


def test_output_is_cut_at_the_front_and_says_how_much() -> None:
    output = SessionOutput()
    output.append("stdout", "abc")
    output.append("stderr", "def")
    assert output.since(0, most=4) == ("cdef", 2)
    assert output.since(0, most=10, categories=frozenset({"stderr"})) == ("def", 0)


@given(
    pieces=st.lists(st.tuples(st.sampled_from(["stdout", "stderr"]), st.text("a\n", max_size=12)), max_size=30),
    most=st.integers(1, 20),
    category=st.sampled_from(["", "stdout"]),
)
def test_pages_of_output_put_together_are_the_output(pieces: list[tuple[str, str]], most: int, category: str) -> None:
    output, cursor, read = SessionOutput(), 0, ""
    for kind, text in pieces:
        output.append(kind, text)
    wanted = frozenset({category}) if category else frozenset[str]()
    while cursor < output.end:
        page = output.page(cursor, most=most, categories=wanted)
        assert len(page.text) <= most
        assert page.next > cursor
        read, cursor = read + page.text, page.next
    assert read == "".join(text for kind, text in pieces if not category or kind == category)


def test_a_page_of_output_ends_with_a_line_and_says_what_has_gone() -> None:
    output = SessionOutput(kept=10)
    for number, text in enumerate(("one\n", "two\n", "three\n", "fo")):
        output.append(("stdout", "stderr")[number % 2], text)
    assert output.page(0, most=7) == ("three\n", 8, 14)
    assert output.page(14, most=9) == ("fo", 0, 16)


def test_output_in_the_smallest_pieces_costs_no_more_than_in_large_ones() -> None:
    """A program that prints a character at a time, and an adapter that sends empty outputs."""
    output = SessionOutput(kept=10_000)
    for _ in range(50_000):
        output.append("stdout", "x")
        output.append("stderr", "")
    assert len(output._pieces) < 20
    assert output.since(49_990, most=100) == ("x" * 10, 0)
    assert output.start >= 50_000 - 10_000


def test_two_streams_that_take_turns_character_by_character_are_bounded_too() -> None:
    output = SessionOutput()
    for _ in range(30_000):
        output.append("stdout", "x")
        output.append("stderr", "y")
    assert len(output._pieces) <= 20_000
    assert output.since(0, most=4) == ("xyxy", 59_996)


class SteppingClock(SystemClock):
    """A second passes with each look."""

    def __init__(self) -> None:
        self.now_ns = 0

    def wall_ns(self) -> int:
        self.now_ns += 1_000_000_000
        return self.now_ns


def test_output_knows_when_it_was_printed_however_long_a_program_prints() -> None:
    output = SessionOutput(clock=SteppingClock())
    output.append("stdout", "one")
    output.append("stderr", "two")
    assert output.marks == ((1_000_000_000, 3), (2_000_000_000, 6))
    for _ in range(10_000):
        output.append("stdout", "x")
    marks = output.marks
    assert len(marks) <= 4000
    assert marks[-1].end == output.end
    assert sorted(marks) == list(marks)
