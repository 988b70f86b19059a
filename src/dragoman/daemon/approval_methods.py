"""What waits for a person's approval in the chat, at the command line: read by anybody, answered at a terminal."""

from __future__ import annotations

import os
from collections.abc import AsyncIterator, Mapping
from dataclasses import dataclass
from typing import Any

import anyio.to_thread

from dragoman.chat.approvals import Approvals
from dragoman.daemon.control import CALLING_PROCESS, Method, Params
from dragoman.errors import DragomanError
from dragoman.gateway.methods import wanted_approval
from dragoman.phrases import say
from dragoman.transport.foreground import is_below, is_in_foreground


@dataclass(frozen=True, slots=True)
class ApprovalMethods:
    approvals: Approvals

    def table(self) -> Mapping[str, Method]:
        return {"approvals": self._list, "approval_answer": self._answer}

    async def _list(self, _: Params) -> AsyncIterator[Any]:
        """`may_answer` spares who may not the question."""
        waiting = [wanted_approval(it) for it in self.approvals.waiting()]
        try:
            await anyio.to_thread.run_sync(require_person, CALLING_PROCESS.get())
        except DragomanError:
            yield {"approvals": waiting, "may_answer": False}
        else:
            yield {"approvals": waiting, "may_answer": True}

    async def _answer(self, params: Params) -> AsyncIterator[Any]:
        """Nothing that the caller says of itself counts: the kernel says who it is, and where it runs."""
        await anyio.to_thread.run_sync(require_person, CALLING_PROCESS.get())
        allowed = params.get("decision") == "allow"
        yield {"counted": self.approvals.answer(str(params.get("id", "")), allowed=allowed, by_person=True)}


def require_person(pid: int) -> None:
    """Agents' terminals and the programs that they debug are the daemon's own descendants."""
    if is_below(pid, os.getpid()):
        raise DragomanError(
            "not_a_person",
            say("Approvals are given by a person, not in a terminal or program of an agent."),
            hint=say("Answer on the page, in the editor, or in a terminal of your own."),
        )
    if not is_in_foreground(pid):
        raise DragomanError(
            "no_terminal",
            say("Approvals are given in an interactive terminal."),
            hint=say("Answer on the page, in the editor, or with `dragoman approvals` in a terminal of your own."),
        )
