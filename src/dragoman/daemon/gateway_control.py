"""How the command line and editors control the upstream gateway: connect, disconnect, status, chat and approvals.

An editor's token arrives over a socket whose ends are both authenticated, is valid only for that gateway, and is kept
in memory as long as its client is. Editors keep it in their own secret storage.
"""

from __future__ import annotations

import re
from collections.abc import AsyncIterator, Callable, Mapping
from contextlib import aclosing
from dataclasses import dataclass
from typing import Any

import msgspec
from msgspec import UnsetType

from dragoman.chat import errors as chat_errors
from dragoman.chat.approvals import Approvals
from dragoman.chat.gateway_client.connection_status import GatewayStatus
from dragoman.chat.gateway_client.remote_run import RemoteRun
from dragoman.core.errors import DragomanError, ErrorSpec, quoted
from dragoman.core.localization import Language, localize
from dragoman.daemon.upstream_gateway import UpstreamGateway
from dragoman.editors import Editor, EditorRegistry
from dragoman.protocols.gateway.chat_events import (
    ApprovalRequest,
    ChatDiff,
    ChatEvent,
    ChatTextDelta,
    Done,
    ToolResult,
    ToolStart,
)
from dragoman.servers.control.server import CALLING_LANGUAGE, ControlMethod, Params, ResultPart

bad_gateway_address = ErrorSpec(
    "bad_address",
    "Invalid gateway address: {address}",
    "It must start with ws:// or wss://, for example ws://127.0.0.1:18789.",
    address=quoted(200),
)

_MAX_TOKEN = 4096
_MAX_TEXT = 100_000
_MAX_ERROR = 300
_SESSIONS = 100
PAIRING_WITHIN_S = 10.0
"""The limit for each of the three requests of an approval: the command line waits longer than for all of them."""

GATEWAY_ADDRESS = re.compile(r"wss?://\S{1,500}")


Json = dict[str, Any]
StatusReader = Callable[[Language], Mapping[str, Any]]


class EditorGateway:
    def __init__(self, editors: EditorRegistry, link: UpstreamGateway, gateway_status: StatusReader) -> None:
        self._editors = editors
        self._link = link
        self._gateway_status = gateway_status
        editors.calls |= {
            "gateway.connect": self._connect,
            "gateway.disconnect": self._disconnect,
            "gateway.status": self._status,
        }

    async def publish(self) -> None:
        """Notify every editor window of each status change."""
        while True:
            await self._link.changed()
            for editor in self._editors.all:
                editor.notify("gateway.state", dict(self._gateway_status("en")))

    async def _connect(self, _: Editor, params: Json) -> Json:
        address, token = params.get("address"), params.get("token", "")
        if not isinstance(address, str) or not GATEWAY_ADDRESS.fullmatch(address):
            raise bad_gateway_address(address=str(address))
        if not isinstance(token, str) or len(token) > _MAX_TOKEN or not token.isprintable():
            raise DragomanError("bad_token", localize("Invalid gateway token."))
        await self._link.connect(address, token or None)
        return self._status_result(params)

    async def _disconnect(self, _: Editor, params: Json) -> Json:
        self._link.disconnect()
        return self._status_result(params)

    async def _status(self, _: Editor, params: Json) -> Json:
        return self._status_result(params)

    def _status_result(self, params: Json) -> Json:
        return dict(self._gateway_status("zh" if str(params.get("language", "")).startswith("zh") else "en"))


class _GatewaySession(msgspec.Struct):
    key: str
    display_name: str = msgspec.field(name="displayName", default="")
    updated_ms: float | None = msgspec.field(name="updatedAt", default=None)
    is_running: bool = msgspec.field(name="hasActiveRun", default=False)


class _GatewaySessions(msgspec.Struct):
    sessions: list[_GatewaySession]


class _PairingRequest(msgspec.Struct):
    request_id: str = msgspec.field(name="requestId", default="")


class _PendingPairings(msgspec.Struct):
    pending: list[_PairingRequest] = msgspec.field(default_factory=list)


