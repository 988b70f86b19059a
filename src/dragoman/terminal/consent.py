"""Asks the person at a terminal whether a command may run there.

Only the shell wrapper of that terminal can grant it. There is one open request per terminal. A verdict counts only
for the open request, and only from the link that received it: a second connection cannot answer for the person at the
first.
"""

from __future__ import annotations

import secrets
from collections import defaultdict
from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Literal, Protocol, get_args

import anyio

RunVerdict = Literal["accepted", "refused", "no_answer", "cannot"]
_VERDICTS: dict[str, RunVerdict] = {it: it for it in get_args(RunVerdict)}


@dataclass(frozen=True, slots=True)
class RunRequest:
    """A command that an agent wants to run in a person's terminal."""

    id: str
    terminal: str
    command: str
    by: str


class WrapperLink(Protocol):
    """The connection of a shell wrapper."""

    def put(self, request: RunRequest) -> None: ...

    def withdraw(self, request: RunRequest) -> None: ...


@dataclass(slots=True)
class _OpenRequest:
    request: RunRequest
    link: WrapperLink
    settled: anyio.Event = field(default_factory=anyio.Event)
    verdict: RunVerdict = "no_answer"

    def settle(self, verdict: RunVerdict) -> None:
        self.verdict = verdict
        self.settled.set()


class ConsentBroker:
    """Asks wrappers for consent, one request per terminal at a time. It never runs anything itself."""

    def __init__(self, new_id: Callable[[], str] = lambda: secrets.token_hex(16)) -> None:
        self._new_id = new_id
        self._links: dict[str, WrapperLink] = {}
        self._open: dict[str, _OpenRequest] = {}
        self._turns: defaultdict[str, anyio.Lock] = defaultdict(anyio.Lock)

    def register_link(self, terminal_id: str, link: WrapperLink) -> None:
        """Register a link. The newest link is the one that the person sits at."""
        if self._links.get(terminal_id) is not link:
            self._abandon(terminal_id)
            self._links[terminal_id] = link

    def unregister_link(self, terminal_id: str, link: WrapperLink) -> None:
        if self._links.get(terminal_id) is link:
            del self._links[terminal_id]
            self._abandon(terminal_id)
            if not self._turns[terminal_id].locked():
                del self._turns[terminal_id]

    def can_ask(self, terminal_id: str) -> bool:
        return terminal_id in self._links

    async def ask_to_run(self, terminal_id: str, command: str, *, by: str, within_s: float) -> RunVerdict:
        """Wait until the person answers, the wrapper disconnects, or the time is up; then the request is withdrawn."""
        if terminal_id not in self._links:
            return "cannot"
        with anyio.move_on_after(within_s):
            async with self._turns[terminal_id]:
                return await self._ask(terminal_id, command, by)
        return "no_answer"

    def answered(self, link: WrapperLink, request_id: str, reply: str) -> bool:
        """Whether this answers an open request of that link."""
        for question in self._open.values():
            if question.link is link and secrets.compare_digest(question.request.id.encode(), request_id.encode()):
                question.settle(_VERDICTS.get(reply, "refused"))
                return True
        return False

    async def _ask(self, terminal_id: str, command: str, by: str) -> RunVerdict:
        link = self._links.get(terminal_id)
        if link is None:
            return "cannot"
        question = self._open[terminal_id] = _OpenRequest(RunRequest(self._new_id(), terminal_id, command, by), link)
        try:
            link.put(question.request)
            await question.settled.wait()
            return question.verdict
        finally:
            if self._open.get(terminal_id) is question:
                del self._open[terminal_id]
            if not question.settled.is_set():
                link.withdraw(question.request)

    def _abandon(self, terminal_id: str) -> None:
        question = self._open.pop(terminal_id, None)
        if question is not None:
            question.settle("no_answer")
