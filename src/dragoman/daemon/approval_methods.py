"""What waits for a person's approval in the chat, at the command line: read by anybody, answered at a terminal."""

from __future__ import annotations

import os
from collections.abc import AsyncIterator, Callable, Collection, Mapping
from dataclasses import dataclass
from typing import Any

import anyio.to_thread

from dragoman.chat.approvals import Approvals
from dragoman.daemon.control import CALLING_PROCESS, Method, Params
from dragoman.errors import DragomanError
from dragoman.gateway.methods import wanted_approval
from dragoman.phrases import say
from dragoman.transport.foreground import is_below, is_in_foreground, program_of


@dataclass(frozen=True, slots=True)
class ApprovalMethods:
    approvals: Approvals
    agents: Callable[[], Collection[int]]
    """The processes by which MCP clients are connected now."""

    def table(self) -> Mapping[str, Method]:
        return {"approvals": self._list, "approval_answer": self._answer}

    async def _list(self, _: Params) -> AsyncIterator[Any]:
        """`may_answer` spares who may not the question."""
        waiting = [wanted_approval(it) for it in self.approvals.waiting()]
        try:
            await self._require_person()
        except DragomanError:
            yield {"approvals": waiting, "may_answer": False}
        else:
            yield {"approvals": waiting, "may_answer": True}

    async def _answer(self, params: Params) -> AsyncIterator[Any]:
        """Nothing that the caller says of itself counts: the kernel says who it is, and where it runs."""
        await self._require_person()
        allowed = params.get("decision") == "allow"
        yield {"counted": self.approvals.answer(str(params.get("id", "")), allowed=allowed, by_person=True)}

    async def _require_person(self) -> None:
        await anyio.to_thread.run_sync(require_person, CALLING_PROCESS.get(), self.agents())


def require_person(pid: int, agents: Collection[int] = ()) -> None:
    """Agents' terminals and the programs that they debug are the daemon's own descendants; a shell that an agent has
    besides, also with a terminal around it, is below the program that connected."""
    programs = (program for agent in agents if (program := program_of(agent)))
    if any(is_below(pid, program) for program in (os.getpid(), *programs)):
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
