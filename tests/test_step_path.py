"""The path of a debug step does not grow: how many files it passes on its way down, and on its way back."""

from __future__ import annotations

from pathlib import Path

import pytest
from step_path import measure

pytestmark = [pytest.mark.anyio, pytest.mark.timeout(120)]

DOWN = 31
DELIVERY = 28
BACK = 66


async def test_a_step_passes_no_more_files_than_it_does_today(tmp_path: Path) -> None:
    path = await measure(tmp_path)
    assert "debug/session/run_control.py" in path.down
    assert "debug/session/events.py" in path.delivery
    assert len(path.down) <= DOWN, list(path.down)
    assert len(path.delivery) <= DELIVERY, list(path.delivery)
    assert len(path.back) <= BACK, list(path.back)
