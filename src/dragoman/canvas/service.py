"""The canvas service: draw surfaces, act on them, and deliver the actions to their agents."""

from __future__ import annotations

import logging
from collections.abc import Callable, Iterable, Mapping, Sequence
from datetime import UTC, datetime
from typing import Any

import anyio
import msgspec

from dragoman.canvas.action_queue import ACTIONS, ActionQueue
from dragoman.canvas.catalogue import check_components
from dragoman.canvas.components import OWN_COMPONENTS
from dragoman.canvas.model import DrawnSurface, QuestionState, SurfaceAction, SurfaceChange, key_of
from dragoman.canvas.secret_fields import mask_secrets, recordable_context, secrets_in, without_secrets
from dragoman.core.clock import Clock
from dragoman.core.errors import DragomanError, ErrorSpec, quoted
from dragoman.core.events import Event
from dragoman.core.ids import new_id
from dragoman.journal import BeforeScope, Journal, JsonStore, Statement
from dragoman.protocols.a2ui import (
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

unknown_surface = ErrorSpec(
    "unknown_surface",
    "Unknown surface {name}.",
    "Existing surfaces: {names}.",
    name=quoted(60),
    names=lambda known: ", ".join(ascii(name[:60]) for name in known[:20]) or "-",
)
unknown_component = ErrorSpec(
    "unknown_component",
    "The surface has no component {name}.",
    "The surface has changed. Read it again.",
    name=quoted(60),
)
closed_surface = ErrorSpec(
    "surface_closed",
    "This question is closed: the agent continued without an answer.",
    "Answer in the chat, or wait until the agent asks again.",
)
too_many_surfaces = ErrorSpec(
    "too_many_surfaces",
    "The canvas is full: at most {most} surfaces for all agents.",
    "Remove one with deleteSurface, or ask the user to close some.",
)
too_much_entered = ErrorSpec("too_much_entered", "The input exceeds the limit for one action.", "Send less data.")


log = logging.getLogger(__name__)

STORE: JsonStore[DrawnSurface] = JsonStore("canvas", DrawnSurface)
STORES = (STORE, ACTIONS)
SURFACES_AT_MOST = 200
"""Over all drawers; each also has its own limit."""
SURFACE_KEPT_S = 24 * 3600.0
"""A surface is kept this long, whatever else is drawn."""
_EMPTY_SURFACE = Surface(id="")
_CHANGES_AT_MOST = 200
_DETAILS_BYTES = 64 * 1024
_EVENT_BYTES = 64 * 1024
"""The limit of a change in the journal. A larger one is only mentioned, and pages read the surface itself."""


class CanvasService:
    """Owns the surfaces and the actions that wait for their agents.

    Drawing is all or nothing. What is acknowledged is in the store. It never trusts what an agent draws: documents
    are parsed, checked and bounded.
    """

    def __init__(self, journal: Journal, clock: Clock) -> None:
        self._journal = journal
        self._clock = clock
        self._surfaces: dict[str, DrawnSurface] = {}
        self._lock = anyio.Lock()
        self._actions = ActionQueue(clock)
        self._watchers: list[Callable[[SurfaceChange], None]] = []
        self._connected_drawers: set[str] = set()
        """Drawers that are connected, and so receive actions directly."""

    def arrived(self, drawer: str) -> None:
        self._connected_drawers.add(drawer)

    def left(self, drawer: str) -> None:
        self._connected_drawers.discard(drawer)

    def watch(self, watcher: Callable[[SurfaceChange], None]) -> None:
        """Call `watcher` with every change of a surface after it is stored, in order. It must return quickly."""
        self._watchers.append(watcher)

    async def load(self) -> None:
        """Load the stored surfaces.

        Actions on surfaces that no longer exist are dropped. If surfaces were erased, the journal records how many, but
        not their names.
        """
        async with self._lock:
            rows = await self._journal.query(STORE.everything())
            before, self._surfaces = self._surfaces, STORE.decoded(rows.rows)
            await self._restore_actions(is_new=not before)
            if gone := before.keys() - self._surfaces.keys():
                await self._journal.append([Event(kind="canvas.surfaces_forgotten", body={"count": len(gone)})])
                self._notify_removed([before[key] for key in gone])
            # The agent that asked in an earlier run of the daemon got an error when that run ended.
            left = [it for key, it in self._surfaces.items() if it.asking == "open" and key not in before]
            if left:
                await self._remove_surfaces(left, "dragoman")
        self._actions.wake()

    async def _restore_actions(self, *, is_new: bool) -> None:
        """Restore the actions.

        After the first load, actions are only dropped, never added: one that is being delivered stays in the store a
        moment longer.
        """
        kept = ACTIONS.decoded((await self._journal.query(ACTIONS.everything())).rows)
        if is_new:
            self._actions.restore(kept.values())
        self._actions.keep(
            lambda taken: self.is_drawn(taken.drawer, taken.surface_id) and (taken.is_secret or taken.id in kept)
        )
        if is_new and (gone := kept.keys() - self._actions.ids()):
            await self._write([ACTIONS.remove(id) for id in gone], "is let go of again")

    def surfaces(self) -> tuple[DrawnSurface, ...]:
        """The most recently changed comes first."""
        return tuple(sorted(self._surfaces.values(), key=lambda drawn: -drawn.changed_ns))

    def surface(self, drawer: str, surface_id: str) -> DrawnSurface:
        found = self._surfaces.get(key_of(drawer, surface_id))
        if found is None:
            raise unknown_surface(
                name=surface_id, names=[it.surface.id for it in self.surfaces() if it.drawer == drawer]
            )
        return found

    async def draw(
        self,
        drawer: str,
        workspace: str,
        document: object,
        *,
        strict: bool = True,
        asking: QuestionState = "no",
        session_key: str = "",
    ) -> tuple[DrawnSurface, ...]:
        """Draw messages.

        Returns the surfaces that changed. `strict` is for agents that can repair errors; for others, as much as
        possible is drawn. A closed surface accepts no actions, because nobody listens.
        """
        incoming = read(document)
        if strict:
            check_components(incoming)
        async with self._lock:
            before = self._surfaces_of(drawer)
            after = apply_all(before, incoming)
            await self._make_room(drawer, len(self._surfaces) - len(before) + len(after) - SURFACES_AT_MOST)
            typed = frozenset[str]().union(*map(secrets_in, before.values()))
            messages = mask_secrets(_for_viewers(before, incoming), typed)
            whose = DrawnSurface(
                drawer=drawer,
                workspace=workspace,
                surface=_EMPTY_SURFACE,
                version=1,
                changed_ns=self._clock.wall_ns(),
                asking=asking,
                session_key=session_key,
            )
            changed = await self._change(whose, before, after, messages)
            self._notify_changes(drawer, before, after, incoming)
            return changed

    async def remove(self, drawer: str, surface_id: str, *, by: str) -> None:
        """Remove a surface, for its drawer or for a person."""
        async with self._lock:
            await self._remove_surfaces([self.surface(drawer, surface_id)], by)
        self._actions.wake()

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
    ) -> SurfaceAction:
        """A person acted. Input that is bound to data (`changes`) is applied before the context is read."""
        async with self._lock:
            drawn = self.surface(drawer, surface_id)
            if drawn.asking == "closed":
                raise closed_surface()
            surface = _with_changes(drawn.surface, changes)
            action = self._action(surface, component_id, scope, details or {})
            context = recordable_context(surface, surface.components[component_id], action.context)
            is_secret = context != action.context or bool(action.user_message and secrets_in(surface))
            taken = self._new_action(drawn, action, is_secret=is_secret)
            changed = msgspec.structs.replace(
                drawn, surface=surface, version=drawn.version + bool(changes), changed_ns=taken.at_ns
            )
            writes = [self._put(changed), *_store_writes(taken), *self._expire_actions()]
            await self._journal.append([_action_event(taken, context, by)], writes=writes)
            self._surfaces[changed.key] = changed
        self._actions.put(taken)
        return taken

    async def actions(
        self, drawer: str, *, surface_id: str = "", workspace: str = "", most: int = 20, within_s: float
    ) -> list[SurfaceAction]:
        """Take actions, each once.

        With a surface's name, any agent in the same workspace may read the actions of a drawer that is gone.
        """

        def chosen(taken: SurfaceAction) -> bool:
            is_orphan = (
                bool(surface_id) and taken.workspace == workspace and taken.drawer not in self._connected_drawers
            )
            return (taken.drawer == drawer or is_orphan) and surface_id in ("", taken.surface_id)

        return await self._mark_delivered(await self._actions.pop(chosen, most=most, within_s=within_s))

    def _expire_actions(self) -> list[Statement]:
        """Remove expired actions from the store, and those that were dropped for newer ones."""
        went = [ACTIONS.remove(taken.id) for taken in self._actions.make_room()]
        return [*went, *ACTIONS.forget(BeforeScope(self._actions.oldest_ns()))]

    async def _mark_delivered(self, every: list[SurfaceAction]) -> list[SurfaceAction]:
        """Remove delivered actions, so that no restart delivers them again."""
        try:
            if every:
                await self._write([ACTIONS.remove(taken.id) for taken in every], "may be delivered again")
        except anyio.get_cancelled_exc_class():
            for taken in every:
                self._actions.put_back(taken)
            raise
        return every

    async def put_back(self, taken: SurfaceAction) -> None:
        """Put back an action that could not be delivered. It is kept until one hour after it happened."""
        if self.is_drawn(taken.drawer, taken.surface_id):
            self._actions.put_back(taken)
            await self._write(_store_writes(taken), "may be lost")

    async def _write(self, writes: list[Statement], otherwise: str) -> None:
        """Write to the store. A failing disk affects neither the sender nor the receiver."""
        try:
            await self._journal.append([], writes=writes)
        except DragomanError as error:
            log.warning("after a restart what was done on the canvas %s: %s", otherwise, error)

    async def answers(self, drawer: str, surface_id: str, *, within_s: float) -> list[SurfaceAction]:
        """Wait for the first action on this surface; None as soon as it is removed."""
        first = await self._actions.pop(
            lambda taken: (taken.drawer, taken.surface_id) == (drawer, surface_id),
            most=1,
            within_s=within_s,
            is_over=lambda: not self.is_drawn(drawer, surface_id),
        )
        return await self._mark_delivered(first)

    def is_drawn(self, drawer: str, surface_id: str) -> bool:
        return key_of(drawer, surface_id) in self._surfaces

    async def _make_room(self, drawer: str, too_many: int) -> None:
        """Make room.

        Agents use a new name each time, and nobody removes what earlier ones drew. Surfaces that were not changed for a
        day are removed, oldest first.
        """
        before_ns = self._clock.wall_ns() - int(SURFACE_KEPT_S * 1e9)
        old = [it for it in reversed(self.surfaces()) if it.drawer != drawer and it.changed_ns < before_ns]
        if too_many > len(old):
            raise too_many_surfaces(most=SURFACES_AT_MOST)
        if too_many > 0:
            await self._remove_surfaces(old[:too_many], "dragoman")

    async def _remove_surfaces(self, surfaces: Sequence[DrawnSurface], by: str) -> None:
        events = [_removal_event(drawn, by) for drawn in surfaces]
        await self._journal.append(events, writes=[STORE.remove(drawn.key) for drawn in surfaces])
        for drawn in surfaces:
            del self._surfaces[drawn.key]
        self._notify_removed(surfaces)

    def _notify_changes(self, drawer: str, before: Surfaces, after: Surfaces, incoming: Sequence[Incoming]) -> None:
        if not self._watchers:
            return
        messages = [it.message for it in incoming]
        secrets = frozenset[str]().union(*map(secrets_in, before.values()))
        for name in [it for it in {**before, **after} if before.get(it) is not after.get(it)]:
            sent = [it for it in messages if getattr(it, "surface_id", "") == name]
            data = [it for it in sent if isinstance(it, UpdateDataModel)]
            self._notify(
                SurfaceChange(
                    drawer=drawer,
                    surface_id=name,
                    after=without_secrets(after[name]) if name in after else None,
                    data=tuple(msgspec.structs.replace(it, value=mask_secrets(it.value, secrets)) for it in data),
                    is_new=name not in before or any(isinstance(it, CreateSurface) for it in sent),
                )
            )

    def _notify_removed(self, surfaces: Sequence[DrawnSurface]) -> None:
        for it in surfaces:
            self._notify(SurfaceChange(drawer=it.drawer, surface_id=it.surface.id, after=None))

    def _notify(self, change: SurfaceChange) -> None:
        for watcher in self._watchers:
            watcher(change)

    def _surfaces_of(self, drawer: str) -> dict[str, Surface]:
        return {drawn.surface.id: drawn.surface for drawn in self._surfaces.values() if drawn.drawer == drawer}

    async def _change(
        self, whose: DrawnSurface, before: Surfaces, after: Surfaces, messages: list[dict[str, Any]]
    ) -> tuple[DrawnSurface, ...]:
        gone = [key_of(whose.drawer, name) for name in before if name not in after]
        changed = [self._next(whose, surface) for name, surface in after.items() if surface is not before.get(name)]
        writes: list[Statement] = [*map(STORE.remove, gone), *map(self._put, changed)]
        await self._journal.append(list(_change_events(whose.drawer, changed, gone, messages)), writes=writes)
        for key in gone:
            del self._surfaces[key]
        self._surfaces.update({drawn.key: drawn for drawn in changed})
        return tuple(changed)

    def _next(self, whose: DrawnSurface, surface: Surface) -> DrawnSurface:
        """A change outside of a run keeps the conversation of the run that drew the surface."""
        known = self._surfaces.get(key_of(whose.drawer, surface.id))
        return msgspec.structs.replace(
            whose,
            surface=surface,
            version=known.version + 1 if known else 1,
            session_key=whose.session_key or (known.session_key if known else ""),
        )

    def _put(self, drawn: DrawnSurface) -> Statement:
        kept = msgspec.structs.replace(drawn, surface=without_secrets(drawn.surface))
        return STORE.put(drawn.key, kept, at_ns=drawn.changed_ns, session=drawn.drawer)

    def _action(self, surface: Surface, component_id: str, scope: str, details: Mapping[str, Any]) -> Action:
        component = surface.components.get(component_id)
        if component is None:
            raise unknown_component(name=component_id)
        entry = OWN_COMPONENTS.get(component.type)
        added = _bounded({name: value for name, value in details.items() if entry and name in entry.action_fields})
        at = datetime.fromtimestamp(self._clock.wall_ns() / 1e9, UTC).isoformat(timespec="milliseconds")
        if "action" in component.properties or entry is None or not entry.event:
            action = action_of(surface, component_id, scope=scope, timestamp=at)
            return msgspec.structs.replace(action, context={**action.context, **added})
        return _default_action(surface, component, entry.event, added, at)

    def _new_action(self, drawn: DrawnSurface, action: Action, *, is_secret: bool) -> SurfaceAction:
        return SurfaceAction(
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


def _store_writes(taken: SurfaceAction) -> list[Statement]:
    return [] if taken.is_secret else [ACTIONS.put(taken.id, taken, at_ns=taken.at_ns, session=taken.drawer)]


def _for_viewers(before: Surfaces, incoming: Iterable[Incoming]) -> list[dict[str, Any]]:
    """The change as A2UI 0.9 messages, for pages that have seen the previous state."""
    messages: list[dict[str, Any]] = []
    for each in incoming:
        messages += to_v09(for_viewer(before, each.message))
        before = apply(before, each.message, each.origin)
    return messages


def _with_changes(surface: Surface, changes: Sequence[tuple[str, Any]]) -> Surface:
    if len(changes) > _CHANGES_AT_MOST:
        raise too_much_entered()
    surfaces: Surfaces = {surface.id: surface}
    for path, value in changes:
        surfaces = apply(surfaces, UpdateDataModel(surface_id=surface.id, path=path, value=value))
    return surfaces[surface.id]


def _bounded(details: dict[str, Any]) -> dict[str, Any]:
    if len(msgspec.json.encode(details)) > _DETAILS_BYTES:
        raise too_much_entered()
    return details


def _default_action(surface: Surface, component: Component, event: str, added: dict[str, Any], at: str) -> Action:
    context = (
        {"componentId": component.id, **added}
        if "componentId" in OWN_COMPONENTS[component.type].action_fields
        else added
    )
    return Action(name=event, surface_id=surface.id, source_component_id=component.id, timestamp=at, context=context)


def _change_events(
    drawer: str, changed: Sequence[DrawnSurface], gone: Sequence[str], messages: list[dict[str, Any]]
) -> Iterable[Event]:
    names = [drawn.surface.id for drawn in changed] + [key.partition("/")[2] for key in gone]
    titles = " ".join(drawn.surface.title for drawn in changed)
    body = {
        "drawer": drawer,
        "versions": {drawn.surface.id: drawn.version for drawn in changed},
        "removed": [key.partition("/")[2] for key in gone],
        "messages": messages if len(msgspec.json.encode(messages)) <= _EVENT_BYTES else None,
    }
    yield Event(kind="canvas.surface_updated", session=drawer, text=f"{' '.join(names)} {titles}".strip(), body=body)


def _removal_event(drawn: DrawnSurface, by: str) -> Event:
    body = {"drawer": drawn.drawer, "surface": drawn.surface.id, "by": by}
    return Event(kind="canvas.surface_removed", text=f"surface {drawn.surface.id} removed", body=body)


def _action_event(taken: SurfaceAction, context: dict[str, Any], by: str) -> Event:
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
