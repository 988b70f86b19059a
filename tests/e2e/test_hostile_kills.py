"""Kills and halts of everybody in a debug session, at random moments: briefly here, for long in `tests.soak`."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.e2e.debug_kills import DebugKills
from tests.hostile import hostile_home

pytestmark = pytest.mark.timeout(300)


@pytest.mark.parametrize("seed", [1, 2])
def test_after_every_kill_the_next_call_works_and_nobody_is_left(tmp_path: Path, seed: int) -> None:
    with hostile_home(tmp_path) as cli:
        done = list(DebugKills(cli, tmp_path / "project", seed).rounds(8))
    assert len(done) == 8
