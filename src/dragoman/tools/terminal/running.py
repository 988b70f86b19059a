"""The tools that run a command in a terminal, and wait for its end. Still running at the deadline is an answer.

In a terminal of the agent's own it runs at once; in a person's only after that person pressed a key there, which the
wrapper reads from its own terminal. Nothing here can press it.
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from functools import partial
from pathlib import Path

from dragoman.clock import Clock
from dragoman.errors import DragomanError
from dragoman.phrases import Phrase, say
from dragoman.terminal.model import Command
from dragoman.terminal.own import Client, OwnTerminal, OwnTerminals
from dragoman.terminal.service import TerminalService
from dragoman.terminal.told import CommandFilter, TerminalSeen
from dragoman.terminal.wrappers import Wrappers
from dragoman.tools.operation import Caller, Outcome
from dragoman.tools.showing import one_line
from dragoman.tools.terminal import parameters as take
from dragoman.tools.terminal.answers import CommandRun
from dragoman.tools.terminal.outputs import from_a_line_on
from dragoman.tools.terminal.patience import patiently
from dragoman.tools.terminal.texts import Texts, quoted, told

_WAYS = ("command", "input", "interrupt")
# What a shell's line editor would obey instead of running; a person who is asked would not see it.
_OBEYED = re.compile("[\x00-\x08\x0b-\x1f\x7f\x80-\x9f]")
_SHOWN_BYTES = take.OUTPUT_BYTES
_NAME = 60
_FIRST_LOOKED_FOR_S = 0.25
# A shell tells several lines as one with semicolons, or one after another.
_JOINS = re.compile(r"[\s;]+")


@dataclass(frozen=True, slots=True)
class RunningTools:
    service: TerminalService
    own: OwnTerminals
    wrappers: Wrappers
    texts: Texts
    clock: Clock

    async def run(self, caller: Caller, wanted: take.RunInTerminal) -> Outcome:
        _require_one_way(wanted)
        client = _client(caller)
        own = self.own.find(client, wanted.terminal) if wanted.terminal else None
        if wanted.terminal and own is None:
            return await self._in_anothers(caller, wanted)
        if wanted.command:
            own = own or await self._idle_or_new(client, wanted)
            return await self._command(caller, own, wanted)
        return await self._typed(caller, own or self._latest(client), wanted)

    async def wait(self, caller: Caller, wanted: take.WaitForCommand) -> Outcome:
        """What ended meanwhile is told at once, unless the next one is wanted."""
        terminal_id = wanted.terminal or self._latest(_client(caller)).id
        seen = self.service.terminal(terminal_id)
        last = await self._last(terminal_id)
        if seen.running is None and not wanted.next:
            return await self._answer(seen, last)
        return await self._awaited(caller, terminal_id, last, wanted.timeout_s)

    # In a terminal of the agent's own.

    async def _idle_or_new(self, client: Client, wanted: take.RunInTerminal) -> OwnTerminal:
        await self.own.require_trust(client)
        idle = [it for it in self.own.of(client) if it.is_at_prompt]
        if idle and not wanted.cwd:
            return idle[0]
        return await self.own.open(client, Path(client.cwd, wanted.cwd))

    def _latest(self, client: Client) -> OwnTerminal:
        known = self.own.of(client)
        if not known:
            raise DragomanError(
                "no_terminal",
                say("There is no terminal of your own in this workspace."),
                hint=say("run_in_terminal with a command opens one."),
            )
        return known[0]

    async def _command(self, caller: Caller, own: OwnTerminal, wanted: take.RunInTerminal) -> Outcome:
        await self.own.require_trust(_client(caller))
        if self.service.terminal(own.id).running is not None:
            raise _busy(own.id)
        last = await self._last(own.id)
        self.own.use(own, _client(caller))
        await own.run(wanted.command)
        return await self._awaited(caller, own.id, last, wanted.timeout_s)

    async def _typed(self, caller: Caller, own: OwnTerminal, wanted: take.RunInTerminal) -> Outcome:
        await self.own.require_trust(_client(caller))
        last, runs = await self._last(own.id), self.service.terminal(own.id).running is not None
        self.own.use(own, _client(caller))
        await (own.interrupt() if wanted.interrupt else own.type(wanted.input))
        return await self._awaited(caller, own.id, last, wanted.timeout_s if runs else 0)

    # In a person's.

    async def _in_anothers(self, caller: Caller, wanted: take.RunInTerminal) -> Outcome:
        seen = self.service.terminal(wanted.terminal)
        if not wanted.command or seen.terminal.owner == "agent":
            raise _not_yours(wanted.terminal)
        last = await self._last(wanted.terminal)
        began = self.clock.monotonic_s()
        by = _client(caller).id
        ask = partial(self.wrappers.ask_to_run, wanted.terminal, wanted.command, by=by, within_s=wanted.timeout_s)
        what = say("The person at {terminal} is asked.", terminal=self.texts.line(wanted.terminal, 200))
        verdict = await patiently(caller, self.clock, what, wanted.timeout_s, ask)
        if verdict == "cannot":
            raise _cannot_ask(wanted.terminal)
        if verdict != "accepted":
            return _not_run(self.texts.line(wanted.terminal, 200), verdict)
        left = max(0.0, wanted.timeout_s - (self.clock.monotonic_s() - began))
        return await self._awaited(caller, wanted.terminal, last, left, line=wanted.command)

    # Both.

    async def _awaited(
        self, caller: Caller, terminal_id: str, last: Command | None, within_s: float, line: str = ""
    ) -> Outcome:
        what = say("Waiting for the command in {terminal}.", terminal=self.texts.line(terminal_id, 200))
        act = partial(self._ended, terminal_id, last.id if last else "", within_s, line)
        ended = await patiently(caller, self.clock, what, within_s, act)
        return await self._answer(self.service.terminal(terminal_id), ended)

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

    async def _answer(self, seen: TerminalSeen, ended: Command | None) -> Outcome:
        running = seen.running if ended is None else None
        command = ended or running
        output, before = await self._printed(seen.terminal.id, command)
        answer = CommandRun(
            status="completed" if ended else "running" if running else "idle",
            terminal=self.texts.line(seen.terminal.id, 200),
            command=None if command is None else self.texts.command(command),
            output=output,
            truncated_bytes=before,
        )
        return Outcome(_lines(answer), answer)

    async def _printed(self, terminal_id: str, command: Command | None) -> tuple[str, int]:
        """Its end; where none is known, what stands at the end of the terminal."""
        if command is None:
            return self.texts.output(await self.service.tail(terminal_id, _SHOWN_BYTES)), 0
        page = from_a_line_on(await self.service.output(command.id, offset=-_SHOWN_BYTES, limit=_SHOWN_BYTES))
        return self.texts.output(page.data), page.offset


def _client(caller: Caller) -> Client:
    """For people it goes by the name it gave itself."""
    return Client(
        id=one_line(caller.name, _NAME) or caller.id,
        workspace=caller.workspace,
        cwd=caller.cwd,
        environment=caller.environment,
        trusts_workspace=caller.trusts_workspace,
        link=caller.id,
    )


def _ends_with(line: str, command: Command) -> bool:
    told = _JOINS.sub("", command.line)
    return bool(told) and _JOINS.sub("", line).endswith(told)


def _require_one_way(wanted: take.RunInTerminal) -> None:
    if sum(bool(getattr(wanted, name)) for name in _WAYS) != 1:
        raise DragomanError(
            "bad_arguments",
            say("Give exactly one of `command`, `input` and `interrupt`."),
            hint=say("A command runs in a shell; input and interrupt go to what runs already."),
        )
    if wanted.command and (_OBEYED.search(wanted.command) or not wanted.command.strip()):
        raise DragomanError(
            "bad_arguments",
            say("A command line has letters, and no control characters but tabs and line ends."),
            hint=say("Keys for a running program go into `input`."),
        )


def _lines(answer: CommandRun) -> list[Phrase]:
    head = [*told(answer.command)] if answer.command else [say("{terminal}: nothing runs.", terminal=answer.terminal)]
    if answer.status == "running":
        head.append(say("Still running: wait_for_command goes on; run_in_terminal types into it or interrupts it."))
    if answer.truncated_bytes:
        head.append(say("{count} earlier bytes: get_command_output.", count=answer.truncated_bytes))
    return [*head, *quoted(answer.output)]


def _not_run(terminal: str, verdict: str) -> Outcome:
    answer = CommandRun(status="refused" if verdict == "refused" else "no_answer", terminal=terminal)
    said = {
        "refused": say("The person at {terminal} refused it. Do not ask again unasked.", terminal=terminal),
        "no_answer": say("The person at {terminal} did not answer in time; it did not run.", terminal=terminal),
    }
    return Outcome([said[answer.status]], answer)


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
