"""Record what a connection reports about its terminal sessions, one message after another, in the order of arrival.

The newest connection that reports a session owns it. A wrapper may reconnect before its old connection has ended, whose
last bytes still wait in the kernel and are sent again on the new one. So the old one is ended first.

An Ack is deferred while the acknowledged data may still turn out to be a secret. This is only done for a wrapper that
resumes by byte count, since any other waits for each Ack.
"""

from __future__ import annotations

from collections.abc import Awaitable, Callable
from typing import Any, Literal, Protocol

import anyio

from dragoman.core.errors import RemoteProtocolError
from dragoman.core.localization import Language, language_of_locale
from dragoman.io.drivers.omnish_driver import HangUp
from dragoman.protocols.omnish import messages as m
from dragoman.protocols.omnish import messages_v25 as v25
from dragoman.protocols.omnish.messages import Ack
from dragoman.servers.omnish.services import RecordingService
from dragoman.terminal.consent import ConsentBroker, WrapperLink
from dragoman.terminal.model import (
    LANGUAGE,
    RESUMES_AT,
    STREAMS,
    CommandFailedNotice,
    CommandReport,
    PatternNotice,
    TerminalNotice,
    terminal_name,
)

ENDS_WITHIN_S = 10.0
ASKS = "dragoman.asks"
RECORDED_WITHIN_S = 30.0
ATTRIBUTES_AT_MOST = 256
_LATEST_MS = (1 << 63) // 1_000_000 - 1  # the range of the record's nanoseconds
_POLL_INTERVAL_S = 0.1


class SessionOwner(Protocol):
    @property
    def ended(self) -> anyio.Event: ...

    def end(self) -> None: ...


class SessionOwners:
    """Which connection owns a session: the newest that reported something about it."""

    def __init__(self) -> None:
        self._by_session: dict[str, SessionOwner] = {}

    async def claim(self, session_id: str, owner: SessionOwner) -> bool:
        """Return whether the session is new to this owner. When this returns, no other connection records in it."""
        before = self._by_session.get(session_id)
        while before is not None and before is not owner:
            await _wait_for_end(before)
            if self._by_session.get(session_id) is before:
                del self._by_session[session_id]
            before = self._by_session.get(session_id)
        self._by_session[session_id] = owner
        return before is None

    def release(self, session_id: str, owner: SessionOwner) -> None:
        if self._by_session.get(session_id) is owner:
            del self._by_session[session_id]


async def _wait_for_end(owner: SessionOwner) -> None:
    owner.end()
    try:
        with anyio.fail_after(ENDS_WITHIN_S):
            await owner.ended.wait()
    except TimeoutError:
        raise HangUp("the older connection of its session does not end") from None


_KINDS: dict[m.IoDirection, Literal["input", "output"]] = {m.IoDirection.INPUT: "input", m.IoDirection.OUTPUT: "output"}
_NOTICES: dict[type, Callable[[Any], TerminalNotice]] = {
    m.NonZeroExit: lambda message: CommandFailedNotice(message.exit_code),
    m.PatternMatch: lambda message: PatternNotice(message.pattern),
}


