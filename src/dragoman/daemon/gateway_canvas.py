"""The second connection to the upstream gateway: a node with a canvas that the gateway's agents draw on, after the user
approved it.

Gateways up to 2026.5 draw on nodes; later ones have their own pages for that. No script runs, and no foreign page is
loaded.
"""

from __future__ import annotations

import logging
import re
from collections.abc import Callable, Mapping
from typing import TYPE_CHECKING, Any

import anyio
import anyio.to_thread
import msgspec
from anyio.abc import TaskGroup
from msgspec import UnsetType

from dragoman.canvas.model import SurfaceAction
from dragoman.canvas.service import CanvasService
from dragoman.chat import errors as chat_errors
from dragoman.chat.gateway_client import connection_status
from dragoman.chat.gateway_client.connection_status import GatewayStatus
from dragoman.chat.gateway_client.node import GatewayNode, NodeCommand, NodeCommandError, request_agent
from dragoman.core.clock import SystemClock
from dragoman.core.errors import DragomanError
from dragoman.core.events import Event
from dragoman.core.paths import Paths
from dragoman.journal import Journal
from dragoman.protocols.a2ui import A2uiError
from dragoman.protocols.gateway import EventFrame, SequenceGap

if TYPE_CHECKING:
    from dragoman.chat.gateway_client.client import GatewayClient

DRAWER = "gateway-canvas"
_ADDRESS_SURFACE = "address"
_ADDRESS = 2_000
log = logging.getLogger(__name__)
_LAST_WITH_NODES = (2026, 5)
_ACTIONS_TIMEOUT_S = 3600.0
_ACP = ":acp:"
"""Gateways silently drop a node's agent request for such a session, but accept a chat message."""


class CanvasCommands:
    def __init__(self, canvas: CanvasService, journal: Journal, session: Callable[[], str]) -> None:
        """`session` returns the session of the agent that is drawing: commands do not name it."""
        self._session = session
        self._canvas = canvas
        self._journal = journal

    def table(self) -> Mapping[str, NodeCommand]:
        """The commands that are declared to the gateway. Snapshots are not among them: only a browser could
        take one.
        """
        return {
            "canvas.present": self._present,
            "canvas.hide": self._hide,
            "canvas.navigate": self._navigate,
            "canvas.a2ui.push": self._push,
            "canvas.a2ui.pushJSONL": self._push,
            "canvas.a2ui.reset": self._reset,
        }

    def refused(self) -> Mapping[str, NodeCommand]:
        """Commands that are not declared; a gateway that sends one anyway gets a reason."""
        return {"canvas.eval": self._eval, "canvas.snapshot": self._snapshot}

    async def _present(self, params: Mapping[str, Any]) -> Any:
        target = params.get("target") or params.get("url")
        if isinstance(target, str) and target:
            await self._show_address(target)
        await self._record_event("canvas.presented", "an agent behind the gateway asks you to look at the canvas")
        return {"ok": True}

    async def _hide(self, _: Mapping[str, Any]) -> Any:
        """Record the wish to hide the canvas. The page belongs to the user, so the drawing stays."""
        await self._record_event("canvas.hidden", "an agent behind the gateway is done with the canvas")
        return {"ok": True}

    async def _navigate(self, params: Mapping[str, Any]) -> Any:
        await self._show_address(_text(params, "url"))
        return {"ok": True, "loaded": False, "note": "the person is shown the address; nothing is loaded from it"}

    async def _push(self, params: Mapping[str, Any]) -> Any:
        document = params.get("messages") if "messages" in params else _text(params, "jsonl")
        return {"ok": True, "surfaces": await self._draw(document)}

    async def _reset(self, _: Mapping[str, Any]) -> Any:
        names = [it.surface.id for it in self._canvas.surfaces() if it.drawer == DRAWER]
        for name in names:
            await self._canvas.remove(DRAWER, name, by=DRAWER)
        return {"ok": True, "surfaces": []}

    async def _eval(self, _: Mapping[str, Any]) -> Any:
        raise NodeCommandError("CANVAS_EVAL_REFUSED", "this canvas runs no scripts; push A2UI messages instead")

    async def _snapshot(self, _: Mapping[str, Any]) -> Any:
        raise NodeCommandError("CANVAS_SNAPSHOT_UNAVAILABLE", "this canvas is drawn by the person's browser, not here")

    async def _draw(self, document: object) -> list[str]:
        """Draw strictly, so that the agent learns what to fix and where."""
        try:
            drawn = await self._canvas.draw(DRAWER, "", document, session_key=self._session())
        except A2uiError as error:
            raise NodeCommandError("VALIDATION_FAILED", f"{error.code}: {error}") from None
        return [it.surface.id for it in drawn]

    async def _show_address(self, url: str) -> None:
        text = {"id": "root", "component": "Text", "text": url[:_ADDRESS]}
        surface = {"surfaceId": _ADDRESS_SURFACE, "catalogId": "basic"}
        updated = {"surfaceId": _ADDRESS_SURFACE, "components": [text]}
        known = any(it.drawer == DRAWER and it.surface.id == _ADDRESS_SURFACE for it in self._canvas.surfaces())
        created = [] if known else [{"version": "v0.9", "createSurface": surface}]
        await self._draw([*created, {"version": "v0.9", "updateComponents": updated}])

    async def _record_event(self, kind: str, text: str) -> None:
        await self._journal.append([Event(kind=kind, session=DRAWER, text=text, body={"drawer": DRAWER})])


