"""Escape sequences as tokens in any chunking, and what of them may reach somebody's own terminal."""

from __future__ import annotations

import itertools
import re

import pytest
from hypothesis import given
from hypothesis import strategies as st

from dragoman.protocols.ansi import MOST_BODY, Csi, DisplayFilter, Escape, SequenceParser, Text, Token

PARTS = [
    b"plain",
    "中é\u200b".encode(),
    b"\r\n",
    b"\x1b[1;31m",
    b"\x1b[?1049h",
    b"\x1b[>c",
    b"\x1b[6n",
    b"\x1b]0;title\x07",
    b"\x1b]52;c;aGk=\x1b\\",
    b"\x1bPq\x1b\\",
    b"\x1b7",
    b"\x1b(0",
    b"\x1b",
    b"\x1b[",
    b"\x9b6n",
    b"\xc2\x9b6n",
    b"\x05",
    b"\xff\xfe",
    b"\x1b[8;24;80t",
    b"\x1b[12",
    b"\x18",
    b"\x1b_x",
    b"\x1b[999999999b",
    b"\x1b[38:2::1:2:3m",
]
STREAMS = st.lists(st.one_of(st.sampled_from(PARTS), st.binary(max_size=6)), max_size=12).map(b"".join)

# Whatever a terminal answers, or does beyond drawing: by other means than the list under test.
ANSWERED_OR_OBEYED = re.compile(
    rb"\x05|\x07|\x1bZ|\x1bc|\x1b[\]PX^_]|\x1b\[[0-9;:<=>?]*(?:[cntxyi]|[ -/])|\x1b\[[<=>]"
    rb"|\x1b\[\?[0-9;]*\b(?:1|3|9|66|67|100\d|101\d|2004|2031|2048)\b[0-9;]*[hl]|\x1b\[3J|\xc2[\x80-\x9f]"
)


def tokens(*chunks: bytes) -> list[Token]:
    """Text that was split by a chunk is one text."""
    sequences, joined = SequenceParser(), list[Token]()
    for token in (token for chunk in chunks for token in sequences.feed(chunk)):
        last = joined[-1] if joined else None
        if isinstance(token, Text) and isinstance(last, Text) and not token.is_control and not last.is_control:
            joined[-1] = Text(last.text + token.text)
        else:
            joined.append(token)
    return joined


@given(STREAMS, st.lists(st.integers(0, 60), max_size=6))
def test_any_split_of_the_bytes_gives_the_same_tokens(stream: bytes, cuts: list[int]) -> None:
    edges = [0, *sorted(min(cut, len(stream)) for cut in cuts), len(stream)]
    chunks = [stream[start:end] for start, end in itertools.pairwise(edges)]
    assert tokens(*chunks) == tokens(stream)


def test_sequences_are_distinguished() -> None:
    assert tokens(b"a\x1b[?25;1h\x1b(B\x1b[1;;3 qz") == [
        Text("a"),
        Csi("?", (25, 1), "", "h", b"\x1b[?25;1h"),
        Escape("(", "B"),
        Csi("", (1, 0, 3), " ", "q", b"\x1b[1;;3 q"),
        Text("z"),
    ]


@pytest.mark.parametrize("begin", [b"\x1b]52;c;", b"\x1bP", b"\x1b_", b"\x1b^", b"\x1bX"])
@pytest.mark.parametrize("end", [b"\x07", b"\x1b\\", b"\x18", b"\x1a"])
def test_a_string_to_the_terminal_is_left_out_whole(begin: bytes, end: bytes) -> None:
    assert tokens(b"a" + begin + b"hidden" + end + b"b") == [Text("ab")]


def test_a_string_without_end_holds_nothing() -> None:
    sequences = SequenceParser()
    for _ in range(100):
        assert list(sequences.feed(b"\x1b]52;c;" + b"A" * 100_000)) == []
    assert len(sequences._held) <= MOST_BODY
    assert list(sequences.feed(b"\x07ok")) == [Text("ok")]


@pytest.mark.parametrize("length", [MOST_BODY - 3, MOST_BODY - 2, MOST_BODY + 1, 100_000])
def test_a_sequence_beyond_the_cap_is_plain_text_and_costs_no_memory(length: int) -> None:
    stream = b"\x1b[" + b"1" * (length - 3) + b"m"
    found = tokens(*(stream[at : at + 1000] for at in range(0, len(stream), 1000)), b"after")
    assert found[-1] == Text("after")
    assert len(found) == (2 if len(stream) <= MOST_BODY else 1)


