"""Approvals at the command line: asked in a person's terminal, and nowhere else."""

from __future__ import annotations

import fcntl
import os
import pty
import shlex
import socket
import subprocess
import sys
import termios
from collections.abc import Iterator
from contextlib import contextmanager
from json import dumps
from pathlib import Path

import anyio.to_thread
import pytest

from dragoman.core.errors import DragomanError
from dragoman.servers.control.methods import require_person
from tests.daemons import Cli, call, cli_with_home, eventually
from tests.support.fake_model import Calls, Ends, FakeModel, Says, Step

pytestmark = pytest.mark.anyio

_ANSWERS = """
import sys
from dragoman.core.paths import find_paths
from dragoman.io.drivers.control_client import ControlClient
with ControlClient.open(find_paths()) as link:
    for one in link.call("approvals")["approvals"]:
        try:
            print(link.call("approval_answer", {"id": one["id"], "decision": "allow"}))
        except Exception as error:
            print("refused as", error.code)
"""
"""What an agent would do that speaks to the daemon itself."""

_AGENT = """
import pty, subprocess, sys
connected = subprocess.Popen([sys.executable, "-P", "-m", "dragoman.cli.main", "mcp"], stdin=-1, stdout=-1)
connected.stdin.write(sys.argv[2].encode() + b"\\n")
connected.stdin.flush()
connected.stdout.readline()
pty.spawn([sys.executable, "-c", sys.argv[1]])
connected.stdin.close()
connected.wait(60)
"""
"""A program that is connected as an MCP client, and opens a terminal by itself."""
_ABOUT = {"protocolVersion": "2025-06-18", "capabilities": {}, "clientInfo": {"name": "agent", "version": "1"}}
_FIRST = {"jsonrpc": "2.0", "id": 1, "method": "initialize", "params": _ABOUT}


class Terminal:
    """A terminal of a person's, with one command in its foreground."""

    def __init__(self, cli: Cli, *arguments: str, typed_ahead: str = "") -> None:
        self._ours, theirs = pty.openpty()
        os.write(self._ours, typed_ahead.encode())
        self._process = subprocess.Popen(
            cli.command(*arguments),
            env=cli.variables(),
            stdin=theirs,
            stdout=theirs,
            stderr=theirs,
            start_new_session=True,
            preexec_fn=lambda: fcntl.ioctl(0, termios.TIOCSCTTY, 0),  # noqa: PLW1509  one system call
        )
        os.close(theirs)
        self.shown = ""

    def until(self, words: str) -> None:
        while words not in self.shown:
            self._read()

    def type(self, text: str) -> None:
        os.write(self._ours, text.encode())

    def end(self) -> int:
        try:
            while True:
                self._read()
        except OSError:  # the last who had the terminal is gone
            os.close(self._ours)
            return self._process.wait(60)

    def _read(self) -> None:
        self.shown += os.read(self._ours, 4096).decode(errors="replace")


def _free_port() -> int:
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        return int(probe.getsockname()[1])


def _runs(command: str, then: str) -> list[list[Step]]:
    return [[Calls("run_in_terminal", [dumps({"command": command})]), Ends("tool_calls")], [Says([then]), Ends()]]


@contextmanager
def _daemon_that_is_its_own_gateway(home: Path, model: str) -> Iterator[Cli]:
    port = _free_port()
    variables = {
        "DRAGOMAN_PORT": str(port),
        "DRAGOMAN_GATEWAY_ADDRESS": f"ws://127.0.0.1:{port}/gateway",
        "DRAGOMAN_GATEWAY_TOKEN_FILE": str(Cli(home).paths.token_file("gateway")),
        "DRAGOMAN_MODEL": "openai",
        "DRAGOMAN_MODEL_NAME": "small",
        "DRAGOMAN_MODEL_ADDRESS": model,
        "SHELL": "/bin/bash",
    }
    workspace = home.parent / "workspace"
    workspace.mkdir()
    with cli_with_home(home, variables) as cli:
        assert cli("up", cwd=workspace).returncode == 0
        assert cli("trust", str(workspace)).returncode == 0
        eventually(lambda: call(cli.paths, "gateway_connect", {})["state"] == "connected")
        yield cli


