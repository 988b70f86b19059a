"""The tools that run a command in a terminal and wait for its end: `run_in_terminal` and `wait_for_command`.

A command that still runs at the deadline is a result, not an error. In the agent's own terminal the command runs at
once. In a user's terminal it runs only after the user pressed a key there, which the wrapper reads from its own
terminal: nothing here can press it.
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import Annotated

import anyio
from pydantic import Field

from dragoman.core.clock import Clock
from dragoman.core.errors import DragomanError
from dragoman.core.localization import LocalizedText, localize
from dragoman.terminal.agent_terminals.pool import AgentTerminalPool
from dragoman.terminal.agent_terminals.terminal import PROMPT_WITHIN_S, AgentClient, AgentTerminal, key_bytes
from dragoman.terminal.consent import ConsentBroker
from dragoman.terminal.model import CommandFilter, RecordedCommand
from dragoman.terminal.service import TerminalService
from dragoman.tools.errors import cannot_ask, not_yours, terminal_busy
from dragoman.tools.terminal import text as take
from dragoman.tools.terminal.run_results import RunResults, TypedKeys, not_run
from dragoman.tools.terminal.scope import may_see_terminal, terminal_client
from dragoman.tools.terminal.text import (
    DEFAULT_WAIT_S,
    MAX_INPUT_CHARACTERS,
    MAX_KEYS,
    Seconds,
    TerminalId,
    TerminalTextFormatter,
)
from dragoman.tools.tool import RUNS_CODE, Parameters, ToolOutcome, tool
from dragoman.tools.waits import with_progress
from dragoman.workspace.caller import Caller

_ALTERNATIVES = ("command", "input", "keys", "interrupt")
# Characters that a shell's line editor would interpret, and that the user would not see in a question.
_CONTROL_CHARACTERS = re.compile("[\x00-\x08\x0b-\x1f\x7f\x80-\x9f]")
_FIRST_COMMAND_TIMEOUT_S = 0.25
# A shell starts a typed command within this time, whatever the caller's deadline is.
_START_TIMEOUT_S = 1.0
# The shell marks the end of a command in its terminal; the record arrives separately.
_RECORD_TIMEOUT_S = 15.0
_POLL_INTERVAL_S = 0.02
# A shell may report several lines as one with semicolons, or one after another.
_JOINS = re.compile(r"[\s;]+")


class RunInTerminalParameters(Parameters):
    command: Annotated[str, Field(max_length=MAX_INPUT_CHARACTERS, description="Shell command.")] = ""
    input: Annotated[str, Field(max_length=MAX_INPUT_CHARACTERS, description="Instead: type this; \\n is Enter.")] = ""
    keys: Annotated[
        tuple[Annotated[str, Field(max_length=40)], ...],
        Field(max_length=MAX_KEYS, description="Instead, or after input: key names: enter, up, ctrl-c, f1, q."),
    ] = ()
    interrupt: Annotated[bool, Field(description="Instead: Ctrl-C.")] = False
    terminal: Annotated[
        TerminalId,
        Field(description="Default: your own. In a person's terminal, that person must approve the command."),
    ] = ""
    cwd: Annotated[str, Field(max_length=4096, description="For new terminals. Default: the client's.")] = ""
    timeout_s: Seconds = DEFAULT_WAIT_S


class WaitForCommandParameters(Parameters):
    terminal: Annotated[TerminalId, Field(description="Default: your last used.")] = ""
    next: Annotated[bool, Field(description="Ignore a finished one; wait for the next.")] = False
    timeout_s: Seconds = DEFAULT_WAIT_S


@dataclass(frozen=True, slots=True)
class RunInTerminalTools:
    service: TerminalService
    own: AgentTerminalPool
    wrappers: ConsentBroker
    texts: TerminalTextFormatter
    clock: Clock

    @tool(
        "run_in_terminal",
        "Run in a terminal",
        (
            "Use for commands that people may watch, that run long or ask for input: runs one in your own "
            "terminal and waits, or types into a running one. status: completed, running (timed out: use "
            "wait_for_command), idle, refused, no_answer."
        ),
        RunInTerminalParameters,
        take.RunInTerminalResult,
        RUNS_CODE,
    )
    async def run(self, caller: Caller, wanted: RunInTerminalParameters) -> ToolOutcome:
        _require_one_alternative(wanted)
        client = terminal_client(caller)
        own = self.own.find(client, wanted.terminal) if wanted.terminal else None
        if wanted.terminal and own is None:
            return await self._in_persons_terminal(caller, wanted)
        await self.own.require_trust(client)
        if not wanted.command:
            return await self._typed(caller, own or self._current_terminal(client), wanted)
        own = await self._reserved(client, own, wanted)
        try:
            return await self._command(caller, own, wanted)
        finally:
            own.release()

    @tool(
        "wait_for_command",
        "Wait for a command",
        (
            "Wait for a running command to end. Returns its output (in your terminal: since your last call) "
            "as run_in_terminal."
        ),
        WaitForCommandParameters,
        take.RunInTerminalResult,
    )
    async def wait(self, caller: Caller, wanted: WaitForCommandParameters) -> ToolOutcome:
        """Wait for a command. One that has already ended is returned at once, unless the next one is wanted."""
        client = terminal_client(caller)
        own = self.own.find(client, wanted.terminal) if wanted.terminal else self._current_terminal(client)
        terminal_id = own.id if own else wanted.terminal
        seen = self.service.terminal(terminal_id)
        last = await self._last(terminal_id)
        if not may_see_terminal(caller, seen, last):
            raise not_yours(terminal=terminal_id)
        if seen.running is None and not wanted.next:
            return await self._result(terminal_id, own, last)
        return await self._wait_for_result(caller, terminal_id, last, wanted.timeout_s, own=own)

    @property
    def _answers(self) -> RunResults:
        return RunResults(self.service, self.texts)

    # In the agent's own terminal.

    async def _reserved(
        self, client: AgentClient, own: AgentTerminal | None, wanted: RunInTerminalParameters
    ) -> AgentTerminal:
        if own is None:
            cwd = Path(client.cwd, wanted.cwd) if wanted.cwd else None
            return await self.own.acquire(client, cwd, wanted.timeout_s)
        if self.service.terminal(own.id).running is None:
            await own.wait_ready(PROMPT_WITHIN_S if own.has_marks else 0)
        if not self.own.reserve(own):
            raise terminal_busy(terminal=own.id)
        return own

    def _current_terminal(self, client: AgentClient) -> AgentTerminal:
        """The last used terminal with a running command, else the last used one."""
        known = self.own.of(client)
        if not known:
            raise DragomanError(
                "no_terminal",
                localize("You have no terminal of your own."),
                hint=localize("run_in_terminal with a command opens one."),
            )
        return next((it for it in known if self.service.terminal(it.id).running is not None), known[0])

    async def _command(self, caller: Caller, own: AgentTerminal, wanted: RunInTerminalParameters) -> ToolOutcome:
        last = None if own.has_marks else await self._last(own.id)
        self.own.mark_used(own)
        await own.run(wanted.command)
        if not own.has_marks:
            return await self._wait_for_result(caller, own.id, last, wanted.timeout_s, own=own)
        act = partial(self._wait_for_end, own, wanted.timeout_s)
        ended = await with_progress(caller, self.clock, self._waiting(own.id), wanted.timeout_s, act)
        return await self._answers.of_own(own, ended)

    async def _wait_for_end(self, own: AgentTerminal, within_s: float) -> RecordedCommand | None:
        until_s = self.clock.monotonic_s() + within_s
        if not await own.wait_for_start(max(within_s, _START_TIMEOUT_S)):
            return None
        command_id = own.command_id
        if not await own.wait_for_finish(command_id, until_s - self.clock.monotonic_s()):
            await self._wait_for_record(own.id)
            return None
        if not command_id:  # the settings exclude this command from the record
            return None
        ended = await self.service.wait_for_end(own.id, command_id, within_s=_RECORD_TIMEOUT_S)
        await own.wait_ready(PROMPT_WITHIN_S)
        return ended

    async def _wait_for_record(self, terminal_id: str) -> None:
        """Wait until the record has the command that the shell reported: results are built from the record."""
        with anyio.move_on_after(_START_TIMEOUT_S):
            while self.service.terminal(terminal_id).running is None:  # noqa: ASYNC110  it tells nobody
                await anyio.sleep(_POLL_INTERVAL_S)

    async def _typed(self, caller: Caller, own: AgentTerminal, wanted: RunInTerminalParameters) -> ToolOutcome:
        """Type keys, and wait until the program has responded."""
        self.own.mark_used(own)
        typing = TypedKeys(self.service, own, self.clock, after_interrupt=wanted.interrupt)
        act = partial(typing.response, _keys(own, wanted), wanted.timeout_s)
        response = await with_progress(caller, self.clock, self._waiting(own.id), wanted.timeout_s, act)
        return await self._answers.of_typing(own, response)

    # In a user's terminal.

    async def _in_persons_terminal(self, caller: Caller, wanted: RunInTerminalParameters) -> ToolOutcome:
        seen = self.service.terminal(wanted.terminal)
        if not wanted.command or seen.terminal.owner == "agent":
            raise not_yours(terminal=wanted.terminal)
        last = await self._last(wanted.terminal)
        began = self.clock.monotonic_s()
        by = terminal_client(caller).id
        ask = partial(self.wrappers.ask_to_run, wanted.terminal, wanted.command, by=by, within_s=wanted.timeout_s)
        what = localize("Asking the user at {terminal}.", terminal=self.texts.line(wanted.terminal, 200))
        verdict = await with_progress(caller, self.clock, what, wanted.timeout_s, ask)
        if verdict == "cannot":
            raise cannot_ask(terminal=wanted.terminal)
        if verdict != "accepted":
            return not_run(self.texts.line(wanted.terminal, 200), verdict)
        left = max(0.0, wanted.timeout_s - (self.clock.monotonic_s() - began))
        return await self._wait_for_result(caller, wanted.terminal, last, left, line=wanted.command)

    # In both.

    def _waiting(self, terminal_id: str) -> LocalizedText:
        return localize("Waiting for the command in {terminal}.", terminal=self.texts.line(terminal_id, 200))

    async def _wait_for_result(
        self,
        caller: Caller,
        terminal_id: str,
        last: RecordedCommand | None,
        within_s: float,
        *,
        line: str = "",
        own: AgentTerminal | None = None,
    ) -> ToolOutcome:
        act = partial(self._ended, terminal_id, last.id if last else "", within_s, line)
        ended = await with_progress(caller, self.clock, self._waiting(terminal_id), within_s, act)
        return await self._result(terminal_id, own, ended)

    async def _result(self, terminal_id: str, own: AgentTerminal | None, ended: RecordedCommand | None) -> ToolOutcome:
        return await (self._answers.of_own(own, ended) if own else self._answers.of(terminal_id, ended))

    async def _ended(self, terminal_id: str, after: str, within_s: float, line: str) -> RecordedCommand | None:
        """Wait for the end of the command with this line. Other commands may end first in a user's terminal."""
        until = self.clock.monotonic_s() + within_s
        while (left := until - self.clock.monotonic_s()) >= 0:
            command = await self._next(terminal_id, after, left)
            if command is not None and (not line or _ends_with(self.texts.redactor.line(line), command)):
                return command
            after = command.id if command is not None else after
            if left == 0:
                break
        return None

    async def _next(self, terminal_id: str, after: str, within_s: float) -> RecordedCommand | None:
        """The next command. The first command of a terminal may have ended before the wait began."""
        if after:
            return await self.service.wait_for_command(terminal_id, after=after, within_s=within_s)
        least = min(within_s, _FIRST_COMMAND_TIMEOUT_S)
        return await self._last(terminal_id) or await self.service.wait_for_command(terminal_id, within_s=least)

    async def _last(self, terminal_id: str) -> RecordedCommand | None:
        found = await self.service.commands(CommandFilter(terminal=terminal_id), limit=1)
        return found[0] if found else None


