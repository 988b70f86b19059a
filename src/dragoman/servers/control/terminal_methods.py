"""The control methods for terminals, besides the tools: whole streams, live ones, and answers as they are written."""

from __future__ import annotations

import base64
from collections.abc import AsyncIterator, Mapping
from contextlib import ExitStack, aclosing
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import anyio.to_thread

from dragoman.core.errors import DragomanError
from dragoman.core.ids import new_id
from dragoman.core.localization import localize
from dragoman.servers.control.server import CALLING_LANGUAGE, ControlMethod, Params, ResultPart
from dragoman.terminal.answers.answer_service import AnswerService
from dragoman.terminal.exchange import FORMATS, export_recording, import_recording, open_recording
from dragoman.terminal.screen import terminal_size
from dragoman.terminal.service import TerminalService

_ASKING = "shell"
_MOST_QUESTION = 10_000
# A part is one line of JSON on the socket, which has a size limit.
_PART_BYTES = 256 * 1024
_SHOWN_FIRST = 64 * 1024


@dataclass(frozen=True, slots=True)
class TerminalMethods:
    record: TerminalService
    answers: AnswerService

    def table(self) -> Mapping[str, ControlMethod]:
        return {
            "terminal_ask": self._ask,
            "terminal_watch": self._watch,
            "terminal_pieces": self._pieces,
            "terminal_export": self._export,
            "terminal_import": self._import,
        }

    async def _ask(self, params: Params) -> AsyncIterator[Any]:
        terminals = params.get("terminals")
        scope = tuple(self.record.terminal(str(name)).terminal.id for name in terminals) if terminals else None
        query = str(params.get("query", ""))[:_MOST_QUESTION]
        async with aclosing(
            self.answers.stream(query, scope=scope, asking=_ASKING, language=CALLING_LANGUAGE.get())
        ) as pieces:
            async for piece in pieces:
                yield ResultPart({"text": piece})
        yield {}

    async def _watch(self, params: Params) -> AsyncIterator[Any]:
        """Yield the current screen, then the output as it comes. Ends with the terminal."""
        terminal_id = _terminal(params)
        async with aclosing(self.record.watch(terminal_id)) as shown:
            for part in _parts(await self.record.tail(terminal_id, _SHOWN_FIRST)):
                yield part
            async for data in shown:
                for part in _parts(data):
                    yield part
        yield {}

    async def _pieces(self, params: Params) -> AsyncIterator[Any]:
        seen = self.record.terminal(_terminal(params))
        columns, rows = terminal_size(seen.terminal)
        async with aclosing(self.record.pieces(seen.terminal.id)) as pieces:
            async for piece in pieces:
                if piece.kind == "output":
                    for part in _parts(piece.data):
                        yield ResultPart({"at_ms": piece.at_ms, **part.value})
        yield {"columns": columns, "rows": rows}

    async def _export(self, params: Params) -> AsyncIterator[Any]:
        format = params.get("format")
        if format not in FORMATS:
            raise DragomanError(
                "unknown_format",
                localize("Unknown format."),
                hint=localize("Available formats: {names}.", names=", ".join(FORMATS)),
            )
        async with aclosing(export_recording(self.record, _terminal(params), str(format))) as exported:
            async for part in exported:
                for cut in _parts(part.data) or [ResultPart({"data": ""})]:
                    yield ResultPart({"file": part.file, **cut.value})
        yield {}

    async def _import(self, params: Params) -> AsyncIterator[Any]:
        """Import a recording. The daemon may read the file itself: only the same user can use this socket."""
        path = params.get("path")
        if not isinstance(path, str) or not path.startswith("/") or "\0" in path:
            raise DragomanError("bad_request", localize("`{name}` must be an absolute path.", name="path"))
        with ExitStack() as stack:  # The start of the file may be large, so a worker thread reads it.
            header, items = await anyio.to_thread.run_sync(stack.enter_context, open_recording(Path(path)))
            terminal_id, commands = await import_recording(self.record, header, items, lambda: new_id("terminal"))
        yield {"terminal": terminal_id, "commands": commands}


def _terminal(params: Params) -> str:
    return str(params.get("terminal", ""))


def _parts(data: bytes) -> list[ResultPart]:
    cuts = [data[at : at + _PART_BYTES] for at in range(0, len(data), _PART_BYTES)]
    return [ResultPart({"data": base64.b64encode(cut).decode()}) for cut in cuts]
