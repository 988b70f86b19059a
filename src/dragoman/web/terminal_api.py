"""Terminals as the page watches them, and questions about them.

A page is given what a terminal shows as bytes, no faster than it says it has drawn them. One that falls behind is
given the screen anew, and told how much it missed.
"""

from __future__ import annotations

import logging
from collections.abc import AsyncGenerator, Callable
from contextlib import aclosing
from dataclasses import dataclass, field

import anyio
import msgspec
from starlette.requests import Request
from starlette.responses import Response
from starlette.websockets import WebSocket, WebSocketDisconnect

from dragoman.errors import DragomanError
from dragoman.phrases import Language, say
from dragoman.terminal.answers import Answers
from dragoman.terminal.screen import LOOKED_AT_BYTES, first_size, size_of
from dragoman.terminal.service import TerminalService
from dragoman.terminal.watching import Watcher
from dragoman.web.bodies import Body, read_as
from dragoman.web.errors import language_of
from dragoman.web.sockets import CLOSE_UNKNOWN, close
from dragoman.web.streaming import StreamedText

log = logging.getLogger(__name__)

PIECE_BYTES = 64 * 1024
WINDOW_BYTES = LOOKED_AT_BYTES + 4 * PIECE_BYTES
QUESTIONS_AT_ONCE = 4
NAMED_WITHIN_S = 5.0
NEXT_PIECE_WITHIN_S = 60.0
MOST_ANSWERED = 256 * 1024
_ASKING = "page"


class _Question(Body):
    query: str
    terminals: list[str] = msgspec.field(default_factory=list)
    all_workspaces: bool = False


class Window:
    """What was given and is not drawn yet."""

    def __init__(self, most: int = WINDOW_BYTES) -> None:
        self._most = most
        self._open = 0
        self._room = anyio.Event()

    async def take(self, size: int) -> None:
        while self._open and self._open + size > self._most:
            self._room = anyio.Event()
            await self._room.wait()
        self._open += size

    def drawn(self, size: int) -> None:
        self._open = max(0, self._open - size)
        self._room.set()


@dataclass(slots=True)
class TerminalApi:
    record: TerminalService
    answers_of: Callable[[str | None], Answers]
    workspace: str
    """Whose record questions are about, unless a person asks for every folder's."""
    asked: int = field(default=0, init=False)

    async def watch(self, socket: WebSocket) -> None:
        """The first message names the terminal: an address would tell it to whoever listens, proved or not."""
        try:
            with anyio.fail_after(NAMED_WITHIN_S):
                name = await _text(socket)
            terminal = self.record.terminal(name).terminal.id
        except TimeoutError:
            await close(socket, CLOSE_UNKNOWN, "no terminal was named")
        except DragomanError as error:
            await close(socket, CLOSE_UNKNOWN, error.code)
        else:
            await self._converse(socket, terminal)

    async def _converse(self, socket: WebSocket, terminal: str) -> None:
        window = Window()
        async with anyio.create_task_group() as group:
            group.start_soon(_hear, socket, window, group.cancel_scope)
            try:
                async with aclosing(self.record.watch(terminal)) as shown:
                    await _Show(socket, window, self.record, terminal).run(shown)
                await socket.send_text('{"type":"end"}')
                await close(socket, 1000, "it ended")
            except WebSocketDisconnect:
                pass
            group.cancel_scope.cancel("nothing more is shown")

    async def ask(self, request: Request) -> Response:
        wanted = await read_as(request, _Question)
        if self.asked >= QUESTIONS_AT_ONCE:
            raise DragomanError(
                "too_many_calls",
                say("Too many questions at once; this one was not asked."),
                hint=say("Wait a moment, then try again."),
            )
        scope = tuple(self.record.terminal(name).terminal.id for name in wanted.terminals) or None
        language = language_of(request)
        folder = None if wanted.all_workspaces else self.workspace
        pieces = self.answers_of(folder).stream(wanted.query, scope=scope, asking=_ASKING, language=language)
        return StreamedText(self._told(pieces, language))

    async def _told(self, pieces: AsyncGenerator[str, None], language: Language) -> AsyncGenerator[str, None]:
        """What goes wrong on the way is said at its end."""
        left = MOST_ANSWERED
        self.asked += 1
        try:
            async with aclosing(pieces):
                while left > 0 and (piece := await _next(pieces)) is not None:
                    yield piece[:left]
                    left -= len(piece)
        except DragomanError as error:
            yield f"\n{error.in_language(language)}\n"
        finally:
            self.asked -= 1


@dataclass(frozen=True, slots=True)
class _Show:
    socket: WebSocket
    window: Window
    record: TerminalService
    terminal: str

    async def run(self, shown: Watcher) -> None:
        """Ends with the terminal."""
        missed = await self._begin(shown, 0)
        if self.record.terminal(self.terminal).terminal.ended_ns is not None:
            return
        async for data in shown:
            if shown.missed_bytes != missed:
                missed = await self._begin(shown, shown.missed_bytes - missed)
            else:
                await self._give(data)

    async def _begin(self, shown: Watcher, missed: int) -> int:
        async with self.record.still(self.terminal):
            shown.skip()
            known = shown.missed_bytes
            tail = await self.record.tail(self.terminal, LOOKED_AT_BYTES)
        columns, rows = first_size(tail) or size_of(self.record.terminal(self.terminal).terminal)
        begin = {"type": "begin", "columns": columns, "rows": rows, "missed": missed}
        await self.socket.send_text(msgspec.json.encode(begin).decode())
        await self._give(tail)
        return known

    async def _give(self, data: bytes) -> None:
        for at in range(0, len(data), PIECE_BYTES):
            piece = data[at : at + PIECE_BYTES]
            await self.window.take(len(piece))
            await self.socket.send_bytes(piece)


async def _text(socket: WebSocket) -> str:
    """Empty where it has gone, or said something else."""
    return (await socket.receive()).get("text") or ""


async def _hear(socket: WebSocket, window: Window, scope: anyio.CancelScope) -> None:
    """Nothing but how much was drawn: what a page types reaches no terminal."""
    while (message := await socket.receive())["type"] != "websocket.disconnect":
        said = message.get("text") or ""
        if said.isascii() and said.isdigit() and len(said) < 10:
            window.drawn(int(said))
    scope.cancel("the page left")


async def _next(pieces: AsyncGenerator[str, None]) -> str | None:
    try:
        with anyio.fail_after(NEXT_PIECE_WITHIN_S):
            return await anext(pieces, None)
    except TimeoutError:
        raise DragomanError(
            "answer_too_slow", say("The answer took too long and ends here. Ask again, or see `dragoman logs`.")
        ) from None