def _keys(own: AgentTerminal, wanted: RunInTerminalParameters) -> bytes:
    if wanted.interrupt:
        return b"\x03"
    text = wanted.input.replace("\r\n", "\n").replace("\n", "\r").encode(errors="replace")
    return text + key_bytes(wanted.keys, application=own.application_keys)


def _ends_with(line: str, command: RecordedCommand) -> bool:
    recorded_line = _JOINS.sub("", command.line)
    return bool(recorded_line) and _JOINS.sub("", line).endswith(recorded_line)


def _require_one_alternative(wanted: RunInTerminalParameters) -> None:
    given = {name for name in _ALTERNATIVES if getattr(wanted, name)}
    if len(given) != 1 and given != {"input", "keys"}:
        raise DragomanError(
            "bad_arguments",
            localize("Pass one of `command`, `input`, `keys` and `interrupt`; `input` and `keys` can be combined."),
            hint=localize("`command` runs in a shell; the others go to the running program."),
        )
    key_bytes(wanted.keys)
    if wanted.command and (_CONTROL_CHARACTERS.search(wanted.command) or not wanted.command.strip()):
        raise DragomanError(
            "bad_arguments",
            localize("The command is empty or has control characters other than tabs and newlines."),
            hint=localize("Send keys for a running program with `input` or `keys`."),
        )
