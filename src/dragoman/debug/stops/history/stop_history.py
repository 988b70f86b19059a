"""The history of stops: list, read, compare and search them."""

from __future__ import annotations

from collections.abc import AsyncIterator
from dataclasses import dataclass, field

from dragoman.core.clock import Clock
from dragoman.core.errors import DragomanError
from dragoman.core.localization import localize
from dragoman.debug.shared_sessions import SharedSessions, is_shared
from dragoman.debug.stops.history.store import STORE, StopRecord, VariableRecord, read_rows
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

    async def of_session(self, session: str) -> list[StopRecord]:
        """All stops that are kept, the oldest first."""
        return [stop for _, stop in read_rows((await self._journal.query(STORE.of_session(session))).rows)]

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
