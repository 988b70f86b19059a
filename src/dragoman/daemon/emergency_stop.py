"""Stops everything that agents do, at once, and keeps them paused until a person lets them go on.

Agents' calls, chat runs and terminals end. Programs that a debugger started end too. A program that it attached to was
there before, so it is resumed and left alone. The pause outlives the daemon: a restart is no way around it.
"""

from __future__ import annotations

import logging
from collections.abc import Awaitable, Callable, Iterable
from dataclasses import dataclass
from typing import Any

import anyio
import msgspec

from dragoman.core.clock import Clock
from dragoman.core.errors import DragomanError
from dragoman.core.events import Event
from dragoman.debug.model import new_person_id
from dragoman.debug.service import DebugService
from dragoman.journal import EverythingScope, Journal, JsonStore, Scope, Statement
from dragoman.tools.registry import AgentPause

log = logging.getLogger(__name__)

_CHATS_TIMEOUT_S = 2.0
_RECORD_TIMEOUT_S = 2.0
_KEY = "agents"


class StoredPause(msgspec.Struct, frozen=True):
    since_ns: int


class _PauseStore(JsonStore[StoredPause]):
    def forget(self, scope: Scope) -> Iterable[Statement]:
        """Retention lets nobody go on; only a person does, and `forget --all`, from the next start."""
        return super().forget(scope) if isinstance(scope, EverythingScope) else ()


STORE = _PauseStore("agent_pause", StoredPause, verbatim=True)


@dataclass(frozen=True, slots=True)
class EmergencyStop:
    """Owns what happens at a stop, and its record. The pause itself belongs to the registry of tools."""

    pause: AgentPause
    debugger: DebugService
    abort_chats: Callable[[], Awaitable[int]]
    end_terminals: Callable[[], int]
    journal: Journal
    clock: Clock

    async def load(self) -> None:
        rows = await self.journal.query(STORE.everything())
        for stored in STORE.decoded(rows.rows).values():
            self.pause.begin(stored.since_ns)

    async def stop_all(self, person: str) -> dict[str, Any]:
        """`person` is the program through which the person asks. The pause begins before anything else is done, so
        nothing begins anew."""
        calls = self.pause.begin(self.clock.wall_ns())
        terminals = self.end_terminals()
        chats, sessions = 0, list[dict[str, Any]]()
        async with anyio.create_task_group() as group:
            group.start_soon(self._record_pause, person)

            async def end_sessions() -> None:
                sessions.extend(await self.debugger.end_all(by=new_person_id(person)))

            group.start_soon(end_sessions)
            with anyio.move_on_after(_CHATS_TIMEOUT_S):
                chats = await self.abort_chats()
        return {**self.report(), "calls": calls, "chats": chats, "terminals": terminals, "sessions": sessions}

    async def lift(self, person: str) -> dict[str, Any]:
        was_paused = self.pause.since_ns > 0
        self.pause.end()
        if was_paused:
            await self._record("agents.continued", person, STORE.remove(_KEY))
        return {**self.report(), "was_paused": was_paused}

    def report(self) -> dict[str, Any]:
        return {"agents_paused": self.pause.since_ns > 0, "paused_since_ns": self.pause.since_ns or None}

    async def _record_pause(self, person: str) -> None:
        since_ns = self.pause.since_ns
        await self._record("agents.paused", person, STORE.put(_KEY, StoredPause(since_ns), at_ns=since_ns))

    async def _record(self, kind: str, person: str, write: Statement) -> None:
        """A full disk must not keep anything running."""
        try:
            with anyio.fail_after(_RECORD_TIMEOUT_S):
                await self.journal.append([Event(kind=kind, text=person, body={"by": person})], writes=[write])
        except (DragomanError, TimeoutError) as error:
            log.warning("%s could not be recorded: %s", kind, str(error) or "the journal does not answer")
