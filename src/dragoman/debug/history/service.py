"""What may be asked about stops that are over."""

from __future__ import annotations

from collections.abc import AsyncIterator
from dataclasses import dataclass, field

from dragoman.clock import Clock
from dragoman.debug.history.kept import KeptStop, KeptVariable
from dragoman.debug.history.store import STORE, rows_read
from dragoman.errors import DragomanError
from dragoman.journal import Journal
from dragoman.phrases import say

_AT_ONCE = 500
_SEARCHED_WITHIN_S = 2.0


@dataclass(frozen=True, slots=True)
class Difference:
    name: str
    before: str | None
    """None: it was not there."""
    after: str | None


@dataclass(slots=True)
class Found:
    hits: list[tuple[KeptStop, KeptVariable]] = field(default_factory=list)
    searched: int = 0
    is_complete: bool = True


class StopHistory:
    """A workspace is a folder and what lies below it; None is all of them, which only a person may ask for."""

    def __init__(self, journal: Journal, clock: Clock) -> None:
        self._journal = journal
        self._clock = clock

    async def newest(self, workspace: str | None, *, session: str = "", limit: int = 20) -> list[KeptStop]:
        found = await self._journal.query(STORE.newest(workspace, session, 0, limit))
        return [stop for _, stop in rows_read(found.rows)]

    async def of_session(self, session: str) -> list[KeptStop]:
        """All that are kept, the oldest first."""
        return [stop for _, stop in rows_read((await self._journal.query(STORE.of_session(session))).rows)]

    async def at(self, workspace: str | None, id: str) -> KeptStop:
        session, _, number = id.rpartition(":")
        rows = (await self._journal.query(STORE.one(session, int(number)))).rows if number.isdecimal() else []
        found = [stop for _, stop in rows_read(rows) if workspace is None or _is_in(workspace, stop.workspace)]
        if not found:
            raise DragomanError(
                "unknown_stop",
                say("No stop {id} is kept.", id=ascii(id)[:80]),
                hint=say("stop_history without arguments lists those there are."),
            )
        return found[0]

    async def search(
        self, workspace: str | None, variable: str, value: str, *, session: str = "", limit: int = 20
    ) -> Found:
        """Where a variable was seen with a value, or with a new one where none is named: the newest first."""
        found, deadline_s = Found(), self._clock.monotonic_s() + _SEARCHED_WITHIN_S
        async for stop in self._every(workspace, session):
            found.searched += 1
            hit = next((it for it in stop.seen.variables if it.name == variable and _is_meant(it, value, stop)), None)
            if hit is not None:
                found.hits.append((stop, hit))
            if len(found.hits) >= limit or self._clock.monotonic_s() > deadline_s:
                found.is_complete = len(found.hits) >= limit
                break
        return found

    async def _every(self, workspace: str | None, session: str) -> AsyncIterator[KeptStop]:
        before = 0
        while True:
            found = await self._journal.query(STORE.newest(workspace, session, before, _AT_ONCE))
            rows = rows_read(found.rows)
            for _, stop in rows:
                yield stop
            if len(rows) < _AT_ONCE:
                return
            before = rows[-1][0]


def _is_in(folder: str, path: str) -> bool:
    return f"{path}/".startswith(f"{folder.rstrip('/')}/")


def _is_meant(variable: KeptVariable, value: str, stop: KeptStop) -> bool:
    return variable.value == value if value else variable.name in stop.seen.changed


def difference(one: KeptStop, other: KeptStop) -> list[Difference]:
    """In the order of the later; what has gone last."""
    before = {it.name: it.value for it in one.seen.variables}
    after = {it.name: it.value for it in other.seen.variables}
    names = dict.fromkeys([*after, *before])
    return [Difference(it, before.get(it), after.get(it)) for it in names if before.get(it) != after.get(it)]