# What a viewer's terminal gets.


@given(STREAMS, st.lists(st.integers(0, 60), max_size=4))
def test_nothing_that_a_terminal_answers_or_obeys_is_passed_on(stream: bytes, cuts: list[int]) -> None:
    edges = [0, *sorted(min(cut, len(stream)) for cut in cuts), len(stream)]
    viewing = DisplayFilter()
    sent = b"".join(viewing.feed(stream[start:end]) for start, end in itertools.pairwise(edges))
    assert not ANSWERED_OR_OBEYED.search(sent)
    sent.decode()


@pytest.mark.parametrize(
    "stream",
    [
        b"\x1b[c",
        b"\x1b[>0c",
        b"\x1b[=c",
        b"\x1b[5n",
        b"\x1b[6n",
        b"\x1b[?6n",
        b"\x1b[?1u",
        b"\x1b[21t",
        b"\x1b[14t",
        b"\x1b[x",
        b"\x1b[?25$p",
        b"\x1bP$qm\x1b\\",
        b"\x1bP+q544e\x1b\\",
        b"\x1b]52;c;?\x07",
        b"\x1b]52;c;aGk=\x07",
        b"\x1b]0;t\x07",
        b"\x1b]2;t\x1b\\",
        b"\x1b]11;?\x07",
        b"\x1b]4;1;?\x07",
        b"\x1b]8;;http://x\x07",
        b"\x05",
        b"\x1bZ",
        b"\x1b[?1000h",
        b"\x1b[?1006h",
        b"\x1b[?1004h",
        b"\x1b[?2004h",
        b"\x1b[?1h",
        b"\x1b[3J",
        b"\x1b[5i",
        b"\x1b[!p",
        b"\x1b[8;50;200t",
        b"\x1b[22;0t",
        b"\x1b[>4;2m",
        b"\x1b]133;A\x07",
        b"\x1b]1337;File=:AA\x07",
        b"\x07",
        b"\x9b6n",
        b"\xc2\x9b6n",
        b"\xc2\x9d52;c;?\xc2\x9c",
        b"\x1b[2 q",
        b"\x1b[?3h",
        b"\x1b[99999b",
    ],
)
def test_what_asks_or_sets_is_left_out_and_the_text_around_it_stays(stream: bytes) -> None:
    shown = DisplayFilter().feed(b"left " + stream + b" right").decode()
    assert "\x1b" not in shown
    assert shown.startswith("left ")
    assert shown.endswith(" right")


@pytest.mark.parametrize(
    "stream",
    [
        b"\x1b[1;31mred\x1b[0m",
        b"\x1b[38;2;1;2;3mx",
        b"\x1b[38:2::1:2:3mx",
        b"\x1b[2J\x1b[H",
        b"\x1b[?1049h\x1b[?25l",
        b"\x1b[3;10r\x1bM\x1b[2L",
        b"\x1b7\x1b8",
        b"\x1b(0qqq\x1b(B",
        "中文 é\r\n\t".encode(),
        b"\x1b[10b",
        b"\x1b[4h\x1b[4l",
    ],
)
def test_what_draws_is_passed_on_as_it_is(stream: bytes) -> None:
    assert DisplayFilter().feed(stream) == stream


def test_of_several_modes_only_those_that_draw_are_set() -> None:
    assert DisplayFilter().feed(b"\x1b[?1049;1000;2004;25h") == b"\x1b[?1049;25h"


@pytest.mark.parametrize(
    ("stream", "undone", "left"),
    [
        (b"plain", b"\x1b[?25h", b"\x1b[?1049l"),
        (b"\x1b[?1049h", b"\x1b[?1049l", b"\x1b[r"),
        (b"\x1b[?1049h\x1b[?1049l", b"\x1b[?7h", b"\x1b[?1049l"),
        (b"\x1b[2;5r", b"\x1b[r\x1b[9999;1H", b"\x1b[?1049l"),
        (b"\x1b[?6h", b"\x1b[?6l", b"\x1b[?1049l"),
    ],
)
def test_a_terminal_is_made_as_it_was_and_nothing_is_undone_that_was_not_done(
    stream: bytes, undone: bytes, left: bytes
) -> None:
    viewing = DisplayFilter()
    viewing.feed(stream)
    assert undone in viewing.restored()
    assert left not in viewing.restored()
    assert DisplayFilter().feed(viewing.restored()) == viewing.restored()
