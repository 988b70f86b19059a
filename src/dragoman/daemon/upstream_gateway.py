"""The gateway that Dragoman is a client of: connected at the user's request, with its canvas and its chat."""

from __future__ import annotations

import logging
import os
import random
from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Any

import anyio
import anyio.to_thread
import msgspec
from anyio.abc import TaskGroup
from msgspec import Raw, UnsetType

from dragoman.canvas.model import SurfaceAction
from dragoman.canvas.service import CanvasService
from dragoman.chat import errors as chat_errors
from dragoman.chat.gateway_client import connection_status
from dragoman.chat.gateway_client.connection_status import GatewayStatus
from dragoman.chat.gateway_client.event_router import GatewayEventRouter
from dragoman.core.clock import SystemClock
from dragoman.core.errors import DragomanError
from dragoman.core.events import Event
from dragoman.core.localization import localize
from dragoman.core.paths import Paths
from dragoman.core.settings.loader import load_settings
from dragoman.core.settings.schema import Settings
from dragoman.daemon.gateway_canvas import CanvasNode
from dragoman.io.files.private_files import read_private
from dragoman.io.net.trusted_servers import ForeignServerError
from dragoman.journal import Journal
from dragoman.protocols.a2ui import A2uiError
from dragoman.protocols.gateway import EventFrame, SequenceGap
from dragoman.protocols.gateway.chat_events import (
    A2ui,
    ChatDiff,
    ChatEvent,
    ChatStatus,
    ChatTextDelta,
    ChatUsage,
    Done,
    ToolResult,
    ToolStart,
    ToolUpdate,
)
from dragoman.servers.gateway.run_events import diff_event_payload

log = logging.getLogger(__name__)

if TYPE_CHECKING:
    from dragoman.chat.gateway_client.client import GatewayClient
    from dragoman.io.net.websocket_client import TextWebSocket

FrameListener = Callable[[EventFrame | SequenceGap], None]
EventListener = Callable[[ChatEvent], None]
_OPTIONAL_METHODS = {"sessions.subscribe": {"subscribed": False}}
"""The results for methods that a relay can do without. The protocol document does not define these methods."""
_REPUBLISHED = (ChatTextDelta, ToolStart, ToolUpdate, ToolResult, ChatDiff, ChatStatus, ChatUsage, Done)
DRAWER = "gateway"
SETTLED_WITHIN_S = 20.0
REQUEST_WITHIN_S = 30.0
MAX_WAIT_S = 3600.0
"""The time for one call that waits for the end of a run."""
_SETTLED = frozenset({"connected", "degraded", "pairing_required", "paused", "error", "disconnected"})
_ACTIONS_TIMEOUT_S = 3600.0
_TEXT = 20_000  # the gateway's limits for a user action


class _WaitParameters(msgspec.Struct, rename="camel"):
    timeout_ms: float = 30_000


