"""Which debug sessions are where, and which of their stops the client was sent.

Ids come from the targets, which are untrusted: the first that names an id keeps it, so that no other target can take
over a session. What one target names displaces nothing of another.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

from dragoman.cli.router.asks import Answer

MAX_SESSIONS = 512
"""Per target; the least recently named is forgotten."""
_MAX_DEPTH = 4
_MAX_ROWS = 256
_ID = re.compile(r"[A-Za-z0-9_-]{1,100}")


@dataclass(slots=True)
class KnownSession:
    id: str
    is_used: bool = False
    """The client started it, or was answered about it."""
    is_live: bool = False
    """It had not ended when the client was last answered about it."""
    shown_stop: int = 0
    """The last stop that the client was sent."""
    unsent: Answer | None = None
    """The answer of a wait that was cancelled too late: the daemon takes it for sent."""


class RoutedSessions:
    def __init__(self, targets: int) -> None:
        self._of_target: list[dict[str, KnownSession]] = [{} for _ in range(targets)]
        self._owners: dict[str, int] = {}

    def owner(self, session_id: str) -> int | None:
        return self._owners.get(session_id)

    def known(self, target: int, session_id: str) -> KnownSession | None:
        return self._of_target[target].get(session_id)

    def learn(self, answer: Answer) -> None:
        """All ids in an answer. A target may use an id that another owns; without `target`, the owner has it."""
        for session_id in _ids_in(answer.data, _MAX_DEPTH):
            self.name(answer.target, session_id)

    def sent(self, answer: Answer, *, ends: bool = False) -> None:
        """The client is sent this answer of a tool about one session."""
        data = answer.data
        session = self._of(answer.target, data.get("session_id"))
        if session is None:
            return
        session.is_used = True
        session.unsent = None
        session.is_live = not ends and data.get("status") != "completed" and not has_ended(data)
        session.shown_stop = max(session.shown_stop, stop_number(data))

    def keep(self, answer: Answer) -> None:
        session = self._of(answer.target, answer.data.get("session_id"))
        if session is not None and answer.data.get("status") in ("stopped", "completed"):
            session.unsent = answer

    def _of(self, target: int, session_id: object) -> KnownSession | None:
        if not isinstance(session_id, str) or not _ID.fullmatch(session_id):
            return None
        return self.name(target, session_id)

    def name(self, target: int, session_id: str) -> KnownSession:
        sessions = self._of_target[target]
        session = sessions.pop(session_id, None) or KnownSession(session_id)
        sessions[session_id] = session  # the most recent last
        self._owners.setdefault(session_id, target)
        if len(sessions) > MAX_SESSIONS:
            oldest = next(iter(sessions))
            del sessions[oldest]
            if self._owners.get(oldest) == target:
                del self._owners[oldest]
        return session


def has_ended(data: dict[str, Any]) -> bool:
    """Of a row or a result: what it says about the state of its session. It may be of any type."""
    return data.get("state") in ("Idle", "Terminated")


def stop_number(data: dict[str, Any]) -> int:
    stop = data.get("stop_event_data")
    number = stop.get("stop_number") if isinstance(stop, dict) else 0
    return number if isinstance(number, int) else 0


def _ids_in(value: object, depth: int) -> Iterator[str]:
    if isinstance(value, dict):
        named = value.get("session_id")
        if isinstance(named, str) and _ID.fullmatch(named):
            yield named
        if depth:
            for item in value.values():
                if isinstance(item, dict | list):
                    yield from _ids_in(item, depth - 1)
    elif isinstance(value, list) and depth:
        for item in value[:_MAX_ROWS]:
            yield from _ids_in(item, depth - 1)
