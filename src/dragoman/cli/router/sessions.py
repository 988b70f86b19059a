"""Which debug sessions are where, which of their stops the client was sent, and for which `wait_for_stop` waits.

Ids come from the targets, which are untrusted: the first that names an id keeps it, so that no other target can take
over a session. What one target names displaces nothing of another.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Any

from dragoman.cli.router.target_requests import Answer

MAX_SESSIONS = 512
"""Per target; the least recently named is forgotten."""
_MAX_WAITS = 16
"""Per target, beside its default session."""
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

    def record_ids(self, answer: Answer) -> None:
        """All ids in an answer. A target may use an id that another owns; without `target`, the owner has it."""
        for session_id in _ids_in(answer.data, _MAX_DEPTH):
            self.name(answer.target, session_id)

    def record_sent(self, answer: Answer, *, ends: bool = False) -> None:
        """The client is sent this answer of a tool about one session."""
        data = answer.data
        session = self._of(answer.target, data.get("session_id"))
        if session is None:
            return
        session.is_used = True
        session.unsent = None
        session.is_live = not ends and data.get("status") != "completed" and not has_ended(data)
        session.shown_stop = max(session.shown_stop, stop_number(data))

    def keep_unsent(self, answer: Answer) -> None:
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


class WaitForStop:
    """Sessions whose stop or end the client was not sent come first, so that none is lost when another won a wait.

    Waited for are the sessions that the client has used, and the default session of each target.
    """

    def __init__(self, sessions: RoutedSessions, listed: Sequence[Answer]) -> None:
        self._sessions = sessions
        self.unsent: Answer | None = None
        """The answer of an earlier wait, which another one had won meanwhile."""
        self.stopped: list[tuple[int, str]] = []
        self.running: list[tuple[int, str]] = []
        for answer in listed:
            for row, session in self._waited_for(answer):
                self._sort(answer.target, row, session)

    def _waited_for(self, answer: Answer) -> Iterator[tuple[dict[str, Any], KnownSession]]:
        rows = answer.data.get("sessions")
        used = 0
        for row in rows if isinstance(rows, list) else ():
            session_id = row.get("session_id") if isinstance(row, dict) else None
            session = self._sessions.known(answer.target, session_id) if isinstance(session_id, str) else None
            if session is None:
                continue
            used += session.is_used
            if row.get("active") is True or (session.is_used and used <= _MAX_WAITS):
                yield row, session

    def _sort(self, target: int, row: dict[str, Any], session: KnownSession) -> None:
        number = row.get("stop_number") or 0
        if has_ended(row):
            is_unseen = session.is_live
        elif row.get("state") == "Stopped":
            is_unseen = number != session.shown_stop
        else:
            session.unsent = None
            self.running.append((target, session.id))
            return
        if is_unseen and self.unsent is None and _fits(session.unsent, row):
            self.unsent = session.unsent
        elif is_unseen:
            self.stopped.append((target, session.id))

    @staticmethod
    def is_outcome(answer: Answer) -> bool:
        return not answer.is_error and answer.data.get("status") != "timeout"

    def choose(self, answers: Sequence[Answer]) -> Answer:
        """The outcome that ended the wait, else a timeout, else an error."""
        by_worth = sorted(answers, key=lambda it: (self.is_outcome(it), not it.is_error, not it.is_unreached))
        return by_worth[-1]


def _fits(answer: Answer | None, row: dict[str, Any]) -> bool:
    """Whether the program is still where that answer says."""
    if answer is None:
        return False
    if has_ended(row):
        return answer.data.get("status") == "completed"
    return stop_number(answer.data) == row.get("stop_number")
