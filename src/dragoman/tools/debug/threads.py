"""The threads of a program, as answers show them: never for long, and never all of a thousand."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import anyio

from dragoman.debug.model import ThreadSeen
from dragoman.debug.service import Client, DebugService
from dragoman.debug.session import Session
from dragoman.debug.states import State
from dragoman.errors import DragomanError, RemoteProtocolError
from dragoman.tools.debug.answers import OtherThread, ThreadAnswer
from dragoman.tools.debug.values import name
from dragoman.tools.showing import path

SHOWN = 20
_ASKED_S = 2.0
_CAN_BE_ASKED = frozenset({State.RUNNING, State.STOPPED})


@dataclass(frozen=True, slots=True)
class ThreadList:
    """What an answer would be poorer without, but must not wait for or fail by."""

    service: DebugService

    async def of(self, client: Client, session: Session, *, placed: bool) -> Sequence[ThreadSeen]:
        if session.state not in _CAN_BE_ASKED:
            return ()
        found: Sequence[ThreadSeen] = ()
        with anyio.move_on_after(_ASKED_S):
            try:
                found = await self.service.threads(client, session.id, placed=placed)
            except (DragomanError, RemoteProtocolError):
                return ()
        return found


def other_threads(threads: Sequence[ThreadSeen], stopped: int) -> list[OtherThread]:
    others = [thread for thread in threads if thread.id != stopped]
    return [OtherThread(thread_id=it.id, name=name(it.name), state=it.state) for it in others[:SHOWN]]


def thread_answers(threads: Sequence[ThreadSeen]) -> list[ThreadAnswer]:
    return [
        ThreadAnswer(
            thread_id=it.id,
            name=name(it.name),
            state=it.state,
            function_name=name(it.function) or None,
            file_path=path(it.path) or None,
            line_number=it.line or None,
        )
        for it in threads[:SHOWN]
    ]