async def test_a_person_answers_at_a_terminal_and_nobody_else_does(tmp_path: Path) -> None:
    made = [tmp_path / name for name in ("denied", "allowed", "later")]
    touch = [f"touch {shlex.quote(str(it))}" for it in made]
    inside = " ".join(map(shlex.quote, [sys.executable, "-P", "-m", "dragoman.cli.main", "approvals"]))
    inside += f"; {shlex.quote(sys.executable)} -c {shlex.quote(_ANSWERS)}"
    replies: list[list[Step]] = [
        *_runs(touch[0], "Not then."),
        *_runs(touch[1], "Made."),
        *_runs(touch[2], "")[:1],
        *_runs(inside, "I tried."),
        [Says(["At last."]), Ends()],
    ]
    async with FakeModel.running(*replies) as fake:
        await anyio.to_thread.run_sync(_played, tmp_path / "home", fake.address, made, touch)
        entries = [str(it["content"]) for it in fake.requests[6].body["messages"] if it["role"] == "tool"]
    assert "Answer on the page, in the editor" in entries[0]
    assert "Allow it?" not in entries[0]
    assert "refused as not_a_person" in entries[0]


def _played(home: Path, model: str, made: list[Path], touch: list[str]) -> None:
    denied, allowed, later = made
    with _daemon_that_is_its_own_gateway(home, model) as cli:
        # A yes that was typed before the question was there is no answer to it.
        hasty = Terminal(cli, "gateway", "chat", "go", typed_ahead="y\ny\n")
        hasty.until("Allow it? [y/N] ")
        assert f"    {touch[0]}" in hasty.shown
        hasty.type("\n")
        assert (hasty.end(), "Denied." in hasty.shown, "Not then." in hasty.shown) == (0, True, True), hasty.shown
        assert not denied.exists()

        person = Terminal(cli, "gateway", "chat", "go")
        person.until("Allow it? [y/N] ")
        person.type("y\n")
        assert (person.end(), "Allowed." in person.shown, "Made." in person.shown) == (0, True, True), person.shown
        assert allowed.exists()

        # Without a terminal it is told what waits, and nobody is asked.
        with cli.begin("gateway", "chat", "go", "--session", "other", start_new_session=True) as waiting:
            eventually(lambda: cli.json("approvals"))
            listed = cli("approvals", start_new_session=True)
            assert (listed.returncode, touch[2] in listed.stdout, "[y/N]" in listed.stderr) == (0, True, False)
            mute = subprocess.run(
                [sys.executable, "-c", _ANSWERS],
                env=cli.variables(), capture_output=True, text=True, check=False, start_new_session=True,
            )  # fmt: skip
            assert "refused as no_terminal" in mute.stdout, mute.stderr
            outer = subprocess.run(
                [sys.executable, "-c", _AGENT, _ANSWERS, dumps(_FIRST)],
                env=cli.variables(), stdin=subprocess.DEVNULL, capture_output=True, text=True, check=False,
                start_new_session=True, timeout=60,
            )  # fmt: skip
            assert "refused as not_a_person" in outer.stdout, outer
            # An agent's terminal is one too, and yet no person's.
            agent = Terminal(cli, "gateway", "chat", "go", "--session", "third")
            agent.until("Allow it? [y/N] ")
            agent.type("y\n")
            assert (agent.end(), "I tried." in agent.shown) == (0, True), agent.shown
            assert not later.exists()
            late = Terminal(cli, "approvals")
            late.until("Allow it? [y/N] ")
            late.type("y\n")
            assert (late.end(), "Allowed." in late.shown) == (0, True)
            result = waiting.communicate(timeout=60)[0]
        assert (touch[2] in result, "At last." in result, later.exists()) == (True, True, True), result
        assert "No pending approvals." in cli("approvals").stderr


def test_what_the_daemon_started_and_what_is_gone_are_not_persons() -> None:
    with subprocess.Popen(["sleep", "60"]) as child:
        for pid in (child.pid, 0, 2**22 - 1):
            with pytest.raises(DragomanError) as refused:
                require_person(pid)
            assert refused.value.code == "not_a_person"
        child.kill()
