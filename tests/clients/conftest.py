"""A machine of its own for every test: an empty home, and a PATH with nothing on it but what the test puts there."""

from __future__ import annotations

import sys
from collections.abc import Callable
from pathlib import Path

import pytest

from dragoman.clients.machine import Machine

InstallScript = Callable[[str, str], Path]


@pytest.fixture
def machine(tmp_path: Path) -> Machine:
    for folder in ("home", "bin", "project"):
        (tmp_path / folder).mkdir()
    return Machine("linux", tmp_path / "home", {"PATH": str(tmp_path / "bin")}, tmp_path / "project")


@pytest.fixture
def install(tmp_path: Path) -> InstallScript:
    """Put a program on the machine's PATH: `body` is Python, with `sys` imported and `HERE` the folder it is in."""

    def install(name: str, body: str) -> Path:
        script = tmp_path / "bin" / name
        script.write_text(f"#!{sys.executable}\nimport sys\nHERE = {str(tmp_path)!r}\n{body}\n")
        script.chmod(0o755)
        return script

    return install
