"""A failed command explained without being asked, in one dim line, and not more often than a person wishes."""

from __future__ import annotations

from dragoman.phrases import say
from dragoman.shell.cells import one_line
from dragoman.shell.panel import spoken
from dragoman.shell.wishes import Wishes
from dragoman.wire.omnish.messages import CurrentSession, Request, Response
from dragoman.wire.osc import SUSPENDED

_NOT_FAILURES = SUSPENDED | {0, 130}
"""Nor is it one to have been interrupted or suspended by a key."""
_LONGEST = 1000
AFTER_S = 0.2
"""The record of the command goes first; and who types on at once has understood."""


class Explanation:
    def __init__(self, wishes: Wishes, session_id: str) -> None:
        self._wishes, self._session_id = wishes, session_id
        self.is_due = False
        """Whether a failure waits to be asked about."""
        self._count = 0
        self._not_before_s = float("-inf")
        self._awaited: str | None = None
        self._text = ""

    def command_ended(self, exit_code: int | None, now_s: float) -> None:
        is_failure = exit_code is not None and exit_code not in _NOT_FAILURES
        self.is_due = self._wishes.explain_failures and is_failure and now_s >= self._not_before_s
        self._awaited, self._text = None, ""

    def ask(self, now_s: float) -> Request:
        self.is_due, self._text = False, ""
        self._not_before_s = now_s + self._wishes.explain_failures_every_s
        self._count += 1
        self._awaited = f"{self._session_id}:failure:{self._count}"
        query = spoken(say("Why did the last command fail?"))
        return Request(self._awaited, self._session_id, query, CurrentSession())

    def heard(self, response: Response) -> str:
        """Its first line, once that is whole; empty before."""
        if response.request_id != self._awaited or len(self._text) > _LONGEST:
            return ""
        self._text += response.content
        first, broken, _ = self._text.lstrip().partition("\n")
        if not (broken or response.is_final):
            return ""
        self._awaited = None
        return one_line(first)
