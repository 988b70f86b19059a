"""The path of a debug step does not grow, and ARCHITECTURE.md describes it as it is."""

from __future__ import annotations

import re
from pathlib import Path

import pytest
from step_path import ROOT, StepPath, measure

pytestmark = [pytest.mark.anyio, pytest.mark.timeout(120)]

MAX_DOWN_HOPS = 10
MAX_BACK_HOPS = 12
MAX_DOWN_TOUCHED = 26
MAX_DELIVERY_TOUCHED = 27
MAX_BACK_TOUCHED = 58


def _tables() -> list[list[str]]:
    """The files in the first column of each table about a step, in order."""
    text = (ROOT / "ARCHITECTURE.md").read_text(encoding="utf-8")
    section = text.split("### A step\n")[1].split("\n### ")[0]
    tables = [block for block in section.split("\n\n") if block.startswith("| File |")]
    return [re.findall(r"^\| `([^`]+)` \|", table, re.MULTILINE) for table in tables]


async def test_a_step_takes_the_path_that_the_architecture_describes_and_no_longer_one(tmp_path: Path) -> None:
    path = await measure(tmp_path)
    assert [path.down_hops, path.back_hops] == _tables()
    assert len(path.down_hops) <= MAX_DOWN_HOPS
    assert len(path.back_hops) <= MAX_BACK_HOPS
    _require_few_touched(path)


def _require_few_touched(path: StepPath) -> None:
    assert "debug/session/run_control.py" in path.down
    assert "debug/session/events.py" in path.delivery
    assert not [file for file in path.back if "debuggee_tree" in file]
    assert len(path.down) <= MAX_DOWN_TOUCHED, list(path.down)
    assert len(path.delivery) <= MAX_DELIVERY_TOUCHED, list(path.delivery)
    assert len(path.back) <= MAX_BACK_TOUCHED, list(path.back)
