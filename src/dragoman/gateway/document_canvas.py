"""The canvas for clients of the protocol document: surfaces in its form, and what a person does on one.

The document has no message for a user's action on its way to the gateway, only its form: `{type: "userAction", action,
context}`. Such clients send it as the text of a `chat.send`, so that is where it is looked for.
"""

from __future__ import annotations

from collections.abc import Iterator, Set
from typing import Any, Literal

import msgspec

from dragoman.canvas.model import Drawn, SurfaceChange, key_of
from dragoman.canvas.service import CanvasService
from dragoman.gateway.calls import Asker
from dragoman.wire.a2ui import A2uiError, to_seed
from dragoman.wire.a2ui.resolve import Node, resolve

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

    def name_of(self, drawer: str, surface_id: str) -> str:
        key = key_of(drawer, surface_id)
        if key not in self._names:
            self._names[key] = surface_id if surface_id not in self._names.values() else key
        return self._names[key]

    def forget(self, change: SurfaceChange) -> None:
        self._names.pop(key_of(change.drawer, change.surface_id), None)

    def messages(self, change: SurfaceChange, known: Set[str]) -> list[Json]:
        """For a client that was told of these surfaces."""
        name = self.name_of(change.drawer, change.surface_id)
        if change.after is None:
            return [to_seed.update_components(name, [])] if name in known else []
        if name not in known or change.is_new:
            return to_seed.create_surface(name, change.after)
        data = [to_seed.update_data_model(name, update) for update in change.data]
        components = to_seed.components_of(change.after)
        if change.before is not None and components == to_seed.components_of(change.before):
            return data
        return [*data, to_seed.update_components(name, components)]

    async def act(self, asker: Asker, message: str) -> Delivered | None:
        """Only on surfaces that this client was told of. None where the message is no action on one of those."""
        acted = user_action(message)
        found = self._found(acted, asker.surfaces_told) if acted else None
        if acted is None or found is None:
            return None
        drawn, node = found
        if drawn.drawer == self._in_sessions and drawn.session_key:
            return Delivered(drawn.session_key)
        try:
            await self._canvas.act(
                drawn.drawer,
                drawn.surface.id,
                node.component_id,
                scope=node.scope,
                details=acted.context,
                by=asker.name,
            )
        except A2uiError:
            return None
        return Delivered()

    def _found(self, acted: UserAction, told: Set[str]) -> tuple[Drawn, Node] | None:
        """Where the context names no component it is the newest that offers such a path."""
        for drawn in self._canvas.surfaces():
            if self._names.get(drawn.key) in told:
                root = resolve(drawn.surface)
                for node in _nodes(root) if root else ():
                    if _fits(node, acted):
                        return drawn, node
        return None


def user_action(message: str) -> UserAction | None:
    if len(message) > _ACTION_CHARACTERS or not message.lstrip().startswith("{"):
        return None
    try:
        return msgspec.json.decode(message, type=UserAction)
    except (msgspec.DecodeError, RecursionError):
        return None


def _fits(node: Node, acted: UserAction) -> bool:
    if "componentId" in acted.context:
        return bool(node.id == acted.context["componentId"])
    items = node.properties.get("items")
    return node.type == "FileTree" and isinstance(items, list) and acted.context.get("path") in items


def _nodes(node: Node) -> Iterator[Node]:
    yield node
    for child in node.children:
        yield from _nodes(child)
