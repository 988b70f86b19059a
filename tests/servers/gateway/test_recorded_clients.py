"""Our gateway against the clients of real ones: every recorded answer, field by field, but for a written list."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

from tests.protocols.gateway.transcripts import NAMES
from tests.servers.gateway.differences import ALLOWED
from tests.servers.gateway.replay import Replay, differences

pytestmark = pytest.mark.anyio

DOCUMENT = Path(__file__).parents[3] / "docs" / "protocols" / "gateway.md"


def matches(pattern: str, difference: str) -> bool:
    return re.fullmatch(re.escape(pattern).replace(r"\*", ".*"), difference) is not None


def together() -> list[list[str]]:
    """By number: 15a and 15b are one client that came back."""
    found: dict[str, list[str]] = {}
    for name in NAMES:
        found.setdefault(name if not name.startswith("v3-15") else "v3-15", []).append(name)
    return list(found.values())


async def test_every_recorded_client_is_answered_as_it_was_but_for_what_the_list_allows(tmp_path: Path) -> None:
    found: set[str] = set()
    answers = 0
    for number, names in enumerate(together()):
        replay = Replay(names)
        await replay.play(tmp_path / str(number))
        found |= replay.found
        answers += replay.answers
    assert answers > 150
    assert sorted(it for it in found if not any(matches(pattern, it) for pattern in ALLOWED)) == []
    assert [pattern for pattern in ALLOWED if not any(matches(pattern, it) for it in found)] == []


def test_the_document_has_the_same_list() -> None:
    rows = [f"| `{pattern}` | {why} |" for pattern, why in ALLOWED.items()]
    text = DOCUMENT.read_text(encoding="utf-8")
    assert [row for row in rows if row not in text] == []


def test_each_kind_of_difference_is_seen() -> None:
    recorded = {"a": 1, "b": {"c": "x"}, "ts": 1, "list": [1], "gone": 0}
    ours = {"a": "1", "b": {"c": "y"}, "ts": 2, "list": [], "more": 0}
    assert sorted(differences(recorded, ours)) == [
        ".a is of another kind",
        ".b.c differs",
        ".gone is left out",
        ".list has other members",
        ".more is added",
    ]
