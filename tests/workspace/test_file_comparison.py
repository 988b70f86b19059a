"""The first differing line of two files, by hashes, also against a far side that lies."""

from __future__ import annotations

import base64
import os
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from dragoman.protocols.pipe import MAX_PAYLOAD
from dragoman.workspace.file_comparison import (
    MAX_FILE,
    MAX_HASHES,
    FileComparison,
    answer_lines,
    line_hashes,
    read_lines,
)


def compared(ours: list[bytes], theirs: list[bytes]) -> tuple[int | None, int]:
    """The first difference, and how many questions it took."""
    comparison = FileComparison("/x", ours)
    for asked in (1, 2, 3):
        query = comparison.query
        hashes = line_hashes(theirs, query["first"], query["step"], query["count"])
        if comparison.handle_reply({"lines": len(theirs), "hashes": base64.b64encode(b"".join(hashes)).decode()}):
            return comparison.first_difference, asked
    raise AssertionError("a third question")


_LINES = st.lists(st.sampled_from([b"", b"a", b"b"]), max_size=8)


@given(_LINES, _LINES, st.sampled_from([0, 4990, 5000, 12_345]))
def test_the_first_differing_line_is_found_in_at_most_two_questions(
    ours: list[bytes], theirs: list[bytes], before: int
) -> None:
    common = [b"%d" % number for number in range(before)]
    pairs = zip(ours, theirs, strict=False)
    same = next((at for at, (one, other) in enumerate(pairs) if one != other), min(len(ours), len(theirs)))
    expected = None if ours == theirs else before + same + 1
    first, asked = compared(common + ours, common + theirs)
    assert first == expected
    assert asked <= 2


def test_the_other_machine_hashes_only_what_was_asked_for(tmp_path: Path) -> None:
    file = tmp_path / "a.py"
    file.write_bytes(b"a\r\nb\nc")
    asked = {"path": str(file), "first": 1, "step": 1, "count": 1}
    assert answer_lines(asked) == {"lines": 3, "hashes": base64.b64encode(line_hashes([b"b"], 0, 1, 1)[0]).decode()}
    file.write_bytes(b"\n" * MAX_FILE)
    whole = answer_lines({"path": str(file), "first": 0, "step": 1, "count": 10**9})
    assert len(str(whole)) < MAX_PAYLOAD
    assert len(base64.b64decode(whole["hashes"])) == 4 * MAX_HASHES


def test_line_ends_do_not_count(tmp_path: Path) -> None:
    (tmp_path / "unix").write_bytes(b"a\nb")
    (tmp_path / "windows").write_bytes(b"a\r\nb\r\n")
    assert read_lines(tmp_path / "unix") == read_lines(tmp_path / "windows") == [b"a", b"b"]


def test_what_is_no_small_file_is_not_read(tmp_path: Path) -> None:
    os.mkfifo(tmp_path / "fifo")
    (tmp_path / "large").write_bytes(b"x" * (MAX_FILE + 1))
    for name in ("missing", "fifo", "large", ".", "a\0b"):
        assert read_lines(tmp_path / name) is None
        assert answer_lines({"path": f"{tmp_path}/{name}", "first": 0, "step": 1, "count": 1}) == {}
    assert read_lines(Path("/dev/zero")) is None


@pytest.mark.parametrize(
    "query",
    [
        {},
        {"path": 1, "first": 0, "step": 1, "count": 1},
        {"path": "etc/passwd", "first": 0, "step": 1, "count": 1},
        {"path": "/etc/passwd", "first": "0", "step": 1, "count": 1},
    ],
)
def test_a_malformed_question_has_an_empty_answer(query: dict[str, Any]) -> None:
    assert answer_lines(query) == {}


@given(
    st.dictionaries(
        st.sampled_from(["lines", "hashes"]),
        st.none() | st.integers() | st.text(alphabet="AQ=-", max_size=64) | st.lists(st.none()),
    )
)
def test_a_far_side_that_lies_ends_the_comparison_and_names_at_most_a_line_of_the_file(reply: dict[str, Any]) -> None:
    comparison = FileComparison("/x", [b"%d" % number for number in range(20_000)])
    if not comparison.handle_reply(reply):
        assert comparison.handle_reply(reply)
    assert comparison.first_difference is None or 1 <= comparison.first_difference <= 20_001
