"""What is shown in a terminal and is no output of a program there: a typed command line, and the record read aloud."""

from __future__ import annotations

from collections.abc import Callable, Sequence

from dragoman.journal import Journal, Statement
from dragoman.terminal.commands import CommandStore, command_of
from dragoman.terminal.model import Command
from dragoman.terminal.told import CommandFilter, Hit

_LINES_OF_A_TERMINAL = 1_000


class Echoes:
    def __init__(self, journal: Journal, store: CommandStore, running: Callable[[str], Command | None]) -> None:
        self._journal = journal
        self._store = store
        self._running = running

    async def left_out(self, words: str, hits: Sequence[Hit]) -> list[Hit]:
        """The hits without them: otherwise each search would find the last one, and its own words."""
        printed_by = {hit.command_id for hit in hits if hit.command_id}
        named = await self._commands(self._store.named(printed_by)) if printed_by else []
        again = {command.id for command in named if command.reads_the_record}
        typed = {name: await self._typed(words, name) for name in {hit.terminal for hit in hits if not hit.command_id}}
        return [
            hit
            for hit in hits
            if (hit.command_id not in again if hit.command_id else not _folded(hit.line).endswith(typed[hit.terminal]))
        ]

    async def _typed(self, words: str, terminal: str) -> tuple[str, ...]:
        """An echo with the words is that of a command line with the words."""
        wish = CommandFilter(text=words, terminal=terminal, verified=True)
        known = await self._commands(self._store.chosen(wish, limit=_LINES_OF_A_TERMINAL, before_ns=None))
        running = self._running(terminal)
        lines = (_folded(command.line) for command in [*known, *([running] if running else [])])
        return tuple({line for line in lines if line})

    async def _commands(self, statement: Statement) -> list[Command]:
        return [command_of(row) for row in (await self._journal.query(statement)).rows]


def _folded(line: str) -> str:
    """A line editor wraps and pads what is typed."""
    return "".join(line.split())
