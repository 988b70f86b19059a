"""TerminalService: the entry point of the terminal domain, for recording, searching, reading and watching terminals."""

from __future__ import annotations

import logging
from collections.abc import AsyncGenerator, AsyncIterator, Callable, Mapping
from contextlib import asynccontextmanager, suppress
from dataclasses import dataclass
from pathlib import Path
from typing import Literal

import anyio
import anyio.to_thread
import msgspec

from dragoman.core.clock import Clock, SystemClock
from dragoman.core.errors import DragomanError
from dragoman.core.localization import localize
from dragoman.core.redaction import Redactor
from dragoman.io.files.system_calls import REAL_SYSTEM, SystemCalls
from dragoman.journal import Journal, Statement
from dragoman.terminal.model import (
    IMPORTED,
    RUNNING,
    CommandFilter,
    CommandReport,
    EndedBy,
    OutputPage,
    OutputSearchResult,
    RecordedCommand,
    StreamPiece,
    TerminalNotice,
    TerminalStatus,
    terminal_name,
)
from dragoman.terminal.record.command_store import CommandStore, command_from_row, terminal_from_row
from dragoman.terminal.record.live_terminals import KnownTerminal
from dragoman.terminal.record.maintenance import RecordMaintenance
from dragoman.terminal.record.recorder import TerminalRecorder
from dragoman.terminal.record.stream_reader import StreamReader
from dragoman.terminal.record.watchers import OutputWatcher, TerminalWatchers
from dragoman.terminal.search.index import OutputIndex
from dragoman.terminal.search.indexer import Indexer
from dragoman.terminal.search.output_search import EchoFilter, OutputSearcher

log = logging.getLogger(__name__)
# Text that might have become a secret is shown after this much silence.
QUIET_S = 0.5
_POLL_INTERVAL_S = 0.2
_FLUSH_TIMEOUT_S = 3.0
_HISTORY_PAGE = 1_000
_COMMANDS_LIMIT = 10_000
_RECORD_READERS_SKIPPED = 50
# How many lines to read per wanted line when only some commands count.
_SEARCH_FACTOR = 10


