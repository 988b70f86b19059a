"""JSON lines of our own: nothing is lost. Bytes that are no UTF-8 stand in base64."""

from __future__ import annotations

import base64
import binascii
from collections.abc import Iterable, Iterator
from dataclasses import asdict
from typing import Any

from dragoman.phrases import say
from dragoman.terminal.exchange.recording import (
    Began,
    Ended,
    Exported,
    Header,
    Item,
    bad_recording,
    instant_ms,
    json_line,
    text,
)
from dragoman.terminal.exchange.told import LINE_CHARACTERS, ended, header
from dragoman.terminal.model import Piece

FORMAT = "dragoman.terminal/1"


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
    head = header(first, instant_ms(first.get("started_ms")), first.get("columns"), first.get("rows"))
    return head, map(_item, lines)


def _item(line: Any) -> Item:
    if not isinstance(line, dict):
        raise bad_recording(say("a line is no event"))
    kind, at_ms = line.get("kind"), line.get("at_ms", 0)
    if kind == "began":
        return Began(instant_ms(at_ms), text(line.get("line"), LINE_CHARACTERS))
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
