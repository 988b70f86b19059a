"""The canvas for clients of the protocol document: surfaces in its form, and what a person does on one.

The document has no message for a user's action on its way to the gateway, only its form: `{type: "userAction", action,
context}`. Such clients send it as the text of a `chat.send`, so that is where it is looked for.
"""

from __future__ import annotations

from collections.abc import Set
from hashlib import sha256
from typing import Any, Literal

import msgspec

from dragoman.canvas.model import Drawn, SurfaceChange, key_of
from dragoman.canvas.service import CanvasService
from dragoman.gateway.calls import Asker, invalid
from dragoman.wire.a2ui import A2uiError, Surface, pointer, to_seed

Json = dict[str, Any]
_ACTION_CHARACTERS = 64 * 1024


class UserAction(msgspec.Struct, frozen=True):
    """`a2ui_action` is what the document's own extension calls it on the wire."""

    type: Literal["userAction", "a2ui_action"]
    action: str
    context: dict[str, Any] = {}


class Delivered(msgspec.Struct, frozen=True):
    """An action that was recognised. With a session it is that session's, as the message it is; without, its drawer has
    it already."""

    session_key: str = ""


class DocumentCanvas:
    """Owns the names under which surfaces are told: such a client has one space of names, and drawers have one each."""

    def __init__(self, canvas: CanvasService, *, in_sessions: str) -> None:
        """`in_sessions` draws in runs of our own: an action on what it drew is a message in the session of that run."""
        self._canvas = canvas
        self._in_sessions = in_sessions
        self._names: dict[str, str] = {}
        self._listed: dict[str, bytes] = {}
        """Digests of the components that were told last."""

    def name_of(self, drawer: str, surface_id: str) -> str:
        key = key_of(drawer, surface_id)
        if key not in self._names:
            self._names[key] = surface_id if surface_id not in self._names.values() else key
        return self._names[key]

    def forget(self, change: SurfaceChange) -> None:
        key = key_of(change.drawer, change.surface_id)
        self._names.pop(key, None)
        self._listed.pop(key, None)

    def messages(self, change: SurfaceChange) -> tuple[list[Json], list[Json]]:
        """For clients that were told of the surface before, and for those that were not."""
        name = self.name_of(change.drawer, change.surface_id)
        if change.after is None:
            return [to_seed.update_components(name, [])], []
        components = to_seed.components_of(change.after)
        created = to_seed.create_surface(name, change.after, components)
        is_same = self._is_listed(key_of(change.drawer, change.surface_id), components)
        if change.is_new:
            return created, created
        data = [to_seed.update_data_model(name, update) for update in change.data]
        return [*data, *([] if is_same else [to_seed.update_components(name, components)])], created

    def _is_listed(self, key: str, components: list[Json]) -> bool:
        """Whether these are the components that were told last; afterwards they are."""
        digest = sha256(msgspec.json.encode(components)).digest()
        before, self._listed[key] = self._listed.get(key), digest
        return before == digest

    async def act(self, asker: Asker, message: str) -> Delivered | None:
        """Only on surfaces that this client was told of. None where the message is no action on one of those."""
        acted = user_action(message)
        found = self._found(acted, asker.surfaces_told) if acted else None
        if acted is None or found is None:
            return None
        drawn, component_id, scope = found
        if drawn.drawer == self._in_sessions and drawn.session_key:
            return Delivered(drawn.session_key)
        try:
            await self._canvas.act(
                drawn.drawer,
                drawn.surface.id,
                component_id,
                scope=scope,
                details=acted.context,
                by=asker.name,
            )
        except A2uiError:
            return None
        return Delivered()

    def _found(self, acted: UserAction, told: Set[str]) -> tuple[Drawn, str, str] | None:
        """The surface, the component and the item that it stands for: on the surface that was changed last.

        The document's actions name no surface. Where two drawers have such a component nobody can tell whose was meant,
        and the one that drew last is not told what was typed for the other."""
        named = acted.context.get("surfaceId")
        names = {it.key: self._names.get(it.key) for it in self._canvas.surfaces()}
        own = [it for it in self._canvas.surfaces() if names[it.key] in told and named in (None, names[it.key])]
        found = [place for drawn in own if (place := _place(drawn, acted.context))]
        if len({drawn.drawer for drawn, _, _ in found}) > 1:
            raise invalid("several agents drew such a component: context.surfaceId must name the surface")
        return found[0] if found else None


def user_action(message: str) -> UserAction | None:
    if len(message) > _ACTION_CHARACTERS or not message.lstrip().startswith("{"):
        return None
    try:
        return msgspec.json.decode(message, type=UserAction)
    except (msgspec.DecodeError, RecursionError):
        return None


def _place(drawn: Drawn, context: Json) -> tuple[Drawn, str, str] | None:
    if "componentId" not in context:
        return _offering(drawn, context.get("path"))
    component_id, _, scope = str(context["componentId"]).partition("@/")
    return (drawn, component_id, f"/{scope}" if scope else "") if component_id in drawn.surface.components else None


def _offering(drawn: Drawn, path: object) -> tuple[Drawn, str, str] | None:
    """The document's `FileTree` says which path was chosen, and not where."""
    for component in drawn.surface.components.values():
        if component.type == "FileTree" and path in _items(drawn.surface, component.properties.get("items")):
            return drawn, component.id, ""
    return None


def _items(surface: Surface, items: object) -> list[Any]:
    if isinstance(items, dict) and isinstance(items.get("path"), str):
        try:
            items = pointer.get(surface.data_model, pointer.parse(items["path"]))
        except pointer.PointerError:
            return []
    return items if isinstance(items, list) else []