class TerminalService:
    """The terminal domain, as servers and tools use it.

    It owns the recorder, the watchers, the index and the maintenance, and starts their background tasks. It never
    decides who may call it. Made by `open`; the journal must have been opened with the same store.
    """

    def __init__(
        self,
        journal: Journal,
        store: CommandStore,
        index: OutputIndex,
        known: dict[str, KnownTerminal],
        redactor: Redactor,
        clock: Clock,
    ) -> None:
        self._journal = journal
        self._store = store
        self._known = known
        self._clock = clock
        self._watchers = TerminalWatchers()
        self._streams = StreamReader(journal)
        self._recorder = TerminalRecorder(journal, store, redactor, clock, known, self._watchers)
        self._indexer = Indexer(journal, index, self._recorder.grown, lambda: list(known), clock)
        self._maintenance = RecordMaintenance(journal, store, index, known)
        echoes = EchoFilter(journal, store, self._running)
        self._searcher = OutputSearcher(journal, store, index, self._indexer, echoes, clock)

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
        system: SystemCalls = REAL_SYSTEM,
    ) -> AsyncIterator[TerminalService]:
        """Open the service. `folder` holds derived data, which can be rebuilt."""
        rows = (await journal.query(store.terminals())).rows
        known = {row[0]: KnownTerminal(terminal_from_row(row[:-1]), commands=row[-1]) for row in rows}
        clock = clock or SystemClock()
        index = OutputIndex(folder, clock, system=system)
        service = cls(journal, store, index, known, redactor, clock)
        async with anyio.create_task_group() as group:
            group.start_soon(service._flush_held)
            group.start_soon(service._indexer.run)
            group.start_soon(service._maintenance.run)
            try:
                yield service
            finally:
                group.cancel_scope.cancel()
                with anyio.CancelScope(shield=True):  # otherwise a cancellation would hide the error
                    await service._end(index)

    async def _end(self, index: OutputIndex) -> None:
        with anyio.move_on_after(_FLUSH_TIMEOUT_S):
            await self._flush(0.0)
        self._watchers.close()
        self._maintenance.close()
        await anyio.to_thread.run_sync(index.close)

    async def begin(
        self, terminal_id: str, *, parent: str, at_ms: int, attributes: Mapping[str, str], reopens: bool = True
    ) -> None:
        """Begin a terminal. `reopens` is false if the start is only implied, as by output: then an ended terminal
        stays ended."""
        await self._recorder.begin(terminal_id, parent=parent, at_ms=at_ms, attributes=attributes, reopens=reopens)

    async def record(self, terminal_id: str, kind: Literal["input", "output"], at_ms: int, data: bytes) -> None:
        await self._recorder.record(terminal_id, kind, at_ms, data)
        self._indexer.note_recorded(len(data))

    async def command_began(self, terminal_id: str, at_ms: int, line: str) -> None:
        await self._recorder.command_began(terminal_id, at_ms, line)

    async def command_ended(self, report: CommandReport) -> RecordedCommand:
        return await self._recorder.command_ended(report)

    async def notice(self, terminal_id: str, at_ms: int, notice: TerminalNotice) -> None:
        await self._recorder.notice(terminal_id, at_ms, notice)

    async def end(self, terminal_id: str, at_ms: int, exit_code: int | None) -> None:
        await self._recorder.end(terminal_id, at_ms, exit_code)

    async def end_with_reason(self, terminal_id: str, by: EndedBy) -> None:
        """End an agent's terminal, whether or not its wrapper could report the end."""
        await self._recorder.end_with_reason(terminal_id, by)
        self.disconnected(terminal_id)

    def connected(self, terminal_id: str) -> None:
        self._connection(terminal_id, True)

    def disconnected(self, terminal_id: str) -> None:
        self._connection(terminal_id, False)

    def holds(self, terminal_id: str) -> bool:
        """Whether received data is not written yet: it may become a secret, or the write failed."""
        known = self._known.get(terminal_name(terminal_id))
        return known is not None and self._recorder.has_unwritten(known.live)

    @property
    def write_fault(self) -> DragomanError | None:
        """Why nothing can be recorded now; None if recording works."""
        return self._journal.write_fault

    def terminals(self) -> tuple[TerminalStatus, ...]:
        """Oldest first."""
        return tuple(known.status() for known in self._known.values())

    def terminal(self, terminal_id: str) -> TerminalStatus:
        return self._of(terminal_id).status()

    async def commands(
        self, wanted: CommandFilter, *, limit: int = 20, before_ns: int | None = None
    ) -> list[RecordedCommand]:
        """Newest first. Imported commands are included only if their terminal is asked for."""
        limit = max(0, min(limit, _COMMANDS_LIMIT))
        if not wanted.terminal:
            wanted = msgspec.structs.replace(wanted, besides=self._imported())
        elif wanted.terminal not in self._known:
            wanted = msgspec.structs.replace(wanted, terminal=terminal_name(wanted.terminal))
        return await self._rows(self._store.chosen(wanted, limit=limit, before_ns=before_ns))

    async def command(self, command_id: str) -> RecordedCommand:
        """A finished command, or the running command of a terminal by its temporary name."""
        running = self._known.get(command_id.removesuffix(RUNNING)) if command_id.endswith(RUNNING) else None
        if running and (present := running.status().running):
            return present
        found = await self._rows(self._store.one(command_id))
        if not found:
            raise DragomanError(
                "unknown_command",
                localize("No command with id {id}.", id=repr(command_id[:80])),
                hint=localize("Find its id with search_commands."),
            )
        return found[0]

    async def search_output(
        self, words: str, *, terminal: str = "", limit: int = 20, timeout_s: float = 2.0
    ) -> OutputSearchResult:
        """Lines of output that contain all the words, newest first."""
        name = self._of(terminal).terminal.id if terminal else ""
        besides = frozenset() if name else frozenset(self._imported())
        return await self._searcher.search(words, name, limit, timeout_s, besides=besides)

    async def catch_up(self) -> None:
        """Return when the index includes everything recorded up to now. It also catches up by itself."""
        await self._indexer.catch_up()

    async def output(self, command_id: str, *, offset: int = 0, limit: int = 65_536) -> OutputPage:
        return await self._streams.output(await self.command(command_id), offset, limit)

    def pieces(self, terminal_id: str) -> AsyncGenerator[StreamPiece, None]:
        """The whole stream, oldest first."""
        return self._streams.pieces(self._of(terminal_id).terminal.id)

    async def tail(self, terminal_id: str, max_bytes: int) -> bytes:
        return await self._streams.tail(self._of(terminal_id).terminal.id, max_bytes)

    def watch(self, terminal_id: str) -> OutputWatcher:
        """Watch output from now on, until the terminal ends. The caller must close the watcher."""
        return self._watchers.watch(self._of(terminal_id).terminal.id)

    @asynccontextmanager
    async def hold_output(self, terminal_id: str) -> AsyncIterator[None]:
        """Nothing is written or shown meanwhile, so a watcher continues exactly where a tail ends."""
        live = self._of(terminal_id).live
        if live is None:
            yield
            return
        async with live.lock:
            yield

    async def last_failure(self, *, terminal: str = "", cwd: str = "", verified: bool = True) -> RecordedCommand | None:
        wanted = CommandFilter(terminal=terminal, cwd=cwd, failed=True, verified=verified)
        failed = await self.commands(wanted, limit=_RECORD_READERS_SKIPPED)
        return next((one for one in failed if not one.reads_the_record), None)

    async def wait_for_command(self, terminal_id: str, *, after: str = "", within_s: float) -> RecordedCommand | None:
        """The first command to end after the named one, or after now; None if none ends in time."""
        name = self._of(terminal_id).terminal.id
        ended: list[RecordedCommand] = []
        rang = anyio.Event()

        def on_end(command: RecordedCommand) -> None:
            ended.append(command)
            rang.set()

        with self._watchers.waiting(name, on_end):
            if after and (found := await self._rows(self._store.following(await self.command(after)))):
                return found[0]
            with anyio.move_on_after(within_s):
                await rang.wait()
        return ended[0] if ended else None

    async def wait_for_end(self, terminal_id: str, command_id: str, *, within_s: float) -> RecordedCommand | None:
        """That command, once its end is recorded; None if that takes too long."""
        ended: list[RecordedCommand] = []
        rang = anyio.Event()

        def on_end(command: RecordedCommand) -> None:
            if command.id == command_id:
                ended.append(command)
                rang.set()

        with self._watchers.waiting(self._of(terminal_id).terminal.id, on_end):
            if found := await self._rows(self._store.one(command_id)):
                return found[0]
            with anyio.move_on_after(within_s):
                await rang.wait()
        return ended[0] if ended else None

    async def history(self) -> AsyncGenerator[RecordedCommand, None]:
        """Every command, oldest first."""
        after = 0
        while page := await self._rows(self._store.after(after, limit=_HISTORY_PAGE)):
            for command in page:
                yield command
            after = page[-1].started_ns

    def on_command(self, callback: Callable[[RecordedCommand], None]) -> None:
        """Register a callback for each command that ended and was stored."""
        self._watchers.on_command(callback)

    def _imported(self) -> tuple[str, ...]:
        return tuple(name for name, known in self._known.items() if IMPORTED in known.terminal.attributes)

    def _running(self, terminal_id: str) -> RecordedCommand | None:
        known = self._known.get(terminal_id)
        return known.status().running if known else None

    async def _rows(self, statement: Statement) -> list[RecordedCommand]:
        return [command_from_row(row) for row in (await self._journal.query(statement)).rows]

    def _of(self, terminal_id: str) -> KnownTerminal:
        known = self._known.get(terminal_id) or self._known.get(terminal_name(terminal_id))
        if known is None:
            raise _unknown_terminal(terminal_id, self._known)
        return known

    def _connection(self, terminal_id: str, connected: bool) -> None:
        known = self._known.get(terminal_name(terminal_id))
        if known is not None:
            known.connected = connected
            if not connected and known.terminal.ended_ns is not None:
                known.live = None

    async def _flush_held(self) -> None:
        while True:
            await anyio.sleep(_POLL_INTERVAL_S)
            await self._flush(QUIET_S)

    async def _flush(self, quiet_s: float) -> None:
        now_s = self._clock.monotonic_s()
        for live, since_s in list(self._recorder.holding.items()):
            if now_s - since_s >= quiet_s:
                with suppress(DragomanError):  # unwritten data is not acknowledged, so the client sends it again
                    async with live.lock:
                        await self._recorder.flush(live, live.last_at_ms)


