"""asciicast 2 and 3: a JSON header, then an event a line. Version 2 tells each time from the start, version 3 from the
event before. Bytes that are no UTF-8 cannot stand in it: they are replaced, as asciinema does.

What it has no place for (folders, exit codes of commands) stands in the header under our own name, which others skip.
"""

from __future__ import annotations

import codecs
import json
import re
from collections.abc import Iterable, Iterator
from typing import Any, Literal

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
from dragoman.terminal.exchange.told import LINE_CHARACTERS, NAME_CHARACTERS, ended, header
from dragoman.terminal.model import Piece
from dragoman.terminal.screen import resized

OURS = "dragoman"
_RESIZED = re.compile(r"\x1b\[8;\d{1,4};\d{1,4}t\x1b\[8;(\d{1,4});(\d{1,4})t")
_SIZE = re.compile(r"(\d{1,4})x(\d{1,4})")
_KINDS = {"output": "o", "input": "i"}


class Writer:
    def __init__(self, header: Header, version: Literal[2, 3]) -> None:
        self._version = version
        self._header = header
        self._last_ms = header.started_ms
        self._letters = {kind: codecs.getincrementaldecoder("utf-8")("replace") for kind in _KINDS}

    def begin(self) -> Iterator[Exported]:
        head = self._header
        size = {"width": head.columns, "height": head.rows}
        term = {"term": {"cols": head.columns, "rows": head.rows}}
        ours = {"id": head.id, "started_ms": head.started_ms, "attributes": dict(head.attributes)}
        ends = {"ended_ms": head.ended_ms, "exit_code": head.exit_code, "parent": head.parent}
        about = {"timestamp": head.started_ms // 1000, "env": {"SHELL": head.attributes.get("shell", "")}}
        yield json_line(
            {"version": self._version, **(size if self._version == 2 else term), **about, OURS: ours | ends}
        )

    def told(self, item: Item) -> Iterator[Exported]:
        if isinstance(item, Began):
            yield self._event(item.at_ms, "m", item.line)
        elif isinstance(item, Ended):
            yield self._comment(item)
        elif item.kind in _KINDS:
            yield from self._shown(item)

    def finished(self) -> Iterator[Exported]:
        if self._version == 3 and self._header.exit_code is not None:
            yield self._event(self._header.ended_ms or self._last_ms, "x", str(self._header.exit_code))

    def _shown(self, piece: Piece) -> Iterator[Exported]:
        """A window that changed has an event of its own."""
        shown, at = self._letters[piece.kind].decode(piece.data), 0
        for found in _RESIZED.finditer(shown) if piece.kind == "output" else ():
            if found.start() > at:
                yield self._event(piece.at_ms, "o", shown[at : found.start()])
            yield self._event(piece.at_ms, "r", f"{int(found[2])}x{int(found[1])}")
            at = found.end()
        if shown[at:]:
            yield self._event(piece.at_ms, _KINDS[piece.kind], shown[at:])

    def _event(self, at_ms: int, code: str, data: str) -> Exported:
        """Never back in time: a player would wait for ever, or refuse the file."""
        since = self._last_ms if self._version == 3 else self._header.started_ms
        self._last_ms = max(at_ms, self._last_ms)
        elapsed = (self._last_ms - since) / 1000
        return json_line([elapsed, code, data])

    def _comment(self, ended: Ended) -> Exported:
        """A marker of ours, which players that show markers show as the command's end."""
        told = {"id": ended.id, "line": ended.line, "cwd": ended.cwd, "exit_code": ended.exit_code}
        times = {"started_ms": ended.started_ms, "ended_ms": ended.ended_ms, "summary": ended.summary}
        return self._event(ended.at_ms, "m", _END + json.dumps(told | times, ensure_ascii=False))


_END = f"{OURS}:end "


def read(first: Any, lines: Iterable[Any]) -> tuple[Header, Iterator[Item]]:
    """`first` is the header's JSON, `lines` that of the others; comments are left out already."""
    version = first.get("version") if isinstance(first, dict) else None
    if version not in (2, 3):
        raise bad_recording(say("its version is neither 2 nor 3"))
    return _header(first), _Reader(version, _header(first)).items(lines)


def _header(first: dict[str, Any]) -> Header:
    ours = first[OURS] if isinstance(first.get(OURS), dict) else {}
    term = first["term"] if isinstance(first.get("term"), dict) else {}
    env = first["env"] if isinstance(first.get("env"), dict) else {}
    started = instant_ms(ours["started_ms"]) if "started_ms" in ours else instant_ms(first.get("timestamp", 0)) * 1000
    columns, rows = first.get("width", term.get("cols")), first.get("height", term.get("rows"))
    shell = {"shell": text(env.get("SHELL"), NAME_CHARACTERS)} if env.get("SHELL") else {}
    return header(ours, started, columns, rows, shell)


class _Reader:
    def __init__(self, version: int, header: Header) -> None:
        self._version = version
        self._at_ms = self._started_ms = header.started_ms
        self._size = (header.columns, header.rows)

    def items(self, lines: Iterable[Any]) -> Iterator[Item]:
        for line in lines:
            if not isinstance(line, list) or len(line) < 3 or not all(isinstance(it, str) for it in line[1:3]):
                raise bad_recording(say("a line is no event"))
            elapsed = instant_ms(line[0] * 1000 if isinstance(line[0], int | float) else line[0])
            self._at_ms = (self._at_ms if self._version == 3 else self._started_ms) + elapsed
            yield from self._item(line[1], line[2])

    def _item(self, code: str, data: str) -> Iterator[Item]:
        if code in ("o", "i"):
            yield Piece(self._at_ms, "output" if code == "o" else "input", data.encode("utf-8", "replace"))
        elif code == "m" and data.startswith(_END):
            yield from _ended(data.removeprefix(_END))
        elif code == "m" and data:
            yield Began(self._at_ms, data[:LINE_CHARACTERS])
        elif code == "r" and (found := _SIZE.fullmatch(data)):
            yield self._resized(int(found[1]), int(found[2]))

    def _resized(self, columns: int, rows: int) -> Item:
        before, self._size = self._size, (columns, rows)
        return Piece(self._at_ms, "output", resized(before, self._size))


def _ended(told: str) -> Iterator[Item]:
    """A marker that only looks like ours is somebody's text."""
    try:
        value = json.loads(told)
    except ValueError:
        return
    if isinstance(value, dict):
        yield ended(value)
