"""SIGKILL at random moments: what a process had acknowledged is there for the next one, and its files are sound."""

from __future__ import annotations

import random
from pathlib import Path

from tests.journal.kill_rounds import rounds

KILLS = 6  # hundreds in `make soak`


def test_killed_writers_lose_nothing_that_they_acknowledged(tmp_path: Path) -> None:
    seed = random.randrange(1 << 30)
    print(f"seed {seed}")  # shown when it fails
    assert sum(rounds(tmp_path / "j", KILLS, seed)) >= KILLS
