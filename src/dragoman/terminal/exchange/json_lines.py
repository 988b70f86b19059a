"""JSON lines of our own: nothing is lost. Bytes that are no UTF-8 stand in base64."""

from __future__ import annotations

import base64
import binascii
from collections.abc import Iterable, Iterator
from dataclasses import asdict
from typing import Any

from dragoman.phrases import say
from dragoman.terminal.exchange.asciicast import attributes, ended
from dragoman.terminal.exchange.recording import (
    Began,
    Ended,
    Exported,
    Header,
    Item,
    bad_recording,
    exit_code,
    instant_ms,
    json_line,
    text,
)
from dragoman.terminal.model import Piece

FORMAT = "dragoman.terminal/1"
_NAMES = 200
_LINE = 100_000


class Writer:
    def __init__(self, header: Header) -> None:
        self._header = header

    def begin(self) -> Iterator[Exported]:
        yield json_line({"format": FORMAT, **asdict(self._header), "attributes": dict(self._header.attributes)})

    def told(self, item: Item) -> Iterator[Exported]:
        yield json_line(_told(item))

    def finished(self) -> Iterator[Exported]:
        yield from ()


def _told(item: Item) -> dict[str, Any]:
    if isinstance(item, Began):
        return {"kind": "began", "at_ms": item.at_ms, "line": item.line}
    if isinstance(item, Ended):
        return {"kind": "ended", **asdict(item)}
    try:
        return {"kind": item.kind, "at_ms": item.at_ms, "text": item.data.decode()}
    except UnicodeDecodeError:
        return {"kind": item.kind, "at_ms": item.at_ms, "base64": base64.b64encode(item.data).decode()}


def read(first: dict[str, Any], lines: Iterable[Any]) -> tuple[Header, Iterator[Item]]:
    ends = first.get("ended_ms")
    columns, rows = first.get("columns"), first.get("rows")
    header = Header(
        id=text(first.get("id"), _NAMES),
        started_ms=instant_ms(first.get("started_ms")),
        ended_ms=None if ends is None else instant_ms(ends),
        exit_code=exit_code(first.get("exit_code")),
        parent=text(first.get("parent"), _NAMES),
        attributes=attributes(first.get("attributes")),
        columns=columns if isinstance(columns, int) else 80,
        rows=rows if isinstance(rows, int) else 24,
    )
    return header, map(_item, lines)


def _item(line: Any) -> Item:
    if not isinstance(line, dict):
        raise bad_recording(say("a line is no event"))
    kind, at_ms = line.get("kind"), line.get("at_ms", 0)
    if kind == "began":
        return Began(instant_ms(at_ms), text(line.get("line"), _LINE))
    if kind == "ended":
        return ended(line)
    if kind in ("input", "output", "gap"):
        return Piece(instant_ms(at_ms), kind, _data(line))
    raise bad_recording(say("a line is no event"))


def _data(line: dict[str, Any]) -> bytes:
    if "base64" not in line:
        return text(line.get("text"), 1 << 30).encode("utf-8", "replace")
    try:
        return base64.b64decode(text(line["base64"], 1 << 30), validate=True)
    except binascii.Error as error:
        raise bad_recording(say("a line is no event")) from error
