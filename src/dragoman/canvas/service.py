"""What a face may ask of the canvas: draw, look, act, and hear what people did."""

from __future__ import annotations

import logging
from collections.abc import Callable, Iterable, Mapping, Sequence
from datetime import UTC, datetime
from typing import Any

import anyio
import msgspec

from dragoman.canvas import faults
from dragoman.canvas.actions import ACTIONS, Waiting
from dragoman.canvas.catalogue import check_components
from dragoman.canvas.components import OWN
from dragoman.canvas.hidden import recorded, secrets_in, stored, without
from dragoman.canvas.model import Asking, Drawn, SurfaceChange, Taken, key_of
from dragoman.clock import Clock
from dragoman.errors import DragomanError
from dragoman.events import Event
from dragoman.ids import new_id
from dragoman.journal import Before, Journal, JsonStore, Statement
from dragoman.wire.a2ui import (
    A2uiError,
    Action,
    Component,
    CreateSurface,
    Incoming,
    Surface,
    Surfaces,
    UpdateDataModel,
    action_of,
    apply,
    apply_all,
    for_viewer,
    read,
    to_v09,
)

log = logging.getLogger(__name__)

STORE: JsonStore[Drawn] = JsonStore("canvas", Drawn)
STORES = (STORE, ACTIONS)
SURFACES_AT_MOST = 200
"""Of all drawers together; each has a limit of its own besides."""
STAYS_S = 24 * 3600.0
"""Whatever else is drawn."""
_NOTHING = Surface(id="")
_CHANGES_AT_MOST = 200
_DETAILS_BYTES = 64 * 1024
_TOLD_BYTES = 64 * 1024
"""Of a change in the record; a larger one is told as such, and whoever shows the surface reads it whole."""


