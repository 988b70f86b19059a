"""The tools that run a command in a terminal, and wait for its end. Still running at the deadline is an answer.

In a terminal of the agent's own it runs at once; in a person's only after that person pressed a key there, which the
wrapper reads from its own terminal. Nothing here can press it.
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from functools import partial
from pathlib import Path

import anyio

from dragoman.clock import Clock
from dragoman.errors import DragomanError
from dragoman.phrases import Phrase, say
from dragoman.terminal.agent_terminal import PROMPT_WITHIN_S, AgentTerminal, Client
from dragoman.terminal.agent_terminals import AgentTerminals
from dragoman.terminal.key_names import bytes_of
from dragoman.terminal.model import Command
from dragoman.terminal.service import TerminalService
from dragoman.terminal.told import CommandFilter
from dragoman.terminal.wrappers import Wrappers
from dragoman.tools.operation import Caller, Outcome
from dragoman.tools.terminal import parameters as take
from dragoman.tools.terminal.patience import patiently
from dragoman.tools.terminal.run_answers import RunAnswers, not_run
from dragoman.tools.terminal.scope import client_of, may_see_terminal
from dragoman.tools.terminal.texts import Texts
from dragoman.tools.terminal.typing_wait import Typing

_WAYS = ("command", "input", "keys", "interrupt")
# What a shell's line editor would obey instead of running; a person who is asked would not see it.
_OBEYED = re.compile("[\x00-\x08\x0b-\x1f\x7f\x80-\x9f]")
_FIRST_LOOKED_FOR_S = 0.25
# Of a command that was typed: its shell takes it within this time, whatever the caller's deadline is.
_BEGUN_WITHIN_S = 1.0
# The shell says over its terminal that a command is over; its record comes by another way.
_RECORDED_WITHIN_S = 15.0
_LOOK_EVERY_S = 0.02
# A shell tells several lines as one with semicolons, or one after another.
_JOINS = re.compile(r"[\s;]+")


@dataclass(frozen=True, slots=True)
class RunningTools:
    service: TerminalService
    own: AgentTerminals
    wrappers: Wrappers
    texts: Texts
    clock: Clock

    async def run(self, caller: Caller, wanted: take.RunInTerminal) -> Outcome:
        _require_one_way(wanted)
        client = client_of(caller)
        own = self.own.find(client, wanted.terminal) if wanted.terminal else None
        if wanted.terminal and own is None:
            return await self._in_anothers(caller, wanted)
        await self.own.require_trust(client)
        if not wanted.command:
            return await self._typed(caller, own or self._busiest(client), wanted)
        own = await self._reserved(client, own, wanted)
        try:
            return await self._command(caller, own, wanted)
        finally:
            own.release()

    async def wait(self, caller: Caller, wanted: take.WaitForCommand) -> Outcome:
        """What ended meanwhile is told at once, unless the next one is wanted."""
        client = client_of(caller)
        own = self.own.find(client, wanted.terminal) if wanted.terminal else self._busiest(client)
        terminal_id = own.id if own else wanted.terminal
        seen = self.service.terminal(terminal_id)
        last = await self._last(terminal_id)
        if not may_see_terminal(caller, seen, last):
            raise _not_yours(terminal_id)
        if seen.running is None and not wanted.next:
            return await self._told(terminal_id, own, last)
        return await self._awaited(caller, terminal_id, last, wanted.timeout_s, own=own)

    @property
    def _answers(self) -> RunAnswers:
        return RunAnswers(self.service, self.texts)

    # In a terminal of the agent's own.

    async def _reserved(self, client: Client, own: AgentTerminal | None, wanted: take.RunInTerminal) -> AgentTerminal:
        if own is None:
            cwd = Path(client.cwd, wanted.cwd) if wanted.cwd else None
            return await self.own.take(client, cwd, wanted.timeout_s)
        if self.service.terminal(own.id).running is None:
            await own.wait_ready(PROMPT_WITHIN_S if own.has_marks else 0)
        if not self.own.reserve(own):
            raise _busy(own.id)
        return own

    def _busiest(self, client: Client) -> AgentTerminal:
        """The one used last in which something runs, else the one used last."""
        known = self.own.of(client)
        if not known:
            raise DragomanError(
                "no_terminal",
                say("You have no terminal of your own."),
                hint=say("run_in_terminal with a command opens one."),
            )
        return next((it for it in known if self.service.terminal(it.id).running is not None), known[0])

    async def _command(self, caller: Caller, own: AgentTerminal, wanted: take.RunInTerminal) -> Outcome:
        last = None if own.has_marks else await self._last(own.id)
        self.own.use(own)
        await own.run(wanted.command)
        if not own.has_marks:
            return await self._awaited(caller, own.id, last, wanted.timeout_s, own=own)
        act = partial(self._ended_by_id, own, wanted.timeout_s)
        ended = await patiently(caller, self.clock, self._waiting(own.id), wanted.timeout_s, act)
        return await self._answers.of_own(own, ended)

    async def _ended_by_id(self, own: AgentTerminal, within_s: float) -> Command | None:
        until_s = self.clock.monotonic_s() + within_s
        if not await own.wait_begun(max(within_s, _BEGUN_WITHIN_S)):
            return None
        command_id = own.command_id
        if not await own.wait_ended(command_id, until_s - self.clock.monotonic_s()):
            await self._begin_recorded(own.id)
            return None
        if not command_id:  # its settings keep this command out of the record
            return None
        ended = await self.service.wait_for_end(own.id, command_id, within_s=_RECORDED_WITHIN_S)
        await own.wait_ready(PROMPT_WITHIN_S)
        return ended

    async def _begin_recorded(self, terminal_id: str) -> None:
        """The shell has told it; the record hears of it by another way, and the answer is made of the record."""
        with anyio.move_on_after(_BEGUN_WITHIN_S):
            while self.service.terminal(terminal_id).running is None:  # noqa: ASYNC110  it tells nobody
                await anyio.sleep(_LOOK_EVERY_S)

    async def _typed(self, caller: Caller, own: AgentTerminal, wanted: take.RunInTerminal) -> Outcome:
        """What runs there, or is begun by these keys, until it has answered them."""
        self.own.use(own)
        typing = Typing(self.service, own, self.clock, patient=wanted.interrupt)
        act = partial(typing.settled, _keys(own, wanted), wanted.timeout_s)
        settled = await patiently(caller, self.clock, self._waiting(own.id), wanted.timeout_s, act)
        return await self._answers.of_typing(own, settled)

    # In a person's.

    async def _in_anothers(self, caller: Caller, wanted: take.RunInTerminal) -> Outcome:
        seen = self.service.terminal(wanted.terminal)
        if not wanted.command or seen.terminal.owner == "agent":
            raise _not_yours(wanted.terminal)
        last = await self._last(wanted.terminal)
        began = self.clock.monotonic_s()
        by = client_of(caller).id
        ask = partial(self.wrappers.ask_to_run, wanted.terminal, wanted.command, by=by, within_s=wanted.timeout_s)
        what = say("The person at {terminal} is asked.", terminal=self.texts.line(wanted.terminal, 200))
        verdict = await patiently(caller, self.clock, what, wanted.timeout_s, ask)
        if verdict == "cannot":
            raise _cannot_ask(wanted.terminal)
        if verdict != "accepted":
            return not_run(self.texts.line(wanted.terminal, 200), verdict)
        left = max(0.0, wanted.timeout_s - (self.clock.monotonic_s() - began))
        return await self._awaited(caller, wanted.terminal, last, left, line=wanted.command)

    # Both.

    def _waiting(self, terminal_id: str) -> Phrase:
        return say("Waiting for the command in {terminal}.", terminal=self.texts.line(terminal_id, 200))

    async def _awaited(
        self,
        caller: Caller,
        terminal_id: str,
        last: Command | None,
        within_s: float,
        *,
        line: str = "",
        own: AgentTerminal | None = None,
    ) -> Outcome:
        act = partial(self._ended, terminal_id, last.id if last else "", within_s, line)
        ended = await patiently(caller, self.clock, self._waiting(terminal_id), within_s, act)
        return await self._told(terminal_id, own, ended)

    async def _told(self, terminal_id: str, own: AgentTerminal | None, ended: Command | None) -> Outcome:
        return await (self._answers.of_own(own, ended) if own else self._answers.of(terminal_id, ended))

    async def _ended(self, terminal_id: str, after: str, within_s: float, line: str) -> Command | None:
        """In a person's terminal others may end first; only the one with this line, or its last one, is meant."""
        until = self.clock.monotonic_s() + within_s
        while (left := until - self.clock.monotonic_s()) >= 0:
            command = await self._next(terminal_id, after, left)
            if command is not None and (not line or _ends_with(self.texts.redactor.line(line), command)):
                return command
            after = command.id if command is not None else after
            if left == 0:
                break
        return None

    async def _next(self, terminal_id: str, after: str, within_s: float) -> Command | None:
        """The first command of a terminal may have ended before anybody could wait for it."""
        if after:
            return await self.service.wait_for_command(terminal_id, after=after, within_s=within_s)
        least = min(within_s, _FIRST_LOOKED_FOR_S)
        return await self._last(terminal_id) or await self.service.wait_for_command(terminal_id, within_s=least)

    async def _last(self, terminal_id: str) -> Command | None:
        found = await self.service.commands(CommandFilter(terminal=terminal_id), limit=1)
        return found[0] if found else None


