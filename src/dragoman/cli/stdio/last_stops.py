"""What the client was told last about the programs on another machine, for the moment in which the link to it is lost.

Nobody can be asked then, and an agent has to decide what to do. A program that was running there before is resumed by
the daemon there, soon after it lost us; one that the debugger started stays where it is until its session ends.
"""

from __future__ import annotations

import json
import math
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

from dragoman.cli.output import render
from dragoman.core.localization import LocalizedText, localize
from dragoman.core.safe_text import printable

UNATTENDED_S = 10
"""As long as the daemon there waits for somebody to come back, before it resumes a program."""
_MAX_SESSIONS = 16
_SHOWN_SESSIONS = 3
_MAX_PLACE = 200


@dataclass(frozen=True, slots=True)
class _LastStop:
    place: str
    resumes_at_s: float
    """Infinite for a program that stays where it is."""


class LastStops:
    """It reads the answers that pass, and keeps the last stop of each session that is stopped."""

    def __init__(self) -> None:
        self._stops: dict[str, _LastStop] = {}

    def receive(self, line: bytes, now_s: float) -> None:
        if b'"structuredContent"' not in line or b'"session_id"' not in line:
            return
        try:
            answer = json.loads(line)
        except (ValueError, RecursionError):
            return
        result = answer.get("result") if isinstance(answer, dict) else None
        data = result.get("structuredContent") if isinstance(result, dict) else None
        if isinstance(data, dict):
            self._note(data, now_s)

    def sentences(self, now_s: float) -> str:
        """Nothing if no program is known to be stopped."""
        return " ".join(map(render, self._sentences(now_s)))

    def _note(self, data: dict[str, Any], now_s: float) -> None:
        stop = data.get("stop_event_data")
        session = (stop if isinstance(stop, dict) else data).get("session_id")
        if not isinstance(session, str):
            return
        if isinstance(stop, dict):
            self._stops.pop(session, None)
            self._stops[session] = _LastStop(_place(stop), now_s + _seconds(stop.get("resumes_in_s")))
            if len(self._stops) > _MAX_SESSIONS:
                del self._stops[next(iter(self._stops))]
        elif "status" in data and data.get("state") != "Stopped":
            self._stops.pop(session, None)

    def _sentences(self, now_s: float) -> Iterator[LocalizedText]:
        for stop in list(self._stops.values())[-_SHOWN_SESSIONS:]:
            left_s = min(stop.resumes_at_s - now_s, UNATTENDED_S)
            if math.isinf(stop.resumes_at_s):
                yield localize("The program is stopped at {place} until its session ends.", place=stop.place)
            elif left_s > 0:
                yield localize(
                    "The program is stopped at {place} and resumes in {seconds} s.",
                    place=stop.place,
                    seconds=math.ceil(left_s),
                )
            else:
                yield localize("The program was stopped at {place} and has resumed.", place=stop.place)
        if self._stops:
            yield localize("`wait_for_stop` reconnects.")


def _place(stop: dict[str, Any]) -> str:
    source = stop.get("source")
    path = source.get("path") if isinstance(source, dict) else None
    name = str(path or "?").rpartition("/")[2]
    return printable(f"{name}:{stop.get('line') or '?'}").replace("\n", " ")[:_MAX_PLACE]


def _seconds(value: Any) -> float:
    is_number = isinstance(value, int | float) and not isinstance(value, bool)
    return float(value) if is_number and abs(value) < 1e6 else math.inf
