"""The journal: what happened, in order, durable and searchable. Everything else records through `Journal`."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncGenerator, AsyncIterator, Callable, Sequence
from contextlib import asynccontextmanager, suppress
from functools import partial
from pathlib import Path
from typing import Any, TypeVar

import anyio
import anyio.to_thread
import msgspec

from dragoman.core.clock import Clock, SystemClock
from dragoman.core.errors import DragomanError, ErrorSpec
from dragoman.core.events import Event, RecordedEvent
from dragoman.core.redaction import Redactor
from dragoman.io.files.private_files import ensure_private_folder
from dragoman.io.files.system_calls import REAL_SYSTEM, SystemCalls
from dragoman.journal import errors as journal_errors
from dragoman.journal import retention, search_query, segment_scrub
from dragoman.journal import row_scrub as scrubbing
from dragoman.journal.event_rows import clean_text
from dragoman.journal.journal_file import JournalFile, WriteHealth
from dragoman.journal.readers import READERS, EventFilter, EventPage, StoreRows, clamp_int64
from dragoman.journal.retention import RemovedCounts, Retention
from dragoman.journal.row_scrub import ScrubStatus
from dragoman.journal.segment_files import RecordPage, RecordPlace
from dragoman.journal.segments import READ_LIMIT_BYTES, Segments, Span
from dragoman.journal.stores import BeforeScope, EverythingScope, Scope, SessionScope, Statement, Store
from dragoman.journal.write_batcher import WeightedLimit, WriteBatcher
from dragoman.journal.writer import GROUP_LIMIT_EVENTS, AppendJob, Redact, WriterJob, WriterThread

Result = TypeVar("Result")
AppendBytes = Callable[[str, bytes], Span]
ReadRecords = Callable[[str, RecordPlace, int], RecordPage]

PAGE_EVENTS = 500
QUERY_TIMEOUT_S = 2.0
CLOSE_TIMEOUT_S = 5.0
SEGMENT_BYTES = 4 * 1024 * 1024
RECORDS_LIMIT_BYTES = 1024 * 1024
# Callers of `append` wait once this many events are queued: nothing is dropped, and memory stays bounded.
WAITING_EVENTS = 8 * GROUP_LIMIT_EVENTS


class JournalGap(msgspec.Struct, frozen=True):
    """A reader was too slow: events from `first` to `last` are no longer kept."""

    first: int
    last: int


def _as_it_is(event: Event) -> Event:
    return event


class Journal:
    """Records events, reads them back, and keeps the stores. It belongs to the event loop that opened it.

    It owns the writer thread, the reading connections and the segment files. It never decides what is worth
    recording. `append` returns only after the events are synced to disk.
    """

    def __init__(self, journal_file: JournalFile, redact: Redact) -> None:
        self._journal_file = journal_file
        self._loop = asyncio.get_running_loop()
        self._writer = WriterThread(journal_file, redact, self._settle_soon)
        self._room = WeightedLimit(WAITING_EVENTS)
        self._read_threads = anyio.CapacityLimiter(READERS)
        self._segment_thread = WriteBatcher()
        self._pack_thread = anyio.CapacityLimiter(1)
        self._settling: asyncio.Future[Any] | None = None
        self._bell = anyio.Event()
        self._finished = anyio.Event()
        self.last_sequence = journal_file.last_sequence
        self._health = WriteHealth(journal_file.folder, lambda: self._put(JournalFile.prove_room))
        self.scrub_failure = ""
        """Why records of older versions could not be searched for secrets; empty if they could, or if the search is
        still running."""

    @classmethod
    @asynccontextmanager
    async def open(
        cls,
        folder: Path,
        *,
        stores: Sequence[Store] = (),
        redact: Redact = _as_it_is,
        clock: Clock | None = None,
        system: SystemCalls = REAL_SYSTEM,
        vfs: str | None = None,
        segment_bytes: int = SEGMENT_BYTES,
        close_timeout_s: float = CLOSE_TIMEOUT_S,
    ) -> AsyncIterator[Journal]:
        """Open or create the journal in a folder; leaving the block writes what is queued, within the deadline."""
        build = partial(
            _journal_file, folder, stores, clock or SystemClock(), system=system, vfs=vfs, roll_bytes=segment_bytes
        )
        journal = cls(await anyio.to_thread.run_sync(build), redact)
        journal._writer.start()
        try:
            yield journal
        finally:
            await journal._close(close_timeout_s)

    @property
    def write_fault(self) -> DragomanError | None:
        """Why nothing can be recorded now; None once writing works again."""
        return self._health.fault

    async def append(
        self, events: Sequence[Event], *, writes: Sequence[Statement] = (), spans: Sequence[Span] = ()
    ) -> int:
        """Record events and writes of stores, all or nothing; return the last sequence number once it is synced.

        `spans` are the segment bytes that the events refer to: they are synced first. A cancelled caller stops waiting;
        its events may or may not have been written.
        """
        if len(events) > GROUP_LIMIT_EVENTS:
            raise _too_many(count=len(events), limit=GROUP_LIMIT_EVENTS)
        async with self._room.held(max(1, len(events))):
            job = AppendJob(tuple(events), tuple(writes), tuple(spans), self._loop.create_future())
            self._writer.put(job)
            try:
                return await job.done
            except asyncio.CancelledError:
                self._writer.discard(job)
                raise

    async def read(
        self,
        after: int = 0,
        *,
        limit: int = PAGE_EVENTS,
        session: str | None = None,
        kinds: Sequence[str] = (),
        workspace: str | None = None,
        timeout_s: float = QUERY_TIMEOUT_S,
    ) -> list[RecordedEvent]:
        """Events after a sequence number, oldest first."""
        events: list[RecordedEvent] = []
        while True:
            page = await self._page(
                after, limit - len(events), EventFilter(session, tuple(kinds), workspace), timeout_s
            )
            events += page.events
            after = page.upto
            if len(events) >= limit or after >= page.last:
                return events

    async def tail(
        self, after: int = 0, *, session: str | None = None, kinds: Sequence[str] = ()
    ) -> AsyncGenerator[RecordedEvent | JournalGap, None]:
        """Events after a sequence number, then every new one, without gap or duplicate; ends when the journal closes.

        Nothing is queued for a reader: it is woken when there is more, and reads the record again.
        """
        chosen = EventFilter(session, tuple(kinds))
        while not self._finished.is_set():
            bell = self._bell
            try:
                page = await self._page(after, PAGE_EVENTS, chosen, QUERY_TIMEOUT_S)
            except DragomanError as error:
                if error.code == "journal_closed":
                    return  # closed between the check and the read
                raise
            if after < page.retired:
                yield JournalGap(after + 1, page.retired)
            for event in page.events:
                yield event
            after = max(after, page.upto)
            if after >= max(page.last, self.last_sequence) and not self._finished.is_set():
                await bell.wait()

    async def wait_past(self, sequence: int) -> None:
        """Return when there is something after `sequence`, or the journal has closed."""
        while self.last_sequence <= sequence and not self._finished.is_set():
            await self._bell.wait()

    async def search(
        self,
        query: str,
        *,
        limit: int = 20,
        session: str | None = None,
        kinds: Sequence[str] = (),
        workspace: str | None = None,
        ranked: bool = False,
        timeout_s: float = QUERY_TIMEOUT_S,
    ) -> list[RecordedEvent]:
        """Events whose text contains all the words, newest first; `ranked` puts the best of the newest 10,000 first."""
        search = self._journal_file.readers.search
        chosen = EventFilter(session, tuple(kinds), workspace)
        expression = search_query.fts_expression(query)
        return await self._read(partial(search, expression, limit, chosen, ranked=ranked, timeout_s=timeout_s))

    async def query(self, statement: Statement, *, timeout_s: float = QUERY_TIMEOUT_S) -> StoreRows:
        """A store's rows, and the sequence number at which they were current."""
        return await self._read(partial(self._journal_file.readers.query, statement, timeout_s))

    async def export(self, after: int = 0, *, session: str | None = None) -> AsyncGenerator[dict[str, Any], None]:
        """Every event up to now as plain JSON types, one row each."""
        end = self.last_sequence
        while after < end:
            page = await self._page(after, PAGE_EVENTS, EventFilter(session), QUERY_TIMEOUT_S)
            for event in page.events:
                if event.sequence <= end:
                    yield _row(event)
            after = page.upto

    async def recording(self, work: Callable[[AppendBytes], Result]) -> Result:
        """Run a function that creates and appends bytes, off the event loop: several appends cost one thread switch."""
        try:
            return await self._segment_thread.run(partial(work, self._append_bytes))
        finally:
            self._settle_segments()

    def _append_bytes(self, stream: str, data: bytes) -> Span:
        """Runs in the segments' own thread. A caller may continue after an error, so the error is noted here."""
        try:
            return self._journal_file.segments.append(stream, data)
        except DragomanError as error:
            with suppress(RuntimeError):  # the loop has ended, and with it all callers
                self._loop.call_soon_threadsafe(self._health.note, error)
            raise

    async def records(self, stream: str, after: RecordPlace, *, limit: int = RECORDS_LIMIT_BYTES) -> RecordPage:
        """A stream's records from a place on; an empty page means that there are no more yet."""
        return await self._read(partial(self._journal_file.segments.records, stream, after, limit))

    async def reading(self, work: Callable[[ReadRecords], Result]) -> Result:
        """Run a function that reads many records, off the event loop: it costs one thread switch."""
        return await self._read(partial(work, self._journal_file.segments.records))

    async def segments_of(self, stream: str) -> list[int]:
        return await self._read(partial(self._journal_file.segments.numbers, stream))

    async def pack_segment(self) -> bool:
        """Compress one full segment file; return whether there was one. Readers see the same bytes before and after."""
        return await anyio.to_thread.run_sync(self._journal_file.segments.pack_one, limiter=self._pack_thread)

    async def read_bytes(self, span: Span, *, limit: int = READ_LIMIT_BYTES) -> bytes:
        return await self._read(partial(self._journal_file.segments.read, span, limit=limit))

    async def retain(self, policy: Retention) -> RemovedCounts:
        """Remove what is too old or too much, in steps, so that others can append in between."""
        segments = await self._work(partial(retention.retire_segments, policy=policy))
        upto = await self._work(partial(retention.sequence_over_limit, policy=policy))
        events = 0
        while step := await self._work(partial(retention.retire_step, policy=policy, upto=upto)):
            events += step
        if upto:
            await self._merge()
        while await self._work(retention.give_back_step):
            pass
        return RemovedCounts(events=events, segments=segments)

    async def scrub(self, redactor: Redactor) -> ScrubStatus:
        """Search what older versions recorded for secrets, once per version of the redaction engine, in between
        appends."""
        if not redactor.enabled or not await self._work(scrubbing.begin):
            return await self.scrubbed()
        try:
            return await self._scrub(redactor)
        except DragomanError as error:
            self.scrub_failure = error.code
            raise

    async def _scrub(self, redactor: Redactor) -> ScrubStatus:
        if await self._work(scrubbing.has_pending_rows):
            steps: list[scrubbing.ScrubStep] = [
                scrubbing.events_step,
                *scrubbing.store_steps(self._journal_file.stores),
            ]
            for step in steps:
                while await self._work(partial(step, redactor=redactor)):
                    pass
            if (await self.scrubbed()).changed:
                await self._work(retention.rewrite)
            await self._work(scrubbing.finish_rows)
        await segment_scrub.scrub_segments(self._journal_file, self._work, self._pack_thread, redactor)
        return await self.scrubbed()

    async def scrubbed(self) -> ScrubStatus:
        return await self._work(lambda journal_file: scrubbing.scrub_status(journal_file.database.connection))

    async def count(self, scope: Scope) -> int:
        """How many events `forget` would erase."""
        ((events,),) = (await self.query(retention.counting(_as_stored(scope)))).rows
        return int(events)

    async def forget(self, scope: Scope) -> int:
        """Erase, so that no file of the journal holds a byte of it; return how many events were erased.

        Damaged files that were set aside are deleted too: their content cannot be separated.
        """
        scope = _as_stored(scope)
        await self._work(lambda journal_file: journal_file.segments.forget(scope))
        await self._work(partial(retention.forget_stores, scope=scope))
        if isinstance(scope, EverythingScope):
            return await self._work(retention.forget_everything)
        events, after = 0, 0
        while after < self.last_sequence:
            step, after = await self._work(partial(retention.forget_step, scope=scope, after=after))
            events += step
            if not step:
                break
        await self._work(retention.rewrite)
        return events

    def _settle_segments(self) -> None:
        """Sync full files beside the writer, which is busy; an error is reported to the caller that needs the bytes."""
        if self._settling is None and self._journal_file.segments.has_unsynced_files:
            with suppress(RuntimeError):  # the loop has ended: closing syncs them as well
                self._settling = self._loop.run_in_executor(None, self._journal_file.segments.settle)
                self._settling.add_done_callback(self._files_settled)

    def _files_settled(self, done: asyncio.Future[Any]) -> None:
        self._settling = None
        if not done.cancelled():
            done.exception()

    async def _merge(self) -> None:
        begin = True
        while await self._work(partial(retention.merge_step, begin=begin)):
            begin = False

    async def _page(self, after: int, limit: int, chosen: EventFilter, timeout_s: float) -> EventPage:
        return await self._read(partial(self._journal_file.readers.read, after, limit, chosen, timeout_s))

    async def _read(self, read: Callable[[], Result]) -> Result:
        try:
            return await anyio.to_thread.run_sync(read, limiter=self._read_threads)
        except DragomanError as error:
            if error.code == "journal_corrupt":  # the writer checks the whole file, and sets it aside if damaged
                await self._work(JournalFile.require_sound)
            raise

    async def _work(self, run: Callable[[JournalFile], Result]) -> Result:
        result: Result = await self._put(run)
        return result

    def _put(self, run: Callable[[JournalFile], Any]) -> asyncio.Future[Any]:
        work = WriterJob(run, self._loop.create_future())
        self._writer.put(work)
        return work.done

    def _settle_soon(self, outcomes: Sequence[tuple[asyncio.Future[Any], Any]], last_sequence: int) -> None:
        self._loop.call_soon_threadsafe(self._settled, outcomes, last_sequence)

    def _settled(self, outcomes: Sequence[tuple[asyncio.Future[Any], Any]], last_sequence: int) -> None:
        for done, outcome in outcomes:
            self._health.note(outcome)
            if done.done():
                continue
            if isinstance(outcome, BaseException):
                done.set_exception(outcome)
            else:
                done.set_result(outcome)
        self.last_sequence = last_sequence
        if not outcomes:
            self._finished.set()
        self._ring()

    def _ring(self) -> None:
        bell, self._bell = self._bell, anyio.Event()
        bell.set()

    async def _close(self, timeout_s: float) -> None:
        self._health.close()
        self._writer.close()
        with anyio.CancelScope(shield=True), anyio.move_on_after(timeout_s):
            await self._finished.wait()
        for done in self._writer.abandon():
            if not done.done():
                done.set_exception(journal_errors.journal_closed())
        self._finished.set()
        self._ring()


