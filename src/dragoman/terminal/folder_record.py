"""The record as one folder has it: the commands that ran there or below, and what they printed."""

from __future__ import annotations

from collections.abc import AsyncIterator, Callable
from dataclasses import dataclass

import msgspec

from dragoman.errors import DragomanError
from dragoman.terminal.model import Command
from dragoman.terminal.service import TerminalService
from dragoman.terminal.told import CommandFilter, OutputPage, OutputSearch, TerminalSeen

# So many lines for each that is wanted, where only some commands' lines are.
_LOOKED_THROUGH = 10


@dataclass(frozen=True, slots=True)
class FolderRecord:
    """A `Record` of a workspace, for answers that may speak of no other."""

    record: TerminalService
    folder: str

    async def commands(self, wanted: CommandFilter, *, limit: int = 20, before_ns: int | None = None) -> list[Command]:
        here = msgspec.structs.replace(wanted, cwd=wanted.cwd or self.folder)
        return await self.record.commands(here, limit=limit, before_ns=before_ns)

    async def output(self, command_id: str, *, offset: int = 0, limit: int = 65536) -> OutputPage:
        return await self.record.output(command_id, offset=offset, limit=limit)

    async def search_output(
        self, words: str, *, terminal: str = "", limit: int = 20, timeout_s: float = 2.0
    ) -> OutputSearch:
        wish = CommandFilter(text=words, terminal=terminal, cwd=self.folder)
        return await search_printed(self.record, wish, limit=limit, timeout_s=timeout_s)

    def terminal(self, terminal_id: str) -> TerminalSeen:
        return self.record.terminal(terminal_id)

    def history(self) -> AsyncIterator[Command]:
        return self.record.history()

    def on_command(self, told: Callable[[Command], None]) -> None:
        self.record.on_command(told)


async def search_printed(
    record: TerminalService, wish: CommandFilter, *, limit: int, timeout_s: float = 2.0
) -> OutputSearch:
    """Of the commands that are meant: what others printed is looked through, and left out."""
    most = limit * _LOOKED_THROUGH if wish.narrows else limit
    found = await record.search_output(wish.text, terminal=wish.terminal, limit=most, timeout_s=timeout_s)
    if not wish.narrows:
        return found
    printed_by = {hit.command_id for hit in found.hits if hit.command_id}
    meant = {name for name in printed_by if await _fits(record, wish, name)}
    hits = [hit for hit in found.hits if hit.command_id in meant]
    return msgspec.structs.replace(found, hits=hits[:limit], complete=found.complete and len(hits) <= limit)


async def _fits(record: TerminalService, wish: CommandFilter, command_id: str) -> bool:
    """One that ran when it was found may have another name since."""
    try:
        return wish.fits(await record.command(command_id))
    except DragomanError:
        return False
