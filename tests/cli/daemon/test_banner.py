"""The lines of the foreground's banner can be pasted into another terminal as they are."""

from __future__ import annotations

import shlex
from pathlib import Path

import pytest

from dragoman.daemon.app import RunningDaemon
from dragoman.daemon.startup_report import banner
from dragoman.protocols.control import DaemonState

STATE = DaemonState(
    pid=1,
    process_started=1.0,
    version="0",
    bind="127.0.0.1",
    port=9,
    wanted_port=8177,
    socket="/s",
    workspace="/w",
    started_at_ns=1,
)


def test_a_home_with_blanks_and_quotes_can_be_pasted(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    home = tmp_path / "a b 'c' 龙"
    monkeypatch.setenv("DRAGOMAN_HOME", str(home))
    text = banner(RunningDaemon(STATE, "code"), "en")
    (line,) = [line.split(":", 1)[1].strip() for line in text.splitlines() if line.startswith("  Cursor:")]
    # Quoted as a whole it would be the name of a command; only an unquoted name makes an assignment.
    assert line.startswith("DRAGOMAN_HOME=")
    assert shlex.split(line)[0] == f"DRAGOMAN_HOME={home}"
    claude = next(line for line in text.splitlines() if line.startswith("  Claude Code:")).split(":", 1)[1]
    assert f"DRAGOMAN_HOME={home}" in shlex.split(claude)
    assert "Port 8177 is in use" in text
