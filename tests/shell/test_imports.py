"""A shell opens many times a day: what is imported for it is counted, before it starts and beside it."""

from __future__ import annotations

import os
import subprocess
import sys

import pytest

HEAVY = {"asyncio", "argparse", "hashlib", "http", "importlib.metadata", "json", "logging", "multiprocessing"}
HEAVY |= {"msgspec", "pydantic", "anyio", "cyclopts", "rich", "random", "ssl", "subprocess", "tempfile", "threading"}
HEAVY |= {"tomllib", "unittest", "dragoman.core.settings.loader", "gettext"}
LATER = {"dataclasses", "inspect", "typing", "pathlib", "socket", "dragoman.protocols"}


_FORKED = "import os, sys; os.fork = lambda: os._exit(print(*(set(sys.modules) - before), flush=True) or 0)"


@pytest.mark.parametrize("module", ["dragoman.shell.main", "dragoman.shell.pump", "dragoman.shell.sidecar"])
def test_a_wrapper_imports_nothing_heavy(module: str) -> None:
    sentence = f"import sys; before = set(sys.modules); import {module}; print(*(set(sys.modules) - before))"
    shown = subprocess.run(
        [sys.executable, "-I", "-c", sentence], capture_output=True, text=True, check=True, timeout=30
    ).stdout.split()
    assert module in shown
    assert HEAVY.isdisjoint(shown), HEAVY.intersection(shown)


@pytest.mark.needs("bash")
def test_a_shell_is_started_before_anything_that_it_does_not_need_is_imported() -> None:
    """From the command's own entry point on, up to the fork."""
    sentence = f"import sys; before = set(sys.modules); {_FORKED}; sys.argv[1:] = ['shell', '--', 'bash']; "
    screen, terminal = os.openpty()
    try:
        subprocess.run(
            [sys.executable, "-I", "-c", f"{sentence}from dragoman.cli.main import main; main()"],
            stdin=terminal, stdout=terminal, stderr=terminal, check=True, timeout=30,
        )  # fmt: skip
        shown = os.read(screen, 65536).decode().split()
    finally:
        os.close(terminal)
        os.close(screen)
    assert "dragoman.shell.pty" in shown
    assert not (unwanted := (HEAVY | LATER).intersection(shown)), unwanted
