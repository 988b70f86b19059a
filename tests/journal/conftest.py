"""Journals in memory where the machine has room: faults of disks are acted out here, a real disk's slowness is not."""

from __future__ import annotations

import os
import tempfile
from collections.abc import Iterator
from pathlib import Path

import pytest

_MEMORY = "/dev/shm"
_ENOUGH_BYTES = 2 * 2**30


@pytest.fixture
def tmp_path(tmp_path: Path) -> Iterator[Path]:
    """Hundreds of runs of one test sync thousands of times, and would wait for the disk and keep others from it."""
    if not _has_room():
        yield tmp_path
        return
    with tempfile.TemporaryDirectory(prefix="journal", dir=_MEMORY) as folder:
        yield Path(folder)


def _has_room() -> bool:
    if not os.access(_MEMORY, os.W_OK):
        return False
    room = os.statvfs(_MEMORY)
    return room.f_bavail * room.f_frsize >= _ENOUGH_BYTES
