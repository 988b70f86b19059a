"""Conversations that outlive the daemon: sessions by their key, and their messages in order."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any, Literal

import anyio
import msgspec

from dragoman.chat import errors as chat_errors
from dragoman.core.clock import Clock
from dragoman.core.events import Event
from dragoman.core.ids import new_id
from dragoman.journal import (
    BeforeScope,
    ColumnScrub,
    EverythingScope,
    Journal,
    JsonText,
    Scope,
    SessionScope,
    Statement,
    Store,
    json_column,
)
from dragoman.protocols.gateway import canonical_session_key

SESSIONS_AT_MOST = 500
MESSAGES_AT_MOST = 2_000
"""Per session. The oldest are removed."""
DUPLICATES_SEARCHED = 100
"""The newest messages that are searched for a message that is sent again."""
MESSAGE_BYTES = 128 * 1024
"""Real gateways cap a message of the history at this size."""

MessageRole = Literal["user", "assistant"]


class RecordedToolCall(msgspec.Struct, frozen=True, kw_only=True):
    """A tool call as it is stored in a conversation."""

    id: str
    tool: str
    title: str = ""
    """For people. Empty in messages that were stored before there were titles."""
    input: Any = None
    output: str = ""
    error: str | None = None
    after: int = 0
    """How many characters of the text come before it."""
    took_ms: int | None = None


class StoredMessage(msgspec.Struct, frozen=True, kw_only=True):
    id: str
    seq: int
    role: MessageRole
    text: str
    at_ms: int
    run_id: str = ""
    by: str = ""
    calls: tuple[RecordedToolCall, ...] = ()
    outcome: Literal["final", "aborted", "error"] = "final"
    error: str = ""
    """Why the run failed, in the words that were shown then."""


class Conversation(msgspec.Struct, frozen=True, kw_only=True):
    key: str
    """Canonical: `agent:<agent>:<rest>`."""
    id: str
    label: str = ""
    created_ms: int
    updated_ms: int
    last_seq: int = 0
    workspace: str = ""
    """The folder that it is about, if a window that was open on one started it; empty for the daemon's own."""


class ChatStore(Store):
    name = "chat"
    tables = ("chat_sessions", "chat_messages")
    migrations = (
        """create table chat_sessions (key text primary key, value text not null, changed_ns integer not null)
        without rowid;
        create table chat_messages (key text not null, seq integer not null, value text not null,
        at_ns integer not null, primary key (key, seq)) without rowid""",
    )

    def put(self, conversation: Conversation) -> Statement:
        value = JsonText(msgspec.json.encode(conversation).decode())
        at_ns = conversation.updated_ms * 1_000_000
        return Statement("replace into chat_sessions values (?, ?, ?)", (conversation.key, value, at_ns))

    def say(self, key: str, message: StoredMessage) -> list[Statement]:
        value = JsonText(msgspec.json.encode(message).decode())
        return [
            Statement(
                "replace into chat_messages values (?, ?, ?, ?)", (key, message.seq, value, message.at_ms * 1_000_000)
            ),
            Statement("delete from chat_messages where key = ? and seq <= ?", (key, message.seq - MESSAGES_AT_MOST)),
        ]

    def scrubs(self) -> Iterable[ColumnScrub]:
        yield json_column("chat_sessions", "key", "value")
        yield json_column("chat_messages", "(key || char(31) || printf('%012d', seq))", "value")

    def remove(self, key: str) -> list[Statement]:
        return [
            Statement("delete from chat_sessions where key = ?", (key,)),
            Statement("delete from chat_messages where key = ?", (key,)),
        ]

    def sessions(self) -> Statement:
        return Statement("select value from chat_sessions")

    def newest(self, key: str, limit: int) -> Statement:
        return Statement("select value from chat_messages where key = ? order by seq desc limit ?", (key, limit))

    def asked(self, key: str, run_id: str, newest: int) -> Statement:
        return Statement(
            "select 1 from (select value from chat_messages where key = ? order by seq desc limit ?) "
            "where json_extract(value, '$.run_id') = ?",
            (key, newest, run_id),
        )

    def forget(self, scope: Scope) -> Iterable[Statement]:
        match scope:
            case EverythingScope():
                return (Statement("delete from chat_sessions"), Statement("delete from chat_messages"))
            case SessionScope(session):
                return self.remove(session)
            case BeforeScope(at_ns):
                return (
                    Statement("delete from chat_sessions where changed_ns < ?", (at_ns,)),
                    Statement("delete from chat_messages where at_ns < ?", (at_ns,)),
                )


STORE = ChatStore()