class CanvasService:
    """Owns the surfaces. Drawing is all or nothing; what is acknowledged is in the store."""

    def __init__(self, journal: Journal, clock: Clock) -> None:
        self._journal = journal
        self._clock = clock
        self._drawn: dict[str, Drawn] = {}
        self._turn = anyio.Lock()
        self._waiting = Waiting(clock)
        self._watching: list[Callable[[SurfaceChange], None]] = []
        self._present: set[str] = set()
        """Drawers that are connected, and so hear what people did themselves."""

    def arrived(self, drawer: str) -> None:
        self._present.add(drawer)

    def left(self, drawer: str) -> None:
        self._present.discard(drawer)

    def watch(self, told: Callable[[SurfaceChange], None]) -> None:
        """Every change of a surface once it is kept, in order; `told` must not take long."""
        self._watching.append(told)

    async def load(self) -> None:
        """What a person did on a surface that is no longer there is told to nobody. That some went is told without
        their names, which were to be forgotten."""
        async with self._turn:
            rows = await self._journal.query(STORE.everything())
            before, self._drawn = self._drawn, STORE.decoded(rows.rows)
            await self._recall(is_new=not before)
            if gone := before.keys() - self._drawn.keys():
                await self._journal.append([Event(kind="canvas.surfaces_forgotten", body={"count": len(gone)})])
                self._tell_gone([before[key] for key in gone])
            # Who asked in an earlier life of the daemon was told that it ended.
            left = [it for key, it in self._drawn.items() if it.asking == "open" and key not in before]
            if left:
                await self._take_away(left, "dragoman")
        self._waiting.ring()

    async def _recall(self, *, is_new: bool) -> None:
        """After the start only less is kept: what is being told just now stands in the store a moment longer."""
        kept = ACTIONS.decoded((await self._journal.query(ACTIONS.everything())).rows)
        if is_new:
            self._waiting.recall(kept.values())
        self._waiting.keep(
            lambda taken: self.is_drawn(taken.drawer, taken.surface_id) and (taken.is_secret or taken.id in kept)
        )
        if is_new and (gone := kept.keys() - self._waiting.ids()):
            await self._write([ACTIONS.remove(id) for id in gone], "is let go of again")

    def surfaces(self) -> tuple[Drawn, ...]:
        """Newest change first."""
        return tuple(sorted(self._drawn.values(), key=lambda drawn: -drawn.changed_ns))

    def surface(self, drawer: str, surface_id: str) -> Drawn:
        found = self._drawn.get(key_of(drawer, surface_id))
        if found is None:
            raise faults.unknown_surface(surface_id, [it.surface.id for it in self.surfaces() if it.drawer == drawer])
        return found

    async def draw(
        self,
        drawer: str,
        workspace: str,
        document: object,
        *,
        strict: bool = True,
        asking: Asking = "no",
        session_key: str = "",
    ) -> tuple[Drawn, ...]:
        """The surfaces that changed. `strict` for who can be told what to repair; others draw as far as it goes.
        What is closed nobody listens to, so that nothing can be done there."""
        incoming = read(document)
        if strict:
            check_components(incoming)
        async with self._turn:
            before = self._surfaces_of(drawer)
            after = apply_all(before, incoming)
            await self._make_room(drawer, len(self._drawn) - len(before) + len(after) - SURFACES_AT_MOST)
            typed = frozenset[str]().union(*map(secrets_in, before.values()))
            told = without(_for_viewers(before, incoming), typed)
            whose = Drawn(
                drawer=drawer,
                workspace=workspace,
                surface=_NOTHING,
                version=1,
                changed_ns=self._clock.wall_ns(),
                asking=asking,
                session_key=session_key,
            )
            changed = await self._change(whose, before, after, told)
            self._tell_changes(drawer, before, after, incoming)
            return changed

    async def remove(self, drawer: str, surface_id: str, *, by: str) -> None:
        """By its drawer, or by a person who has seen enough of it."""
        async with self._turn:
            await self._take_away([self.surface(drawer, surface_id)], by)
        self._waiting.ring()

    async def act(
        self,
        drawer: str,
        surface_id: str,
        component_id: str,
        *,
        scope: str = "",
        details: Mapping[str, Any] | None = None,
        changes: Sequence[tuple[str, Any]] = (),
        by: str,
    ) -> Taken:
        """A person acted. What was typed into bound inputs (`changes`) is data before the context is read."""
        async with self._turn:
            drawn = self.surface(drawer, surface_id)
            if drawn.asking == "closed":
                raise faults.closed_surface()
            surface = _with_changes(drawn.surface, changes)
            action = self._action(surface, component_id, scope, details or {})
            context = recorded(surface, surface.components[component_id], action.context)
            is_secret = context != action.context or bool(action.user_message and secrets_in(surface))
            taken = self._taken(drawn, action, is_secret=is_secret)
            changed = msgspec.structs.replace(
                drawn, surface=surface, version=drawn.version + bool(changes), changed_ns=taken.at_ns
            )
            writes = [self._put(changed), *_kept(taken), *self._let_go()]
            await self._journal.append([_told_action(taken, context, by)], writes=writes)
            self._drawn[changed.key] = changed
        self._waiting.put(taken)
        return taken

    async def actions(
        self, drawer: str, *, surface_id: str = "", workspace: str = "", most: int = 20, within_s: float
    ) -> list[Taken]:
        """Each once. By the surface's name, whoever works in the same workspace may read for a drawer that has gone."""

        def chosen(taken: Taken) -> bool:
            is_orphan = bool(surface_id) and taken.workspace == workspace and taken.drawer not in self._present
            return (taken.drawer == drawer or is_orphan) and surface_id in ("", taken.surface_id)

        return await self._told(await self._waiting.take(chosen, most=most, within_s=within_s))

    def _let_go(self) -> list[Statement]:
        """Of what went for one more, and of all that was kept for its hour: a store knows no time of its own."""
        went = [ACTIONS.remove(taken.id) for taken in self._waiting.make_room()]
        return [*went, *ACTIONS.forget(Before(self._waiting.oldest_ns()))]

    async def _told(self, every: list[Taken]) -> list[Taken]:
        """Nobody is told them a second time, after a restart neither."""
        try:
            if every:
                await self._write([ACTIONS.remove(taken.id) for taken in every], "may be told again")
        except anyio.get_cancelled_exc_class():
            for taken in every:
                self._waiting.put_back(taken)
            raise
        return every

    async def put_back(self, taken: Taken) -> None:
        """What its drawer could not be told: kept on, until the hour since it was done is over."""
        if self.is_drawn(taken.drawer, taken.surface_id):
            self._waiting.put_back(taken)
            await self._write(_kept(taken), "may be lost")

    async def _write(self, writes: list[Statement], otherwise: str) -> None:
        """A disk that takes nothing ends neither who is told nor who tells."""
        try:
            await self._journal.append([], writes=writes)
        except DragomanError as error:
            log.warning("after a restart what was done on the canvas %s: %s", otherwise, error)

    async def answers(self, drawer: str, surface_id: str, *, within_s: float) -> list[Taken]:
        """What was done on this surface first; nothing as soon as it is taken away."""
        first = await self._waiting.take(
            lambda taken: (taken.drawer, taken.surface_id) == (drawer, surface_id),
            most=1,
            within_s=within_s,
            is_over=lambda: not self.is_drawn(drawer, surface_id),
        )
        return await self._told(first)

    def is_drawn(self, drawer: str, surface_id: str) -> bool:
        return key_of(drawer, surface_id) in self._drawn

    async def _make_room(self, drawer: str, too_many: int) -> None:
        """Agents come under a new name each time, and nobody takes away what an earlier one drew: what was not changed
        for a day goes, the oldest first, and nothing younger does."""
        before_ns = self._clock.wall_ns() - int(STAYS_S * 1e9)
        old = [it for it in reversed(self.surfaces()) if it.drawer != drawer and it.changed_ns < before_ns]
        if too_many > len(old):
            raise faults.too_many_surfaces(SURFACES_AT_MOST)
        if too_many > 0:
            await self._take_away(old[:too_many], "dragoman")

    async def _take_away(self, surfaces: Sequence[Drawn], by: str) -> None:
        events = [_told_removal(drawn, by) for drawn in surfaces]
        await self._journal.append(events, writes=[STORE.remove(drawn.key) for drawn in surfaces])
        for drawn in surfaces:
            del self._drawn[drawn.key]
        self._tell_gone(surfaces)

    def _tell_changes(self, drawer: str, before: Surfaces, after: Surfaces, incoming: Sequence[Incoming]) -> None:
        if not self._watching:
            return
        messages = [it.message for it in incoming]
        secrets = frozenset[str]().union(*map(secrets_in, before.values()))
        for name in [it for it in {**before, **after} if before.get(it) is not after.get(it)]:
            sent = [it for it in messages if getattr(it, "surface_id", "") == name]
            data = [it for it in sent if isinstance(it, UpdateDataModel)]
            self._tell(
                SurfaceChange(
                    drawer=drawer,
                    surface_id=name,
                    after=stored(after[name]) if name in after else None,
                    data=tuple(msgspec.structs.replace(it, value=without(it.value, secrets)) for it in data),
                    is_new=name not in before or any(isinstance(it, CreateSurface) for it in sent),
                )
            )

    def _tell_gone(self, surfaces: Sequence[Drawn]) -> None:
        for it in surfaces:
            self._tell(SurfaceChange(drawer=it.drawer, surface_id=it.surface.id, after=None))

    def _tell(self, change: SurfaceChange) -> None:
        for told in self._watching:
            told(change)

    def _surfaces_of(self, drawer: str) -> dict[str, Surface]:
        return {drawn.surface.id: drawn.surface for drawn in self._drawn.values() if drawn.drawer == drawer}

    async def _change(
        self, whose: Drawn, before: Surfaces, after: Surfaces, told: list[dict[str, Any]]
    ) -> tuple[Drawn, ...]:
        gone = [key_of(whose.drawer, name) for name in before if name not in after]
        changed = [self._next(whose, surface) for name, surface in after.items() if surface is not before.get(name)]
        writes: list[Statement] = [*map(STORE.remove, gone), *map(self._put, changed)]
        await self._journal.append(list(_told_change(whose.drawer, changed, gone, told)), writes=writes)
        for key in gone:
            del self._drawn[key]
        self._drawn.update({drawn.key: drawn for drawn in changed})
        return tuple(changed)

    def _next(self, whose: Drawn, surface: Surface) -> Drawn:
        """Who changes a surface without a run leaves it with the one that drew it."""
        known = self._drawn.get(key_of(whose.drawer, surface.id))
        return msgspec.structs.replace(
            whose,
            surface=surface,
            version=known.version + 1 if known else 1,
            session_key=whose.session_key or (known.session_key if known else ""),
        )

    def _put(self, drawn: Drawn) -> Statement:
        kept = msgspec.structs.replace(drawn, surface=stored(drawn.surface))
        return STORE.put(drawn.key, kept, at_ns=drawn.changed_ns, session=drawn.drawer)

    def _action(self, surface: Surface, component_id: str, scope: str, details: Mapping[str, Any]) -> Action:
        component = surface.components.get(component_id)
        if component is None:
            raise faults.unknown_component(component_id)
        entry = OWN.get(component.type)
        told = _bounded({name: value for name, value in details.items() if entry and name in entry.tells})
        at = datetime.fromtimestamp(self._clock.wall_ns() / 1e9, UTC).isoformat(timespec="milliseconds")
        if "action" in component.properties or entry is None or not entry.event:
            action = action_of(surface, component_id, scope=scope, timestamp=at)
            return msgspec.structs.replace(action, context={**action.context, **told})
        return _default_action(surface, component, entry.event, told, at)

    def _taken(self, drawn: Drawn, action: Action, *, is_secret: bool) -> Taken:
        return Taken(
            id=new_id("action"),
            drawer=drawn.drawer,
            workspace=drawn.workspace,
            surface_id=drawn.surface.id,
            component_id=action.source_component_id,
            name=action.name,
            context=action.context,
            user_message=action.user_message,
            at_ns=self._clock.wall_ns(),
            is_secret=is_secret,
            session_key=drawn.session_key,
        )


