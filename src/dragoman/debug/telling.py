"""How what happened in a session is written down: places and names, never values."""

from __future__ import annotations

import signal
from typing import Any

from dragoman.debug.model import Stop


def place_of(stop: Stop) -> tuple[str, dict[str, Any]]:
    top = stop.frame
    place = {"path": top.path, "line": top.line, "function": top.name} if top else {}
    hit = {"hit": list(stop.hit_breakpoints)} if stop.hit_breakpoints else {}
    text = f"{stop.reason} {top.path}:{top.line}" if top else stop.reason
    return text, {"stop": stop.number, "reason": stop.reason, "thread": stop.thread_id, **place, **hit}


def signal_of(exit_code: int | None) -> str:
    """By the custom of POSIX's wait: an end by a signal is its number, negative."""
    if exit_code is None or exit_code >= 0:
        return ""
    try:
        return signal.Signals(-exit_code).name
    except ValueError:
        return ""
