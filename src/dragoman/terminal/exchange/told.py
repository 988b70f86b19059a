"""What files of JSON tell, read alike: anybody may have written them, so each value is bounded or left out."""

from __future__ import annotations

from typing import Any

from dragoman.terminal.exchange.recording import Ended, Header, exit_code, instant_ms, optional_text, text

NAME_CHARACTERS = 200
LINE_CHARACTERS = 100_000
_VALUE_CHARACTERS = 4096
_ATTRIBUTES = 50


def header(
    told: dict[str, Any], started_ms: int, columns: Any, rows: Any, more: dict[str, str] | None = None
) -> Header:
    """`more` are attributes that stand elsewhere in the file; those told by name count before them."""
    ends = told.get("ended_ms")
    return Header(
        id=text(told.get("id"), NAME_CHARACTERS),
        started_ms=started_ms,
        ended_ms=None if ends is None else instant_ms(ends),
        exit_code=exit_code(told.get("exit_code")),
        parent=text(told.get("parent"), NAME_CHARACTERS),
        attributes=(more or {}) | attributes(told.get("attributes")),
        columns=columns if isinstance(columns, int) else 80,
        rows=rows if isinstance(rows, int) else 24,
    )


def attributes(value: Any) -> dict[str, str]:
    pairs = list(value.items())[:_ATTRIBUTES] if isinstance(value, dict) else []
    return {text(name, NAME_CHARACTERS): text(it, _VALUE_CHARACTERS) for name, it in pairs if isinstance(it, str)}


def ended(value: dict[str, Any]) -> Ended:
    started = instant_ms(value.get("started_ms", 0))
    ends = value.get("ended_ms", started)
    return Ended(
        id=text(value.get("id"), NAME_CHARACTERS),
        line=optional_text(value.get("line"), LINE_CHARACTERS),
        cwd=text(value.get("cwd"), _VALUE_CHARACTERS),
        started_ms=started,
        ended_ms=None if ends is None else max(started, instant_ms(ends)),
        exit_code=exit_code(value.get("exit_code")),
        summary=text(value.get("summary"), LINE_CHARACTERS),
    )
