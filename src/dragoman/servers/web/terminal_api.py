"""Watch a terminal, and ask questions about terminals.

The page gets the bytes of a terminal no faster than it reports to have drawn them. A page that falls behind gets the
screen again, and learns how much it missed.
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

from dragoman.core.errors import DragomanError
from dragoman.core.localization import Language, localize
from dragoman.servers.web.bodies import RequestBody, StreamedText, read_request
from dragoman.servers.web.errors import request_language
from dragoman.servers.web.sockets import CLOSE_UNKNOWN, close
from dragoman.terminal.answers.answer_service import AnswerService
from dragoman.terminal.record.watchers import OutputWatcher
from dragoman.terminal.screen import SCREEN_TAIL_BYTES, first_size, terminal_size
from dragoman.terminal.service import TerminalService

log = logging.getLogger(__name__)

PIECE_BYTES = 64 * 1024
WINDOW_BYTES = SCREEN_TAIL_BYTES + 4 * PIECE_BYTES
QUESTIONS_AT_ONCE = 4
NAMED_WITHIN_S = 5.0
NEXT_PIECE_WITHIN_S = 60.0
MOST_ANSWERED = 256 * 1024
_CLIENT = "page"


class _TerminalQuestion(RequestBody):
    query: str
    terminals: list[str] = msgspec.field(default_factory=list)
    all_workspaces: bool = False


class FlowControlWindow:
    """The bytes that were sent and are not drawn yet."""

    def __init__(self, most: int = WINDOW_BYTES) -> None:
        self._most = most
        self._open = 0
        self._room = anyio.Event()

    async def acquire(self, size: int) -> None:
        while self._open and self._open + size > self._most:
            self._room = anyio.Event()
            await self._room.wait()
        self._open += size

    def acknowledge(self, size: int) -> None:
        self._open = max(0, self._open - size)
        self._room.set()


@dataclass(slots=True)
class TerminalApi:
    record: TerminalService
    answers_of: Callable[[str | None], AnswerService]
    workspace: str
    """The workspace whose record questions are about, unless a person asks for every folder."""
    open_questions: int = field(default=0, init=False)

    async def watch(self, socket: WebSocket) -> None:
        """The first message names the terminal. In the address, it would be visible before authentication."""
        try:
            with anyio.fail_after(NAMED_WITHIN_S):
                name = await _receive_text(socket)
            terminal = self.record.terminal(name).terminal.id
        except TimeoutError:
            await close(socket, CLOSE_UNKNOWN, "no terminal was named")
        except DragomanError as error:
            await close(socket, CLOSE_UNKNOWN, error.code)
        else:
            await self._stream(socket, terminal)

    async def _stream(self, socket: WebSocket, terminal: str) -> None:
        window = FlowControlWindow()
        async with anyio.create_task_group() as group:
            group.start_soon(_read_acknowledgements, socket, window, group.cancel_scope)
            try:
                async with aclosing(self.record.watch(terminal)) as shown:
                    await _TerminalStream(socket, window, self.record, terminal).run(shown)
                await socket.send_text('{"type":"end"}')
                await close(socket, 1000, "it ended")
            except WebSocketDisconnect:
                pass
            group.cancel_scope.cancel("nothing more is shown")

    async def ask(self, request: Request) -> Response:
        wanted = await read_request(request, _TerminalQuestion)
        if self.open_questions >= QUESTIONS_AT_ONCE:
            raise DragomanError(
                "too_many_calls",
                localize("Too many questions at once; this one was dropped."),
                hint=localize("Wait a moment, then try again."),
            )
        scope = tuple(self.record.terminal(name).terminal.id for name in wanted.terminals) or None
        language = request_language(request)
        folder = None if wanted.all_workspaces else self.workspace
        pieces = self.answers_of(folder).stream(wanted.query, scope=scope, asking=_CLIENT, language=language)
        return StreamedText(self._stream_answer(pieces, language))

    async def _stream_answer(self, pieces: AsyncGenerator[str, None], language: Language) -> AsyncGenerator[str, None]:
        """Stream an answer. A failure is reported at its end."""
        left = MOST_ANSWERED
        self.open_questions += 1
        try:
            async with aclosing(pieces):
                while left > 0 and (piece := await _next_piece(pieces)) is not None:
                    yield piece[:left]
                    left -= len(piece)
        except DragomanError as error:
            yield f"\n{error.in_language(language)}\n"
        finally:
            self.open_questions -= 1


@dataclass(frozen=True, slots=True)
class _TerminalStream:
    socket: WebSocket
    window: FlowControlWindow
    record: TerminalService
    terminal: str

    async def run(self, shown: OutputWatcher) -> None:
        """Ends with the terminal."""
        missed = await self._begin(shown, 0)
        if self.record.terminal(self.terminal).terminal.ended_ns is not None:
            return
        async for data in shown:
            if shown.missed_bytes != missed:
                missed = await self._begin(shown, shown.missed_bytes - missed)
            else:
                await self._send_bytes(data)

    async def _begin(self, shown: OutputWatcher, missed: int) -> int:
        async with self.record.hold_output(self.terminal):
            shown.skip()
            known = shown.missed_bytes
            tail = await self.record.tail(self.terminal, SCREEN_TAIL_BYTES)
        columns, rows = first_size(tail) or terminal_size(self.record.terminal(self.terminal).terminal)
        begin = {"type": "begin", "columns": columns, "rows": rows, "missed": missed}
        await self.socket.send_text(msgspec.json.encode(begin).decode())
        await self._send_bytes(tail)
        return known

    async def _send_bytes(self, data: bytes) -> None:
        for at in range(0, len(data), PIECE_BYTES):
            piece = data[at : at + PIECE_BYTES]
            await self.window.acquire(len(piece))
            await self.socket.send_bytes(piece)


async def _receive_text(socket: WebSocket) -> str:
    """Empty if the page has disconnected or sent something else."""
    return (await socket.receive()).get("text") or ""


async def _read_acknowledgements(socket: WebSocket, window: FlowControlWindow, scope: anyio.CancelScope) -> None:
    """Read how much was drawn, and nothing else: typing on the page reaches no terminal."""
    while (message := await socket.receive())["type"] != "websocket.disconnect":
        text = message.get("text") or ""
        if text.isascii() and text.isdigit() and len(text) < 10:
            window.acknowledge(int(text))
    scope.cancel("the page left")


async def _next_piece(pieces: AsyncGenerator[str, None]) -> str | None:
    try:
        with anyio.fail_after(NEXT_PIECE_WITHIN_S):
            return await anext(pieces, None)
    except TimeoutError:
        raise DragomanError(
            "answer_too_slow", localize("The answer timed out and is incomplete. Ask again, or see `dragoman logs`.")
        ) from None
