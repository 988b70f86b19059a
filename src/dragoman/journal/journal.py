"""The journal: what happened, in order, durable, searchable. The one port through which everything else records."""

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

from dragoman.clock import Clock, SystemClock
from dragoman.errors import DragomanError
from dragoman.events import Event, Recorded
from dragoman.journal import faults, retention, segment_scrub, words
from dragoman.journal import scrub as scrubbing
from dragoman.journal.convoy import Convoy
from dragoman.journal.ledger import Ledger
from dragoman.journal.readers import READERS, Filter, Page, Rows, held
from dragoman.journal.records import clean
from dragoman.journal.retention import Removed, Retention
from dragoman.journal.room import Room
from dragoman.journal.scrub import Scrubbed
from dragoman.journal.segment_files import Place, Reading
from dragoman.journal.segments import READ_LIMIT_BYTES, Segments, Span
from dragoman.journal.stores import Before, Everything, OfSession, Scope, Statement, Store
from dragoman.journal.write_health import WriteHealth
from dragoman.journal.writer import GROUP_LIMIT_EVENTS, Append, Redact, Work, Writer
from dragoman.phrases import say
from dragoman.redaction import Redactor
from dragoman.transport.private_files import ensure_private_folder
from dragoman.transport.system import REAL_SYSTEM, System

Result = TypeVar("Result")
AppendBytes = Callable[[str, bytes], Span]
ReadRecords = Callable[[str, Place, int], Reading]

PAGE_EVENTS = 500
QUERY_TIMEOUT_S = 2.0
CLOSE_TIMEOUT_S = 5.0
SEGMENT_BYTES = 4 * 1024 * 1024
RECORDS_LIMIT_BYTES = 1024 * 1024
# Callers of `append` wait once this many events do: nothing is dropped, and memory stays bounded.
WAITING_EVENTS = 8 * GROUP_LIMIT_EVENTS


class Gap(msgspec.Struct, frozen=True):
    """Told to a reader who comes too late: events from `first` to `last` are no longer kept."""

    first: int
    last: int


def _as_it_is(event: Event) -> Event:
    return event


