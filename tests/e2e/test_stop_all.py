"""`dragoman stop --all`: afterwards no agent does anything, and no program that was there before is harmed."""

from __future__ import annotations

import json
import shlex
import subprocess
import sys
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import psutil
import pytest

from dragoman.cli.output import ExitCode
from tests.daemons import Cli, cli_with_home, eventually
from tests.proving import calls, log_in
from tests.support.stdio_agent import StdioAgent, stdio_agent

pytestmark = pytest.mark.timeout(120)

BEATS = """\
import pathlib, time
import debugpy
_, port = debugpy.listen(("127.0.0.1", 0))
pathlib.Path("port").write_text(str(port))
count = 0
while True:
    count += 1
    pathlib.Path("beats").write_text(str(count))
    time.sleep(0.01)
"""
LAUNCHED = """\
import os, pathlib, time
pathlib.Path("pid").write_text(str(os.getpid()))
while True:
    time.sleep(0.01)
"""


def as_person(cli: Cli, folder: Path, *arguments: str) -> subprocess.CompletedProcess[str]:
    """From a terminal of its own: no program of these tests, which are the MCP client, is its ancestor."""
    script = '"$@" > out 2> err; echo $? > code.new; mv code.new code'
    subprocess.run(
        ["setsid", "--fork", "sh", "-c", script, "sh", *cli.command(*arguments)],
        env=cli.variables(), cwd=folder, check=True, stdin=subprocess.DEVNULL,
    )  # fmt: skip
    code = folder / "code"
    eventually(code.exists, within_s=30)
    out, err = ((folder / it).read_text() for it in ("out", "err"))
    done = subprocess.CompletedProcess(arguments, int(code.read_text()), out, err)
    code.unlink()
    return done


@contextmanager
def beating(folder: Path) -> Iterator[Path]:
    (folder / "beats.py").write_text(BEATS)
    with subprocess.Popen([sys.executable, "beats.py"], cwd=folder, stderr=subprocess.DEVNULL) as process:
        try:
            eventually((folder / "beats").exists, within_s=20)
            yield folder / "beats"
        finally:
            process.kill()


def beats_on(beats: Path) -> bool:
    before = beats.read_text()
    return bool(eventually(lambda: beats.read_text() not in {"", before}, within_s=5))


def code_of(answer: dict[str, Any]) -> str:
    result = answer["result"]
    assert result["isError"], result
    return str(result["structuredContent"]["code"])


def test_everything_of_agents_ends_at_once_and_nothing_begins_until_a_person_says_so(tmp_path: Path) -> None:
    work, person = tmp_path / "work", tmp_path / "person"
    work.mkdir()
    person.mkdir()
    (work / "app.py").write_text(LAUNCHED)
    with cli_with_home(tmp_path / "home") as cli, beating(work) as beats:
        assert cli("up", cwd=work).returncode == 0
        with stdio_agent(cli, cwd=work) as agent:
            _begin_everything(agent, work)
            assert stands(beats)
            afar = ("--on", "docker:no-such-container-here")
            ask = shlex.join(cli.command("trust", "/srv/shop", *afar))
            trusted = agent.data("run_in_terminal", command=f"DRAGOMAN_HOME={cli.home} {ask}", timeout_s=30)
            assert "Only a person can trust a folder" in trusted["output"], trusted
            agent.begin("tools/call", {"name": "wait_for_stop", "arguments": {"timeout_s": 60}})
            eventually((work / "slept").exists, within_s=20)
            refused = cli("stop", "--all", cwd=work)
            assert (refused.returncode, "Only a person can stop" in refused.stderr) == (ExitCode.FAILED, True), refused
            assert "not an agent" in cli("stop", "--all", "--undo", cwd=work).stderr
            assert "not an agent" in cli("stop", "--all", "--undo", *afar, cwd=work).stderr

            done = as_person(cli, person, "stop", "--all", "--json")
            assert done.returncode == ExitCode.OK, done.stderr
            stopped = json.loads(done.stdout)
            assert (stopped["agents_paused"], stopped["terminals"]) == (True, 2)
            assert stopped["calls"] >= 1
            assert sorted(it["program"] for it in stopped["sessions"]) == ["detached", "terminated"]
            assert code_of(agent.answer()) == "paused_by_person"
            assert beats_on(beats)
            eventually(lambda: not psutil.pid_exists(int((work / "pid").read_text())))
            eventually(lambda: not psutil.pid_exists(int((work / "slept").read_text())))

            assert code_of(agent.call("list_sessions")) == "paused_by_person"
            shell = cli("debug", "sessions", cwd=work)
            assert "A person has paused all agents." in shell.stderr, shell
            assert "Agents are paused" in cli("status").stdout
            assert cli("restart", "--yes", cwd=work).returncode == 0
            with calls(log_in(cli.paths)) as page:
                assert page.ask("/api/status").json()["agents_paused_since"]
                assert page.ask("/api/agents/continue", "POST", {}).json()["was_paused"] is True
                assert page.ask("/api/status").json()["agents_paused_since"] is None
        with stdio_agent(cli, cwd=work) as agent:
            assert agent.data("list_sessions")["sessions"] == []
        assert "Agents are not paused." in as_person(cli, person, "stop", "--all", "--undo").stdout


def stands(beats: Path) -> bool:
    before = beats.read_text()
    time.sleep(0.3)
    return beats.read_text() == before


def _begin_everything(agent: StdioAgent, work: Path) -> None:
    """A program that was there stands at a breakpoint, another is launched, and a command runs in a terminal."""
    where = {"host": "127.0.0.1", "port": int((work / "port").read_text())}
    attach = {"type": "debugpy", "request": "attach", "name": "a", "connect": where}
    agent.data("set_breakpoint", file_path="beats.py", line_number=8)
    assert agent.data("start_debugging", configuration=attach, timeout_s=20)["stop_event_data"]
    agent.data("start_debugging", program="app.py", timeout_s=0)
    eventually((work / "pid").exists, within_s=20)
    agent.data("run_in_terminal", command="echo $$ > slept; exec sleep 1000", timeout_s=1)


def test_without_a_daemon_nothing_is_started_and_without_all_it_is_down(tmp_path: Path) -> None:
    with cli_with_home(tmp_path / "home") as cli:
        assert cli("stop", "--all").returncode == ExitCode.NOT_RUNNING
        assert cli("stop", "--all", "--undo", "--json").returncode == ExitCode.NOT_RUNNING
        assert cli("status").returncode == ExitCode.NOT_RUNNING
        assert cli("up", cwd=tmp_path).returncode == ExitCode.OK
        both = cli("stop", "--all", "--on", "local", "--on", "docker:no-such-container-here", "--json")
        shown = json.loads(both.stdout)
        assert both.returncode == ExitCode.FAILED
        assert shown["local"]["agents_paused"] is True
        assert shown["docker:no-such-container-here"]["error"]["code"]
        assert "The daemon has stopped." in cli("stop").stdout
