"""Questions of a connection: answered beside what it records, a few at a time, and each to its end in time."""

from __future__ import annotations

import contextlib
import logging
from collections.abc import AsyncIterator, Callable
from dataclasses import dataclass

import anyio
from anyio.abc import TaskGroup

from dragoman.errors import DragomanError
from dragoman.omnish.ports import Answers, Scope
from dragoman.phrases import Language, Phrase, say, sentences
from dragoman.wire.omnish.messages import Ack

log = logging.getLogger(__name__)

NEXT_PIECE_WITHIN_S = 60.0
WHOLE_ANSWER_WITHIN_S = 300.0
MAX_ANSWER_CHARACTERS = 256 * 1024
AT_ONCE = 4

Reply = Callable[[int, object], None]


@dataclass(frozen=True, slots=True)
class Question:
    frame_id: int
    id: str
    """The asker's own name for it."""
    query: str
    scope: Scope
    asking: str
    language: Language
    shape: Callable[[str, bool, bool], object]
    """The message for a text; whether it is one of several, and whether it is the last."""
    streams: bool = False
    closes: bool = False
    """With an Ack, where several replies went before (protocol 25)."""


class Questions:
    def __init__(self, answers: Answers, reply: Reply) -> None:
        self._answers = answers
        self._reply = reply
        self._open: dict[int, tuple[Question, anyio.CancelScope]] = {}

    def ask(self, question: Question, group: TaskGroup) -> None:
        if len(self._open) >= AT_ONCE or question.frame_id in self._open:
            refused = say("Too many questions at once; this one was not asked.")
            self._finish(question, refused.in_language(question.language), sent=0)
            return
        scope = anyio.CancelScope()
        self._open[question.frame_id] = (question, scope)
        group.start_soon(self._answer, question, scope)

    def interrupt(self, id: str) -> None:
        """What came until now is the answer."""
        for question, scope in self._open.values():
            if question.id == id:
                scope.cancel("it was interrupted")

    async def _answer(self, question: Question, interrupted: anyio.CancelScope) -> None:
        told = _Told(question, self._reply)
        try:
            with interrupted:
                await self._tell(question, told)
        finally:
            del self._open[question.frame_id]
        self._finish(question, told.held, told.sent)

    async def _tell(self, question: Question, told: _Told) -> None:
        try:
            with anyio.fail_after(WHOLE_ANSWER_WITHIN_S):
                async for piece in self._pieces(question):
                    told.add(piece)
        except TimeoutError:
            told.add_fault(say("The answer took too long and ends here. Ask again, or see `dragoman logs`."))
        except DragomanError as error:
            told.add_fault(error.message, error.hint)
        except Exception:
            log.exception("a question failed")
            told.add_fault(say("Something went wrong in the daemon."), say("See `dragoman logs`, then try again."))

    async def _pieces(self, question: Question) -> AsyncIterator[str]:
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

    def _finish(self, question: Question, text: str, sent: int) -> None:
        self._reply(question.frame_id, question.shape(text, question.streams, True))
        if question.closes and sent:
            self._reply(question.frame_id, Ack())


class _Told:
    """What has been sent of an answer, and what is kept for its last message."""

    def __init__(self, question: Question, reply: Reply) -> None:
        self._question = question
        self._reply = reply
        self.held = ""
        self.sent = 0

    def add(self, text: str) -> None:
        piece = text.encode(errors="replace").decode()  # what was printed may not be text
        if not self._question.streams:
            self.held += piece
        elif piece:
            self._reply(self._question.frame_id, self._question.shape(piece, True, False))
            self.sent += 1

    def add_fault(self, *said: Phrase | None) -> None:
        begun = self.sent or self.held
        self.held += ("\n" if begun else "") + sentences(said, self._question.language)
