"""The one thread that owns the writing connection: it groups what waits, commits it, and only then acknowledges.

Appends that wait together share a transaction of up to 1,000 events. If the group fails, each append is tried by
itself, so that one caller's fault is that caller's alone. Other work (retention, forgetting) takes its turn in between.
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

from dragoman.errors import DragomanError
from dragoman.events import Event
from dragoman.journal import faults
from dragoman.journal.ledger import Ledger
from dragoman.journal.records import Draft, draft
from dragoman.journal.segments import Span
from dragoman.journal.stores import JsonText, Scalar, Statement
from dragoman.phrases import say

GROUP_LIMIT_EVENTS = 1_000

Outcome = int | BaseException
Redact = Callable[[Event], Event]


@dataclass(slots=True, eq=False)
class Append:
    """What one caller wants written whole or not at all."""

    events: Sequence[Event]
    writes: Sequence[Statement]
    spans: Sequence[Span]
    done: asyncio.Future[int]
    drafts: list[Draft] = field(default_factory=list)


@dataclass(slots=True, eq=False)
class Work:
    """Anything else that needs the connection; bounded, so that appends wait for it briefly."""

    run: Callable[[Ledger], Any]
    done: asyncio.Future[Any]


Settle = Callable[[Sequence[tuple[asyncio.Future[Any], Any]], int], None]


class Writer:
    def __init__(self, ledger: Ledger, redact: Redact, settle: Settle) -> None:
        self._ledger = ledger
        self._redact = redact
        self._settle = settle
        self._waiting: deque[Append | Work] = deque()
        self._changed = threading.Condition()
        self._closing = False
        self._thread = threading.Thread(target=self._run, name="dragoman-journal", daemon=True)

    def start(self) -> None:
        self._thread.start()

    def put(self, job: Append | Work) -> None:
        with self._changed:
            if self._closing:
                raise faults.closed()
            self._waiting.append(job)
            self._changed.notify()

    def discard(self, job: Append) -> None:
        """Its caller was cancelled: if it still waits, it is not written, and holds no memory."""
        with self._changed, suppress(ValueError):
            self._waiting.remove(job)

    def close(self) -> None:
        """What waits is still written; nothing new is taken."""
        with self._changed:
            self._closing = True
            self._changed.notify()

    def abandon(self) -> list[asyncio.Future[Any]]:
        """The deadline of closing is over: what still waits is not written, and its callers are told."""
        with self._changed:
            left = [job.done for job in self._waiting]
            self._waiting.clear()
            return left

    def _run(self) -> None:
        while group := self._take():
            first = group[0]
            if isinstance(first, Work):
                outcomes: list[Any] = [self._work(first)]
            else:
                outcomes = self._commit([job for job in group if isinstance(job, Append)])
            self._tell([(job.done, outcome) for job, outcome in zip(group, outcomes, strict=True)])
        self._ledger.close()
        self._tell([])

    def _tell(self, outcomes: Sequence[tuple[asyncio.Future[Any], Any]]) -> None:
        try:
            self._settle(outcomes, self._ledger.last_sequence)
        except RuntimeError:  # the loop is gone, and with it everyone who waited
            self.close()

    def _take(self) -> list[Append | Work]:
        """What waits, as one group; nothing when all is written and the writer is to close."""
        with self._changed:
            self._changed.wait_for(lambda: self._waiting or self._closing)
            group: list[Append | Work] = []
            events = 0
            while self._waiting and self._joins(group, events):
                job = self._waiting.popleft()
                group.append(job)
                events += len(job.events) if isinstance(job, Append) else 0
            return group

    def _joins(self, group: Sequence[Append | Work], events: int) -> bool:
        head = self._waiting[0]
        if not group:
            return True
        if isinstance(head, Work) or isinstance(group[0], Work):
            return False
        return events + len(head.events) <= GROUP_LIMIT_EVENTS

    def _work(self, work: Work) -> Any:
        try:
            return self._ledger.guarded(work.run)
        except Exception as error:  # noqa: BLE001  as below
            return error

    def _commit(self, group: list[Append]) -> list[Outcome]:
        refused = {id(job): error for job in group if (error := self._prepare(job))}
        sound = [job for job in group if id(job) not in refused]
        written = dict(zip(map(id, sound), self._write(sound), strict=True))
        return [refused.get(id(job)) or written[id(job)] for job in group]

    def _prepare(self, job: Append) -> Exception | None:
        """Redaction comes before anything touches the disk; a redactor that fails lets nothing through."""
        try:
            job.drafts = [draft(event) for event in self._redacted(job.events)]
            job.writes = [self._without_secrets(statement) for statement in job.writes]
        except Exception as error:  # noqa: BLE001  the thread outlives every fault; the caller gets it
            return error
        return None

    def _without_secrets(self, statement: Statement) -> Statement:
        if not any(isinstance(value, JsonText) for value in statement.bindings):
            return statement
        return Statement(statement.sql, tuple(map(self._clean, statement.bindings)))

    def _clean(self, value: Scalar) -> Scalar:
        """As the body of an event: one judge for what is recorded and for what is kept beside it."""
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
                say("An event could not be searched for secrets and was not recorded: {reason}.", reason=error),
                hint=say("Check the redaction settings."),
            ) from error

    def _write(self, group: list[Append]) -> list[Outcome]:
        if not group:
            return []
        try:
            return list(self._ledger.write([(job.drafts, job.writes, job.spans) for job in group]))
        except Exception as error:  # noqa: BLE001  as above
            if len(group) == 1:
                return [error]
            return [outcome for job in group for outcome in self._write([job])]
