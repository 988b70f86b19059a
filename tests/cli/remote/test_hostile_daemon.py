"""Whatever another machine answers: no escape reaches the terminal, nothing is believed, no command hangs."""

from __future__ import annotations

import json
import os
import resource
import subprocess
import sys
import time
from pathlib import Path

import pytest

from dragoman.cli.dispatch import run
from dragoman.cli.output import ExitCode
from dragoman.core.errors import DragomanError
from dragoman.io.drivers.control_client import ControlClient, DaemonPeer
from dragoman.io.net import remote_link
from dragoman.io.net.remote_link import RemoteLink
from dragoman.io.net.targets import Target
from tests.daemons import PATIENCE, Cli
from tests.support.hostile_daemon import RAW_KINDS, VALUE_KINDS

ROOT = Path(__file__).parents[3]
PROGRAM = ROOT / "tests" / "support" / "hostile_daemon.py"
MEMORY = 1 << 30
"""Of addresses, which a Python process with a few libraries fills to a quarter."""
COMMANDS = (
    *("status", "doctor", "journal tail", "journal search x", "journal export", "terminals", "terminals export x"),
    *("history", "last", "last --failed", "last --output", "ask why", "report", "why -- true", "debug a.py"),
    *("debug sessions", "debug next", "debug output", "debug breaks", "trust --list", "trust /far", "approvals"),
    *("stop-waiting", "replay x"),
)
FLOODS = ("deep", "digits", "many_parts", "endless_line", "endless_noise", "endless_items", "welcomes")
WHOLE = bool(os.environ.get("TEST_REACH"))
# A brief selection, as each is a process of its own.
KINDS = (*VALUE_KINDS, *RAW_KINDS) if WHOLE else ("null", "infinite")


@pytest.fixture
def on(home: Path) -> str:
    """Names in the settings of a person: one per kind."""
    kinds = (
        "commands",
        "escapes",
        "endless_noise",
        "endless_frames",
        "odd_version",
        "never_reads",
        "welcomes",
        "endless_items",
    )
    command = [sys.executable, "-P", str(PROGRAM)]
    tables = (
        f"[targets.{kind}]\ncommand = {json.dumps([*command, kind])}\n" for kind in (*VALUE_KINDS, *RAW_KINDS, *kinds)
    )
    settings = Cli(home).paths.settings_file
    settings.parent.mkdir(parents=True, exist_ok=True)
    settings.write_text("".join(tables))
    return "--on"


def _require_clean(text: str) -> None:
    for bad in ("\x1b", "\x07", "\x9b", "\u202e", "Traceback"):
        assert bad not in text, ascii(text)


@pytest.mark.parametrize("command", COMMANDS)
def test_no_terminal_escape_of_another_machine_is_printed(
    on: str, command: str, capsys: pytest.CaptureFixture[str]
) -> None:
    words = command.split()
    status = run([words[0], on, "escapes", *words[1:]])
    printed = capsys.readouterr()
    _require_clean(printed.out + printed.err)
    assert "not_understood" not in printed.err
    assert "does not understand" not in printed.err, "the test's own answer has another shape"
    assert status in {ExitCode.OK, ExitCode.FAILED, ExitCode.PROGRAM_FAILED}


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("command", COMMANDS if WHOLE else ("status", "report", "history", "ask why", "trust --list"))
def test_an_answer_of_any_shape_is_an_error_in_a_sentence(
    on: str, command: str, kind: str, capsys: pytest.CaptureFixture[str]
) -> None:
    words = command.split()
    began = time.monotonic()
    status = run([words[0], on, kind, *words[1:]])
    printed = capsys.readouterr()
    _require_clean(printed.out + printed.err)
    assert status in {ExitCode.OK, ExitCode.FAILED, ExitCode.PROGRAM_FAILED}
    assert time.monotonic() - began < 30 * PATIENCE


def _target(kind: str) -> Target:
    return Target("far", (sys.executable, "-P", str(PROGRAM), kind))


@pytest.mark.parametrize("kind", ["welcomes", "endless_items", "wrong_id", "never_reads"])
def test_a_call_that_is_never_answered_ends_in_time(kind: str) -> None:
    """Whatever else arrives meanwhile."""
    link = RemoteLink.open(_target(kind))
    with ControlClient.over(link.socket, peer=DaemonPeer(is_far=True)) as client:
        began = time.monotonic()
        with pytest.raises(DragomanError) as caught:
            client.call("status", within_s=0.5)
        assert time.monotonic() - began < 5 * PATIENCE
    assert caught.value.code in {"not_answering", "not_dragoman"}


def test_frames_without_end_do_not_keep_a_command_waiting(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(remote_link, "READY_WITHIN_S", 0.5)
    began = time.monotonic()
    with pytest.raises(DragomanError) as caught:
        RemoteLink.open(_target("endless_frames"))
    assert caught.value.code == "not_answering"
    assert time.monotonic() - began < 5 * PATIENCE


def test_a_version_is_nothing_but_a_version() -> None:
    with pytest.raises(DragomanError) as caught:
        RemoteLink.open(_target("odd_version"))
    assert caught.value.code == "not_dragoman"
    assert "\x1b" not in str(caught.value)


@pytest.mark.parametrize("kind", FLOODS if WHOLE else ("many_parts", "endless_line"))
@pytest.mark.parametrize("command", ("status", "report") if WHOLE else ("status",))
@pytest.mark.timeout(90)
def test_a_flood_from_another_machine_takes_little_memory_here(on: str, home: Path, kind: str, command: str) -> None:
    done = subprocess.run(
        Cli(home).command(command, on, kind),
        env=Cli(home).variables(),
        preexec_fn=lambda: resource.setrlimit(resource.RLIMIT_AS, (MEMORY, MEMORY)),
        capture_output=True,
        text=True,
        timeout=60 * PATIENCE,
        check=False,
    )
    assert done.returncode == ExitCode.FAILED
    _require_clean(done.stdout + done.stderr)
    assert done.stderr.startswith("dragoman: ")


def test_a_debug_adapter_of_another_machine_starts_nothing_here(on: str, home: Path) -> None:
    """It asks for a terminal and for another session, and is refused; then it sends what is no message."""
    arguments = {"adapterID": "x", "supportsRunInTerminalRequest": True}
    first = json.dumps({"seq": 1, "type": "request", "command": "initialize", "arguments": arguments}).encode()
    with subprocess.Popen(
        Cli(home).command("dap", "--stdio", on, "commands"),
        env=Cli(home).variables(),
        stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.PIPE,
    ) as editor:  # fmt: skip
        assert editor.stdin is not None
        assert editor.stdout is not None
        assert editor.stderr is not None
        editor.stdin.write(b"Content-Length: %d\r\n\r\n%b" % (len(first), first))
        editor.stdin.flush()
        shown = editor.stdout.read()
        reason = editor.stderr.read().decode()
        assert editor.wait(20) == ExitCode.FAILED
    assert b"runInTerminal" not in shown
    assert b"startDebugging" not in shown
    assert b'"output":"here"' in shown
    assert b'"terminated"' in shown
    assert "is not Dragoman" in reason
