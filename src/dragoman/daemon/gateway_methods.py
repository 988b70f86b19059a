"""What the command line asks about the gateway that we are a client of."""

from __future__ import annotations

from collections.abc import AsyncIterator, Mapping
from contextlib import aclosing
from dataclasses import dataclass
from typing import Any

import msgspec
from msgspec import UnsetType

from dragoman.chat import faults
from dragoman.chat.approvals import Approvals
from dragoman.chat.standing import Standing
from dragoman.chat.talking import Talk
from dragoman.daemon.control import CALLING_LANGUAGE, Method, Params, Part
from dragoman.daemon.editor_gateway import ADDRESS, not_an_address
from dragoman.daemon.outward import Outward
from dragoman.errors import DragomanError
from dragoman.phrases import Language, say
from dragoman.wire.gateway.vocabulary import ApprovalRequest, ChatEvent, Diff, Done, TextDelta, ToolResult, ToolStart

_MOST_TEXT = 100_000
_MOST_ERROR = 300
_SESSIONS = 100
PAIRING_WITHIN_S = 10.0
"""Each of the three questions that an approval takes at most: the command line waits longer than for all of them."""


class _Session(msgspec.Struct):
    key: str
    display_name: str = msgspec.field(name="displayName", default="")
    updated_ms: float | None = msgspec.field(name="updatedAt", default=None)
    is_running: bool = msgspec.field(name="hasActiveRun", default=False)


class _Sessions(msgspec.Struct):
    sessions: list[_Session]


class _Request(msgspec.Struct):
    request_id: str = msgspec.field(name="requestId", default="")


class _Waiting(msgspec.Struct):
    pending: list[_Request] = msgspec.field(default_factory=list)


@dataclass(frozen=True, slots=True)
class GatewayMethods:
    link: Outward
    approvals: Approvals | None = None
    """Of our own chat: the gateway that we are a client of may be ours."""

    def table(self) -> Mapping[str, Method]:
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
        if url and not ADDRESS.fullmatch(url):
            raise not_an_address(url)
        await self.link.connect(url)
        yield self._told()

    async def _disconnect(self, _: Params) -> AsyncIterator[Any]:
        self.link.disconnect()
        yield self._told()

    async def _status(self, _: Params) -> AsyncIterator[Any]:
        yield self._told()

    async def _sessions(self, _: Params) -> AsyncIterator[Any]:
        answer = await self.link.client().request("sessions.list", {"limit": _SESSIONS})
        try:
            found = _Sessions([]) if isinstance(answer, UnsetType) else msgspec.json.decode(answer, type=_Sessions)
        except msgspec.DecodeError:
            raise faults.unreadable() from None
        yield {"sessions": [msgspec.structs.asdict(it) for it in found.sessions]}

    async def _chat(self, params: Params) -> AsyncIterator[Any]:
        """The pieces of the answer, then how it ended."""
        client = self.link.client()
        text, session = str(params.get("text", ""))[:_MOST_TEXT], str(params.get("session", "main"))
        talk = Talk(client, self.link.router, session, text)
        try:
            async with aclosing(talk.events()) as events:
                async for event in events:
                    if isinstance(event, Done):
                        yield {"run": talk.run_id, "outcome": event.outcome, "reason": event.stop_reason}
                    elif isinstance(event, ApprovalRequest):
                        yield Part({"approval": self._approval(event)})
                    elif (shown := _shown(event)) is not None:
                        yield Part(shown)
        finally:
            client.leave(session, talk.run_id)

    def _approval(self, event: ApprovalRequest) -> dict[str, Any]:
        """`is_here` where it waits in this daemon: its person is asked at the command line too."""
        own = self.approvals.waiting() if self.approvals else ()
        return {
            "id": event.id,
            "tool": event.tool,
            "subject": event.subject,
            "kind": "trust" if event.for_trust else "tool",
            "is_here": any(it.id == event.id for it in own),
        }

    async def _approve(self, params: Params) -> AsyncIterator[Any]:
        """Without an id: that agents draw on our own canvas."""
        wanted = str(params.get("request", "")) or self.link.node.request_id
        for method in ("node.pair", "device.pair"):
            if wanted and wanted in await self._pending(method):
                approved = {"requestId": wanted}
                await self.link.client().request(f"{method}.approve", approved, timeout_s=PAIRING_WITHIN_S)
                yield {"approved": wanted}
                return
        raise DragomanError(
            "nothing_to_approve",
            say("Nothing of that name waits for approval on the gateway."),
            hint=say("`dragoman gateway status` says what waits, and how to approve it."),
        )

    async def _pending(self, method: str) -> list[str]:
        answer = await self.link.client().request(f"{method}.list", {}, timeout_s=PAIRING_WITHIN_S)
        try:
            found = _Waiting() if isinstance(answer, UnsetType) else msgspec.json.decode(answer, type=_Waiting)
        except msgspec.DecodeError:
            raise faults.unreadable() from None
        return [it.request_id for it in found.pending]

    def _told(self) -> dict[str, Any]:
        return self.standing(CALLING_LANGUAGE.get())

    def standing(self, language: Language) -> dict[str, Any]:
        return {
            **self.link.status(),
            **_in_words(self.link.standing, language),
            **{f"canvas_{name}": text for name, text in _in_words(self.link.node.standing, language).items()},
        }


def _in_words(now: Standing, language: Language) -> dict[str, str]:
    return {
        "code": now.code,
        "reason": now.reason.in_language(language) if now.reason else "",
        "hint": now.hint.in_language(language) if now.hint else "",
    }


def _shown(event: ChatEvent) -> dict[str, Any] | None:
    match event:
        case TextDelta():
            return {"text": event.content, "segment": event.segment, "replace": event.replace}
        case ToolStart():
            return {"tool": event.title or event.tool}
        case ToolResult():
            return {"tool_ended": event.id, "error": (event.error or "")[:_MOST_ERROR]}
        case Diff():
            return {"changed": event.path}
        case _:
            return None
