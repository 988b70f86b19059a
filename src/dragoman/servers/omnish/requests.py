"""Questions and completions of a connection: answered beside the recording, a few at a time, each within its
deadline.
"""

from __future__ import annotations

import contextlib
import logging
from collections.abc import AsyncIterator, Callable
from dataclasses import dataclass

import anyio
from anyio.abc import TaskGroup

from dragoman.core.errors import DragomanError
from dragoman.core.localization import Language, LocalizedText, join_sentences, localize
from dragoman.protocols.omnish.messages import Ack, CompletionRequest, CompletionResponse, CompletionSuggestion
from dragoman.servers.omnish.services import AnswerSource, CompletionSource, TerminalScope
from dragoman.terminal.model import terminal_name

log = logging.getLogger(__name__)
NEXT_PIECE_WITHIN_S = 60.0
WHOLE_ANSWER_WITHIN_S = 300.0
MAX_ANSWER_CHARACTERS = 256 * 1024
AT_ONCE = 4
SUGGESTED_WITHIN_S = 5.0
MAX_SESSIONS = 16
_MAX_LINE = 16 * 1024

Reply = Callable[[int, object], None]


@dataclass(frozen=True, slots=True)
class WrapperQuestion:
    frame_id: int
    id: str
    """The client's own id for it."""
    query: str
    scope: TerminalScope
    asking: str
    language: Language
    shape: Callable[[str, bool, bool], object]
    """Builds the message for a text: whether it is one of several, and whether it is the last."""
    streams: bool = False
    closes: bool = False
    """Ends with an Ack, after several replies (protocol 25)."""


class QuestionRequests:
    """Answers the questions of one connection, a few at a time."""

    def __init__(self, answers: AnswerSource, reply: Reply) -> None:
        self._answers = answers
        self._reply = reply
        self._open: dict[int, tuple[WrapperQuestion, anyio.CancelScope]] = {}

    def ask(self, question: WrapperQuestion, group: TaskGroup) -> None:
        if len(self._open) >= AT_ONCE or question.frame_id in self._open:
            refused = localize("Too many questions at once; this one was dropped.")
            self._finish(question, refused.in_language(question.language), sent=0)
            return
        scope = anyio.CancelScope()
        self._open[question.frame_id] = (question, scope)
        group.start_soon(self._answer, question, scope)

    def interrupt(self, id: str) -> None:
        """Interrupt an answer. The text so far becomes the answer."""
        for question, scope in self._open.values():
            if question.id == id:
                scope.cancel("it was interrupted")

    async def _answer(self, question: WrapperQuestion, interrupted: anyio.CancelScope) -> None:
        buffer = _AnswerBuffer(question, self._reply)
        try:
            with interrupted:
                await self._stream(question, buffer)
        finally:
            del self._open[question.frame_id]
        self._finish(question, buffer.held, buffer.sent)

    async def _stream(self, question: WrapperQuestion, buffer: _AnswerBuffer) -> None:
        try:
            with anyio.fail_after(WHOLE_ANSWER_WITHIN_S):
                async for piece in self._pieces(question):
                    buffer.add(piece)
        except TimeoutError:
            buffer.add_fault(localize("The answer timed out and is incomplete. Ask again, or see `dragoman logs`."))
        except DragomanError as error:
            buffer.add_fault(error.message, error.hint)
        except Exception:
            log.exception("a question failed")
            buffer.add_fault(
                localize("Internal error in the daemon."), localize("See `dragoman logs`, then try again.")
            )

    async def _pieces(self, question: WrapperQuestion) -> AsyncIterator[str]:
        size = 0
        stream = self._answers.stream(
            question.query, scope=question.scope, asking=question.asking, language=question.language
        )
        async with contextlib.aclosing(stream) as pieces:
            while size < MAX_ANSWER_CHARACTERS:
                with anyio.fail_after(NEXT_PIECE_WITHIN_S):
                    piece = await anext(pieces, None)
                if piece is None:
                    return
                size += len(piece)
                yield piece[: MAX_ANSWER_CHARACTERS - size + len(piece)]

    def _finish(self, question: WrapperQuestion, text: str, sent: int) -> None:
        self._reply(question.frame_id, question.shape(text, question.streams, True))
        if question.closes and sent:
            self._reply(question.frame_id, Ack())


class _AnswerBuffer:
    """The part of an answer that was sent, and the part that is held for its last message."""

    def __init__(self, question: WrapperQuestion, reply: Reply) -> None:
        self._question = question
        self._reply = reply
        self.held = ""
        self.sent = 0

    def add(self, text: str) -> None:
        piece = text.encode(errors="replace").decode()  # program output may not be valid text
        if not self._question.streams:
            self.held += piece
        elif piece:
            self._reply(self._question.frame_id, self._question.shape(piece, True, False))
            self.sent += 1

    def add_fault(self, *texts: LocalizedText | None) -> None:
        begun = self.sent or self.held
        self.held += ("\n" if begun else "") + join_sentences(texts, self._question.language)


@dataclass(frozen=True, slots=True)
class _PendingCompletion:
    frame_id: int
    request: CompletionRequest
    cwd: str


class CompletionRequests:
    """Answers completion requests, one at a time per session. Of those that wait, only the newest is computed; an
    older one is answered with nothing.
    """

    def __init__(self, completions: CompletionSource, reply: Reply) -> None:
        self._completions = completions
        self._reply = reply
        self._waiting: dict[str, _PendingCompletion | None] = {}

    def ask(self, frame_id: int, request: CompletionRequest, cwd: str, group: TaskGroup) -> None:
        pending, session = _PendingCompletion(frame_id, request, request.cwd or cwd), request.session_id
        if session in self._waiting:
            self._waiting[session] = self._keep_newer(self._waiting[session], pending)
        elif len(self._waiting) >= MAX_SESSIONS:
            self._send(pending, [])
        else:
            self._waiting[session] = None
            group.start_soon(self._serve, pending)

    def _keep_newer(self, waiting: _PendingCompletion | None, come: _PendingCompletion) -> _PendingCompletion:
        if waiting is None:
            return come
        older, v25 = sorted((waiting, come), key=lambda it: it.request.sequence_id)
        self._send(older, [])
        return v25

    async def _serve(self, pending: _PendingCompletion | None) -> None:
        session = pending.request.session_id if pending else ""
        try:
            while pending is not None:
                self._send(pending, await self._suggest(pending))
                pending, self._waiting[session] = self._waiting[session], None
        finally:
            del self._waiting[session]

    async def _suggest(self, pending: _PendingCompletion) -> list[CompletionSuggestion]:
        request = pending.request
        if len(request.input) > _MAX_LINE:
            return []
        try:
            with anyio.fail_after(SUGGESTED_WITHIN_S):
                cursor = min(request.cursor_pos, len(request.input))
                found = await self._completions.suggest(
                    request.input, cursor, terminal=terminal_name(request.session_id), cwd=pending.cwd
                )
        except (DragomanError, TimeoutError) as error:
            log.info("no completions: %s", str(error) or "they took too long")
            return []
        except Exception:
            log.exception("completions failed")
            return []
        return [CompletionSuggestion(it.text, it.confidence) for it in found]

    def _send(self, pending: _PendingCompletion, suggestions: list[CompletionSuggestion]) -> None:
        self._reply(pending.frame_id, CompletionResponse(pending.request.sequence_id, suggestions))