class Conversations:
    """The list of conversations. Messages are read from the store when they are asked for."""

    def __init__(self, journal: Journal, clock: Clock) -> None:
        self._journal = journal
        self._clock = clock
        self._sessions: dict[str, Conversation] = {}
        self._lock = anyio.Lock()

    async def load(self) -> None:
        async with self._lock:
            rows = await self._journal.query(STORE.sessions())
            found = [msgspec.json.decode(value, type=Conversation) for (value,) in rows.rows]
            self._sessions = {it.key: it for it in found}

    def all(self) -> tuple[Conversation, ...]:
        """The most recently changed comes first."""
        return tuple(sorted(self._sessions.values(), key=lambda it: -it.updated_ms))

    def find(self, key: str) -> Conversation | None:
        return self._sessions.get(canonical_session_key(key))

    async def create(self, key: str, *, label: str = "") -> Conversation:
        """Create a conversation, or return the existing one."""
        async with self._lock:
            return await self._ensure(canonical_session_key(key), label)

    async def place(self, key: str, workspace: str, *, label: str = "") -> Conversation:
        """Set the folder of a conversation that has no messages yet. Any other stays where it is."""
        async with self._lock:
            known = await self._ensure(canonical_session_key(key), label)
            if known.last_seq or known.workspace:
                return known
            return await self._keep(msgspec.structs.replace(known, workspace=workspace), "chat.session_placed")

    async def rename(self, key: str, label: str) -> Conversation:
        async with self._lock:
            known = self._sessions.get(canonical_session_key(key))
            if known is None:
                raise chat_errors.unknown_session(key=key)
            return await self._keep(msgspec.structs.replace(known, label=label), "chat.session_renamed")

    async def remove(self, key: str) -> bool:
        async with self._lock:
            known = self._sessions.get(canonical_session_key(key))
            if known is None:
                return False
            event = Event(kind="chat.session_removed", session=known.key, text=known.label, body={"key": known.key})
            await self._journal.append([event], writes=STORE.remove(known.key))
            del self._sessions[known.key]
            return True

    async def forget(self, key: str) -> None:
        """Remove a conversation and its events in the journal."""
        async with self._lock:
            await self._journal.forget(SessionScope(key))
            self._sessions.pop(key, None)

    async def say(self, key: str, role: MessageRole, text: str, **more: Any) -> StoredMessage:
        async with self._lock:
            known = await self._ensure(canonical_session_key(key), "")
            now_ms = self._now_ms()
            message = StoredMessage(
                id=new_id("message"), seq=known.last_seq + 1, role=role, text=_cut(text), at_ms=now_ms, **more
            )
            changed = msgspec.structs.replace(known, updated_ms=now_ms, last_seq=message.seq)
            event = Event(
                kind="chat.said",
                session=known.key,
                text=(message.text or message.error)[:500],
                body={"key": known.key, "id": message.id, "role": role, "run": message.run_id, "by": message.by},
            )
            await self._journal.append([event], writes=[STORE.put(changed), *STORE.say(known.key, message)])
            self._sessions[known.key] = changed
            return message

    async def history(self, key: str, *, limit: int = 200) -> list[StoredMessage]:
        """The newest messages, oldest first; none for an unknown session."""
        rows = await self._journal.query(STORE.newest(canonical_session_key(key), limit))
        return [msgspec.json.decode(value, type=StoredMessage) for (value,) in reversed(rows.rows)]

    async def was_asked(self, key: str, run_id: str) -> bool:
        """Whether a run of this id is among the newest messages, including those from before a restart."""
        return bool(
            (await self._journal.query(STORE.asked(canonical_session_key(key), run_id, DUPLICATES_SEARCHED))).rows
        )

    async def _ensure(self, key: str, label: str) -> Conversation:
        known = self._sessions.get(key)
        if known is not None:
            return known
        if len(self._sessions) >= SESSIONS_AT_MOST:
            raise chat_errors.too_many_sessions(most=SESSIONS_AT_MOST)
        now_ms = self._now_ms()
        fresh = Conversation(key=key, id=new_id("session"), label=label, created_ms=now_ms, updated_ms=now_ms)
        return await self._keep(fresh, "chat.session_created")

    async def _keep(self, conversation: Conversation, kind: str) -> Conversation:
        event = Event(kind=kind, session=conversation.key, text=conversation.label, body={"key": conversation.key})
        await self._journal.append([event], writes=[STORE.put(conversation)])
        self._sessions[conversation.key] = conversation
        return conversation

    def _now_ms(self) -> int:
        return self._clock.wall_ns() // 1_000_000


def _cut(text: str) -> str:
    data = text.encode(errors="replace")
    return text if len(data) <= MESSAGE_BYTES else data[:MESSAGE_BYTES].decode(errors="ignore")
