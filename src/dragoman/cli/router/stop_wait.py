"""Which sessions one `wait_for_stop` waits for, on all targets."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any

from dragoman.cli.router.asks import Answer
from dragoman.cli.router.sessions import KnownSession, RoutedSessions, has_ended, stop_number

_MAX_WAITS = 16
"""Per target, beside its default session."""


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
            is_news = session.is_live
        elif row.get("state") == "Stopped":
            is_news = number != session.shown_stop
        else:
            session.unsent = None
            self.running.append((target, session.id))
            return
        if is_news and self.unsent is None and _fits(session.unsent, row):
            self.unsent = session.unsent
        elif is_news:
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
