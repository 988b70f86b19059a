"""A shell opens many times a day: what is imported for it is counted, before it starts and beside it."""

from __future__ import annotations

import subprocess
import sys

import pytest

HEAVY = {"asyncio", "argparse", "hashlib", "http", "importlib.metadata", "json", "logging", "multiprocessing"}
HEAVY |= {"msgspec", "pydantic", "anyio", "cyclopts", "rich", "random", "ssl", "subprocess", "tempfile", "threading"}
HEAVY |= {"tomllib", "unittest", "dragoman.settings", "dragoman.chinese"}
LATER = {"dataclasses", "inspect", "typing", "pathlib", "socket", "dragoman.wire"}


@pytest.mark.parametrize(
    ("module", "unwanted"),
    [("dragoman.shell.main", HEAVY | LATER), ("dragoman.shell.wrapping", HEAVY)],
)
def test_a_wrapper_imports_nothing_heavy(module: str, unwanted: set[str]) -> None:
    told = f"import sys; before = set(sys.modules); import {module}; print(*(set(sys.modules) - before))"
    shown = subprocess.run(
        [sys.executable, "-I", "-c", told], capture_output=True, text=True, check=True, timeout=30
    ).stdout
    assert "dragoman.shell.child" in shown.split()
    assert unwanted.isdisjoint(shown.split()), unwanted.intersection(shown.split())
