"""The link breaks in the middle of every kind of call: each ends with an answer or a clear error, and in time."""

from __future__ import annotations

import json
import shlex
import subprocess
import sys
import time
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import psutil
import pytest

from dragoman.cli.output import ExitCode
from dragoman.io.net.targets import find_target
from tests.daemons import PATIENCE, Cli, eventually
from tests.support.ssh_machine import PROXY, SshMachine
from tests.support.stdio_agent import stdio_agent

pytestmark = [pytest.mark.needs("sshd"), pytest.mark.timeout(240)]

COMMANDS = (
    *("status", "journal tail -n 5", "journal search started", "terminals", "history", "trust --list", "approvals"),
    *("debug sessions", "debug breaks", "debug app.py", "report", "doctor"),
)
# Others, which begin, end or change something: with two faults each.
CHANGING = (
    *("ask why", "last", "last --failed", "why app.py", "replay nothing", "trust /srv", "stop --all --undo"),
    *("debug next", "debug eval 1", "debug output", "debug stop", "stop-waiting", "setup"),
)
TOOLS: dict[str, dict[str, Any]] = {
    "list_sessions": {},
    "start_debugging": {"program": "app.py", "timeout_s": 0},
    "set_breakpoint": {"file_path": "app.py", "line_number": 2},
    "list_breakpoints": {},
    "wait_for_stop": {"timeout_s": 1},
    "get_output": {},
    "search_journal": {"query": "started"},
    "check": {"program": "app.py", "claims": [{"expression": "total == 1", "line_number": 2}]},
    "debug_test": {"test": "app.py::nothing"},
    "run_in_terminal": {"command": "true"},
}
# After these, a call must have failed in words; `bytewise` is slow and nothing else.
BREAKING = ("die", "cut", "drop", "duplicate", "flip", "insert", "drop_all")
PARTS = (0.35, 0.65, 0.9)
"""Of the bytes that a command receives; before the first of them are the greeting and the login script's words."""
CODES = {
    *(
        "link_lost",
        "far_side_failed",
        "not_dragoman",
        "far_side_silent",
        "unreachable",
        "target_missing",
        "login_refused",
    ),
    *("host_key_unknown", "not_installed", "peer_too_old", "peer_too_new", "far_error"),
}
IN_TIME_S = 12.0
"""The true 9 s of silence, 1 s until a killed command is gone, and the start of a process on a busy machine."""


@dataclass(frozen=True)
class FaultyLink:
    """Targets that are the other machine behind a proxy with one fault."""

    here: Cli
    machine: SshMachine
    folder: Path

    def run(self, command: str, *options: str) -> subprocess.CompletedProcess[str]:
        """The fault is between `ssh` and us, so that our own frames have to notice it."""
        target = find_target(self.machine.name, dict)
        proxied = [sys.executable, "-S", "-E", str(PROXY), *options, "run", *target.command]
        home = self.folder / f"near{abs(hash((command, options)))}"
        near = Cli(home, self.here.environment)
        near.paths.settings_file.parent.mkdir(parents=True, exist_ok=True)
        near.paths.settings_file.write_text(f"[targets.faulty]\ncommand = {json.dumps(proxied)}\n")
        words = shlex.split(command)
        folder = ["--workspace", str(self.machine.project)] if words[0] == "debug" else []
        return near(*words, *folder, "--on", "faulty", *(["--json"] if words[0] != "doctor" else []))

    def bytes_of(self, command: str) -> int:
        """How many bytes the near side receives for this command."""
        file = self.folder / "count"
        file.unlink(missing_ok=True)
        self.run(command, "--count", str(file))
        return int(eventually(file.read_text))


@pytest.fixture(scope="module")
def link(here: Cli, machine: SshMachine, tmp_path_factory: pytest.TempPathFactory) -> FaultyLink:
    (machine.project / "app.py").write_text("total = 1\nprint(total)\n")
    return FaultyLink(here, machine, tmp_path_factory.mktemp("f"))


