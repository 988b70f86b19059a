"""Questions about terminals: answered from the record, by a model where one is set, and always without one."""

from __future__ import annotations

import contextlib
from collections.abc import AsyncGenerator, Callable

from dragoman.clock import Clock
from dragoman.errors import DragomanError
from dragoman.models.faults import ModelError
from dragoman.models.port import Model
from dragoman.phrases import Language, say
from dragoman.redaction import Redactor
from dragoman.terminal.finder import Finder
from dragoman.terminal.model_answers import ModelAnswers
from dragoman.terminal.port import Record, Scope
from dragoman.terminal.question import understood
from dragoman.terminal.telling import Quoted, as_text


class Answers:
    def __init__(
        self,
        record: Record,
        *,
        clock: Clock,
        redactor: Redactor,
        model: Model | None = None,
        write_fault: Callable[[], DragomanError | None] = lambda: None,
    ) -> None:
        self._redactor = redactor
        self._finder = Finder(record, clock)
        self._model = ModelAnswers(model, record, redactor) if model else None
        self._write_fault = write_fault

    async def stream(self, query: str, *, scope: Scope, asking: str, language: Language) -> AsyncGenerator[str, None]:
        """The pieces of one answer; `scope` names the terminals it may draw on, and None is all of them."""
        if fault := self._write_fault():
            yield fault.in_language(language) + "\n"
        named = (asking,) if scope == () else scope  # none at all is no leave to look everywhere
        found = await self._finder.find(understood(query[:2000]), named)
        offline = self._redactor.text(as_text(found.pieces, language))
        if self._model is None:
            yield offline
            return
        begun = False
        try:
            question = self._redactor.text(query[:2000])
            asked = self._model.stream(question, found.commands, offline, asking=asking, language=language)
            async with contextlib.aclosing(asked) as pieces:
                async for piece in pieces:
                    begun = True
                    yield piece
        except DragomanError as error:
            yield self._redactor.text(from_record(offline, error, language, begun=begun))


def from_record(offline: str, error: DragomanError, language: Language, *, begun: bool) -> str:
    """The finding stays first; why no model answered is one line, and what its provider said about that is quoted."""
    sentences = [say("{message} {hint}", message=error.message, hint=error.hint or "")]
    said = [Quoted([error.detail])] if isinstance(error, ModelError) and error.detail else []
    why = as_text([*sentences, *said], language)
    return f"\n\n{why}\n{offline}" if begun else f"{offline}\n{why}"
