"""The history of stops: list, read, compare and search them."""

from __future__ import annotations

from collections.abc import AsyncIterator, Callable, Mapping
from dataclasses import dataclass, field
from typing import Any

import msgspec

from dragoman.core.clock import Clock
from dragoman.core.errors import DragomanError
from dragoman.core.events import Event
from dragoman.core.localization import localize
from dragoman.debug.shared_sessions import SharedSessions, is_shared
from dragoman.debug.stops.history.store import MAX_STOPS, STORE, StopRecord, VariableRecord, read_rows
from dragoman.journal import Journal

_BATCH_SIZE = 500
_SEARCH_TIMEOUT_S = 2.0


@dataclass(frozen=True, slots=True)
class StopDifference:
    name: str
    before: str | None
    """None: it was not there."""
    after: str | None


@dataclass(slots=True)
class StopSearchResult:
    hits: list[tuple[StopRecord, VariableRecord]] = field(default_factory=list)
    searched: int = 0
    is_complete: bool = True


class StopHistory:
    """Queries on past stops. A workspace is a folder with everything below it; None means all, which only a person
    may ask for. The stops of a shared session are found only by its id.
    """

    def __init__(self, journal: Journal, clock: Clock, shared: SharedSessions | None = None) -> None:
        self._journal = journal
        self._clock = clock
        self.shared = shared or SharedSessions()

    async def newest(self, workspace: str | None, *, session: str = "", limit: int = 20) -> list[StopRecord]:
        if is_shared(session):
            return list(self.shared.find(session, workspace).stops[::-1][:limit])
        found = await self._journal.query(STORE.newest(workspace, session, 0, limit))
        return [stop for _, stop in read_rows(found.rows)]

    async def of_session(self, session: str, *, after: int = 0, limit: int = MAX_STOPS) -> list[StopRecord]:
        """The stops that are kept after a number, the oldest first."""
        if is_shared(session):
            return [it for it in self.shared.find(session, None).stops if it.number > after][:limit]
        found = await self._journal.query(STORE.of_session(session, after, limit))
        return [stop for _, stop in read_rows(found.rows)]

    async def at(self, workspace: str | None, id: str) -> StopRecord:
        session, _, number = id.rpartition(":")
        if is_shared(session):
            kept = self.shared.find(session, workspace).stops
            return _only([it for it in kept if str(it.number) == number], id)
        rows = (await self._journal.query(STORE.one(session, int(number)))).rows if number.isdecimal() else []
        found = [
            stop for _, stop in read_rows(rows) if workspace is None or _is_inside_folder(workspace, stop.workspace)
        ]
        return _only(found, id)

    async def search(
        self, workspace: str | None, variable: str, value: str, *, session: str = "", limit: int = 20
    ) -> StopSearchResult:
        """Stops at which a variable had a value, or a new value if none is named; the newest first."""
        found, deadline_s = StopSearchResult(), self._clock.monotonic_s() + _SEARCH_TIMEOUT_S
        async for stop in self._all_stops(workspace, session):
            found.searched += 1
            hit = next(
                (it for it in stop.seen.variables if it.name == variable and _matches_value(it, value, stop)), None
            )
            if hit is not None:
                found.hits.append((stop, hit))
            if len(found.hits) >= limit or self._clock.monotonic_s() > deadline_s:
                found.is_complete = len(found.hits) >= limit
                break
        return found

    async def _all_stops(self, workspace: str | None, session: str) -> AsyncIterator[StopRecord]:
        if is_shared(session):
            for stop in self.shared.find(session, workspace).stops[::-1]:
                yield stop
            return
        before = 0
        while True:
            found = await self._journal.query(STORE.newest(workspace, session, before, _BATCH_SIZE))
            rows = read_rows(found.rows)
            for _, stop in rows:
                yield stop
            if len(rows) < _BATCH_SIZE:
                return
            before = rows[-1][0]


def _only(found: list[StopRecord], id: str) -> StopRecord:
    if not found:
        raise DragomanError(
            "unknown_stop",
            localize("No stop {id} is recorded.", id=ascii(id)[:80]),
            hint=localize("stop_history without arguments lists the recorded stops."),
        )
    return found[0]


def _is_inside_folder(folder: str, path: str) -> bool:
    return f"{path}/".startswith(f"{folder.rstrip('/')}/")


def _matches_value(variable: VariableRecord, value: str, stop: StopRecord) -> bool:
    return variable.value == value if value else variable.name in stop.seen.changed


def compare_stops(one: StopRecord, other: StopRecord) -> list[StopDifference]:
    """In the order of the later stop; variables that have disappeared come last."""
    before = {it.name: it.value for it in one.seen.variables}
    after = {it.name: it.value for it in other.seen.variables}
    names = dict.fromkeys([*after, *before])
    return [StopDifference(it, before.get(it), after.get(it)) for it in names if before.get(it) != after.get(it)]


_MAX_EVENTS = 20_000


class ReportEntry(msgspec.Struct, frozen=True, kw_only=True):
    at_ns: int
    kind: str
    """Without the domain: started, resumed, stopped, evaluated …"""
    by: str = ""
    text: str = ""
    body: dict[str, Any] = {}
    stop: StopRecord | None = None


class SessionReport(msgspec.Struct, frozen=True, kw_only=True):
    session: str
    title: str
    workspace: str
    entries: tuple[ReportEntry, ...]
    output: str = ""


class SessionReports:
    def __init__(self, journal: Journal, history: StopHistory, output_of: Callable[[str], str]) -> None:
        """`output_of` returns what a session has printed, as long as the session is known."""
        self._journal = journal
        self._history = history
        self._output_of = output_of

    async def newest(self, workspace: str | None) -> str:
        found = await self._journal.search("debug started", limit=1, kinds=("debug.started",), workspace=workspace)
        if not found:
            raise DragomanError(
                "unknown_session",
                localize("No debug session is recorded."),
                hint=localize("`dragoman debug PROGRAM` starts one; --all-workspaces searches everywhere."),
            )
        return found[0].event.session

    async def of(self, session: str, workspace: str | None) -> SessionReport:
        """A session of another folder is not found, unless every folder is searched."""
        read = await self._journal.read(session=session, limit=_MAX_EVENTS, workspace=workspace)
        events = [it for it in read if it.event.kind.startswith("debug.")]
        if not events:
            raise unknown_session(session)
        stops = {it.number: it for it in await self._history.of_session(session)}
        entries = [_entry(it.at_ns, it.event, stops) for it in events]
        first = events[0].event.body
        return SessionReport(
            session=session,
            title=str(first.get("title", "")),
            workspace=str(first.get("workspace", "")),
            entries=tuple(entries),
            output=self._output_of(session),
        )


def unknown_session(session: str) -> DragomanError:
    return DragomanError(
        "unknown_session",
        localize("No debug session {id} is recorded.", id=ascii(session)[:80]),
        hint=localize("`dragoman journal search debug` finds earlier ones; --all-workspaces searches everywhere."),
    )


def _requester(by: str) -> str:
    """The row of an evidence run, for any client."""
    return by.partition(":")[2] if by.startswith("evidence-") else by


def _entry(at_ns: int, event: Event, stops: Mapping[int, StopRecord]) -> ReportEntry:
    is_stop = event.kind == "debug.stopped"
    return ReportEntry(
        at_ns=at_ns,
        kind=event.kind.partition(".")[2],
        by=_requester(str(event.body.get("by", ""))),
        text=event.text,
        body=event.body,
        stop=stops.get(event.body.get("stop", 0)) if is_stop else None,
    )