def _kept(taken: Taken) -> list[Statement]:
    return [] if taken.is_secret else [ACTIONS.put(taken.id, taken, at_ns=taken.at_ns, session=taken.drawer)]


def _for_viewers(before: Surfaces, incoming: Iterable[Incoming]) -> list[dict[str, Any]]:
    """The change as 0.9, for pages that have seen what was there before."""
    told: list[dict[str, Any]] = []
    for each in incoming:
        told += to_v09(for_viewer(before, each.message))
        before = apply(before, each.message, each.origin)
    return told


def _with_changes(surface: Surface, changes: Sequence[tuple[str, Any]]) -> Surface:
    if len(changes) > _CHANGES_AT_MOST:
        raise faults.too_much_entered()
    surfaces: Surfaces = {surface.id: surface}
    for path, value in changes:
        surfaces = apply(surfaces, UpdateDataModel(surface_id=surface.id, path=path, value=value))
    return surfaces[surface.id]


def _bounded(details: dict[str, Any]) -> dict[str, Any]:
    if len(msgspec.json.encode(details)) > _DETAILS_BYTES:
        raise faults.too_much_entered()
    return details


def _default_action(surface: Surface, component: Component, event: str, told: dict[str, Any], at: str) -> Action:
    context = {"componentId": component.id, **told} if "componentId" in OWN[component.type].tells else told
    return Action(name=event, surface_id=surface.id, source_component_id=component.id, timestamp=at, context=context)