class UpstreamGateway:
    """Owns the client of one gateway at a time, and everything that is sent through it.

    It never sends the token of the settings to a gateway other than the one in the settings.
    """

    def __init__(
        self, group: TaskGroup, settings: Settings, paths: Paths, canvas: CanvasService, journal: Journal
    ) -> None:
        self._group = group
        self._settings = settings
        self._paths = paths
        self._canvas = canvas
        self._journal = journal
        self._scope = anyio.CancelScope()
        self._changed = anyio.Event()
        self._was_connected = False
        self._untrusted_server = ""
        """The entry of `trusted_servers` that the user would have to accept."""
        self._initial_status = connection_status.NOT_REQUESTED
        self._client: GatewayClient | None = None
        self._frame_listeners: list[FrameListener] = []
        self._event_listeners: list[EventListener] = []
        self._watching: list[Callable[[], None]] = []
        self._is_republishing = False
        self._unsupported_methods: set[str] = set()
        self.router = GatewayEventRouter(self._draw, self._bridge)
        self.node = CanvasNode(group, paths, canvas, journal, self._signal_change)
        self.router.watch(self._track_canvas_session)
        self.router.watch(self._republish)

    @property
    def gateway_status(self) -> GatewayStatus:
        return self._client.gateway_status if self._client else self._initial_status

    def status(self) -> dict[str, Any]:
        client = self._client
        hello = client.hello if client else None
        return {
            "address": client.gateway.url if client else self._settings.gateway_address,
            "state": self.gateway_status.state,
            "protocol": hello.protocol if hello else None,
            "version": hello.server.version if hello else "",
            "request_id": self.gateway_status.request_id,
            "missing_scopes": list(self.gateway_status.missing_scopes),
            "retry_in_s": self.gateway_status.retry_in_s,
            "untrusted_server": self._untrusted_server,
            "canvas": self.node.gateway_status.state,
            "canvas_request_id": self.node.request_id,
        }

    async def changed(self) -> None:
        """Wait for the next change of the status."""
        await self._changed.wait()

    async def connect(self, url: str, token: str | None = None) -> GatewayStatus:
        """Connect, and return the status once it is settled: connected or waiting for approval, or disconnected by
        another client meanwhile; otherwise while retrying.

        `token` is for this gateway; without one, the token of the settings is used if it belongs to this gateway.
        """
        url = url or self._settings.gateway_address
        client = self._client
        if client is None or client.gateway.url != url or token not in {None, client.gateway.token}:
            await self._begin(url, token)
        assert self._client is not None
        self._client.connect()
        with anyio.move_on_after(SETTLED_WITHIN_S):
            while self.gateway_status.state not in _SETTLED and self.gateway_status.retry_in_s is None:
                await self._changed.wait()
        return self.gateway_status

    async def begin(self) -> None:
        """Connect at the start, for a relay. A failure is logged and kept as the status; the daemon continues."""
        try:
            await self.connect("")
        except DragomanError as error:
            log.warning("the gateway of the settings was not connected: %s", error)
            self._initial_status = GatewayStatus("error", error.code, error.message, hint=error.hint)

    def watch(self, changed: Callable[[], None]) -> None:
        """Call `changed` with each change of the connection's status."""
        self._watching.append(changed)

    def listen(self, on_frame: FrameListener, on_event: EventListener | None = None) -> None:
        """Pass every frame to `on_frame`. `on_event` gets the runs of a gateway that follows the protocol document,
        decoded, so that they can be published in our own format.
        """
        self._frame_listeners.append(on_frame)
        if on_event is not None:
            self._event_listeners.append(on_event)

    async def relay(self, method: str, params: Raw | UnsetType) -> Any:
        client = self.client()
        if method in self._unsupported_methods:
            return _OPTIONAL_METHODS[method]
        try:
            return await client.request(method, params, timeout_s=_deadline_s(method, params))
        except chat_errors.GatewayRequestError:
            if method not in _OPTIONAL_METHODS or _lists_methods(client):
                raise
            self._unsupported_methods.add(method)
            return _OPTIONAL_METHODS[method]

    def disconnect(self) -> None:
        if self._client is not None:
            self._client.disconnect()

    def client(self) -> GatewayClient:
        if self._client is None:
            raise chat_errors.not_connected(self.gateway_status)
        return self._client

    async def _begin(self, url: str, token: str | None) -> None:
        from dragoman.chat.gateway_client.client import GatewayAddress, GatewayClient  # noqa: PLC0415  few ever need it
        from dragoman.chat.gateway_client.connection_status import ReconnectPolicy  # noqa: PLC0415
        from dragoman.chat.gateway_client.identity import DeviceIdentity  # noqa: PLC0415

        if token is None:
            token = await anyio.to_thread.run_sync(self._token_for, url)
        self._scope.cancel("another gateway was named")
        self.router.lost(chat_errors.not_connected(connection_status.DISCONNECTED))
        self._was_connected = False
        self._client = GatewayClient(
            GatewayAddress(url, token),
            DeviceIdentity(self._paths.state / "gateway"),
            SystemClock(),
            self._open_link,
            on_status=self._on_status,
            on_event=self._on_frame,
            reconnect_policy=ReconnectPolicy(unlimited=self._settings.gateway_unlimited, jitter=random.random),
        )
        self._scope = anyio.CancelScope()
        self._group.start_soon(self._live, self._client, self._scope)

    @asynccontextmanager
    async def _open_link(self, url: str) -> AsyncIterator[TextWebSocket]:
        from dragoman.io.net.websocket_client import open_websocket  # noqa: PLC0415  few ever need it

        self._untrusted_server = ""
        try:
            async with open_websocket(url, trusted=self._trusted_servers) as link:
                yield link
        except ForeignServerError as error:
            self._untrusted_server = error.entry
            raise

    def _trusted_servers(self) -> list[str]:
        """Read the settings again: after the user accepted a server, no restart is needed."""
        return load_settings(self._paths).trusted_servers

    def _token_for(self, url: str) -> str:
        """The token of the settings, only for the gateway of the settings: it is sent to no other."""
        if url != self._settings.gateway_address:
            return ""
        if self._settings.gateway_token_variable:
            return os.environ.get(self._settings.gateway_token_variable, "")
        if self._settings.gateway_token_file:
            return _read_token(Path(self._settings.gateway_token_file).expanduser())
        return ""

    async def _live(self, client: GatewayClient, scope: anyio.CancelScope) -> None:
        with scope:
            await client.run()

    def _on_frame(self, frame: EventFrame | SequenceGap) -> None:
        self._is_republishing = self._is_republishing or (bool(self._event_listeners) and _has_kind(frame))
        self.router.on_event(frame)
        self.node.watch_pairing_events(frame)
        if not (self._is_republishing and isinstance(frame, EventFrame) and frame.event in ("agent", "chat")):
            self._forward(frame)

    def _forward(self, frame: EventFrame | SequenceGap) -> None:
        for listener in self._frame_listeners:
            listener(frame)

    def _republish(self, event: ChatEvent) -> None:
        if self._is_republishing and isinstance(event, _REPUBLISHED):
            for on_event in self._event_listeners:
                on_event(event)

    def _signal_change(self) -> None:
        self._changed.set()
        self._changed = anyio.Event()

    def _track_canvas_session(self, event: ChatEvent) -> None:
        if isinstance(event, ToolStart) and event.tool == "canvas":
            self.node.session_key = event.session_key

    def _on_status(self, now: GatewayStatus) -> None:
        self._signal_change()
        for changed in self._watching:
            changed()
        if self._client is not None:
            self.node.follow(self._client)
        if now.state in ("connected", "degraded"):
            self._listen_to(self.client())
            if self._was_connected:
                self._on_frame(SequenceGap(expected=0, received=0))
            self._was_connected = True
        elif now.state in _SETTLED:
            self.router.lost(chat_errors.not_connected(now))

    def _listen_to(self, client: GatewayClient) -> None:
        """Adapt to the gateway's hello: a gateway of the protocol document announces nothing."""
        hello = client.hello
        self.router.set_session_defaults(hello.snapshot.session_defaults if hello and not hello.is_bare else None)
        self._is_republishing = bool(self._event_listeners) and not _lists_methods(client)
        self._unsupported_methods.clear()

    async def _draw(self, event: A2ui) -> None:
        """Draw what is valid: the gateway cannot be told what to fix."""
        try:
            document = msgspec.json.decode(event.payload)
            await self._canvas.draw(DRAWER, "", document, strict=False, session_key=event.session_key)
        except (A2uiError, msgspec.DecodeError, RecursionError) as error:
            raise DragomanError(
                "not_drawn", localize("Cannot draw: {reason}", reason=ascii(str(error)[:300]))
            ) from error

    async def _bridge(self, event: ChatDiff) -> None:
        """Record the change without its texts, and publish it to the editors at our own gateway."""
        body = {**msgspec.to_builtins(event), "original": None, "modified": ""}
        text = f"{event.path} changed by an agent behind the gateway"
        await self._journal.append([Event(kind="chat.file_changed", session=event.session_key, text=text, body=body)])
        if (
            event.tool_id and not self._is_republishing
        ):  # derived from a tool call; a reported change is passed on unchanged
            payload = Raw(msgspec.json.encode(diff_event_payload(event, SystemClock().wall_ns() // 1_000_000)))
            self._forward(EventFrame(event="agent", payload=payload))

    async def forward_actions(self) -> None:
        """Send the user's actions on the gateway's surfaces to the session that drew them."""
        while True:
            for taken in await self._canvas.actions(DRAWER, most=1, within_s=_ACTIONS_TIMEOUT_S):
                changed = self._changed
                if not await self._send_action(taken):
                    await self._canvas.put_back(taken)
                    await changed.wait()

    async def _send_action(self, taken: SurfaceAction) -> bool:
        """Send an action; false while not connected. Its id makes it one message, even if it is sent again."""
        params = {
            "sessionKey": taken.session_key or "main",
            "message": _action_message(taken),
            "idempotencyKey": taken.id,
        }
        try:
            await self.client().request("chat.send", params)
        except DragomanError as error:
            if error.code in chat_errors.RECOVERABLE_CODES:
                return False
            log.warning("an action on %s was not taken by the gateway: %s", ascii(taken.surface_id[:60]), error)
        return True


class _EventKind(msgspec.Struct):
    kind: str = ""
    stream: str = ""


def _has_kind(frame: EventFrame | SequenceGap) -> bool:
    """Whether it is an event in the protocol document's form, which real gateways never use."""
    if isinstance(frame, SequenceGap) or frame.event != "agent" or isinstance(frame.payload, UnsetType):
        return False
    try:
        event = msgspec.json.decode(frame.payload, type=_EventKind)
    except (msgspec.DecodeError, RecursionError):
        return False
    return bool(event.kind) and not event.stream


def _lists_methods(client: GatewayClient) -> bool:
    return client.hello is not None and bool(client.hello.features.methods)


def _deadline_s(method: str, params: Raw | UnsetType) -> float:
    """The deadline of a call. One that waits names its own timeout, and gets the usual time for the answer on top."""
    if method != "agent.wait":
        return REQUEST_WITHIN_S
    try:
        waits = (
            _WaitParameters() if isinstance(params, UnsetType) else msgspec.json.decode(params, type=_WaitParameters)
        )
    except (msgspec.DecodeError, RecursionError):
        return REQUEST_WITHIN_S
    return min(max(waits.timeout_ms / 1000, 0.0), MAX_WAIT_S) + REQUEST_WITHIN_S


def _read_token(path: Path) -> str:
    try:
        return read_private(path).decode("ascii").strip()
    except (OSError, ValueError) as error:
        raise DragomanError(
            "no_gateway_token",
            localize("Cannot read the gateway token from {file}.", file=path),
            hint=localize("Write the token to that file, or change the setting gateway_token_file."),
        ) from error


def _action_message(taken: SurfaceAction) -> str:
    """The action in the format of the gateway's own canvases: one line, with the context as JSON."""
    context = msgspec.json.encode(taken.context).decode()
    where = f"surface={taken.surface_id} component={taken.component_id}"
    return f"CANVAS_A2UI action={taken.name} {where} context={context}"[:_TEXT]


@asynccontextmanager
async def open_upstream_gateway(
    settings: Settings, paths: Paths, canvas: CanvasService, journal: Journal
) -> AsyncIterator[UpstreamGateway]:
    """Run the upstream gateway. When the block ends, the connection is closed."""
    async with anyio.create_task_group() as group:
        link = UpstreamGateway(group, settings, paths, canvas, journal)
        group.start_soon(link.router.run)
        group.start_soon(link.forward_actions)
        group.start_soon(link.node.forward_actions)
        if settings.gateway_relay:
            group.start_soon(link.begin)
        yield link
        group.cancel_scope.cancel("the daemon ends")
