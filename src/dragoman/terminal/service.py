"""Terminals as a face may use them: told what happens in them, asked what happened."""

from __future__ import annotations

import logging
from collections.abc import AsyncGenerator, AsyncIterator, Callable, Mapping
from contextlib import asynccontextmanager, suppress
from pathlib import Path
from typing import Literal

import anyio
import anyio.to_thread
import msgspec

from dragoman.clock import Clock, SystemClock
from dragoman.errors import DragomanError
from dragoman.journal import Journal, Statement
from dragoman.phrases import say
from dragoman.redaction import Redactor
from dragoman.terminal.commands import CommandStore, command_of, terminal_of
from dragoman.terminal.echoes import Echoes
from dragoman.terminal.index import OutputIndex
from dragoman.terminal.indexing import Indexer
from dragoman.terminal.keeping import Keeping
from dragoman.terminal.lives import Known
from dragoman.terminal.model import IMPORTED, RUNNING, Command, EndedBy, Piece
from dragoman.terminal.names import terminal_name
from dragoman.terminal.reading import Streams
from dragoman.terminal.recording import Recording
from dragoman.terminal.searching import OutputSearching
from dragoman.terminal.told import CommandFilter, CommandTold, Notice, OutputPage, OutputSearch, TerminalSeen
from dragoman.terminal.watching import Watcher, Watchers
from dragoman.transport.system import REAL_SYSTEM, System

log = logging.getLogger(__name__)

# What might have become a secret is shown when nothing more came for so long.
QUIET_S = 0.5
_LOOK_EVERY_S = 0.2
_FLUSHED_WITHIN_S = 3.0
_HISTORY_PAGE = 1_000
_COMMANDS_LIMIT = 10_000
_QUESTIONS_IN_A_ROW = 50


