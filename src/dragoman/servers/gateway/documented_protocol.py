"""The gateway protocol as its public document describes it, for clients that know nothing else: their events, their
surfaces, and the actions of a person on one.

The document has no message for a user's action on its way to the gateway, only its form: `{type: "userAction",
action, context}`. Such clients send it as the text of a `chat.send`, so it is looked for there. Text and the end of a
run are not sent as `agent` events with a `payload.kind`: these clients take `text_delta` from the raw stream and
`done` from the `chat` states, and would show both twice.
"""

from __future__ import annotations

from collections.abc import Callable, Set
from hashlib import sha256
from typing import Any, Literal

import msgspec
from msgspec import UNSET

from dragoman.canvas.model import DrawnSurface, SurfaceChange, key_of
from dragoman.canvas.service import CanvasService
from dragoman.protocols.a2ui import A2uiError, Surface, flat_list, pointer
from dragoman.protocols.gateway.chat_events import ChatDiff, ChatEvent, ToolResult, ToolStart
from dragoman.servers.gateway.calls import GatewayCaller, invalid_request

_ACTION_CHARACTERS = 64 * 1024

Json = dict[str, Any]


class UserAction(msgspec.Struct, frozen=True):
    """`a2ui_action` is what the document's own extension calls it on the wire."""

    type: Literal["userAction", "a2ui_action"]
    action: str
    context: dict[str, Any] = {}


class DeliveredAction(msgspec.Struct, frozen=True):
    """An action that was recognised.

    With a session it becomes a message in that session; without, its drawer has received it already.
    """

    session_key: str = ""


class DocumentedCanvas:
    """The canvas for clients of the protocol document.

    It owns the names under which surfaces are published: such a client has one namespace, while each drawer has its
    own.
    """

    def __init__(self, canvas: CanvasService, *, in_sessions: str) -> None:
        """`in_sessions` draws in Dragoman's own runs: an action on such a surface is a message in the session of that
        run."""
        self._canvas = canvas
        self._in_sessions = in_sessions
        self._names: dict[str, str] = {}
        self._published_digests: dict[str, bytes] = {}
        """Digests of the components that were published last."""

    def name_of(self, drawer: str, surface_id: str) -> str:
        key = key_of(drawer, surface_id)
        if key not in self._names:
            self._names[key] = surface_id if surface_id not in self._names.values() else key
        return self._names[key]

    def forget(self, change: SurfaceChange) -> None:
        key = key_of(change.drawer, change.surface_id)
        self._names.pop(key, None)
        self._published_digests.pop(key, None)

    def messages(self, change: SurfaceChange) -> tuple[list[Json], list[Json]]:
        """The messages for clients that know the surface, and for those that do not."""
        name = self.name_of(change.drawer, change.surface_id)
        if change.after is None:
            return [flat_list.update_components(name, [])], []
        components = flat_list.components_of(change.after)
        created = flat_list.create_surface(name, change.after, components)
        is_same = self._is_published(key_of(change.drawer, change.surface_id), components)
        if change.is_new:
            return created, created
        data = [flat_list.update_data_model(name, update) for update in change.data]
        return [*data, *([] if is_same else [flat_list.update_components(name, components)])], created

    def _is_published(self, key: str, components: list[Json]) -> bool:
        """Whether these components were published last. Afterwards they count as published."""
        digest = sha256(msgspec.json.encode(components)).digest()
        before, self._published_digests[key] = self._published_digests.get(key), digest
        return before == digest

    async def act(self, caller: GatewayCaller, message: str) -> DeliveredAction | None:
        """Deliver an action on a surface that was published to this client.

        None if the message is not such an action.
        """
        acted = parse_user_action(message)
        found = self._find_target(acted, caller.known_surfaces) if acted else None
        if acted is None or found is None:
            return None
        drawn, component_id, scope = found
        if drawn.drawer == self._in_sessions and drawn.session_key:
            return DeliveredAction(drawn.session_key)
        try:
            await self._canvas.act(
                drawn.drawer,
                drawn.surface.id,
                component_id,
                scope=scope,
                details=acted.context,
                by=caller.name,
            )
        except A2uiError:
            return None
        return DeliveredAction()

    def _find_target(self, acted: UserAction, published: Set[str]) -> tuple[DrawnSurface, str, str] | None:
        """The surface, the component and the item that is meant: on the surface that was changed last.

        The document's actions name no surface. If two drawers have a matching component, nobody can know which one was
        meant, and the action is refused: text that was typed for one must not reach the other.
        """
        named = acted.context.get("surfaceId")
        names = {it.key: self._names.get(it.key) for it in self._canvas.surfaces()}
        own = [it for it in self._canvas.surfaces() if names[it.key] in published and named in (None, names[it.key])]
        found = [place for drawn in own if (place := _action_target(drawn, acted.context))]
        if len({drawn.drawer for drawn, _, _ in found}) > 1:
            raise invalid_request("several agents drew such a component: context.surfaceId must name the surface")
        return found[0] if found else None


