"""Completions of a connection: one at a time for each session; of those that wait meanwhile, the newest counts."""

from __future__ import annotations

import logging
from collections.abc import Callable
from dataclasses import dataclass

import anyio
from anyio.abc import TaskGroup

from dragoman.errors import DragomanError
from dragoman.omnish.ports import Completions
from dragoman.terminal.names import terminal_name
from dragoman.wire.omnish.messages import CompletionRequest, CompletionResponse, CompletionSuggestion

log = logging.getLogger(__name__)

SUGGESTED_WITHIN_S = 5.0
MAX_SESSIONS = 16
_MAX_LINE = 16 * 1024

Reply = Callable[[int, object], None]


@dataclass(frozen=True, slots=True)
class _Wanted:
    frame_id: int
    request: CompletionRequest
    cwd: str


class Completing:
    """Every request is answered; one that a newer overtook, with nothing."""

    def __init__(self, completions: Completions, reply: Reply) -> None:
        self._completions = completions
        self._reply = reply
        self._waiting: dict[str, _Wanted | None] = {}

    def ask(self, frame_id: int, request: CompletionRequest, cwd: str, group: TaskGroup) -> None:
        wanted, session = _Wanted(frame_id, request, request.cwd or cwd), request.session_id
        if session in self._waiting:
            self._waiting[session] = self._newer(self._waiting[session], wanted)
        elif len(self._waiting) >= MAX_SESSIONS:
            self._give(wanted, [])
        else:
            self._waiting[session] = None
            group.start_soon(self._serve, wanted)

    def _newer(self, waiting: _Wanted | None, come: _Wanted) -> _Wanted:
        if waiting is None:
            return come
        older, newer = sorted((waiting, come), key=lambda it: it.request.sequence_id)
        self._give(older, [])
        return newer

    async def _serve(self, wanted: _Wanted | None) -> None:
        session = wanted.request.session_id if wanted else ""
        try:
            while wanted is not None:
                self._give(wanted, await self._suggested(wanted))
                wanted, self._waiting[session] = self._waiting[session], None
        finally:
            del self._waiting[session]

    async def _suggested(self, wanted: _Wanted) -> list[CompletionSuggestion]:
        request = wanted.request
        if len(request.input) > _MAX_LINE:
            return []
        try:
            with anyio.fail_after(SUGGESTED_WITHIN_S):
                cursor = min(request.cursor_pos, len(request.input))
                found = await self._completions.suggest(
                    request.input, cursor, terminal=terminal_name(request.session_id), cwd=wanted.cwd
                )
        except (DragomanError, TimeoutError) as error:
            log.info("no completions: %s", str(error) or "they took too long")
            return []
        except Exception:
            log.exception("completions failed")
            return []
        return [CompletionSuggestion(it.text, it.confidence) for it in found]

    def _give(self, wanted: _Wanted, suggestions: list[CompletionSuggestion]) -> None:
        self._reply(wanted.frame_id, CompletionResponse(wanted.request.sequence_id, suggestions))