def _told_change(
    drawer: str, changed: Sequence[Drawn], gone: Sequence[str], messages: list[dict[str, Any]]
) -> Iterable[Event]:
    names = [drawn.surface.id for drawn in changed] + [key.partition("/")[2] for key in gone]
    titles = " ".join(drawn.surface.title for drawn in changed)
    body = {
        "drawer": drawer,
        "versions": {drawn.surface.id: drawn.version for drawn in changed},
        "removed": [key.partition("/")[2] for key in gone],
        "messages": messages if len(msgspec.json.encode(messages)) <= _TOLD_BYTES else None,
    }
    yield Event(kind="canvas.surface_updated", session=drawer, text=f"{' '.join(names)} {titles}".strip(), body=body)


def _told_removal(drawn: Drawn, by: str) -> Event:
    told = {"drawer": drawn.drawer, "surface": drawn.surface.id, "by": by}
    return Event(kind="canvas.surface_removed", text=f"surface {drawn.surface.id} removed", body=told)


def _told_action(taken: Taken, context: dict[str, Any], by: str) -> Event:
    body = {
        "id": taken.id,
        "drawer": taken.drawer,
        "surface": taken.surface_id,
        "component": taken.component_id,
        "name": taken.name,
        "context": context,
        "by": by,
    }
    return Event(
        kind="canvas.action_taken", session=taken.drawer, text=f"{taken.name} on {taken.surface_id}", body=body
    )


__all__ = ["STORE", "STORES", "A2uiError", "CanvasService"]
