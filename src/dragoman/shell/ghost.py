"""How the line may go on: when to ask, one question at a time, and what of an answer may stand behind the cursor."""

from __future__ import annotations

from dataclasses import dataclass

from dragoman.wire.omnish.messages import CompletionRequest, CompletionResponse

QUIET_S = 0.08
"""No request for every key: only when the line has stood still for this long."""
PATIENCE_S = 2.0
"""A request that was not answered for this long is given up, and the next one may go."""


@dataclass(frozen=True, slots=True)
class _Asked:
    sequence: int
    line: str
    at_s: float


class Ghost:
    def __init__(self, session_id: str) -> None:
        self._session_id = session_id
        self._sequence = 0
        self._in_flight: _Asked | None = None
        self._answered = ""
        self._suggestion = ""

    def ask(self, line: str, cwd: str | None, now_s: float) -> CompletionRequest | None:
        """A request, unless one is under way or the answer for this line is known."""
        if self._waits(now_s) or line == self._answered or self.rest_of(line):
            return None
        self._sequence += 1
        self._in_flight = _Asked(self._sequence, line, now_s)
        return CompletionRequest(self._session_id, line, len(line), self._sequence, cwd)

    def heard(self, response: CompletionResponse) -> None:
        """The surest suggestion that goes on from the line and could have been typed."""
        asked = self._in_flight
        if asked is None or response.sequence_id != asked.sequence:
            return
        self._in_flight, self._answered = None, asked.line
        fit = [each for each in response.suggestions if _goes_on(asked.line, each.text)]
        self._suggestion = max(fit, key=lambda each: each.confidence).text if fit else ""

    def rest_of(self, line: str) -> str:
        """What the suggestion adds to this line; it lasts while a person types along it."""
        return self._suggestion[len(line) :] if line.strip() and _goes_on(line, self._suggestion) else ""

    def forget(self) -> None:
        """A new line: what was suggested for the last one says nothing about it."""
        self._answered = self._suggestion = ""

    def gives_up_at_s(self) -> float:
        return self._in_flight.at_s + PATIENCE_S if self._in_flight else 0.0

    def _waits(self, now_s: float) -> bool:
        return self._in_flight is not None and now_s < self._in_flight.at_s + PATIENCE_S


def _goes_on(line: str, suggestion: str) -> bool:
    """Accepting types it: a control character would be a key, and an invisible one would not be seen."""
    return len(suggestion) > len(line) and suggestion.startswith(line) and suggestion.isprintable()