def parse_user_action(message: str) -> UserAction | None:
    if len(message) > _ACTION_CHARACTERS or not message.lstrip().startswith("{"):
        return None
    try:
        return msgspec.json.decode(message, type=UserAction)
    except (msgspec.DecodeError, RecursionError):
        return None


def _action_target(drawn: DrawnSurface, context: Json) -> tuple[DrawnSurface, str, str] | None:
    if "componentId" not in context:
        return _file_tree_with(drawn, context.get("path"))
    component_id, _, scope = str(context["componentId"]).partition("@/")
    return (drawn, component_id, f"/{scope}" if scope else "") if component_id in drawn.surface.components else None


def _file_tree_with(drawn: DrawnSurface, path: object) -> tuple[DrawnSurface, str, str] | None:
    """The document's `FileTree` says which path was chosen, not in which tree."""
    for component in drawn.surface.components.values():
        if component.type == "FileTree" and path in _bound_items(drawn.surface, component.properties.get("items")):
            return drawn, component.id, ""
    return None


def _bound_items(surface: Surface, items: object) -> list[Any]:
    if isinstance(items, dict) and isinstance(items.get("path"), str):
        try:
            items = pointer.get(surface.data_model, pointer.parse(items["path"]))
        except pointer.PointerError:
            return []
    return items if isinstance(items, list) else []


def run_kind_event(event: ChatEvent) -> Json | None:
    """The payload, or None if the document has no event for it."""
    written = _WRITERS.get(type(event))
    return written(event) if written else None


def surface_kind_event(message: Json) -> Json:
    return {"kind": "a2ui", "payload": message}


def _tool_start_event(event: ToolStart) -> Json:
    return {
        "kind": "tool_start",
        "tool": event.tool,
        "id": event.id,
        "title": event.title or event.tool,
        "input": _tool_arguments(event),
    }


def _tool_arguments(event: ToolStart) -> Json:
    """Always an object. If the model wrote something else, it is wrapped as it came."""
    given = None if event.input is UNSET else msgspec.json.decode(event.input)
    if given is None:
        return {}
    return given if isinstance(given, dict) else {"arguments": given}


def _tool_result_event(event: ToolResult) -> Json:
    return {"kind": "tool_result", "id": event.id, "output": event.output, "error": event.error}


def _diff_event(event: ChatDiff) -> Json:
    return {"kind": "diff", "path": event.path, "original": event.original, "modified": event.modified}


_WRITERS: dict[type, Callable[[Any], Json]] = {
    ToolStart: _tool_start_event,
    ToolResult: _tool_result_event,
    ChatDiff: _diff_event,
}


_KINDS = frozenset({"tool_start", "tool_result", "diff", "a2ui"})


def is_rewritten(stream: str, kind: str) -> bool:
    """Whether an event of another gateway is rewritten for clients that read kinds.

    Text and ends are passed on unchanged; the canvas publishes surfaces.
    """
    return not stream and kind in _KINDS