def _journal_file(
    folder: Path, stores: Sequence[Store], clock: Clock, *, system: SystemCalls, vfs: str | None, roll_bytes: int
) -> JournalFile:
    try:
        home = ensure_private_folder(folder).resolve()
        segments = Segments(home / "segments", clock, system=system, roll_bytes=roll_bytes)
        return JournalFile(home, stores, segments, clock, vfs=vfs, system=system)
    except OSError as error:
        raise journal_errors.translate_os_error(error) from error


def _as_stored(scope: Scope) -> Scope:
    """A scope from outside, as stored in the rows: text is cleaned, and times fit 63 bits."""
    match scope:
        case SessionScope(session):
            return SessionScope(clean_text(session))
        case BeforeScope(at_ns):
            return BeforeScope(clamp_int64(at_ns))
        case EverythingScope():
            return scope


def _row(event: RecordedEvent) -> dict[str, Any]:
    inner = event.event
    return {
        "sequence": event.sequence,
        "at_ns": event.at_ns,
        "kind": inner.kind,
        "session": inner.session,
        "cause": inner.cause,
        "text": inner.text,
        "body": inner.body,
        **({"workspace": inner.workspace} if inner.workspace else {}),
    }


_too_many = ErrorSpec(
    "batch_too_large", "Too many events for one append: {count}.", "Append at most {limit} events at a time."
)
