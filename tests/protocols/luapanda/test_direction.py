"""Every recorded line shows which end wrote it."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from dragoman.core.errors import ProtocolError
from dragoman.protocols.luapanda.framing import message_text, read_message
from dragoman.protocols.luapanda.messages import written_by

VECTORS = Path(__file__).parents[2] / "vectors" / "luapanda"
ENDS = {"ide->lua": "ide", "lua->ide": "runtime"}


@pytest.mark.parametrize(
    "name", sorted(path.name for path in VECTORS.glob("*.jsonl") if not path.name.startswith("fault"))
)
def test_each_recorded_line_says_which_end_wrote_it(name: str) -> None:
    rows = [json.loads(line) for line in (VECTORS / name).read_text().splitlines()]
    lines = [
        (ENDS[row["dir"]], row["raw"].encode().removesuffix(b"\n"))
        for row in rows
        if row["dir"] in ENDS and "raw" in row
    ]
    entries = [(end, written_by(read_message(message_text(line)))) for end, line in lines if _is_one_message(line)]
    assert entries
    assert [pair for pair in entries if pair[0] != pair[1]] == []


def _is_one_message(line: bytes) -> bool:
    """The framing transcript also holds pieces of lines, and lines of two messages."""
    try:
        read_message(message_text(line))
    except ProtocolError:
        return False
    return line.count(b"|*|") == 1


def test_a_line_without_info_could_be_either() -> None:
    assert written_by({"cmd": "continue", "callbackId": "10"}) is None
