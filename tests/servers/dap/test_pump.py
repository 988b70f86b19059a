"""`dragoman dap --stdio`: bytes to the daemon and back, and plain words where there is none."""

from __future__ import annotations

import signal
import subprocess
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from tests.daemons import PATIENCE, Cli, cli_with_home, eventually
from tests.servers.dap.conftest import IN_LOOP, Agent
from tests.servers.dap.editor import Editor, at_pump


def process_of(editor: Editor) -> subprocess.Popen[bytes]:
    process: Any = editor.process  # type: ignore[attr-defined]
    return process  # type: ignore[no-any-return]


@pytest.fixture
def homeless(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Cli]:
    with cli_with_home(tmp_path_factory.mktemp("h"), {"DRAGOMAN_PORT": "0"}) as cli:
        yield cli


def test_an_editor_that_knows_only_executables_joins_by_the_id(agent: Agent, daemon: Cli, program: Path) -> None:
    session = agent.stopped_at(program, IN_LOOP)["session_id"]
    with at_pump(daemon, "--attach", session) as editor:
        assert editor.initialize()["supportsSetVariable"], "the session's own, from the first answer on"
        begun = editor.begin("launch", type="dragoman")
        editor.event("initialized")
        editor.ask("configurationDone")
        editor.answer(begun)
        editor.event("stopped")
        editor.ask("disconnect")
        editor.ends()
        assert process_of(editor).wait(10 * PATIENCE) == 0


def test_a_missing_daemon_is_reported_to_the_person_and_to_the_editor(homeless: Cli) -> None:
    with at_pump(homeless, "--attach", "debug-1") as editor:
        code, text = editor.refused("initialize", adapterID="dragoman")
        assert code == "not_running"
        editor.ends()
        assert process_of(editor).wait(10 * PATIENCE) == 3
        stderr = process_of(editor).stderr
        assert stderr is not None
        assert text.split(".")[0] in stderr.read().decode()


def test_an_unknown_session_is_reported_with_the_known_ones(agent: Agent, daemon: Cli, program: Path) -> None:
    session = agent.stopped_at(program, IN_LOOP)["session_id"]
    with at_pump(daemon, "--attach", "debug-none") as editor:
        code, text = editor.refused("initialize", adapterID="dragoman")
        assert code == "unknown_session"
        assert session in text
        assert process_of(editor).wait(10 * PATIENCE) == 1


def test_without_a_session_the_daemon_is_started(homeless: Cli, program: Path, tmp_path: Path) -> None:
    with at_pump(homeless, cwd=tmp_path) as editor:
        editor.launch(dragomanType="python", program=str(program))
        assert editor.event("exited")["exitCode"] == 0
        assert "result 20" in editor.output()


def test_a_daemon_that_ends_ends_the_editors_session_in_order(homeless: Cli, program: Path, tmp_path: Path) -> None:
    with at_pump(homeless, cwd=tmp_path) as editor:
        editor.launch({program: [IN_LOOP]}, dragomanType="python", program=str(program))
        editor.event("stopped")
        assert homeless("down", "--yes").returncode == 0
        editor.event("terminated")
        editor.ends()
        assert process_of(editor).wait(10 * PATIENCE) == 0


def test_a_daemon_that_is_killed_ends_the_pump_cleanly(homeless: Cli, program: Path, tmp_path: Path) -> None:
    with at_pump(homeless, cwd=tmp_path) as editor:
        editor.launch({program: [IN_LOOP]}, dragomanType="python", program=str(program))
        editor.event("stopped")
        homeless.kill()
        editor.ends()
        assert process_of(editor).wait(10 * PATIENCE) == 0


def test_it_ends_with_a_signal_and_with_its_editor(daemon: Cli) -> None:
    with at_pump(daemon) as editor:
        editor.initialize()
        process_of(editor).send_signal(signal.SIGTERM)
        assert process_of(editor).wait(10 * PATIENCE) == 0
    with at_pump(daemon) as editor:
        editor.begin("initialize", adapterID="dragoman")
        stdin = process_of(editor).stdin
        assert stdin is not None
        stdin.close()
        assert editor.answer(1)["success"], "who has said everything still hears the answer"
        assert process_of(editor).wait(10 * PATIENCE) == 0


def test_without_stdio_it_says_what_it_is_for(daemon: Cli) -> None:
    asked = daemon("dap")
    assert asked.returncode == 1
    assert "--stdio" in asked.stderr
    assert str(daemon.paths.state_file) in asked.stderr
    assert "--read-only" in daemon("dap", "--help").stdout


def test_a_session_that_an_editor_follows_is_not_ended_as_unused(
    tmp_path_factory: pytest.TempPathFactory, program: Path, tmp_path: Path
) -> None:
    hasty = {"DRAGOMAN_PORT": "0", "DRAGOMAN_SESSION_LINGER_S": "1"}
    with cli_with_home(tmp_path_factory.mktemp("h"), hasty) as cli, at_pump(cli, cwd=tmp_path) as editor:
        editor.launch({program: [IN_LOOP]}, dragomanType="python", program=str(program))
        thread = editor.event("stopped")["threadId"]
        (session,) = [it["id"] for it in cli.status()["sessions"]]
        passed = time.monotonic() + 2.5  # its linger, and the look for the unused twice in that time
        eventually(lambda: time.monotonic() > passed)
        assert editor.frames(thread)
        editor.ask("disconnect")
        eventually(lambda: session not in [it["id"] for it in cli.status()["sessions"]])
