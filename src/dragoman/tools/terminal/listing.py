"""The list of terminals, as short as it is of use: which, whose, where, and what runs there or ran last."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

from dragoman.clock import Clock
from dragoman.errors import write_fault_lines, write_fault_row
from dragoman.phrases import Phrase, joined, say
from dragoman.terminal.agent_terminals import AgentTerminals
from dragoman.terminal.model import AGENT, ENDED_BY, FOLDER, Command
from dragoman.terminal.service import TerminalService
from dragoman.terminal.told import CommandFilter, TerminalSeen
from dragoman.tools.operation import Caller, Outcome
from dragoman.tools.terminal import answers
from dragoman.tools.terminal import parameters as take
from dragoman.tools.terminal.scope import client_of, may_see_terminal
from dragoman.tools.terminal.texts import Texts, command_lines, exit_word, instant
from dragoman.words import labelled, word_of

MOST_TERMINALS = 50
_LINE_CHARACTERS = 120
_AGES: tuple[tuple[int, Callable[[int], Phrase]], ...] = (
    (86_400, lambda count: say("{count} d", count=count)),
    (3_600, lambda count: say("{count} h", count=count)),
    (60, lambda count: say("{count} min", count=count)),
    (1, lambda count: say("{count} s", count=count)),
)


@dataclass(frozen=True, slots=True)
class ListingTools:
    service: TerminalService
    own: AgentTerminals
    texts: Texts
    clock: Clock

    async def terminals(self, caller: Caller, wanted: take.ListTerminals) -> Outcome:
        every = [it for it in self.service.terminals() if wanted.ended or it.connected]
        lasts = {it.terminal.id: await self._last(it) for it in every}
        known = [it for it in every if may_see_terminal(caller, it, lasts[it.terminal.id])]
        known.sort(key=lambda it: (it.connected, it.terminal.started_ns), reverse=True)
        yours = {own.id for own in self.own.of(client_of(caller))}
        shown, lines = list[answers.TerminalListed](), list[Phrase]()
        for seen in known[:MOST_TERMINALS]:
            last = lasts[seen.terminal.id]
            listed = self._listed(seen, last, yours)
            shown.append(listed)
            lines.append(_line(listed, self._age(seen.running or last)))
        left_out = len(self.service.terminals()) - len(shown)
        fault = write_fault_row(self.service.write_fault)
        answer = answers.Terminals(terminals=shown, left_out=left_out, write_fault=fault)
        return Outcome([*lines, *_closing(answer), *write_fault_lines(fault)], answer)

    async def _last(self, seen: TerminalSeen) -> Command | None:
        found = await self.service.commands(CommandFilter(terminal=seen.terminal.id), limit=1)
        return found[0] if found else None

    def _listed(self, seen: TerminalSeen, last: Command | None, yours: set[str]) -> answers.TerminalListed:
        terminal = seen.terminal

        def text(name: str) -> str:
            return self.texts.line(terminal.attributes.get(name, ""), 300)

        return answers.TerminalListed(
            terminal=self.texts.line(terminal.id, 200),
            owner=terminal.owner,
            yours=terminal.id in yours,
            state="live" if seen.connected else "ended" if terminal.ended_ns is not None else "lost",
            ended_by=text(ENDED_BY),
            shell=text("shell"),
            cwd=text(FOLDER) or (self.texts.line(last.cwd, 300) if last and last.cwd else text("cwd")),
            agent=text(AGENT),
            parent=self.texts.line(terminal.parent, 200),
            started_at=instant(terminal.started_ns),
            ended_at=None if terminal.ended_ns is None else instant(terminal.ended_ns),
            commands=seen.commands,
            running=None if seen.running is None else self.texts.command(seen.running),
            last=None if last is None else self.texts.command(last),
        )

    def _age(self, command: Command | None) -> Phrase | None:
        """Since it ended, or of what runs, since it began."""
        if command is None:
            return None
        seconds = max(1, (self.clock.wall_ns() - (command.ended_ns or command.started_ns)) // 10**9)
        size, told = next((size, told) for size, told in _AGES if seconds >= size)
        return told(seconds // size)


def _line(it: answers.TerminalListed, age: Phrase | None) -> Phrase:
    whose = [say("yours")] if it.yours else [word_of(it.owner), it.agent]
    words = [it.terminal, *whose, *_state(it), it.cwd, *_doing(it, age)]
    return joined("  ", filter(None, words))


def _state(it: answers.TerminalListed) -> list[Phrase]:
    if it.state == "live":
        return []
    return [labelled(word_of(it.state), word_of(it.ended_by)) if it.ended_by else word_of(it.state)]


def _doing(it: answers.TerminalListed, age: Phrase | None) -> list[Phrase | str]:
    command = it.running or it.last
    if command is None:
        return []
    ended = say("{exit}, {age} ago", exit=exit_word(command), age=age)
    return [say("running for {age}", age=age) if it.running else ended, command_lines(command, _LINE_CHARACTERS)]


def _closing(answer: answers.Terminals) -> list[Phrase]:
    if not answer.terminals and not answer.left_out:
        return [say("No terminal is recorded. `dragoman shell` opens one.")]
    if not answer.left_out:
        return []
    nothing = [] if answer.terminals else [say("No terminal is open now.")]
    return [*nothing, say("{count} more are not listed.", count=answer.left_out)]
