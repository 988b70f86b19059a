"""What a connection tells of its sessions, into the record: one thing after another, in the order it came."""

from __future__ import annotations

from collections.abc import Awaitable, Callable
from typing import Any, Literal

import anyio

from dragoman.errors import RemoteProtocolError
from dragoman.omnish.holders import Holder, Holders
from dragoman.omnish.ports import Record
from dragoman.phrases import Language, language_of
from dragoman.terminal.model import LANGUAGE, RESUMES_AT, STREAMS
from dragoman.terminal.names import terminal_name
from dragoman.terminal.told import CommandTold, Failed, Notice, PatternSeen
from dragoman.terminal.wrappers import Link, Wrappers
from dragoman.wire.omnish import messages as m
from dragoman.wire.omnish import messages_v25 as newer

ASKS = "dragoman.asks"
RECORDED_WITHIN_S = 30.0
ATTRIBUTES_AT_MOST = 256
_LATEST_MS = (1 << 63) // 1_000_000 - 1  # what the record's nanoseconds can hold
_KINDS: dict[m.IoDirection, Literal["input", "output"]] = {m.IoDirection.INPUT: "input", m.IoDirection.OUTPUT: "output"}
_NOTICES: dict[type, Callable[[Any], Notice]] = {
    m.NonZeroExit: lambda told: Failed(told.exit_code),
    m.PatternMatch: lambda told: PatternSeen(told.pattern),
}


class Recording:
    """`take` returns when the kernel has it. What comes before its session's start is kept all the same."""

    def __init__(self, service: Record, wrappers: Wrappers, holders: Holders, holder: Holder, link: Link) -> None:
        self._service = service
        self._wrappers = wrappers
        self._holders = holders
        self._holder = holder
        self._link = link
        self._attributes: dict[str, dict[str, str]] = {}
        self._takers: dict[type, Callable[[Any], Awaitable[None]]] = {
            m.SessionStart: self._began,
            m.SessionEnd: self._ended,
            m.IoData: self._shown,
            m.Event: self._noticed,
            m.CommandComplete: self._command_ended,
            newer.SessionUpdate: self._updated,
        }

    def knows(self, message: object) -> bool:
        return type(message) in self._takers

    async def take(self, message: Any) -> None:
        is_new = await self._holders.claim(message.session_id, self._holder)
        if isinstance(message, m.IoData) and not is_new:
            await self._shown(message)  # thousands a second: the record itself leaves nothing half done
            return
        with anyio.fail_after(RECORDED_WITHIN_S, shield=True):  # what has begun is not cut short
            if is_new and not isinstance(message, m.SessionStart):
                await self._begin(message.session_id, "", _first_ms(message), {}, reopens=False)
            await self._takers[type(message)](message)

    def streams(self, session_id: str) -> bool:
        return self._attributes.get(session_id, {}).get(STREAMS) == "1"

    def language(self, session_id: str) -> Language:
        """Of the shell that asks; ours where its wrapper tells none."""
        return language_of(self._attributes.get(session_id, {}).get(LANGUAGE))

    def resumes(self, session_id: str) -> bool:
        return RESUMES_AT in self._attributes.get(session_id, {})

    def cwd(self, session_id: str) -> str:
        return self._attributes.get(session_id, {}).get("cwd", "")

    def session_of(self, terminal: str) -> str:
        """What the connection itself calls a terminal of its."""
        return next((it for it in self._attributes if terminal_name(it) == terminal), terminal)

    def leave(self) -> None:
        for session_id in list(self._attributes):
            self._let_go(session_id)

    async def _began(self, told: m.SessionStart) -> None:
        await self._begin(told.session_id, told.parent_session_id or "", told.timestamp_ms, told.attrs)

    async def _updated(self, told: newer.SessionUpdate) -> None:
        """Attributes that changed; those that are not named stay, and a heartbeat names none."""
        if told.attrs:
            await self._begin(told.session_id, "", told.timestamp_ms, told.attrs, reopens=False)

    async def _ended(self, told: m.SessionEnd) -> None:
        await self._service.end(told.session_id, _ms(told.timestamp_ms), told.exit_code)
        self._let_go(told.session_id)

    async def _shown(self, told: m.IoData) -> None:
        if told.data:
            await self._service.take(told.session_id, _KINDS[told.direction], _ms(told.timestamp_ms), told.data)

    async def _noticed(self, told: m.Event) -> None:
        what, at_ms = told.event_type, _ms(told.timestamp_ms)
        if isinstance(what, m.CommandBoundary):
            await self._service.command_began(told.session_id, at_ms, what.command)
        else:
            await self._service.notice(told.session_id, at_ms, _NOTICES[type(what)](what))

    async def _command_ended(self, told: m.CommandComplete) -> None:
        record = told.record
        if record.cwd:
            self._attributes[told.session_id]["cwd"] = record.cwd
        await self._service.command_ended(
            CommandTold(
                id=record.command_id,
                terminal=told.session_id,
                line=record.command_line,
                cwd=record.cwd,
                started_ms=_ms(record.started_at),
                ended_ms=None if record.ended_at is None else _ms(record.ended_at),
                exit_code=record.exit_code,
                summary=record.output_summary,
            )
        )

    async def _begin(
        self, session_id: str, parent: str, at_ms: int, attributes: dict[str, str], *, reopens: bool = True
    ) -> None:
        kept = {**self._attributes.get(session_id, {}), **attributes}
        if len(kept) > ATTRIBUTES_AT_MOST:
            raise RemoteProtocolError("too_many_attributes", f"a session has at most {ATTRIBUTES_AT_MOST} attributes")
        await self._service.begin(session_id, parent=parent, at_ms=_ms(at_ms), attributes=attributes, reopens=reopens)
        self._attributes[session_id] = kept
        self._service.connected(session_id)
        if attributes.get(ASKS) == "1":
            self._wrappers.arrived(terminal_name(session_id), self._link)

    def _let_go(self, session_id: str) -> None:
        del self._attributes[session_id]
        self._holders.release(session_id, self._holder)
        self._wrappers.left(terminal_name(session_id), self._link)
        self._service.disconnected(session_id)


def _first_ms(message: Any) -> int:
    """When a session began of which the first that is told is this."""
    return message.record.started_at if isinstance(message, m.CommandComplete) else message.timestamp_ms


def _ms(claimed: int) -> int:
    """A clock may say anything; the record counts in 63 bits."""
    return min(claimed, _LATEST_MS)
