"""`dragoman demo`: in seconds, with nothing to set up, and nothing left behind."""

from __future__ import annotations

import contextlib
import os
import signal
import tempfile
from collections.abc import Iterator
from pathlib import Path

import psutil
import pytest

import dragoman
from tests.daemons import PATIENCE, Cli, cli_with_home, eventually

pytestmark = pytest.mark.timeout(120)

SHIPPED = Path(dragoman.__file__).parent / "cli" / "demo_program" / "orders.txt"
EXAMPLE = Path(__file__).parents[2] / "examples" / "orders.py"


@pytest.fixture
def cli(tmp_path: Path) -> Iterator[Cli]:
    """Its temporary folders are in a place of the test's own, with a short name: sockets lie in it."""
    with (
        tempfile.TemporaryDirectory(prefix="d") as folder,
        cli_with_home(tmp_path / "home", {"TMPDIR": folder}) as cli,
    ):
        yield cli


def left(cli: Cli) -> list[str]:
    """Files in its temporary folder, and processes with a home there."""
    folder = cli.environment["TMPDIR"]
    found = [str(path) for path in Path(folder).iterdir()]
    for process in psutil.process_iter():
        with contextlib.suppress(psutil.Error):
            if process.environ().get("DRAGOMAN_HOME", "").startswith(folder):
                found.append(" ".join(process.cmdline()))
    return found


def test_an_agent_finds_the_bug_and_proves_it_within_thirty_seconds(cli: Cli) -> None:
    result = cli("demo", within_s=30)
    assert result.returncode == 0, result.stderr
    assert "codes = [], price = 200.0, rate = 0.1" in result.stdout
    assert "2 | codes = []" in result.stdout
    assert "([0.1],)" in result.stdout
    assert "ada 90.0 / grace 200.0 / alan 45.0" in result.stdout
    assert "\x1b" not in result.stdout, "plain where it is not a terminal"
    assert result.stderr == ""
    eventually(lambda: not left(cli))
    assert not cli.paths.socket.exists(), "the user's own daemon is not started"


def test_it_is_reported_in_chinese_too_and_does_not_touch_a_daemon_and_settings_of_the_users_own(cli: Cli) -> None:
    cli.environment |= {"DRAGOMAN_MCP_STARTS_DAEMON": "false", "VIRTUAL_ENV": "/nowhere", "DRAGOMAN_LANG": "zh"}
    before = cli("up", "--port", "0", "--json").stdout
    result = cli("demo")
    assert result.returncode == 0, result.stderr
    assert "这就是错误所在。" in result.stdout
    assert str(cli.status()["pid"]) in before
    assert cli.status()["sessions"] == []


@pytest.mark.parametrize("words", ["looks for the bug", "2. Trace the whole run", "4. Find the cause"])
def test_ctrl_c_at_any_line_leaves_nothing_behind(cli: Cli, words: str) -> None:
    cli.environment["PYTHONUNBUFFERED"] = "1"
    with cli.begin("demo", start_new_session=True) as telling:
        assert telling.stdout is not None
        assert any(words in line for line in telling.stdout)
        os.killpg(telling.pid, signal.SIGINT)  # as a terminal does: to all of them
        _, errors = telling.communicate(timeout=30 * PATIENCE)
    assert (telling.returncode, errors) == (130, "")
    eventually(lambda: not left(cli))


def test_what_is_shipped_is_the_example() -> None:
    assert SHIPPED.read_text() == EXAMPLE.read_text()
