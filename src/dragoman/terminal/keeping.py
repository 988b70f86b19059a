"""Work that comes round: full files are packed, the index forgets what is gone, and nothing outlives a `forget`."""

from __future__ import annotations

import asyncio
import logging

import anyio
import anyio.to_thread
import apsw

from dragoman.errors import DragomanError
from dragoman.journal import Before, Everything, Journal, OfSession, Scope
from dragoman.terminal.commands import CommandStore
from dragoman.terminal.index import OutputIndex
from dragoman.terminal.lives import Known
from dragoman.terminal.recorder import Stretch

log = logging.getLogger(__name__)

_EVERY_S = 30.0
_PAUSE = 4.0
_ROUNDS_A_CLEARING = 60


class Keeping:
    def __init__(self, journal: Journal, store: CommandStore, index: OutputIndex, known: dict[str, Known]) -> None:
        self._journal = journal
        self._store = store
        self._index = index
        self._known = known
        self._loop = asyncio.get_running_loop()
        self._forgotten_alive: list[Known] = []
        store.on_forget.append(self._forget)
        store.on_mask.append(index.throw_away)

    def close(self) -> None:
        self._store.on_mask.remove(self._index.throw_away)
        self._store.on_forget.remove(self._forget)

    async def run(self) -> None:
        """For ever. A full disk is not a reason to end: it is said, and tried again."""
        rounds = 0
        while True:
            await anyio.sleep(_EVERY_S)
            rounds += 1
            try:
                await self._know_again()
                await self.pack()
                if rounds % _ROUNDS_A_CLEARING == 0:
                    await self.clear()
            except (DragomanError, apsw.Error, OSError) as error:
                log.warning("the record of terminals could not be tended: %s", error)

    async def _know_again(self) -> None:
        """A terminal that lives on after its past was forgotten is still known after our own end."""
        alive, self._forgotten_alive = self._forgotten_alive, []
        writes = [self._store.put_terminal(known.terminal, at_ns=known.terminal.started_ns) for known in alive]
        if writes:
            await self._journal.append([], writes=writes)

    async def pack(self) -> None:
        """With a fifth of a core."""
        began_s = anyio.current_time()
        while await self._journal.pack_segment():
            await anyio.sleep(_PAUSE * (anyio.current_time() - began_s))
            began_s = anyio.current_time()

    async def clear(self) -> None:
        """What retention removed leaves the index, and terminals of which nothing is left leave the list."""
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
        """In the journal's thread, which erases the rows and files next: words in the index are copies of them."""
        self._index.throw_away()
        self._loop.call_soon_threadsafe(self._forgotten, scope)

    def _forgotten(self, scope: Scope) -> None:
        for name, known in list(self._known.items()):
            if _concerns(scope, known):
                self._let_go(name, known, scope)

    def _let_go(self, name: str, known: Known, scope: Scope) -> None:
        """A terminal that lives goes on, with nothing behind it."""
        if known.life is None and not known.connected and not isinstance(scope, Before):
            del self._known[name]
            return
        self._forgotten_alive.append(known)
        if known.life is not None:
            known.life.recent.clear()
            known.life.unsaved.clear()
            known.life.recorder.stretch = Stretch()
        if not isinstance(scope, Before):
            known.commands = 0


def _concerns(scope: Scope, known: Known) -> bool:
    match scope:
        case Everything():
            return True
        case OfSession(session):
            return known.terminal.id == session
        case Before(at_ns):
            return known.terminal.started_ns < at_ns
