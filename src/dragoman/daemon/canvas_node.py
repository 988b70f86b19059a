"""The second connection to a gateway: as a node, whose canvas its agents draw on, once somebody has approved it.

Gateways up to 2026.5 draw on nodes; later ones have pages of their own for that.
"""

from __future__ import annotations

import logging
import re
from collections.abc import Callable
from typing import TYPE_CHECKING, Any

import anyio
import anyio.to_thread
import msgspec
from anyio.abc import TaskGroup
from msgspec import UnsetType

from dragoman.canvas.model import Taken
from dragoman.canvas.service import CanvasService
from dragoman.chat import faults, standing
from dragoman.chat.node import Node, request_agent
from dragoman.chat.standing import Standing
from dragoman.clock import SystemClock
from dragoman.daemon.canvas_commands import DRAWER, CanvasCommands
from dragoman.errors import DragomanError
from dragoman.journal import Journal
from dragoman.places import Places
from dragoman.wire.gateway import EventFrame, SequenceGap

if TYPE_CHECKING:
    from dragoman.chat.client import GatewayClient

log = logging.getLogger(__name__)

_LAST_WITH_NODES = (2026, 5)
_VERSION = re.compile(r"(\d{4})\.(\d{1,2})\.")
_LISTENED_S = 3600.0
_UNFIT = re.compile(r"[^\w.:-]")
_ACP = ":acp:"
"""A gateway takes no node's request into such a session, without a word; it does take a message."""
_OPEN = frozenset({"connected", "degraded"})


def draws_on_nodes(version: str) -> bool:
    found = _VERSION.match(version)
    return found is not None and (int(found[1]), int(found[2])) <= _LAST_WITH_NODES


class _Request(msgspec.Struct, rename="camel"):
    request_id: str = ""
    node_id: str = ""


class _Pairings(msgspec.Struct):
    pending: list[_Request] = msgspec.field(default_factory=list)


class CanvasNode:
    """Owns the connection of the canvas; it comes and goes with the operator's."""

    def __init__(
        self, group: TaskGroup, places: Places, canvas: CanvasService, journal: Journal, changed: Callable[[], None]
    ) -> None:
        self._group = group
        self._folder = places.state / "gateway" / "canvas"
        self._canvas = canvas
        self._commands = CanvasCommands(canvas, journal, lambda: self.session_key)
        self._changed = changed
        self._operator: GatewayClient | None = None
        self._client: GatewayClient | None = None
        self._scope = anyio.CancelScope()
        self._bell = anyio.Event()
        self._id = ""
        self.request_id = ""
        """Of the approval that is waited for."""
        self.session_key = "main"
        """Where an agent began to draw last: what is drawn now is its."""

    @property
    def standing(self) -> Standing:
        now = self._client.standing if self._client else standing.NO_CANVAS
        return standing.canvas_waits(self.request_id) if now.state in _OPEN and self.request_id else now

    def follow(self, operator: GatewayClient) -> None:
        """With each change of how the operator stands."""
        version = operator.hello.server.version if operator.hello else ""
        if operator is not self._operator:
            self._scope.cancel("another gateway was named")
            self._client = None
        if operator.standing.state in _OPEN and draws_on_nodes(version):
            self._begin(operator)
        elif operator.standing.state == "disconnected" and self._client is not None:
            self._client.disconnect()
        self._ring()

    def overhear(self, frame: EventFrame | SequenceGap) -> None:
        """What the operator hears of pairings."""
        if isinstance(frame, EventFrame) and frame.event in ("node.pair.requested", "node.pair.resolved"):
            self._ring()

    async def tell_actions(self) -> None:
        """What a person did on what was drawn here: a run in the session that drew it."""
        while True:
            for taken in await self._canvas.actions(DRAWER, most=1, within_s=_LISTENED_S):
                bell = self._bell
                if not await self._is_told(taken):
                    await self._canvas.put_back(taken)
                    await bell.wait()

    def _begin(self, operator: GatewayClient) -> None:
        from dragoman.chat.client import GatewayClient  # noqa: PLC0415  few ever need it
        from dragoman.chat.identity import Identity  # noqa: PLC0415
        from dragoman.chat.roles import canvas_node  # noqa: PLC0415

        if self._client is not None and self._operator is operator:
            self._client.connect()
            return
        table = self._commands.table()
        node, identity = Node({**table, **self._commands.refused()}), Identity(self._folder)
        client = GatewayClient(
            operator.gateway,
            identity,
            SystemClock(),
            operator.open_link,
            told=self._told,
            heard=node.heard,
            reconnecting=operator.reconnecting,
            role=canvas_node(tuple(table)),
        )
        self._operator, self._client, self._scope, self.request_id = operator, client, anyio.CancelScope(), ""
        client.connect()
        self._group.start_soon(self._live, client, node, identity, self._scope)

    async def _live(self, client: GatewayClient, node: Node, identity: Any, scope: anyio.CancelScope) -> None:
        with scope:
            self._id = await anyio.to_thread.run_sync(identity.device_id)
            async with anyio.create_task_group() as group:
                group.start_soon(client.run)
                group.start_soon(node.run, client)
                group.start_soon(self._watch_pairing)

    async def _watch_pairing(self) -> None:
        while True:
            bell = self._bell
            found = await self._pending_request()
            if found != self.request_id:
                self.request_id = found
                self._changed()
            await bell.wait()

    async def _pending_request(self) -> str:
        if self._client is None or self._operator is None or self._client.standing.state not in _OPEN:
            return ""
        try:
            answer = await self._operator.request("node.pair.list", {})
            found = _Pairings() if isinstance(answer, UnsetType) else msgspec.json.decode(answer, type=_Pairings)
        except (DragomanError, msgspec.DecodeError) as error:
            log.info("which canvas waits for approval is not known: %s", error)
            return ""
        return next((it.request_id for it in found.pending if it.node_id == self._id), "")

    async def _is_told(self, taken: Taken) -> bool:
        """False while there is no connection. One that is lost meanwhile may have taken it: it is not sent again."""
        if self._client is None or self._operator is None:
            return False
        session = taken.session_key or self.session_key
        words = self._in_words(taken, session)
        said = {"sessionKey": session, "message": words, "idempotencyKey": taken.id}
        try:
            if _ACP in f":{session}":
                await self._operator.request("chat.send", said)
            else:
                await request_agent(self._client, session, words)
        except DragomanError as error:
            if error.code == faults.NOT_CONNECTED:
                return False
            log.warning("an action on %s was not taken by the gateway: %s", ascii(taken.surface_id[:60]), error)
        return True

    def _in_words(self, taken: Taken, session: str) -> str:
        """As the gateway's own canvases say it."""
        words = {
            "action": taken.name,
            "session": session,
            "surface": taken.surface_id,
            "component": taken.component_id,
            "host": "dragoman",
            "instance": self._id[:12],
        }
        told = " ".join(f"{name}={_UNFIT.sub('_', value) or '-'}" for name, value in words.items())
        return f"CANVAS_A2UI {told} ctx={msgspec.json.encode(taken.context).decode()} default=update_canvas"

    def _told(self, _: Standing) -> None:
        self._ring()
        self._changed()

    def _ring(self) -> None:
        self._bell.set()
        self._bell = anyio.Event()
