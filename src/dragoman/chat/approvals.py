"""Leave to act: asked of a person before an agent writes or runs what was not approved in this conversation."""

from __future__ import annotations

import json
from collections import OrderedDict
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextvars import ContextVar
from dataclasses import dataclass, field
from hashlib import sha256
from typing import Any, Literal

import anyio

from dragoman.errors import DragomanError
from dragoman.ids import new_id
from dragoman.phrases import say
from dragoman.visible import spelled_out

ANSWERED_WITHIN_S = 300.0
APPROVED_AT_MOST = 1_000
"""Of all conversations; who comes back after so many others is asked again."""
_SUBJECT = 20_000


@dataclass(frozen=True, slots=True)
class Wanted:
    """What an agent wants to do, in the words that the person decides on."""

    id: str
    session_key: str
    run_id: str
    tool: str
    subject: str
    kind: Literal["tool", "trust"] = "tool"
    """Trust in a folder is a person's to give, whoever else may answer for tools."""


Waits = Callable[[str], None]


def _unseen(_: str) -> None:
    pass


@dataclass(slots=True, eq=False)
class _Open:
    wanted: Wanted
    answered: anyio.Event = field(default_factory=anyio.Event)
    allowed: bool = False


def _shown(subject: str) -> str:
    """What turns the direction of text round, or hides some, is shown by its code. Of a very long one both ends, and
    how much is not shown: nothing is hidden behind its length."""
    half = _SUBJECT // 2
    left = len(subject) - 2 * half
    return spelled_out(subject if left <= 0 else f"{subject[:half]} […{left} characters…] {subject[-half:]}")


@dataclass(slots=True)
class Start:
    """One call of an agent that may start programs, and what of them nobody has approved yet."""

    is_approved: Callable[[str], bool]
    """By the digest of all that would run."""
    wanted: tuple[str, str] | None = None
    """What would run, as a person reads it, and its digest."""
    variables: dict[str, str] = field(default_factory=dict)
    """What an editor was asked for: once, also where the call is made again after an approval."""
    covered: set[str] = field(default_factory=set)
    """Digests of starts that were approved together with others of this call."""

    def require(self, would_run: Sequence[Mapping[str, Any]], digests: Sequence[str]) -> None:
        if all(it in self.covered or self.is_approved(it) for it in digests):
            return
        together = digests[0] if len(digests) == 1 else sha256("".join(digests).encode()).hexdigest()
        if not self.is_approved(together):
            self.wanted = (_listed(would_run), together)
            raise _not_approved()
        self.covered.update(digests)


STARTING: ContextVar[Start | None] = ContextVar("start", default=None)
"""Which call a program is started for: the tools between an agent and the debugger know nothing of approvals."""


def require_approved(would_run: Sequence[Mapping[str, Any]], digests: Sequence[str]) -> None:
    """For who starts a program, at the last moment before it does, or several at once, before the first. Calls that are
    not an agent's of ours pass."""
    start = STARTING.get()
    if start is not None:
        start.require(would_run, digests)


def shown_start(would_run: Sequence[Mapping[str, Any]]) -> str:
    """All that a start would run, as a person decides on it."""
    return _shown(_listed(would_run))


def _listed(would_run: Sequence[Mapping[str, Any]]) -> str:
    """A line for each thing that would run, and below it whatever else decides what it does."""
    return "\n".join(line for one in would_run for line in _lines(one))


def _lines(one: Mapping[str, Any]) -> Iterator[str]:
    yield f"{one.get('what', '')} {json.dumps(one.get('name', ''), ensure_ascii=False)}: {one.get('line', '')}"
    for key, value in one.items():
        if key not in {"what", "name", "line"}:
            yield f"    {key}: {value if isinstance(value, str) else json.dumps(value, ensure_ascii=False)}"