def _text(params: Mapping[str, Any], name: str) -> str:
    value = params.get(name)
    if not isinstance(value, str) or not value:
        raise NodeCommandError("INVALID_PARAMS", f"{name} is missing")
    return value


_VERSION = re.compile(r"(\d{4})\.(\d{1,2})\.")
_UNSAFE_CHARACTERS = re.compile(r"[^\w.:-]")
_OPEN = frozenset({"connected", "degraded"})


def draws_on_nodes(version: str) -> bool:
    match = _VERSION.match(version)
    return match is not None and (int(match[1]), int(match[2])) <= _LAST_WITH_NODES


class _NodePairingRequest(msgspec.Struct, rename="camel"):
    request_id: str = ""
    node_id: str = ""


class _NodePairings(msgspec.Struct):
    pending: list[_NodePairingRequest] = msgspec.field(default_factory=list)


class CanvasNode:
    """Owns the connection of the canvas, which follows the operator's connection."""

    def __init__(
        self, group: TaskGroup, paths: Paths, canvas: CanvasService, journal: Journal, changed: Callable[[], None]
    ) -> None:
        self._group = group
        self._folder = paths.state / "gateway" / "canvas"
        self._canvas = canvas
        self._commands = CanvasCommands(canvas, journal, lambda: self.session_key)
        self._changed = changed
        self._operator: GatewayClient | None = None
        self._client: GatewayClient | None = None
        self._scope = anyio.CancelScope()
        self._change = anyio.Event()
        self._id = ""
        self.request_id = ""
        """The id of the pending approval."""
        self.session_key = "main"
        """The session of the agent that started to draw last."""

    @property
    def gateway_status(self) -> GatewayStatus:
        now = self._client.gateway_status if self._client else connection_status.NO_CANVAS
        return (
            connection_status.node_pairing_required(self.request_id) if now.state in _OPEN and self.request_id else now
        )

    def follow(self, operator: GatewayClient) -> None:
        """Connect or disconnect with each change of the operator's status."""
        version = operator.hello.server.version if operator.hello else ""
        if operator is not self._operator:
            self._scope.cancel("another gateway was named")
            self._client = None
        if operator.gateway_status.state in _OPEN and draws_on_nodes(version):
            self._begin(operator)
        elif operator.gateway_status.state == "disconnected" and self._client is not None:
            self._client.disconnect()
        self._signal_change()

    def watch_pairing_events(self, frame: EventFrame | SequenceGap) -> None:
        """Watch the operator's frames for pairing events."""
        if isinstance(frame, EventFrame) and frame.event in ("node.pair.requested", "node.pair.resolved"):
            self._signal_change()

    async def forward_actions(self) -> None:
        """Send the user's actions on these surfaces to the session that drew them."""
        while True:
            for taken in await self._canvas.actions(DRAWER, most=1, within_s=_ACTIONS_TIMEOUT_S):
                change = self._change
                if not await self._send_action(taken):
                    await self._canvas.put_back(taken)
                    await change.wait()

    def _begin(self, operator: GatewayClient) -> None:
        from dragoman.chat.gateway_client.client import GatewayClient  # noqa: PLC0415  few ever need it
        from dragoman.chat.gateway_client.identity import DeviceIdentity  # noqa: PLC0415
        from dragoman.chat.gateway_client.roles import canvas_node_role  # noqa: PLC0415

        if self._client is not None and self._operator is operator:
            self._client.connect()
            return
        table = self._commands.table()
        node, identity = GatewayNode({**table, **self._commands.refused()}), DeviceIdentity(self._folder)
        client = GatewayClient(
            operator.gateway,
            identity,
            SystemClock(),
            operator.open_link,
            on_status=self._on_status,
            on_event=node.on_event,
            reconnect_policy=operator.reconnect_policy,
            role=canvas_node_role(tuple(table)),
        )
        self._operator, self._client, self._scope, self.request_id = operator, client, anyio.CancelScope(), ""
        client.connect()
        self._group.start_soon(self._live, client, node, identity, self._scope)

    async def _live(self, client: GatewayClient, node: GatewayNode, identity: Any, scope: anyio.CancelScope) -> None:
        with scope:
            self._id = await anyio.to_thread.run_sync(identity.device_id)
            async with anyio.create_task_group() as group:
                group.start_soon(client.run)
                group.start_soon(node.run, client)
                group.start_soon(self._watch_pairing)

    async def _watch_pairing(self) -> None:
        while True:
            change = self._change
            found = await self._pending_request()
            if found != self.request_id:
                self.request_id = found
                self._changed()
            await change.wait()

    async def _pending_request(self) -> str:
        if self._client is None or self._operator is None or self._client.gateway_status.state not in _OPEN:
            return ""
        try:
            answer = await self._operator.request("node.pair.list", {})
            found = (
                _NodePairings() if isinstance(answer, UnsetType) else msgspec.json.decode(answer, type=_NodePairings)
            )
        except (DragomanError, msgspec.DecodeError) as error:
            log.info("which canvas waits for approval is not known: %s", error)
            return ""
        return next((it.request_id for it in found.pending if it.node_id == self._id), "")

    async def _send_action(self, taken: SurfaceAction) -> bool:
        """Send an action; false while not connected. After a lost connection it is not sent again, as it may have
        arrived.
        """
        if self._client is None or self._operator is None:
            return False
        session = taken.session_key or self.session_key
        words = self._action_message(taken, session)
        params = {"sessionKey": session, "message": words, "idempotencyKey": taken.id}
        try:
            if _ACP in f":{session}":
                await self._operator.request("chat.send", params)
            else:
                await request_agent(self._client, session, words)
        except DragomanError as error:
            if error.code == chat_errors.NOT_CONNECTED:
                return False
            log.warning("an action on %s was not taken by the gateway: %s", ascii(taken.surface_id[:60]), error)
        return True

    def _action_message(self, taken: SurfaceAction, session: str) -> str:
        """The action in the format of the gateway's own canvases."""
        words = {
            "action": taken.name,
            "session": session,
            "surface": taken.surface_id,
            "component": taken.component_id,
            "host": "dragoman",
            "instance": self._id[:12],
        }
        fields = " ".join(f"{name}={_UNSAFE_CHARACTERS.sub('_', value) or '-'}" for name, value in words.items())
        return f"CANVAS_A2UI {fields} ctx={msgspec.json.encode(taken.context).decode()} default=update_canvas"

    def _on_status(self, _: GatewayStatus) -> None:
        self._signal_change()
        self._changed()

    def _signal_change(self) -> None:
        self._change.set()
        self._change = anyio.Event()
