"""Who descends from whom decides who may answer for a person."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest

from dragoman.io.processes.process_info import is_descendant_of
from tests.daemons import eventually

_JUDGED_FROM_WITHIN = """
from dragoman.io.processes import process_info
import os
print(process_info._process_stat(os.getpid()).parent, process_info.is_descendant_of(os.getpid(), 4242))
"""


def test_a_child_descends_from_its_parents_and_from_nobody_else() -> None:
    assert is_descendant_of(os.getpid(), os.getppid())
    assert not is_descendant_of(os.getpid(), 2**22 + 1)
    assert is_descendant_of(2**22 + 1, os.getpid()), "of a process that cannot be inspected, nothing is known"


@pytest.mark.skipif(os.getuid() != 0, reason="only root enters a namespace")
def test_what_enters_a_container_from_outside_descends_from_nothing_in_it() -> None:
    """As `docker exec` does: its parent is not in the container, so the container sees none."""
    inside = ["unshare", "--pid", "--fork", "--mount-proc", "sleep", "60"]
    with subprocess.Popen(inside, stdout=subprocess.PIPE) as outer:
        try:
            children = Path(f"/proc/{outer.pid}/task/{outer.pid}/children")
            pid = _first(children)
            entering = ["nsenter", "--target", pid, "--pid", "--mount", sys.executable, "-c", _JUDGED_FROM_WITHIN]
            done = subprocess.run(entering, capture_output=True, text=True, timeout=20, check=True)
        finally:
            subprocess.run(["kill", "-9", _first(children)], check=False)
            outer.kill()
    assert done.stdout.split() == ["0", "False"]


def _first(children: Path) -> str:
    pid: str = eventually(lambda: children.read_text().partition(" ")[0])
    return pid
