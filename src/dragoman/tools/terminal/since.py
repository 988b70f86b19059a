"""A moment as people and agents write it: a date, or how long ago."""

from __future__ import annotations

import re
from datetime import UTC, datetime

from dragoman.errors import DragomanError
from dragoman.phrases import say
from dragoman.terminal.days import midnight_ns

_AGE = re.compile(r"(\d{1,6})\s?(s|m|h|d|w)")
_SECONDS = {"s": 1, "m": 60, "h": 3600, "d": 86_400, "w": 7 * 86_400}
_SECOND_NS = 10**9
_DAYS = {"today": 0, "yesterday": 1}


def moment_ns(text: str, now_ns: int) -> int | None:
    """None for an empty text."""
    if not text:
        return None
    if text.strip() in _DAYS:
        return midnight_ns(now_ns, _DAYS[text.strip()])
    age = _AGE.fullmatch(text.strip())
    if age is not None:
        return now_ns - int(age[1]) * _SECONDS[age[2]] * _SECOND_NS
    try:
        at = datetime.fromisoformat(text)
    except ValueError as error:
        raise DragomanError(
            "bad_date",
            say("{date} is neither a date nor an age.", date=ascii(text[:40])),
            hint=say("Write it as 2026-01-31, 2026-01-31T12:00:00Z, 30m, 2h, 7d, today or yesterday."),
        ) from error
    return int((at if at.tzinfo else at.replace(tzinfo=UTC)).timestamp() * _SECOND_NS)
