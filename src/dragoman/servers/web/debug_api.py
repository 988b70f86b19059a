"""What the page's debugger shows besides the answers of tools: output by category, every thread, the stack of each, and
completions for its console."""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from itertools import groupby
from typing import Annotated, Any

import msgspec
from starlette.requests import Request
from starlette.responses import Response

from dragoman.core.redaction import Redactor
from dragoman.debug.session.output import OutputChunk
from dragoman.debug.session.session import DebugSession
from dragoman.servers.web.bodies import RequestBody, json_response, read_request
from dragoman.servers.web.status_api import query_number
from dragoman.tools.agent_text import escaped, one_line, path

OUTPUT_CHARACTERS = 100_000
FRAMES_AT_MOST = 200
COMPLETIONS_AT_MOST = 50
_TERMINAL_CONTROLS = re.compile("([\x1b\x07\x08]|\r(?!\n))")
_SUPPORTS_COMPLETIONS = "supportsCompletionsRequest"


class ThreadRow(msgspec.Struct, frozen=True):
    id: int
    name: str
    state: str
    path: str
    line: int
    function: str


class FrameRow(msgspec.Struct, frozen=True):
    id: int
    name: str
    path: str
    line: int


class OutputPiece(msgspec.Struct, frozen=True):
    category: str
    """As the debug adapter names it: stdout, stderr, console …"""
    text: str


class CategorizedOutput(msgspec.Struct, frozen=True):
    """`missed` counts the characters after the asked cursor that are no longer kept, `left` those after this page."""

    pieces: Sequence[OutputPiece]
    cursor: int
    missed: int
    left: int


class Completion(msgspec.Struct, frozen=True):
    """`text` replaces that many characters before the cursor; none: the word that ends there."""

    label: str
    text: str
    replaces: int


class _CompletionRequest(RequestBody):
    session: str
    frame: int
    text: Annotated[str, msgspec.Meta(max_length=10_000)]
    column: Annotated[int, msgspec.Meta(ge=0, le=10_000)]
    """Counted from zero."""


class _CompletionItem(msgspec.Struct, frozen=True):
    label: str
    text: str | None = None
    length: int = 0


class _CompletionsBody(msgspec.Struct, frozen=True):
    targets: list[_CompletionItem] = []


@dataclass(frozen=True, slots=True)
class DebugApi:
    """For the person at the page, who may look at the sessions of every folder."""

    session: Callable[[str], DebugSession]
    redactor: Redactor

    async def output(self, request: Request) -> Response:
        """The output after a cursor, as much as a page draws at once. It ends with a line where one ends in it."""
        output = self.session(request.query_params.get("session", "")).output
        cursor = query_number(request, "cursor", default=0)
        begin = max(cursor, output.start)
        chunks = _first_characters(output.pieces(begin), OUTPUT_CHARACTERS)
        next_cursor = chunks[-1].start + len(chunks[-1].text) if chunks else max(begin, output.end)
        runs = [(name, "".join(it.text for it in run)) for name, run in groupby(chunks, lambda it: it.category)]
        pieces = [OutputPiece(name, _visible(self.redactor.text(text))) for name, text in runs]
        return json_response(CategorizedOutput(pieces, next_cursor, begin - cursor, output.end - next_cursor))

    async def threads(self, request: Request) -> Response:
        """All threads, those that are stopped with their place."""
        inspection = self.session(request.query_params.get("session", "")).inspection
        rows = [
            ThreadRow(it.id, one_line(it.name), it.state, path(it.path), it.line, one_line(it.function))
            for it in await inspection.threads()
        ]
        return json_response({"threads": rows})

    async def stack(self, request: Request) -> Response:
        """The frames of one thread at the present stop."""
        inspection = self.session(request.query_params.get("session", "")).inspection
        frames, total = await inspection.stack(query_number(request, "thread", default=0), 0, FRAMES_AT_MOST)
        rows = [FrameRow(it.id, one_line(it.name), path(it.path), it.line) for it in frames]
        return json_response({"frames": rows, "total": total})

    async def complete(self, request: Request) -> Response:
        """Nothing where the debug adapter has no completions."""
        wanted = await read_request(request, _CompletionRequest)
        session = self.session(wanted.session)
        if not session.capabilities.has(_SUPPORTS_COMPLETIONS):
            return json_response({"completions": []})
        asked = {"text": wanted.text, "column": wanted.column + 1, "line": 1}  # as `linesStartAt1` says
        body = await session.inspection.ask("completions", asked, frame=wanted.frame)
        return json_response({"completions": _completions(body)})


def _visible(text: str) -> str:
    """Invisible characters escaped, except those of which a terminal's colours and progress bars are made."""
    parts = _TERMINAL_CONTROLS.split(text)
    return "".join(part if index % 2 else escaped(part) for index, part in enumerate(parts))


def _first_characters(chunks: Sequence[OutputChunk], most: int) -> list[OutputChunk]:
    """Cut after the last line that ends within the room, so that a secret is seen whole by the redactor."""
    found: list[OutputChunk] = []
    for chunk in chunks:
        if len(chunk.text) > most:
            end = chunk.text.rfind("\n", 0, most) + 1 or (0 if found else most)
            return [*found, chunk._replace(text=chunk.text[:end])] if end else found
        most -= len(chunk.text)
        found.append(chunk)
    return found


def _completions(body: dict[str, Any]) -> list[Completion]:
    found = msgspec.convert(body, _CompletionsBody).targets[:COMPLETIONS_AT_MOST]
    return [Completion(it.label, it.text or it.label, it.length) for it in found]