@dataclass(frozen=True, slots=True)
class GatewayMethods:
    link: UpstreamGateway
    approvals: Approvals | None = None
    """The approvals of our own chat: the upstream gateway may be this daemon."""

    def table(self) -> Mapping[str, ControlMethod]:
        return {
            "gateway_connect": self._connect,
            "gateway_disconnect": self._disconnect,
            "gateway_status": self._status,
            "gateway_sessions": self._sessions,
            "gateway_chat": self._chat,
            "gateway_approve": self._approve,
        }

    async def _connect(self, params: Params) -> AsyncIterator[Any]:
        url = str(params.get("url", ""))
        if url and not GATEWAY_ADDRESS.fullmatch(url):
            raise bad_gateway_address(address=url)
        await self.link.connect(url)
        yield self._status_result()

    async def _disconnect(self, _: Params) -> AsyncIterator[Any]:
        self.link.disconnect()
        yield self._status_result()

    async def _status(self, _: Params) -> AsyncIterator[Any]:
        yield self._status_result()

    async def _sessions(self, _: Params) -> AsyncIterator[Any]:
        answer = await self.link.client().request("sessions.list", {"limit": _SESSIONS})
        try:
            found = (
                _GatewaySessions([])
                if isinstance(answer, UnsetType)
                else msgspec.json.decode(answer, type=_GatewaySessions)
            )
        except msgspec.DecodeError:
            raise chat_errors.unreadable_answer() from None
        yield {"sessions": [msgspec.structs.asdict(it) for it in found.sessions]}

    async def _chat(self, params: Params) -> AsyncIterator[Any]:
        """Yield the parts of the answer, then how it ended."""
        client = self.link.client()
        text, session = str(params.get("text", ""))[:_MAX_TEXT], str(params.get("session", "main"))
        run = RemoteRun(client, self.link.router, session, text)
        try:
            async with aclosing(run.events()) as events:
                async for event in events:
                    if isinstance(event, Done):
                        yield {"run": run.run_id, "outcome": event.outcome, "reason": event.stop_reason}
                    elif isinstance(event, ApprovalRequest):
                        yield ResultPart({"approval": self._approval(event)})
                    elif (shown := _chat_part(event)) is not None:
                        yield ResultPart(shown)
        finally:
            client.leave(session, run.run_id)

    def _approval(self, event: ApprovalRequest) -> dict[str, Any]:
        """An approval request. `is_here`: it waits in this daemon, so the command line can ask too."""
        own = self.approvals.waiting() if self.approvals else ()
        return {
            "id": event.id,
            "tool": event.tool,
            "subject": event.subject,
            "kind": "trust" if event.for_trust else "tool",
            "is_here": any(it.id == event.id for it in own),
        }

    async def _approve(self, params: Params) -> AsyncIterator[Any]:
        """Approve a request; without an id, the one for our own canvas."""
        wanted = str(params.get("request", "")) or self.link.node.request_id
        for method in ("node.pair", "device.pair"):
            if wanted and wanted in await self._pending(method):
                approved = {"requestId": wanted}
                await self.link.client().request(f"{method}.approve", approved, timeout_s=PAIRING_WITHIN_S)
                yield {"approved": wanted}
                return
        raise DragomanError(
            "nothing_to_approve",
            localize("The gateway has no pending request with that id."),
            hint=localize("`dragoman gateway status` shows pending requests and how to approve them."),
        )

    async def _pending(self, method: str) -> list[str]:
        answer = await self.link.client().request(f"{method}.list", {}, timeout_s=PAIRING_WITHIN_S)
        try:
            found = (
                _PendingPairings()
                if isinstance(answer, UnsetType)
                else msgspec.json.decode(answer, type=_PendingPairings)
            )
        except msgspec.DecodeError:
            raise chat_errors.unreadable_answer() from None
        return [it.request_id for it in found.pending]

    def _status_result(self) -> dict[str, Any]:
        return self.gateway_status(CALLING_LANGUAGE.get())

    def gateway_status(self, language: Language) -> dict[str, Any]:
        return {
            **self.link.status(),
            **_localized_status(self.link.gateway_status, language),
            **{
                f"canvas_{name}": text
                for name, text in _localized_status(self.link.node.gateway_status, language).items()
            },
        }


def _localized_status(now: GatewayStatus, language: Language) -> dict[str, str]:
    return {
        "code": now.code,
        "reason": now.reason.in_language(language) if now.reason else "",
        "hint": now.hint.in_language(language) if now.hint else "",
    }


def _chat_part(event: ChatEvent) -> dict[str, Any] | None:
    match event:
        case ChatTextDelta():
            return {"text": event.content, "segment": event.segment, "replace": event.replace}
        case ToolStart():
            return {"tool": event.title or event.tool}
        case ToolResult():
            return {"tool_ended": event.id, "error": (event.error or "")[:_MAX_ERROR]}
        case ChatDiff():
            return {"changed": event.path}
        case _:
            return None
