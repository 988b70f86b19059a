"""Hints that are shown without being asked for: a suggestion behind the cursor, and a one-line explanation of a
failed command.
"""

from __future__ import annotations

from dataclasses import dataclass

from dragoman.core.localization import localize
from dragoman.protocols.omnish.messages import CompletionRequest, CompletionResponse, CurrentSession, Request, Response
from dragoman.protocols.osc import SUSPENDED
from dragoman.shell.overlay.cell_grid import one_line
from dragoman.shell.overlay.panel import in_user_language
from dragoman.shell.settings import ShellSettings

QUIET_S = 0.08
"""Requests are not sent for every key: only when the line has been still for this long."""
SUGGESTION_TIMEOUT_S = 2.0
"""A request without an answer for this long is abandoned, so that the next one can be sent."""
_LONGEST_EXPLANATION = 1000
EXPLANATION_DELAY_S = 0.2
"""The command must be recorded first; and a person who types on at once needs no explanation."""


@dataclass(frozen=True, slots=True)
class _SuggestionInFlight:
    sequence: int
    line: str
    at_s: float


class LineSuggestion:
    """Suggests how the line may go on: one request at a time, when the line has been still for a moment."""

    def __init__(self, session_id: str) -> None:
        self._session_id = session_id
        self._sequence = 0
        self._in_flight: _SuggestionInFlight | None = None
        self._answered = ""
        self._suggestion = ""

    def ask(self, line: str, cwd: str | None, now_s: float) -> CompletionRequest | None:
        """A request, unless one is in flight or the answer for this line is known."""
        if self._waits(now_s) or line == self._answered or self.remaining_text(line):
            return None
        self._sequence += 1
        self._in_flight = _SuggestionInFlight(self._sequence, line, now_s)
        return CompletionRequest(self._session_id, line, len(line), self._sequence, cwd)

    def handle_response(self, response: CompletionResponse) -> None:
        """The most likely suggestion that continues the line and could have been typed."""
        request = self._in_flight
        if request is None or response.sequence_id != request.sequence:
            return
        self._in_flight, self._answered = None, request.line
        fit = [each for each in response.suggestions if _continues(request.line, each.text)]
        self._suggestion = max(fit, key=lambda each: each.confidence).text if fit else ""

    def remaining_text(self, line: str) -> str:
        """What the suggestion adds to this line. It stays valid while the person types along it."""
        return self._suggestion[len(line) :] if line.strip() and _continues(line, self._suggestion) else ""

    def forget(self) -> None:
        """A new line: the suggestion for the last one no longer applies."""
        self._answered = self._suggestion = ""

    def expires_at_s(self) -> float:
        return self._in_flight.at_s + SUGGESTION_TIMEOUT_S if self._in_flight else 0.0

    def _waits(self, now_s: float) -> bool:
        return self._in_flight is not None and now_s < self._in_flight.at_s + SUGGESTION_TIMEOUT_S


def _continues(line: str, suggestion: str) -> bool:
    """Accepting types the text: a control character would act as a key, and an invisible one would not be seen."""
    return len(suggestion) > len(line) and suggestion.startswith(line) and suggestion.isprintable()


_NOT_FAILURES = SUSPENDED | {0, 130}
"""Interrupted or suspended by a key: not a failure either."""


class FailureExplanation:
    """Asks why a command failed, at most once per configured interval, and keeps the first line of the answer."""

    def __init__(self, settings: ShellSettings, session_id: str) -> None:
        self._settings, self._session_id = settings, session_id
        self.is_due = False
        """Whether an explanation of a failure is due."""
        self._count = 0
        self._not_before_s = float("-inf")
        self._awaited: str | None = None
        self._text = ""

    def command_ended(self, exit_code: int | None, now_s: float) -> None:
        is_failure = exit_code is not None and exit_code not in _NOT_FAILURES
        self.is_due = self._settings.explain_failures and is_failure and now_s >= self._not_before_s
        self._awaited, self._text = None, ""

    def ask(self, now_s: float) -> Request:
        self.is_due, self._text = False, ""
        self._not_before_s = now_s + self._settings.explain_failures_every_s
        self._count += 1
        self._awaited = f"{self._session_id}:failure:{self._count}"
        query = in_user_language(localize("Why did the last command fail?"))
        return Request(self._awaited, self._session_id, query, CurrentSession())

    def handle_response(self, response: Response) -> str:
        """The first line of the answer, once it is complete; empty before."""
        if response.request_id != self._awaited or len(self._text) > _LONGEST_EXPLANATION:
            return ""
        self._text += response.content
        first, broken, _ = self._text.lstrip().partition("\n")
        if not (broken or response.is_final):
            return ""
        self._awaited = None
        return one_line(first)
