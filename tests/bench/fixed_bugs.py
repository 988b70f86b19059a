"""Whether the test of a bug fails, and passes with its fix."""

from __future__ import annotations

import os
from collections.abc import Iterable
from dataclasses import replace
from pathlib import Path

from bench.value.bugs import Bug, copy_to
from bench.value.ways import run_test

HANG_S = 2.0


def failures(bugs: Iterable[Bug], folder: Path) -> dict[str, tuple[bool | None, bool | None]]:
    """By name: whether its test failed as it is, and with the fix."""
    return {it.name: (_has_failed(it, folder / "bug"), _has_failed(it, folder / "fixed", fixed=True)) for it in bugs}


def _has_failed(bug: Bug, folder: Path, *, fixed: bool = False) -> bool | None:
    place = copy_to(bug, folder, fixed=fixed)
    limited = replace(bug, timeout_s=HANG_S) if bug.hangs and not fixed else bug
    return run_test(limited, place, os.environ).failed