def _unknown_terminal(terminal_id: str, known: Mapping[str, KnownTerminal]) -> DragomanError:
    living = [name for name, one in known.items() if one.terminal.ended_ns is None][-10:]
    hint = (
        localize("Available: {names}.", names=", ".join(living))
        if living
        else localize("No terminal is being recorded. Start one with `dragoman shell`.")
    )
    return DragomanError(
        "unknown_terminal", localize("No terminal with id {id}.", id=repr(terminal_id[:80])), hint=hint
    )


@dataclass(frozen=True, slots=True)
class FolderRecord:
    """The record of one folder: the commands that ran there or below, and their output.

    A `TerminalRecord` for answers that must not use other folders.
    """

    record: TerminalService
    folder: str

    async def commands(
        self, wanted: CommandFilter, *, limit: int = 20, before_ns: int | None = None
    ) -> list[RecordedCommand]:
        here = msgspec.structs.replace(wanted, cwd=wanted.cwd or self.folder)
        return await self.record.commands(here, limit=limit, before_ns=before_ns)

    async def output(self, command_id: str, *, offset: int = 0, limit: int = 65536) -> OutputPage:
        return await self.record.output(command_id, offset=offset, limit=limit)

    async def search_output(
        self, words: str, *, terminal: str = "", limit: int = 20, timeout_s: float = 2.0
    ) -> OutputSearchResult:
        wanted = CommandFilter(text=words, terminal=terminal, cwd=self.folder)
        return await search_command_output(self.record, wanted, limit=limit, timeout_s=timeout_s)

    def terminal(self, terminal_id: str) -> TerminalStatus:
        return self.record.terminal(terminal_id)

    def history(self) -> AsyncIterator[RecordedCommand]:
        return self.record.history()

    def on_command(self, listener: Callable[[RecordedCommand], None]) -> None:
        self.record.on_command(listener)


async def search_command_output(
    record: TerminalService, wanted: CommandFilter, *, limit: int, timeout_s: float = 2.0
) -> OutputSearchResult:
    """Search the output of the matching commands; output of others is filtered out."""
    most = limit * _SEARCH_FACTOR if wanted.narrows else limit
    output = await record.search_output(wanted.text, terminal=wanted.terminal, limit=most, timeout_s=timeout_s)
    if not wanted.narrows:
        return output
    printed_by = {hit.command_id for hit in output.hits if hit.command_id}
    meant = {name for name in printed_by if await _matches_command(record, wanted, name)}
    hits = [hit for hit in output.hits if hit.command_id in meant]
    return msgspec.structs.replace(output, hits=hits[:limit], complete=output.complete and len(hits) <= limit)


async def _matches_command(record: TerminalService, wanted: CommandFilter, command_id: str) -> bool:
    """Whether the command matches. One that was running when it was found may have another name by now."""
    try:
        return wanted.fits(await record.command(command_id))
    except DragomanError:
        return False
