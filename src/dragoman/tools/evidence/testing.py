"""The tool `debug_test`: one test or a command that runs tests, and the assertion that fails."""

from __future__ import annotations

import re
import shlex
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path

from dragoman.clock import Clock
from dragoman.debug.evidence.command_lines import Runnable, read_command
from dragoman.debug.evidence.crash import Crash
from dragoman.debug.evidence.failing_test import Tested, tested
from dragoman.debug.evidence.node_commands import command_of_test
from dragoman.phrases import Phrase, say
from dragoman.tools.debug.client import client_of
from dragoman.tools.debug.failures import ToolError
from dragoman.tools.evidence.answers import ExceptionSeen, TestFailure, TestSeen
from dragoman.tools.evidence.crashing import Crashing, cause_lines, frame_lines
from dragoman.tools.evidence.ends import end_lines
from dragoman.tools.evidence.parameters import TestWanted
from dragoman.tools.evidence.room import Room
from dragoman.tools.operation import Caller, Outcome
from dragoman.tools.showing import one_line
from dragoman.words import labelled

_MESSAGE = 1000
_NAME = 200
_NAMES = 100
_NAMES_IN_TEXT = 10
_MESSAGE_IN_TEXT = 600

_OF_JAVASCRIPT = re.compile(r".+\.(?:test|spec)\.[cm]?[jt]sx?")
# How the id of a test says whose it is: the first that fits.
_BY_ID: Mapping[str, str] = {
    r".+\.py(::.+)?": "pytest {id}",
    r".+\.rb": "ruby {id}",
    r"(Test|Example|Fuzz|Benchmark)\w+(/.+)?": "go test -run ^{id}$ .",
    r"[A-Za-z_]\w*(\.\w+)+": "python -m unittest {id}",
}


@dataclass(frozen=True, slots=True)
class Testing:
    room: Room
    crashing: Crashing
    clock: Clock

    async def run(self, caller: Caller, wanted: TestWanted) -> Outcome:
        what = runnable(caller, wanted)
        found = await self.tested(caller, what, wanted.timeout_s)
        answer = self.answer(caller, found)
        return Outcome(test_lines(answer), answer)

    async def tested(self, caller: Caller, what: Runnable, within_s: float) -> Tested:
        async def act() -> Tested:
            lines = self.crashing.lines(caller)
            return await tested(self.room.evidence, client_of(caller), what, lines, within_s, self.clock)

        return await self.room.awaited(caller, "debug_test", within_s, act)

    def answer(self, caller: Caller, found: Tested) -> TestSeen:
        return TestSeen(
            status="success",
            verdict=found.verdict,
            seconds=round(found.seconds, 2),
            failed=[one_line(it, _NAME) for it in found.names[:_NAMES]] or None,
            failures=[self._failure(caller, it) for it in found.failures] or None,
            ended=self.room.ends.data(caller, found.end).model_copy(update={"frames": None, "exception": None}),
        )

    def _failure(self, caller: Caller, crash: Crash) -> TestFailure:
        raised = crash.end.raised
        return TestFailure(
            exception=self._raised(raised.type, raised.message) if raised else None,
            caused_by=[self.crashing.cause(caller, it) for it in crash.causes] or None,
            frames=[self.crashing.frame(caller, it) for it in crash.frames],
        )

    def _raised(self, type: str, message: str) -> ExceptionSeen:
        return ExceptionSeen(type=one_line(type, _NAME), message=self.room.values.text(message, _MESSAGE))


def runnable(caller: Caller, wanted: TestWanted) -> Runnable:
    if bool(wanted.test) == bool(wanted.command):
        raise ToolError(
            "bad_arguments",
            say("Give either `test` or `command`."),
            hint=say("`test` is an id such as tests/test_app.py::test_it; `command` a line such as `go test ./...`."),
        )
    cwd = Path(caller.cwd) / Path(wanted.cwd).expanduser() if wanted.cwd else caller.cwd
    line = wanted.command or _command(wanted.test, cwd)
    return read_command(line, cwd, caller.environment, wanted.env, workspace=caller.workspace)


def _command(id: str, cwd: Path) -> str:
    template = command_of_test(id, cwd) if _OF_JAVASCRIPT.fullmatch(id) else ""
    template = template or next((it for pattern, it in _BY_ID.items() if re.fullmatch(pattern, id)), "")
    if not template:
        raise ToolError(
            "unknown_test",
            say("This id does not say which runner it belongs to."),
            hint=say("Give `command`, the whole line that runs it."),
        )
    return template.format(id=shlex.quote(id))


def test_lines(answer: TestSeen) -> list[Phrase]:
    heads = {
        "passed": say("passed in {seconds} s", seconds=answer.seconds),
        "failed": say("failed in {seconds} s", seconds=answer.seconds),
        "no tests": say("There was no test to run."),
        "limit": say("not over after {seconds} s", seconds=answer.seconds),
    }
    named = [labelled(say("failed"), _names(answer.failed))] if answer.failed else []
    told = named + [line for it in answer.failures or () for line in _failure_lines(it)]
    is_told = answer.verdict == "passed" or (answer.failures and answer.verdict != "limit")
    rest = [] if is_told else end_lines(answer.ended)
    return [heads[answer.verdict], *told, *rest]


def _names(failed: list[str]) -> str:
    more = len(failed) - _NAMES_IN_TEXT
    return ", ".join(failed[:_NAMES_IN_TEXT]) + (f", … (+{more})" if more > 0 else "")


def _failure_lines(failure: TestFailure) -> list[Phrase]:
    raised = failure.exception
    head = [say("{text}", text=one_line(f"{raised.type}: {raised.message}", _MESSAGE_IN_TEXT))] if raised else []
    causes = [line for it in failure.caused_by or () for line in cause_lines(it)]
    return [*head, *causes, *(line for it in failure.frames for line in frame_lines(it))]
