"""The tools as chat agents see them: a port, because a domain does not import `tools`. A call that is refused for
lack of trust asks the person of the conversation.
"""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Mapping, Sequence
from typing import Any, NamedTuple, Protocol

from dragoman.chat.runs import AgentRequest
from dragoman.core.localization import Language

_FOLDERS_ASKED = 4
"""A program, its interpreter and its tasks may each be in another folder."""


class ToolDescription(NamedTuple):
    name: str
    description: str
    schema: Mapping[str, Any]
    """JSON Schema of the arguments."""
    reads_only: bool = False


class ToolAnswer(NamedTuple):
    text: str
    """The text for the reader. Output of programs and terminals is marked as data in it."""
    data: Mapping[str, Any]
    is_error: bool = False


class ChatToolbox(Protocol):
    def offers(self) -> Sequence[ToolDescription]: ...

    async def call(
        self, name: str, arguments: Mapping[str, Any], *, by: str, workspace: str, language: Language
    ) -> ToolAnswer:
        """Call a tool.

        A mistake of the caller is an answer, never an exception. No workspace means the daemon's own.
        """
        ...


class TrustPrompt(Protocol):
    async def ask(self, request: AgentRequest, folder: str, tool: str) -> bool:
        """Ask the person to trust the folder; returns whether it is trusted now.

        `tool` is what an agent needs it for; empty if the person called.
        """
        ...


async def call_with_trust(
    call: Callable[[], Awaitable[ToolAnswer]], request: AgentRequest, trust_prompt: TrustPrompt | None, tool: str = ""
) -> ToolAnswer:
    """Make one call, and repeat it if the person trusts the folders that its refusal names.

    Only a person at the page or in the editor is asked, and only once per folder.
    """
    answer = await call()
    if trust_prompt is None or not request.is_person:
        return answer
    named: list[str] = []
    while (folder := _untrusted_folder(answer)) and folder not in named and len(named) < _FOLDERS_ASKED:
        named.append(folder)
        if not await trust_prompt.ask(request, folder, tool):
            break
        answer = await call()
    return answer


def _untrusted_folder(answer: ToolAnswer) -> str:
    if answer.data.get("code") != "needs_trust":
        return ""
    folder = (answer.data.get("details") or {}).get("folder")
    return folder if isinstance(folder, str) else ""
