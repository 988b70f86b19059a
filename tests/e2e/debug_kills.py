"""Whoever takes part in a debug session is killed or halted at any moment, under a client that stays.

A few rounds in every test run, many in `tests.soak`. What is chosen follows from the seed; the moments themselves are
the machine's.
"""

from __future__ import annotations

import contextlib
import random
import signal
import time
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import psutil

from tests.daemons import Cli, daemons_of, eventually
from tests.hostile import Agent, agent_with

_GUARD = "dragoman.io.processes.fork_server"
_ANSWERED_WITHIN_S = 30.0
_GONE_WITHIN_S = 15.0

Find = Callable[[Cli, Agent], list[psutil.Process]]


def _daemon(cli: Cli, _: Agent) -> list[psutil.Process]:
    return daemons_of(cli.home)


def _adapter(_: Cli, agent: Agent) -> list[psutil.Process]:
    return [it for it in agent.family() if any("debugpy" in word and "launcher" not in word for word in words_of(it))]


def _program(_: Cli, agent: Agent) -> list[psutil.Process]:
    return [it for it in agent.family() if "busy" in words_of(it)][-1:]


def _supervisor(cli: Cli, _: Agent) -> list[psutil.Process]:
    return helpers_of(cli)[1:]


def _fork_server(cli: Cli, _: Agent) -> list[psutil.Process]:
    return helpers_of(cli)[:1]


VICTIMS: dict[str, Find] = {
    "daemon": _daemon,
    "adapter": _adapter,
    "program": _program,
    "supervisor": _supervisor,
    "guard": _fork_server,
}
# A halted daemon answers nobody: that is another test's business.
HALTED = ("adapter", "program", "supervisor")


def words_of(process: psutil.Process) -> list[str]:
    with contextlib.suppress(psutil.Error):
        return list(process.cmdline())
    return []


def helpers_of(cli: Cli) -> list[psutil.Process]:
    """The guard first, then its supervisors."""
    found = []
    for process in psutil.process_iter():
        with contextlib.suppress(psutil.Error):
            mine = process.environ().get("DRAGOMAN_HOME") == str(cli.home)
            if mine and any(_GUARD in word for word in process.cmdline()) and process.status() != "zombie":
                found.append(process)
    return sorted(found, key=lambda it: (it.create_time(), it.pid))


@dataclass
class DebugKills:
    cli: Cli
    workspace: Path
    seed: int

    def rounds(self, count: int) -> Iterator[str]:
        """What was done, round by round; the client is the same all the time."""
        dice = random.Random(self.seed)
        with agent_with(self.cli, self.workspace, "python") as agent:
            agent.call("set_breakpoint", file_path="processes.py", line_text="stop here")
            for number in range(count):
                result = self._round(agent, dice)
                self._require_usable(agent, f"seed {self.seed}, round {number}: {result}")
                yield result

    def _round(self, agent: Agent, dice: random.Random) -> str:
        number = signal.SIGSTOP if dice.random() < 0.25 else signal.SIGKILL
        name = dice.choice(HALTED if number == signal.SIGSTOP else tuple(VICTIMS))
        moment = dice.choice(("starting", "stopped", "running"))
        waiting = self._brought_to(moment, agent, dice)
        struck = [_strike(it, number) for it in VICTIMS[name](self.cli, agent)]
        _answered(agent, waiting)
        if number == signal.SIGSTOP:
            agent.client.begin_call("stop_debugging")
        return f"{number.name} of {name} while {moment}, {len(struck)} hit"

    def _brought_to(self, moment: str, agent: Agent, dice: random.Random) -> int:
        """The id of a call that is open when it happens."""
        id = agent.client.begin_call("start_debugging", program="processes.py", args=["busy"], timeout_s=10)
        if moment == "starting":
            time.sleep(dice.random())
            return id
        _answered(agent, id)
        if moment == "running":
            return agent.client.begin_call("continue_debugging", timeout_s=2)
        return agent.client.begin_call("evaluate_expression", expression="__import__('time').sleep(1)", timeout_s=2)

    def _require_usable(self, agent: Agent, story: str) -> None:
        """The next call is answered, nothing of the session is left, and a new one begins."""
        try:
            for session in _called(agent, "list_sessions")["sessions"]:
                if session["state"] not in {"Terminated", "Terminating"}:
                    _called(agent, "stop_debugging", session_id=session["session_id"])
            eventually(lambda: not agent.family(), within_s=_GONE_WITHIN_S)
            eventually(lambda: len(helpers_of(self.cli)) <= 1, within_s=_GONE_WITHIN_S)
            started = _called(agent, "start_debugging", program="names.py")
            assert started["status"] == "completed", started
            assert "总计 42" in started["output"]
        except (AssertionError, KeyError) as error:
            left = [words_of(it)[:6] for it in (*agent.family(), *helpers_of(self.cli))]
            raise AssertionError(f"{story}; left: {left}") from error


def _strike(process: psutil.Process, number: signal.Signals) -> int:
    with contextlib.suppress(psutil.Error):
        process.send_signal(number)
    return process.pid


def _answered(agent: Agent, id: int) -> dict[str, Any]:
    """Whatever it says, it must be answered."""
    return agent.client.answer(id, within_s=_ANSWERED_WITHIN_S)


def _called(agent: Agent, tool: str, **arguments: Any) -> dict[str, Any]:
    message = _answered(agent, agent.client.begin_call(tool, **arguments))
    if message.get("error", {}).get("data", {}).get("code") == "daemon_restarted":
        message = _answered(agent, agent.client.begin_call(tool, **arguments))
    assert "result" in message, message
    answer: dict[str, Any] = message["result"]["structuredContent"]
    return answer