class TerminalService:
    """Made by `open`; the journal must have been opened with the same store."""

    def __init__(
        self,
        journal: Journal,
        store: CommandStore,
        index: OutputIndex,
        known: dict[str, Known],
        redactor: Redactor,
        clock: Clock,
    ) -> None:
        self._journal = journal
        self._store = store
        self._known = known
        self._clock = clock
        self._watchers = Watchers()
        self._streams = Streams(journal)
        self._recording = Recording(journal, store, redactor, clock, known, self._watchers)
        self._indexer = Indexer(journal, index, self._recording.grown, lambda: list(known), clock)
        self._keeping = Keeping(journal, store, index, known)
        echoes = Echoes(journal, store, self._running)
        self._searching = OutputSearching(journal, store, index, self._indexer, echoes, clock)

    @classmethod
    @asynccontextmanager
    async def open(
        cls,
        journal: Journal,
        store: CommandStore,
        folder: Path,
        *,
        redactor: Redactor,
        clock: Clock | None = None,
        system: System = REAL_SYSTEM,
    ) -> AsyncIterator[TerminalService]:
        """`folder` holds what is derived and can be made again."""
        rows = (await journal.query(store.terminals())).rows
        known = {row[0]: Known(terminal_of(row[:-1]), commands=row[-1]) for row in rows}
        clock = clock or SystemClock()
        index = OutputIndex(folder, clock, system=system)
        service = cls(journal, store, index, known, redactor, clock)
        async with anyio.create_task_group() as group:
            group.start_soon(service._show_what_is_held)
            group.start_soon(service._indexer.run)
            group.start_soon(service._keeping.run)
            try:
                yield service
            finally:
                group.cancel_scope.cancel()
                with anyio.CancelScope(shield=True):  # an error that ends us is told, not lost in a cancellation
                    await service._end(index)

    async def _end(self, index: OutputIndex) -> None:
        with anyio.move_on_after(_FLUSHED_WITHIN_S):
            await self._flush(0.0)
        self._watchers.close()
        self._keeping.close()
        await anyio.to_thread.run_sync(index.close)

    async def begin(
        self, terminal_id: str, *, parent: str, at_ms: int, attributes: Mapping[str, str], reopens: bool = True
    ) -> None:
        """`reopens` is false for what only implies a beginning, such as output: it reopens no terminal that ended."""
        await self._recording.begin(terminal_id, parent=parent, at_ms=at_ms, attributes=attributes, reopens=reopens)

    async def take(self, terminal_id: str, kind: Literal["input", "output"], at_ms: int, data: bytes) -> None:
        await self._recording.take(terminal_id, kind, at_ms, data)
        self._indexer.took(len(data))

    async def command_began(self, terminal_id: str, at_ms: int, line: str) -> None:
        await self._recording.command_began(terminal_id, at_ms, line)

    async def command_ended(self, told: CommandTold) -> Command:
        return await self._recording.command_ended(told)

    async def notice(self, terminal_id: str, at_ms: int, notice: Notice) -> None:
        await self._recording.notice(terminal_id, at_ms, notice)

    async def end(self, terminal_id: str, at_ms: int, exit_code: int | None) -> None:
        await self._recording.end(terminal_id, at_ms, exit_code)

    async def end_because(self, terminal_id: str, by: EndedBy) -> None:
        """Of a terminal of an agent that is no more, whether its wrapper could say so or not."""
        await self._recording.end_because(terminal_id, by)
        self.disconnected(terminal_id)

    def connected(self, terminal_id: str) -> None:
        self._connection(terminal_id, True)

    def disconnected(self, terminal_id: str) -> None:
        self._connection(terminal_id, False)

    def holds(self, terminal_id: str) -> bool:
        """Whether something that was taken is not written: it may become a secret, or could not be."""
        known = self._known.get(terminal_name(terminal_id))
        return known is not None and self._recording.owes(known.life)

    @property
    def write_fault(self) -> DragomanError | None:
        """Why nothing of what happens is recorded now."""
        return self._journal.write_fault

    def terminals(self) -> tuple[TerminalSeen, ...]:
        """Oldest first."""
        return tuple(known.seen() for known in self._known.values())

    def terminal(self, terminal_id: str) -> TerminalSeen:
        return self._of(terminal_id).seen()

    async def commands(self, wanted: CommandFilter, *, limit: int = 20, before_ns: int | None = None) -> list[Command]:
        """Newest first. What was brought in from elsewhere answers only where its terminal is asked for."""
        limit = max(0, min(limit, _COMMANDS_LIMIT))
        if not wanted.terminal:
            wanted = msgspec.structs.replace(wanted, besides=self._imported())
        elif wanted.terminal not in self._known:
            wanted = msgspec.structs.replace(wanted, terminal=terminal_name(wanted.terminal))
        return await self._rows(self._store.chosen(wanted, limit=limit, before_ns=before_ns))

    async def command(self, command_id: str) -> Command:
        """One that ended, or the one that runs in a terminal, by the name it has until then."""
        running = self._known.get(command_id.removesuffix(RUNNING)) if command_id.endswith(RUNNING) else None
        if running and (present := running.seen().running):
            return present
        found = await self._rows(self._store.one(command_id))
        if not found:
            raise DragomanError(
                "unknown_command",
                say("No command {id} is known.", id=repr(command_id[:80])),
                hint=say("Search for it with search_commands, which gives ids."),
            )
        return found[0]

    async def search_output(
        self, words: str, *, terminal: str = "", limit: int = 20, timeout_s: float = 2.0
    ) -> OutputSearch:
        """Lines of output that have all the words, newest first."""
        name = self._of(terminal).terminal.id if terminal else ""
        besides = frozenset() if name else frozenset(self._imported())
        return await self._searching.search(words, name, limit, timeout_s, besides=besides)

    async def catch_up(self) -> None:
        """Return when the index has seen all that stands in the record now; it gets there by itself, in its time."""
        await self._indexer.catch_up()

    async def tend(self) -> None:
        """Pack what is full and drop what points to nothing any more; this, too, comes round by itself."""
        await self._keeping.pack()
        await self._keeping.clear()

    async def output(self, command_id: str, *, offset: int = 0, limit: int = 65_536) -> OutputPage:
        return await self._streams.output(await self.command(command_id), offset, limit)

    def pieces(self, terminal_id: str) -> AsyncGenerator[Piece, None]:
        """The whole stream, oldest first."""
        return self._streams.pieces(self._of(terminal_id).terminal.id)

    async def tail(self, terminal_id: str, max_bytes: int) -> bytes:
        return await self._streams.tail(self._of(terminal_id).terminal.id, max_bytes)

    def watch(self, terminal_id: str) -> Watcher:
        """What is shown from now on; ends with the terminal. Whoever takes it closes it."""
        return self._watchers.watch(self._of(terminal_id).terminal.id)

    @asynccontextmanager
    async def still(self, terminal_id: str) -> AsyncIterator[None]:
        """Nothing is written or shown meanwhile: where a tail ends, what a watcher gets from now on begins."""
        life = self._of(terminal_id).life
        if life is None:
            yield
            return
        async with life.lock:
            yield

    async def last_failure(self, *, terminal: str = "", cwd: str = "", verified: bool = True) -> Command | None:
        wanted = CommandFilter(terminal=terminal, cwd=cwd, failed=True, verified=verified)
        failed = await self.commands(wanted, limit=_QUESTIONS_IN_A_ROW)
        return next((one for one in failed if not one.reads_the_record), None)

    async def wait_for_command(self, terminal_id: str, *, after: str = "", within_s: float) -> Command | None:
        """The first command to end after the named one, or after now; None when none did in time."""
        name = self._of(terminal_id).terminal.id
        ended: list[Command] = []
        rang = anyio.Event()

        def told(command: Command) -> None:
            ended.append(command)
            rang.set()

        with self._watchers.waiting(name, told):
            if after and (found := await self._rows(self._store.following(await self.command(after)))):
                return found[0]
            with anyio.move_on_after(within_s):
                await rang.wait()
        return ended[0] if ended else None

    async def wait_for_end(self, terminal_id: str, command_id: str, *, within_s: float) -> Command | None:
        """That command, once its end is recorded; None where it is not in time."""
        ended: list[Command] = []
        rang = anyio.Event()

        def told(command: Command) -> None:
            if command.id == command_id:
                ended.append(command)
                rang.set()

        with self._watchers.waiting(self._of(terminal_id).terminal.id, told):
            if found := await self._rows(self._store.one(command_id)):
                return found[0]
            with anyio.move_on_after(within_s):
                await rang.wait()
        return ended[0] if ended else None

    async def history(self) -> AsyncGenerator[Command, None]:
        """Every command, oldest first."""
        after = 0
        while page := await self._rows(self._store.after(after, limit=_HISTORY_PAGE)):
            for command in page:
                yield command
            after = page[-1].started_ns

    def on_command(self, told: Callable[[Command], None]) -> None:
        """Called for each command that ended and was stored."""
        self._watchers.on_command(told)

    def _imported(self) -> tuple[str, ...]:
        return tuple(name for name, known in self._known.items() if IMPORTED in known.terminal.attributes)

    def _running(self, terminal_id: str) -> Command | None:
        known = self._known.get(terminal_id)
        return known.seen().running if known else None

    async def _rows(self, statement: Statement) -> list[Command]:
        return [command_of(row) for row in (await self._journal.query(statement)).rows]

    def _of(self, terminal_id: str) -> Known:
        known = self._known.get(terminal_id) or self._known.get(terminal_name(terminal_id))
        if known is None:
            raise _unknown_terminal(terminal_id, self._known)
        return known

    def _connection(self, terminal_id: str, connected: bool) -> None:
        known = self._known.get(terminal_name(terminal_id))
        if known is not None:
            known.connected = connected
            if not connected and known.terminal.ended_ns is not None:
                known.life = None

    async def _show_what_is_held(self) -> None:
        while True:
            await anyio.sleep(_LOOK_EVERY_S)
            await self._flush(QUIET_S)

    async def _flush(self, quiet_s: float) -> None:
        now_s = self._clock.monotonic_s()
        for life, since_s in list(self._recording.holding.items()):
            if now_s - since_s >= quiet_s:
                with suppress(DragomanError):  # what could not be written is not acknowledged, and comes again
                    async with life.lock:
                        await self._recording.flush(life, life.last_at_ms)


def _unknown_terminal(terminal_id: str, known: Mapping[str, Known]) -> DragomanError:
    living = [name for name, one in known.items() if one.terminal.ended_ns is None][-10:]
    hint = (
        say("There are: {names}.", names=", ".join(living))
        if living
        else say("No terminal is recorded now; start one with `dragoman shell`.")
    )
    return DragomanError("unknown_terminal", say("No terminal {id} is known.", id=repr(terminal_id[:80])), hint=hint)
