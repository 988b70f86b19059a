"""Breakpoints that outlive sessions: they belong to a workspace, keep their id, and each client owns its own."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Literal

import anyio
import msgspec

from dragoman.core.clock import Clock
from dragoman.core.errors import ErrorSpec
from dragoman.core.events import Event
from dragoman.journal import Journal, JsonStore

BreakpointKind = Literal["line", "function", "exception", "data"]
DataAccess = Literal["read", "write", "readWrite"]
MAX_BREAKPOINTS = 1000
_LAST = "last"  # a row without a workspace: the highest id ever assigned, even if that breakpoint is gone


unknown_breakpoint = ErrorSpec(
    "unknown_breakpoint", "This workspace has no breakpoint {id}.", "`get_breakpoints` lists them."
)


class Breakpoint(msgspec.Struct, frozen=True, kw_only=True, omit_defaults=True):
    """A breakpoint as a client requested it. `kind` decides which fields matter; conditions belong to all kinds."""

    id: int
    owner: str = ""
    kind: BreakpointKind = "line"
    path: str = ""
    line: int = 0
    column: int | None = None
    function: str = ""
    condition: str = ""
    hit_condition: str = ""
    log_message: str = ""
    enabled: bool = True
    filter: str = ""
    """For an exception: uncaught, raised, all, or the adapter's own filter."""
    variable: str = ""
    """For data: its name, in `reference` or in the scopes of `frame`; by default, in the top frame."""
    reference: int | None = None
    frame: int | None = None
    access: DataAccess = "write"
    data_id: str = ""
    """The adapter's own id for the data, which is only valid in `session`."""
    session: str = ""
    skips_attached: bool = msgspec.field(default=False, name="spares_attached")
    """Set by a client that may not halt programs that ran before it came: it stops only programs that we launch."""
    is_remote: bool = False
    """Set from another machine."""

    @property
    def halts(self) -> bool:
        """Whether a hit stops the program. Only on a line do logpoints exist."""
        return self.enabled and not (self.log_message and self.kind == "line")


class StoredBreakpoint(msgspec.Struct, frozen=True, kw_only=True):
    workspace: str
    breakpoint: Breakpoint


STORE: JsonStore[StoredBreakpoint] = JsonStore("breakpoints", StoredBreakpoint, verbatim=True)


