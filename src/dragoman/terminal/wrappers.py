"""Shell wrappers that can ask their person whether a command may run; nothing else can grant it.

One question at a time in a terminal. An answer counts only for the question that is open, and only from the link it
was put to: a second connection cannot answer for the person in front of the first.
"""

from __future__ import annotations

import secrets
from collections import defaultdict
from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Literal, Protocol, get_args

import anyio

Verdict = Literal["accepted", "refused", "no_answer", "cannot"]
_VERDICTS: dict[str, Verdict] = {it: it for it in get_args(Verdict)}


@dataclass(frozen=True, slots=True)
class Wish:
    """A command that somebody wants to run in a person's terminal."""

    id: str
    terminal: str
    command: str
    by: str


class Link(Protocol):
    """A wrapper's connection."""

    def put(self, wish: Wish) -> None: ...

    def withdraw(self, wish: Wish) -> None: ...


@dataclass(slots=True)
class _Open:
    wish: Wish
    link: Link
    settled: anyio.Event = field(default_factory=anyio.Event)
    verdict: Verdict = "no_answer"

    def settle(self, verdict: Verdict) -> None:
        self.verdict = verdict
        self.settled.set()


class Wrappers:
    def __init__(self, new_id: Callable[[], str] = lambda: secrets.token_hex(16)) -> None:
        self._new_id = new_id
        self._links: dict[str, Link] = {}
        self._open: dict[str, _Open] = {}
        self._turns: defaultdict[str, anyio.Lock] = defaultdict(anyio.Lock)

    def arrived(self, terminal_id: str, link: Link) -> None:
        """The newest link is the one in front of which somebody sits."""
        if self._links.get(terminal_id) is not link:
            self._abandon(terminal_id)
            self._links[terminal_id] = link

    def left(self, terminal_id: str, link: Link) -> None:
        if self._links.get(terminal_id) is link:
            del self._links[terminal_id]
            self._abandon(terminal_id)
            if not self._turns[terminal_id].locked():
                del self._turns[terminal_id]

    def can_ask(self, terminal_id: str) -> bool:
        return terminal_id in self._links

    async def ask_to_run(self, terminal_id: str, command: str, *, by: str, within_s: float) -> Verdict:
        """Until the person answers, the wrapper leaves, or the time is over: then the question is taken back."""
        if terminal_id not in self._links:
            return "cannot"
        with anyio.move_on_after(within_s):
            async with self._turns[terminal_id]:
                return await self._ask(terminal_id, command, by)
        return "no_answer"

    def answered(self, link: Link, wish_id: str, said: str) -> bool:
        """Whether this was the answer to an open question of that link."""
        for question in self._open.values():
            if question.link is link and secrets.compare_digest(question.wish.id.encode(), wish_id.encode()):
                question.settle(_VERDICTS.get(said, "refused"))
                return True
        return False

    async def _ask(self, terminal_id: str, command: str, by: str) -> Verdict:
        link = self._links.get(terminal_id)
        if link is None:
            return "cannot"
        question = self._open[terminal_id] = _Open(Wish(self._new_id(), terminal_id, command, by), link)
        try:
            link.put(question.wish)
            await question.settled.wait()
            return question.verdict
        finally:
            if self._open.get(terminal_id) is question:
                del self._open[terminal_id]
            if not question.settled.is_set():
                link.withdraw(question.wish)

    def _abandon(self, terminal_id: str) -> None:
        question = self._open.pop(terminal_id, None)
        if question is not None:
            question.settle("no_answer")