class SessionRecorder:
    """Records the sessions of one connection. `take` returns when the kernel has the data. What comes before its
    session's start is kept too.
    """

    def __init__(
        self,
        service: RecordingService,
        wrappers: ConsentBroker,
        owners: SessionOwners,
        owner: SessionOwner,
        link: WrapperLink,
    ) -> None:
        self._service = service
        self._wrappers = wrappers
        self._owners = owners
        self._owner = owner
        self._link = link
        self._attributes: dict[str, dict[str, str]] = {}
        self._handlers: dict[type, Callable[[Any], Awaitable[None]]] = {
            m.SessionStart: self._on_session_start,
            m.SessionEnd: self._on_session_end,
            m.IoData: self._on_io_data,
            m.Event: self._on_event,
            m.CommandComplete: self._on_command_complete,
            v25.SessionUpdate: self._on_session_update,
        }

    def handles(self, message: object) -> bool:
        return type(message) in self._handlers

    async def handle(self, message: Any) -> None:
        is_new = await self._owners.claim(message.session_id, self._owner)
        if isinstance(message, m.IoData) and not is_new:
            await self._on_io_data(message)  # thousands per second: a write of the record is never left half done
            return
        with anyio.fail_after(RECORDED_WITHIN_S, shield=True):  # a write that has begun is not interrupted
            if is_new and not isinstance(message, m.SessionStart):
                await self._begin(message.session_id, "", _first_ms(message), {}, reopens=False)
            await self._handlers[type(message)](message)

    def streams(self, session_id: str) -> bool:
        return self._attributes.get(session_id, {}).get(STREAMS) == "1"

    def language(self, session_id: str) -> Language:
        """The language of the shell that asks, or the daemon's if its wrapper sends none."""
        return language_of_locale(self._attributes.get(session_id, {}).get(LANGUAGE))

    def resumes(self, session_id: str) -> bool:
        return RESUMES_AT in self._attributes.get(session_id, {})

    def cwd(self, session_id: str) -> str:
        return self._attributes.get(session_id, {}).get("cwd", "")

    def session_of(self, terminal: str) -> str:
        """The connection's own name for one of its terminals."""
        return next((it for it in self._attributes if terminal_name(it) == terminal), terminal)

    def release_sessions(self) -> None:
        for session_id in list(self._attributes):
            self._release_session(session_id)

    async def _on_session_start(self, message: m.SessionStart) -> None:
        await self._begin(message.session_id, message.parent_session_id or "", message.timestamp_ms, message.attrs)

    async def _on_session_update(self, message: v25.SessionUpdate) -> None:
        """Update attributes. Missing attributes keep their value, and a heartbeat has none."""
        if message.attrs:
            await self._begin(message.session_id, "", message.timestamp_ms, message.attrs, reopens=False)

    async def _on_session_end(self, message: m.SessionEnd) -> None:
        await self._service.end(message.session_id, _ms(message.timestamp_ms), message.exit_code)
        self._release_session(message.session_id)

    async def _on_io_data(self, piece: m.IoData) -> None:
        if piece.data:
            await self._service.record(piece.session_id, _KINDS[piece.direction], _ms(piece.timestamp_ms), piece.data)

    async def _on_event(self, message: m.Event) -> None:
        what, at_ms = message.event_type, _ms(message.timestamp_ms)
        if isinstance(what, m.CommandBoundary):
            await self._service.command_began(message.session_id, at_ms, what.command)
        else:
            await self._service.notice(message.session_id, at_ms, _NOTICES[type(what)](what))

    async def _on_command_complete(self, message: m.CommandComplete) -> None:
        record = message.record
        if record.cwd:
            self._attributes[message.session_id]["cwd"] = record.cwd
        await self._service.command_ended(
            CommandReport(
                id=record.command_id,
                terminal=message.session_id,
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
            self._wrappers.register_link(terminal_name(session_id), self._link)

    def _release_session(self, session_id: str) -> None:
        del self._attributes[session_id]
        self._owners.release(session_id, self._owner)
        self._wrappers.unregister_link(terminal_name(session_id), self._link)
        self._service.disconnected(session_id)


def _first_ms(message: Any) -> int:
    """The start time of a session whose first message is this one."""
    return message.record.started_at if isinstance(message, m.CommandComplete) else message.timestamp_ms


def _ms(claimed: int) -> int:
    """Clamp a time: a wrong clock may send anything, and the record has 63 bits."""
    return min(claimed, _LATEST_MS)


class DeferredAcks:
    """Acks that are deferred until their data is written."""

    def __init__(self, record: RecordingService, reply: Callable[[int, object], None]) -> None:
        self._record = record
        self._reply = reply
        self._unacknowledged: dict[str, list[int]] = {}
        self._has_unacknowledged = anyio.Event()

    def acknowledge(self, session_id: str, frame_id: int, *, resumes: bool) -> None:
        """Send the Acks in the order of their frames, even if only the last was deferred."""
        if resumes and self._record.holds(session_id):
            self._unacknowledged.setdefault(session_id, []).append(frame_id)
            self._has_unacknowledged.set()
            return
        if self._unacknowledged:
            self._settle(session_id)
        self._reply(frame_id, Ack())

    async def run(self) -> None:
        while True:
            await self._has_unacknowledged.wait()
            await anyio.sleep(_POLL_INTERVAL_S)
            for session_id in [it for it in self._unacknowledged if not self._record.holds(it)]:
                self._settle(session_id)
            if not self._unacknowledged:
                self._has_unacknowledged = anyio.Event()

    def _settle(self, session_id: str) -> None:
        for frame_id in self._unacknowledged.pop(session_id, ()):
            self._reply(frame_id, Ack())
