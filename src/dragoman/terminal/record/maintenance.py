"""Periodic maintenance of the record: packs full segments, prunes the index, and erases what was forgotten."""

from __future__ import annotations

import asyncio
import logging

import anyio
import anyio.to_thread
import apsw

from dragoman.core.errors import DragomanError
from dragoman.journal import BeforeScope, EverythingScope, Journal, Scope, SessionScope
from dragoman.terminal.record.command_store import CommandStore
from dragoman.terminal.record.live_terminals import KnownTerminal
from dragoman.terminal.record.stream import OutputRange
from dragoman.terminal.search.index import OutputIndex

log = logging.getLogger(__name__)

_EVERY_S = 30.0
_PAUSE = 4.0
_ROUNDS_A_CLEARING = 60


class RecordMaintenance:
    def __init__(
        self, journal: Journal, store: CommandStore, index: OutputIndex, known: dict[str, KnownTerminal]
    ) -> None:
        self._journal = journal
        self._store = store
        self._index = index
        self._known = known
        self._loop = asyncio.get_running_loop()
        self._forgotten_alive: list[KnownTerminal] = []
        store.on_forget.append(self._forget)
        store.on_mask.append(index.reset)

    def close(self) -> None:
        self._store.on_mask.remove(self._index.reset)
        self._store.on_forget.remove(self._forget)

    async def run(self) -> None:
        """Run until cancelled. A full disk is logged and retried."""
        rounds = 0
        while True:
            await anyio.sleep(_EVERY_S)
            rounds += 1
            try:
                await self._restore_forgotten()
                await self.pack()
                if rounds % _ROUNDS_A_CLEARING == 0:
                    await self.clear()
            except (DragomanError, apsw.Error, OSError) as error:
                log.warning("the record of terminals could not be tended: %s", error)

    async def _restore_forgotten(self) -> None:
        """Store again a live terminal whose past was forgotten, so that it is still known after a restart."""
        alive, self._forgotten_alive = self._forgotten_alive, []
        writes = [self._store.put_terminal(known.terminal, at_ns=known.terminal.started_ns) for known in alive]
        if writes:
            await self._journal.append([], writes=writes)

    async def pack(self) -> None:
        """Pack with a fifth of a core."""
        began_s = anyio.current_time()
        while await self._journal.pack_segment():
            await anyio.sleep(_PAUSE * (anyio.current_time() - began_s))
            began_s = anyio.current_time()

    async def clear(self) -> None:
        """Remove from the index what retention removed, and from the list the terminals with nothing left."""
        standing = {name: await self._journal.segments_of(name) for name in self._known}
        kept = {name: numbers for name, numbers in standing.items() if numbers}
        await anyio.to_thread.run_sync(self._index.drop_retired, kept)
        ended = [name for name, known in self._known.items() if known.terminal.ended_ns is not None]
        empty = [name for name in ended if name not in kept and not self._known[name].commands]
        if empty:
            await self._journal.append([], writes=self._store.drop_terminals(empty))
        for name in empty:
            del self._known[name]

    def _forget(self, scope: Scope) -> None:
        """Runs in the journal's thread, which erases the rows and files next: the words in the index are copies of
        them."""
        self._index.reset()
        self._loop.call_soon_threadsafe(self._forgotten, scope)

    def _forgotten(self, scope: Scope) -> None:
        for name, known in list(self._known.items()):
            if _in_scope(scope, known):
                self._forget_terminal(name, known, scope)

    def _forget_terminal(self, name: str, known: KnownTerminal, scope: Scope) -> None:
        """A live terminal continues, without its past."""
        if known.live is None and not known.connected and not isinstance(scope, BeforeScope):
            del self._known[name]
            return
        self._forgotten_alive.append(known)
        if known.live is not None:
            known.live.recent.clear()
            known.live.unsaved.clear()
            known.live.recorder.output_range = OutputRange()
        if not isinstance(scope, BeforeScope):
            known.commands = 0


def _in_scope(scope: Scope, known: KnownTerminal) -> bool:
    match scope:
        case EverythingScope():
            return True
        case SessionScope(session):
            return known.terminal.id == session
        case BeforeScope(at_ns):
            return known.terminal.started_ns < at_ns