class BreakpointRegistry:
    """All workspaces' breakpoints in memory; each change is written to the journal and the store in one transaction.

    Changes are made one after another: each is decided on the result of the one before it.
    """

    def __init__(self, journal: Journal, clock: Clock) -> None:
        self._journal = journal
        self._clock = clock
        self._by_id: dict[int, StoredBreakpoint] = {}
        self._last_id = 0
        self._changing = anyio.Lock()

    async def load(self) -> None:
        rows = await self._journal.query(STORE.everything())
        kept = sorted(STORE.decoded(rows.rows).values(), key=lambda it: it.breakpoint.id)
        self._by_id = {it.breakpoint.id: it for it in kept if it.workspace}
        self._last_id = max((it.breakpoint.id for it in kept), default=0)
        for workspace in {it.workspace for it in kept if it.breakpoint.session}:
            await self.remove(workspace, lambda it: bool(it.session))  # their sessions ended with the previous daemon

    def of(self, workspace: str) -> list[Breakpoint]:
        return [kept.breakpoint for kept in self._by_id.values() if kept.workspace == workspace]

    def has(self, id: int) -> bool:
        return id in self._by_id

    def workspaces(self) -> set[str]:
        return {kept.workspace for kept in self._by_id.values()}

    async def add(self, workspace: str, wanted: Breakpoint) -> Breakpoint:
        """Add a breakpoint.

        The same place by the same owner is the same breakpoint: it keeps its id and gets the new conditions.
        """
        async with self._changing:
            existing = next((it for it in self.of(workspace) if _place(it) == _place(wanted)), None)
            if existing is None and len(self.of(workspace)) >= MAX_BREAKPOINTS:
                raise _too_many(count=MAX_BREAKPOINTS)
            self._last_id += existing is None
            made = msgspec.structs.replace(wanted, id=existing.id if existing else self._last_id)
            await self._keep(workspace, made, "breakpoint.set")
            return made

    async def change(self, workspace: str, id: int, **fields: object) -> Breakpoint:
        async with self._changing:
            changed = msgspec.structs.replace(self._one(workspace, id), **fields)
            await self._keep(workspace, changed, "breakpoint.changed")
            return changed

    async def replace(
        self, workspace: str, which: Callable[[Breakpoint], bool], wanted: Sequence[Breakpoint]
    ) -> list[Breakpoint]:
        """Replace the breakpoints that `which` selects, in one transaction.

        The same place keeps its id. Unchanged breakpoints are not written again.
        """
        async with self._changing:
            before = [it for it in self.of(workspace) if which(it)]
            known = {_place(it): it for it in before}
            made = self._numbered(wanted, known)
            kept = {it.id for it in made}
            gone = [it for it in before if it.id not in kept]
            changed = [it for it in dict.fromkeys(made) if it not in before]
            if len(self.of(workspace)) - len(before) + len(kept) > MAX_BREAKPOINTS:
                raise _too_many(count=MAX_BREAKPOINTS)
            await self._write(workspace, changed, gone)
            return made

    async def remove(self, workspace: str, which: Callable[[Breakpoint], bool], *, by: str = "") -> list[Breakpoint]:
        """Remove breakpoints. Without `by`, they are removed together with their owner or session."""
        async with self._changing:
            gone = [breakpoint for breakpoint in self.of(workspace) if which(breakpoint)]
            if gone:
                events = [_breakpoint_event("breakpoint.removed", workspace, breakpoint, by=by) for breakpoint in gone]
                await self._journal.append(events, writes=[STORE.remove(_key(breakpoint.id)) for breakpoint in gone])
            for breakpoint in gone:
                self._by_id.pop(breakpoint.id, None)
            return gone

    def _numbered(self, wanted: Sequence[Breakpoint], known: dict[tuple[object, ...], Breakpoint]) -> list[Breakpoint]:
        ids = {place: it.id for place, it in known.items()}
        for it in wanted:
            if _place(it) not in ids:
                self._last_id += 1
                ids[_place(it)] = self._last_id
        return [msgspec.structs.replace(it, id=ids[_place(it)]) for it in wanted]

    async def _write(self, workspace: str, changed: Sequence[Breakpoint], gone: Sequence[Breakpoint]) -> None:
        if not changed and not gone:
            return
        now = self._clock.wall_ns()
        kept = {it.id: StoredBreakpoint(workspace=workspace, breakpoint=it) for it in changed}
        last = StoredBreakpoint(workspace="", breakpoint=Breakpoint(id=self._last_id))
        writes = [STORE.put(_key(id), it, at_ns=now) for id, it in kept.items()]
        writes += [STORE.remove(_key(it.id)) for it in gone] + [STORE.put(_LAST, last, at_ns=now)]
        events = [_breakpoint_event("breakpoint.set", workspace, it) for it in changed]
        events += [_breakpoint_event("breakpoint.removed", workspace, it, by=it.owner) for it in gone]
        await self._journal.append(events, writes=writes)
        self._by_id |= kept
        for it in gone:
            self._by_id.pop(it.id, None)

    def _one(self, workspace: str, id: int) -> Breakpoint:
        kept = self._by_id.get(id)
        if kept is None or kept.workspace != workspace:
            raise unknown_breakpoint(id=id)
        return kept.breakpoint

    async def _keep(self, workspace: str, breakpoint: Breakpoint, kind: str) -> None:
        """Write to the journal first: a breakpoint that was reported to anyone must survive a crash."""
        kept = StoredBreakpoint(workspace=workspace, breakpoint=breakpoint)
        last = StoredBreakpoint(workspace="", breakpoint=Breakpoint(id=self._last_id))
        now = self._clock.wall_ns()
        writes = [STORE.put(_key(breakpoint.id), kept, at_ns=now), STORE.put(_LAST, last, at_ns=now)]
        await self._journal.append([_breakpoint_event(kind, workspace, breakpoint)], writes=writes)
        self._by_id[breakpoint.id] = kept


def _place(breakpoint: Breakpoint) -> tuple[object, ...]:
    return (
        breakpoint.owner,
        breakpoint.kind,
        breakpoint.path,
        breakpoint.line,
        breakpoint.column,
        breakpoint.function,
        breakpoint.filter,
        breakpoint.session,
        breakpoint.data_id,
    )


def _key(id: int) -> str:
    return f"{id:012}"


def _breakpoint_event(kind: str, workspace: str, breakpoint: Breakpoint, *, by: str = "") -> Event:
    places: dict[BreakpointKind, str] = {
        "line": f"{breakpoint.path}:{breakpoint.line}",
        "function": breakpoint.function,
        "exception": breakpoint.filter,
        "data": breakpoint.variable,
    }
    place = places[breakpoint.kind]
    body = {"workspace": workspace, "breakpoint": msgspec.to_builtins(breakpoint), **({"by": by} if by else {})}
    return Event(kind=kind, text=f"{kind.replace('.', ' ')} {place}", body=body, workspace=workspace)


_too_many = ErrorSpec(
    "too_many_breakpoints",
    "Limit reached: {count} breakpoints in this workspace.",
    "Remove some first with `remove_breakpoint`: by id, by location, or with clear_all.",
)