def _require_clear(done: subprocess.CompletedProcess[str], *, may_succeed: bool) -> None:
    text = done.stdout + done.stderr
    assert "Traceback" not in text, text
    assert done.returncode in {ExitCode.OK, ExitCode.FAILED, ExitCode.PROGRAM_FAILED}
    if done.returncode == ExitCode.OK:
        assert may_succeed, f"an answer came through a broken link: {text}"
        return
    shown = _last_object(done.stdout)
    if "error" in shown:
        assert shown["error"]["code"] in CODES, shown
        assert shown["error"]["hint"], "what to do next is missing"
        assert "faulty" in shown["error"]["message"]


def _last_object(text: str) -> dict[str, dict[str, str]]:
    start = text.rfind('{\n  "error"')
    found: dict[str, dict[str, str]] = json.loads(text[start:]) if start >= 0 else {}
    return found


@pytest.mark.parametrize("fault", BREAKING)
@pytest.mark.parametrize("command", COMMANDS)
def test_a_call_over_a_broken_link_ends_with_a_clear_error(link: FaultyLink, command: str, fault: str) -> None:
    whole = link.bytes_of(command)
    places = [int(whole * part) for part in PARTS]
    began = time.monotonic()
    with ThreadPoolExecutor(len(places)) as pool:
        ended = list(pool.map(lambda after: link.run(command, "--fault", fault, "--after", str(after)), places))
    assert time.monotonic() - began < 2 * IN_TIME_S * PATIENCE  # those of `doctor` come one after another
    for done, part in zip(ended, PARTS, strict=True):
        # What follows the answer, the end of the stream, may break unnoticed; `doctor` reports what it met. Where the
        # rest arrives at once, its first copy is the whole answer.
        _require_clear(done, may_succeed=part == PARTS[-1] or command == "doctor" or fault == "duplicate")


@pytest.mark.parametrize("fault", ["die", "flip"])
@pytest.mark.parametrize("command", CHANGING)
def test_a_call_that_changes_something_ends_too(link: FaultyLink, command: str, fault: str) -> None:
    began = time.monotonic()
    done = link.run(command, "--fault", fault, "--after", "600")
    assert time.monotonic() - began < 2 * IN_TIME_S * PATIENCE
    assert "Traceback" not in done.stdout + done.stderr, done
    assert done.returncode != ExitCode.OK or "error" in done.stdout or done.stdout, done


@pytest.mark.parametrize("tool", TOOLS)
def test_a_tool_whose_link_dies_answers_and_the_next_call_connects_again(
    tool: str, here: Cli, machine: SshMachine
) -> None:
    with stdio_agent(here, "--on", machine.name, "--workspace", str(machine.project)) as agent:
        agent.data("list_sessions")
        links = [it for it in psutil.Process(agent.process.pid).children(recursive=True) if it.name() == "ssh"]
        agent.begin("tools/call", {"name": tool, "arguments": TOOLS[tool]})
        for it in links:
            it.kill()
        answer = agent.answer()
        assert "result" in answer or answer["error"]["data"]["code"] == "link_lost", answer
        agent.data("list_sessions")


@pytest.mark.parametrize("command", COMMANDS)
def test_one_byte_at_a_time_is_slow_and_right(link: FaultyLink, command: str) -> None:
    done = link.run(command, "--fault", "bytewise", "--after", "1")
    assert done.returncode == link.run(command).returncode, done.stdout + done.stderr


@pytest.mark.parametrize("fault", ["hang", "hang_to_near", "hang_to_far"])
def test_a_link_that_hangs_is_noticed_within_ten_seconds(link: FaultyLink, fault: str) -> None:
    """Every command at once, each in the middle of its answer."""
    wholes = {command: link.bytes_of(command) for command in COMMANDS if command != "doctor"}

    def ask(command: str) -> tuple[str, float, subprocess.CompletedProcess[str]]:
        began = time.monotonic()
        done = link.run(command, "--fault", fault, "--after", str(int(wholes[command] * 0.8)))
        return command, time.monotonic() - began, done

    with ThreadPoolExecutor(len(wholes)) as pool:
        for command, took, done in pool.map(ask, wholes):
            assert took < IN_TIME_S * PATIENCE, command
            _require_clear(done, may_succeed=fault == "hang_to_far")
