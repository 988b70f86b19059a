"""The tool `debug_last_failure`: the command that failed in a terminal, again, under the debugger."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import Protocol

from dragoman.debug.evidence.command_lines import Runnable, read_command
from dragoman.debug.evidence.run import Subject
from dragoman.debug.evidence.shell_words import cannot_debug
from dragoman.errors import DragomanError
from dragoman.phrases import Phrase, say
from dragoman.terminal.model import Command
from dragoman.tools.evidence.answers import CrashSeen, LastFailureSeen, TestSeen
from dragoman.tools.evidence.crashing import Crashing, crash_lines
from dragoman.tools.evidence.parameters import LastFailureWanted
from dragoman.tools.evidence.testing import Testing, test_lines
from dragoman.tools.operation import Caller, Outcome
from dragoman.tools.showing import one_line

_LINE = 300
_REDACTED = "<redacted "


class FailedCommands(Protocol):
    """The record of terminals, as far as this needs it."""

    async def last_failure(self, *, terminal: str = "", cwd: str = "", verified: bool = True) -> Command | None: ...

    async def command(self, command_id: str) -> Command: ...


@dataclass(frozen=True, slots=True)
class LastFailures:
    commands: FailedCommands
    crashing: Crashing
    testing: Testing

    async def debug(self, caller: Caller, wanted: LastFailureWanted) -> Outcome:
        command = await self._command(caller, wanted)
        what = _readable(command, caller)
        if what.runner:
            test = self.testing.answer(caller, await self.testing.tested(caller, what, wanted.timeout_s))
            return _outcome(command, test, test_lines(test), is_well=test.verdict == "passed")
        crash = await self.crashing.explained(caller, Subject(wish=what.wish), wanted.timeout_s)
        return _outcome(command, crash, crash_lines(crash), is_well=not crash.crashed)

    async def _command(self, caller: Caller, wanted: LastFailureWanted) -> Command:
        """Of the caller's workspace: what ran elsewhere is not for it to see, nor to run again."""
        own = caller.record_of
        found: Command | None
        if wanted.command_id:
            found = await self.commands.command(wanted.command_id)
        else:
            found = await self.commands.last_failure(terminal=wanted.terminal, cwd=own or "")
        if found is None or (own is not None and not f"{found.cwd}/".startswith(f"{own.rstrip('/')}/")):
            raise DragomanError(
                "no_failure",
                say("No command that failed is on record."),
                hint=say("Commands are recorded in terminals that were opened with `dragoman shell`."),
            )
        return found


def _readable(command: Command, caller: Caller) -> Runnable:
    """What a log can print is not run; nor half of a line."""
    if not command.verified:
        raise cannot_debug(
            say("Whether it was ever typed is not certain: text in a terminal can look like a command."),
            say("Ask the user, and give the command to debug_test or its program to explain_crash."),
        )
    if not command.line or _REDACTED in command.line:
        raise cannot_debug(
            say("Its line holds a secret, or was not kept."),
            say("Give its program to explain_crash, with what it needs in `env`."),
        )
    cwd = Path(command.cwd or caller.cwd)
    return read_command(command.line, cwd, caller.environment, workspace=caller.workspace)


def _outcome(command: Command, found: TestSeen | CrashSeen, lines: list[Phrase], *, is_well: bool) -> Outcome:
    answer = LastFailureSeen(
        status="success",
        command=one_line(command.line, _LINE),
        command_id=command.id,
        cwd=one_line(command.cwd, _LINE),
        failed_with=command.exit_code,
        fails_again=not is_well,
        test=found if isinstance(found, TestSeen) else None,
        crash=found if isinstance(found, CrashSeen) else None,
        ended=found.ended,
    )
    head = say("{text}", text=f"$ {answer.command}  [{answer.failed_with}]")
    well = [say("This time it did not fail.")] if is_well else []
    return Outcome([head, *well, *lines], answer)
