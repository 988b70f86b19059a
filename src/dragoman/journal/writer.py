"""The one thread that owns the writing connection: it groups queued work, commits it, and only then acknowledges.

Queued appends share a transaction of up to 1,000 events. If the group fails, each append is retried by itself, so that
an invalid append fails alone. Other work (retention, forgetting) runs in between.
"""

from __future__ import annotations

import asyncio
import threading
from collections import deque
from collections.abc import Callable, Sequence
from contextlib import suppress
from dataclasses import dataclass, field
from typing import Any

import msgspec

from dragoman.core.errors import DragomanError
from dragoman.core.events import Event
from dragoman.core.localization import localize
from dragoman.journal import errors as journal_errors
from dragoman.journal.event_rows import EventDraft, draft_event
from dragoman.journal.journal_file import JournalFile
from dragoman.journal.segments import Span
from dragoman.journal.stores import JsonText, Scalar, Statement

GROUP_LIMIT_EVENTS = 1_000

WriteOutcome = int | BaseException
Redact = Callable[[Event], Event]


@dataclass(slots=True, eq=False)
class AppendJob:
    """What one caller wants written, all or nothing."""

    events: Sequence[Event]
    writes: Sequence[Statement]
    spans: Sequence[Span]
    done: asyncio.Future[int]
    drafts: list[EventDraft] = field(default_factory=list)


@dataclass(slots=True, eq=False)
class WriterJob:
    """Other work that needs the connection; bounded, so that appends wait for it briefly."""

    run: Callable[[JournalFile], Any]
    done: asyncio.Future[Any]


Settle = Callable[[Sequence[tuple[asyncio.Future[Any], Any]], int], None]


class WriterThread:
    def __init__(self, journal_file: JournalFile, redact: Redact, settle: Settle) -> None:
        self._journal_file = journal_file
        self._redact = redact
        self._settle = settle
        self._waiting: deque[AppendJob | WriterJob] = deque()
        self._changed = threading.Condition()
        self._closing = False
        self._thread = threading.Thread(target=self._run, name="dragoman-journal", daemon=True)

    def start(self) -> None:
        self._thread.start()

    def put(self, job: AppendJob | WriterJob) -> None:
        with self._changed:
            if self._closing:
                raise journal_errors.journal_closed()
            self._waiting.append(job)
            self._changed.notify()

    def discard(self, job: AppendJob) -> None:
        """Its caller was cancelled: if it is still queued, it is not written, and its memory is freed."""
        with self._changed, suppress(ValueError):
            self._waiting.remove(job)

    def close(self) -> None:
        """Queued work is still written; nothing new is accepted."""
        with self._changed:
            self._closing = True
            self._changed.notify()

    def abandon(self) -> list[asyncio.Future[Any]]:
        """The deadline of closing has passed: queued work is not written, and its callers get an error."""
        with self._changed:
            left = [job.done for job in self._waiting]
            self._waiting.clear()
            return left

    def _run(self) -> None:
        while group := self._pop_group():
            first = group[0]
            if isinstance(first, WriterJob):
                outcomes: list[Any] = [self._work(first)]
            else:
                outcomes = self._commit([job for job in group if isinstance(job, AppendJob)])
            self._acknowledge([(job.done, outcome) for job, outcome in zip(group, outcomes, strict=True)])
        self._journal_file.close()
        self._acknowledge([])

    def _acknowledge(self, outcomes: Sequence[tuple[asyncio.Future[Any], Any]]) -> None:
        try:
            self._settle(outcomes, self._journal_file.last_sequence)
        except RuntimeError:  # the loop has ended, and with it all callers
            self.close()

    def _pop_group(self) -> list[AppendJob | WriterJob]:
        """The queued work as one group; empty when everything is written and the writer should close."""
        with self._changed:
            self._changed.wait_for(lambda: self._waiting or self._closing)
            group: list[AppendJob | WriterJob] = []
            events = 0
            while self._waiting and self._joins(group, events):
                job = self._waiting.popleft()
                group.append(job)
                events += len(job.events) if isinstance(job, AppendJob) else 0
            return group

    def _joins(self, group: Sequence[AppendJob | WriterJob], events: int) -> bool:
        head = self._waiting[0]
        if not group:
            return True
        if isinstance(head, WriterJob) or isinstance(group[0], WriterJob):
            return False
        return events + len(head.events) <= GROUP_LIMIT_EVENTS

    def _work(self, work: WriterJob) -> Any:
        try:
            return self._journal_file.guarded(work.run)
        except Exception as error:  # noqa: BLE001  see below
            return error

    def _commit(self, group: list[AppendJob]) -> list[WriteOutcome]:
        refused = {id(job): error for job in group if (error := self._prepare(job))}
        sound = [job for job in group if id(job) not in refused]
        written = dict(zip(map(id, sound), self._write(sound), strict=True))
        return [refused.get(id(job)) or written[id(job)] for job in group]

    def _prepare(self, job: AppendJob) -> Exception | None:
        """Redaction comes before anything touches the disk; if the redactor fails, nothing is written."""
        try:
            job.drafts = [draft_event(event) for event in self._redacted(job.events)]
            job.writes = [self._without_secrets(statement) for statement in job.writes]
        except Exception as error:  # noqa: BLE001  the thread survives every error; the caller gets it
            return error
        return None

    def _without_secrets(self, statement: Statement) -> Statement:
        if not any(isinstance(value, JsonText) for value in statement.bindings):
            return statement
        return Statement(statement.sql, tuple(map(self._clean, statement.bindings)))

    def _clean(self, value: Scalar) -> Scalar:
        """Clean like the body of an event: one rule for what is recorded and for what is stored beside it."""
        if not isinstance(value, JsonText):
            return value
        (event,) = self._redacted([Event(kind="store.written", body={"value": msgspec.json.decode(value.encode())})])
        return msgspec.json.encode(event.body["value"]).decode()

    def _redacted(self, events: Sequence[Event]) -> list[Event]:
        try:
            return [self._redact(event) for event in events]
        except Exception as error:
            raise DragomanError(
                "redaction_failed",
                localize("Cannot check an event for secrets, so it was not recorded: {reason}.", reason=error),
                hint=localize("Check the redaction settings."),
            ) from error

    def _write(self, group: list[AppendJob]) -> list[WriteOutcome]:
        if not group:
            return []
        try:
            return list(self._journal_file.write([(job.drafts, job.writes, job.spans) for job in group]))
        except Exception as error:  # noqa: BLE001  see above
            if len(group) == 1:
                return [error]
            return [outcome for job in group for outcome in self._write([job])]
