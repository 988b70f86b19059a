"""Trust that a call lacks: asked of the person whose conversation it is, where the call was refused."""

from __future__ import annotations

from collections.abc import Awaitable, Callable
from typing import Protocol

from dragoman.chat.runs import Question
from dragoman.chat.toolbox import ToolAnswer

_FOLDERS_ASKED = 4
"""A program, its interpreter and its tasks may each lie in another folder."""


class Trusting(Protocol):
    async def ask(self, asked: Question, folder: str, tool: str) -> bool:
        """Whether the person has now said that what the folder holds may run. `tool` is what an agent wants to use it
        for; empty where the person called it themselves."""
        ...


async def call_with_trust(
    call: Callable[[], Awaitable[ToolAnswer]], asked: Question, trusting: Trusting | None, tool: str = ""
) -> ToolAnswer:
    """One call, also where it waits for the person's word: a refusal that they lift is no failure. Only who asked in
    the page or the editor is asked back, for the very folders that the refusals name, and for each once."""
    answer = await call()
    if trusting is None or not asked.is_person:
        return answer
    named: list[str] = []
    while (folder := _untrusted(answer)) and folder not in named and len(named) < _FOLDERS_ASKED:
        named.append(folder)
        if not await trusting.ask(asked, folder, tool):
            break
        answer = await call()
    return answer


def _untrusted(answer: ToolAnswer) -> str:
    if answer.data.get("code") != "needs_trust":
        return ""
    folder = (answer.data.get("details") or {}).get("folder")
    return folder if isinstance(folder, str) else ""
