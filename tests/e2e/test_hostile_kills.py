"""Kills and halts of everybody in a debug session, at random moments: briefly here, for long in `tests.soak`."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.e2e.debug_kills import HALTED, VICTIMS, DebugKills
from tests.hostile import hostile_home

pytestmark = pytest.mark.timeout(300)


# Nine rounds of it kill and halt everybody who can be, each moment three times.
SEED = 513


def test_after_every_kill_the_next_call_works_and_nobody_is_left(tmp_path: Path) -> None:
    with hostile_home(tmp_path) as cli:
        done = list(DebugKills(cli, tmp_path / "project", SEED).rounds(9))
    struck = {story.split(" while ")[0] for story in done}
    assert struck == {
        *(f"SIGKILL of {name}" for name in VICTIMS),
        *(f"SIGSTOP of {name}" for name in HALTED),
    }