def _keys(own: AgentTerminal, wanted: take.RunInTerminal) -> bytes:
    if wanted.interrupt:
        return b"\x03"
    text = wanted.input.replace("\r\n", "\n").replace("\n", "\r").encode(errors="replace")
    return text + bytes_of(wanted.keys, application=own.application_keys)


def _ends_with(line: str, command: Command) -> bool:
    told = _JOINS.sub("", command.line)
    return bool(told) and _JOINS.sub("", line).endswith(told)


def _require_one_way(wanted: take.RunInTerminal) -> None:
    given = {name for name in _WAYS if getattr(wanted, name)}
    if len(given) != 1 and given != {"input", "keys"}:
        raise DragomanError(
            "bad_arguments",
            say("Give one of `command`, `input`, `keys` and `interrupt`; `input` and `keys` go together."),
            hint=say("A command runs in a shell; the others go to what runs already."),
        )
    bytes_of(wanted.keys)
    if wanted.command and (_OBEYED.search(wanted.command) or not wanted.command.strip()):
        raise DragomanError(
            "bad_arguments",
            say("A command line has letters, and no control characters but tabs and line ends."),
            hint=say("Keys for a running program go into `input` or `keys`."),
        )


def _busy(terminal_id: str) -> DragomanError:
    return DragomanError(
        "terminal_busy",
        say("A command still runs in {terminal}.", terminal=terminal_id),
        hint=say("wait_for_command waits for it, `interrupt` ends it; without `terminal` another one is taken."),
    )


def _not_yours(terminal_id: str) -> DragomanError:
    return DragomanError(
        "not_yours",
        say("{terminal} is not a terminal of your own that lives.", terminal=ascii(terminal_id[:100])),
        hint=say("Into a person's terminal only a command can be put, and its person decides. list_terminals has all."),
    )


def _cannot_ask(terminal_id: str) -> DragomanError:
    return DragomanError(
        "cannot_ask",
        say("The person at {terminal} cannot be asked.", terminal=ascii(terminal_id[:100])),
        hint=say("Its wrapper is gone or cannot ask. Without `terminal` the command runs in a terminal of your own."),
    )