class Approvals:
    """Owns the open questions. No answer in five minutes is no."""

    def __init__(
        self,
        told: Callable[[Wanted], None],
        settled: Callable[[Wanted, bool], None] = lambda *_: None,
        *,
        within_s: float = ANSWERED_WITHIN_S,
    ) -> None:
        """`settled` is told of every question's end: answered, too late, or its run was stopped."""
        self._told = told
        self._settled = settled
        self._within_s = within_s
        self._open: dict[str, _Open] = {}
        self._approved: OrderedDict[tuple[str, str, bytes], None] = OrderedDict()

    def waiting(self) -> tuple[Wanted, ...]:
        return tuple(it.wanted for it in self._open.values())

    async def ask(
        self, session_key: str, run_id: str, tool: str, subject: str, lasts: bool = True, *, waits: Waits = _unseen
    ) -> bool:
        """`waits` is told what a person is asked, once somebody is."""
        approved = (session_key, tool, sha256(subject.encode(errors="replace")).digest())
        if approved in self._approved:
            return True
        wanted = Wanted(new_id("approval"), session_key, run_id, _shown(tool), _shown(subject))
        allowed = await self._asked(wanted, waits)
        if allowed and lasts:
            self._keep(approved)
        return allowed

    async def ask_start(
        self, session_key: str, run_id: str, tool: str, would_run: str, digest: str, *, waits: Waits = _unseen
    ) -> bool:
        """Whatever the tool: leave is for what runs, by its content."""
        wanted = Wanted(new_id("approval"), session_key, run_id, _shown(tool), _shown(would_run))
        allowed = await self._asked(wanted, waits)
        if allowed:
            self._keep(_start_key(session_key, digest))
        return allowed

    def is_start_approved(self, session_key: str, digest: str) -> bool:
        return _start_key(session_key, digest) in self._approved

    def _keep(self, approved: tuple[str, str, bytes]) -> None:
        self._approved[approved] = None
        while len(self._approved) > APPROVED_AT_MOST:
            self._approved.popitem(last=False)

    async def ask_trust(self, session_key: str, run_id: str, folder: str, tool: str = "") -> bool:
        """Each time anew: no leave that was given for a tool, under whatever name, is taken for this one. `tool` is
        what an agent wants the folder for; empty where the person does."""
        return await self._asked(Wanted(new_id("approval"), session_key, run_id, _shown(tool), folder, "trust"))

    async def _asked(self, wanted: Wanted, waits: Waits = _unseen) -> bool:
        asked = self._open[wanted.id] = _Open(wanted)
        try:
            self._told(wanted)
            waits(wanted.subject)
            with anyio.move_on_after(self._within_s):
                await asked.answered.wait()
        finally:
            del self._open[wanted.id]
            self._settled(wanted, asked.allowed)
        return asked.allowed

    def forget(self, session_key: str) -> None:
        """Leave was given in a conversation that is no more."""
        for approved in [it for it in self._approved if it[0] == session_key]:
            del self._approved[approved]

    def answer(self, id: str, *, allowed: bool, by_person: bool = False) -> bool:
        """Whether it still waited: the first answer counts, and of trust a person's alone."""
        asked = self._open.get(id)
        if asked is None or asked.answered.is_set():
            return False
        if asked.wanted.kind == "trust" and not by_person:
            raise not_a_person()
        asked.allowed = allowed
        asked.answered.set()
        return True


def _start_key(session_key: str, digest: str) -> tuple[str, str, bytes]:
    """No tool has an empty name."""
    return session_key, "", bytes.fromhex(digest)


def _not_approved() -> DragomanError:
    return DragomanError(
        "needs_approval",
        say("Nothing was started: a person has not approved yet what would run."),
        hint=say("The person is asked in the chat."),
    )


def not_a_person() -> DragomanError:
    return DragomanError(
        "not_a_person",
        say("Approvals and trust are given by a person, not by a client of the gateway."),
        hint=say("Answer on the page or in the editor."),
    )