class Journal:
    """Belongs to the event loop that opened it; the database belongs to a thread of its own."""

    def __init__(self, ledger: Ledger, redact: Redact) -> None:
        self._ledger = ledger
        self._loop = asyncio.get_running_loop()
        self._writer = Writer(ledger, redact, self._settle_soon)
        self._room = Room(WAITING_EVENTS)
        self._read_threads = anyio.CapacityLimiter(READERS)
        self._segment_thread = Convoy()
        self._pack_thread = anyio.CapacityLimiter(1)
        self._settling: asyncio.Future[Any] | None = None
        self._bell = anyio.Event()
        self._finished = anyio.Event()
        self.last_sequence = ledger.last_sequence
        self._health = WriteHealth(ledger.folder, lambda: self._put(Ledger.prove_room))
        self.scrub_failure = ""
        """Why what older versions recorded could not be searched for secrets; empty where it could, or still is."""

    @classmethod
    @asynccontextmanager
    async def open(
        cls,
        folder: Path,
        *,
        stores: Sequence[Store] = (),
        redact: Redact = _as_it_is,
        clock: Clock | None = None,
        system: System = REAL_SYSTEM,
        vfs: str | None = None,
        segment_bytes: int = SEGMENT_BYTES,
        close_timeout_s: float = CLOSE_TIMEOUT_S,
    ) -> AsyncIterator[Journal]:
        """Open or begin the journal of a folder; leaving the block writes what waits, within the deadline."""
        build = partial(
            _ledger, folder, stores, clock or SystemClock(), system=system, vfs=vfs, roll_bytes=segment_bytes
        )
        journal = cls(await anyio.to_thread.run_sync(build), redact)
        journal._writer.start()
        try:
            yield journal
        finally:
            await journal._close(close_timeout_s)

    @property
    def write_fault(self) -> DragomanError | None:
        """Why nothing can be recorded now; None once something can be written again."""
        return self._health.fault

    async def append(
        self, events: Sequence[Event], *, writes: Sequence[Statement] = (), spans: Sequence[Span] = ()
    ) -> int:
        """Record events and stores' writes, all or nothing; returns the last sequence number once it is synced.

        `spans` are the segments' bytes that the events speak of: they are synced first. A cancelled caller stops
        waiting; whether its events were written, only the journal can tell.
        """
        if len(events) > GROUP_LIMIT_EVENTS:
            raise _too_many(len(events))
        async with self._room.held(max(1, len(events))):
            job = Append(tuple(events), tuple(writes), tuple(spans), self._loop.create_future())
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
    ) -> list[Recorded]:
        """Events after a sequence number, oldest first."""
        found: list[Recorded] = []
        while True:
            page = await self._page(after, limit - len(found), Filter(session, tuple(kinds), workspace), timeout_s)
            found += page.events
            after = page.upto
            if len(found) >= limit or after >= page.last:
                return found

    async def tail(
        self, after: int = 0, *, session: str | None = None, kinds: Sequence[str] = ()
    ) -> AsyncGenerator[Recorded | Gap, None]:
        """Events after a sequence number, then every new one, without gap or double; ends when the journal closes.

        Nothing is queued for a reader: a bell says that there is more, and the record itself is read again.
        """
        chosen = Filter(session, tuple(kinds))
        while not self._finished.is_set():
            bell = self._bell
            try:
                page = await self._page(after, PAGE_EVENTS, chosen, QUERY_TIMEOUT_S)
            except DragomanError as error:
                if error.code == "journal_closed":
                    return  # between the look at the bell and the read
                raise
            if after < page.retired:
                yield Gap(after + 1, page.retired)
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
    ) -> list[Recorded]:
        """Events whose text has all the words, newest first; `ranked` puts the best of the newest 10,000 first."""
        search = self._ledger.readers.search
        chosen = Filter(session, tuple(kinds), workspace)
        expression = words.expression(query)
        return await self._read(partial(search, expression, limit, chosen, ranked=ranked, timeout_s=timeout_s))

    async def query(self, statement: Statement, *, timeout_s: float = QUERY_TIMEOUT_S) -> Rows:
        """A store's rows, and the sequence number at which they were true."""
        return await self._read(partial(self._ledger.readers.query, statement, timeout_s))

    async def export(self, after: int = 0, *, session: str | None = None) -> AsyncGenerator[dict[str, Any], None]:
        """Every event up to now as plain JSON types, one row each."""
        end = self.last_sequence
        while after < end:
            page = await self._page(after, PAGE_EVENTS, Filter(session), QUERY_TIMEOUT_S)
            for event in page.events:
                if event.sequence <= end:
                    yield _row(event)
            after = page.upto

    async def append_bytes(self, stream: str, data: bytes) -> Span:
        """Bulk bytes of a session; they survive our death now, and power loss once an event names their span."""
        return await self.recording(lambda append: append(stream, data))

    async def recording(self, work: Callable[[AppendBytes], Result]) -> Result:
        """Run what makes bytes and appends them, off the event loop: several appends cost one change of thread."""
        try:
            return await self._segment_thread.run(partial(work, self._append_bytes))
        finally:
            self._settle_segments()

    def _append_bytes(self, stream: str, data: bytes) -> Span:
        """In the segments' own thread; whoever appends may go on after a fault, so it is noted here."""
        try:
            return self._ledger.segments.append(stream, data)
        except DragomanError as error:
            with suppress(RuntimeError):  # the loop is gone, and with it everyone who asks
                self._loop.call_soon_threadsafe(self._health.note, error)
            raise

    async def records(self, stream: str, after: Place, *, limit: int = RECORDS_LIMIT_BYTES) -> Reading:
        """A stream's records from a place on; an empty answer says that there are no more yet."""
        return await self._read(partial(self._ledger.segments.records, stream, after, limit))

    async def reading(self, work: Callable[[ReadRecords], Result]) -> Result:
        """Run what reads many records here and there, off the event loop: it costs one change of thread."""
        return await self._read(partial(work, self._ledger.segments.records))

    async def segments_of(self, stream: str) -> list[int]:
        return await self._read(partial(self._ledger.segments.numbers, stream))

    async def pack_segment(self) -> bool:
        """Compress one full segment file; whether there was one. Readers see the same bytes before and after."""
        return await anyio.to_thread.run_sync(self._ledger.segments.pack_one, limiter=self._pack_thread)

    async def read_bytes(self, span: Span, *, limit: int = READ_LIMIT_BYTES) -> bytes:
        return await self._read(partial(self._ledger.segments.read, span, limit=limit))

    async def retain(self, policy: Retention) -> Removed:
        """Remove what is too old or too much, in steps between which others append."""
        segments = await self._work(partial(retention.retire_segments, policy=policy))
        upto = await self._work(partial(retention.crowded_upto, policy=policy))
        events = 0
        while step := await self._work(partial(retention.retire_step, policy=policy, upto=upto)):
            events += step
        if upto:
            await self._merge()
        while await self._work(retention.give_back_step):
            pass
        return Removed(events=events, segments=segments)

    async def scrub(self, redactor: Redactor) -> Scrubbed:
        """Search what older versions recorded for secrets, once per version of the engine, between others' appends."""
        if not redactor.enabled or not await self._work(scrubbing.begin):
            return await self.scrubbed()
        try:
            return await self._scrub(redactor)
        except DragomanError as error:
            self.scrub_failure = error.code
            raise

    async def _scrub(self, redactor: Redactor) -> Scrubbed:
        if await self._work(scrubbing.owes_rows):
            steps: list[scrubbing.Step] = [scrubbing.events_step, *scrubbing.store_steps(self._ledger.stores)]
            for step in steps:
                while await self._work(partial(step, redactor=redactor)):
                    pass
            if (await self.scrubbed()).changed:
                await self._work(retention.rewrite)
            await self._work(scrubbing.finish_rows)
        await segment_scrub.run(self._ledger, self._work, self._pack_thread, redactor)
        return await self.scrubbed()

    async def scrubbed(self) -> Scrubbed:
        return await self._work(lambda ledger: scrubbing.standing(ledger.database.connection))

    async def count(self, scope: Scope) -> int:
        """How many events `forget` would erase."""
        ((events,),) = (await self.query(retention.counting(_as_stored(scope)))).rows
        return int(events)

    async def forget(self, scope: Scope) -> int:
        """Erase, so that no file of the journal holds a byte of it any more; returns how many events went.

        Damaged files that were set aside go as well: what they hold cannot be told apart.
        """
        scope = _as_stored(scope)
        await self._work(lambda ledger: ledger.segments.forget(scope))
        await self._work(partial(retention.forget_stores, scope=scope))
        if isinstance(scope, Everything):
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
        """Full files are synced beside the writer, who has others to serve; a fault is told to who needs the bytes."""
        if self._settling is None and self._ledger.segments.owes:
            with suppress(RuntimeError):  # the loop ends: closing syncs them as well
                self._settling = self._loop.run_in_executor(None, self._ledger.segments.settle)
                self._settling.add_done_callback(self._files_settled)

    def _files_settled(self, done: asyncio.Future[Any]) -> None:
        self._settling = None
        if not done.cancelled():
            done.exception()

    async def _merge(self) -> None:
        begin = True
        while await self._work(partial(retention.merge_step, begin=begin)):
            begin = False

    async def _page(self, after: int, limit: int, chosen: Filter, timeout_s: float) -> Page:
        return await self._read(partial(self._ledger.readers.read, after, limit, chosen, timeout_s))

    async def _read(self, read: Callable[[], Result]) -> Result:
        try:
            return await anyio.to_thread.run_sync(read, limiter=self._read_threads)
        except DragomanError as error:
            if error.code == "journal_corrupt":  # the writer looks closely, and sets the file aside if it is so
                await self._work(Ledger.require_sound)
            raise

    async def _work(self, run: Callable[[Ledger], Result]) -> Result:
        result: Result = await self._put(run)
        return result

    def _put(self, run: Callable[[Ledger], Any]) -> asyncio.Future[Any]:
        work = Work(run, self._loop.create_future())
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
                done.set_exception(faults.closed())
        self._finished.set()
        self._ring()


def _ledger(
    folder: Path, stores: Sequence[Store], clock: Clock, *, system: System, vfs: str | None, roll_bytes: int
) -> Ledger:
    try:
        home = ensure_private_folder(folder).resolve()
        segments = Segments(home / "segments", clock, system=system, roll_bytes=roll_bytes)
        return Ledger(home, stores, segments, clock, vfs=vfs, system=system)
    except OSError as error:
        raise faults.translated_os(error) from error


def _as_stored(scope: Scope) -> Scope:
    """What was named outside, as it stands in the rows: their text was cleaned, and their times fit 63 bits."""
    match scope:
        case OfSession(session):
            return OfSession(clean(session))
        case Before(at_ns):
            return Before(held(at_ns))
        case Everything():
            return scope


def _row(event: Recorded) -> dict[str, Any]:
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


def _too_many(count: int) -> DragomanError:
    return DragomanError(
        "batch_too_large",
        say("{count} events are more than one append takes.", count=count),
        hint=say("Append at most {limit} at a time.", limit=GROUP_LIMIT_EVENTS),
    )
