"""Approvals: a person is asked before an agent writes or runs something that was not approved in this conversation."""

from __future__ import annotations

import json
from collections import OrderedDict
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextvars import ContextVar
from dataclasses import dataclass, field
from hashlib import sha256
from typing import Any, Literal

import anyio

from dragoman.chat.errors import approval_needs_person, not_approved
from dragoman.core.ids import new_id
from dragoman.core.safe_text import escape_invisible

ANSWERED_WITHIN_S = 300.0
APPROVED_AT_MOST = 1_000
"""Over all conversations. The oldest approvals are dropped, and asked for again."""
_SUBJECT_CHARACTERS = 20_000


@dataclass(frozen=True, slots=True)
class PendingApproval:
    """What an agent wants to do, in the words that the person decides on."""

    id: str
    session_key: str
    run_id: str
    tool: str
    subject: str
    kind: Literal["tool", "trust"] = "tool"
    """Only a person may trust a folder, whoever else may answer for tools."""


WaitCallback = Callable[[str], None]


def _ignore_wait(_: str) -> None:
    pass


@dataclass(slots=True, eq=False)
class _OpenApproval:
    wanted: PendingApproval
    answered: anyio.Event = field(default_factory=anyio.Event)
    allowed: bool = False


def _shown_subject(subject: str) -> str:
    """The subject as it is shown.

    Characters that reverse the text direction or hide text are shown by their code. A very long subject shows both ends
    and how much is left out, so nothing can hide behind its length.
    """
    half = _SUBJECT_CHARACTERS // 2
    left = len(subject) - 2 * half
    return escape_invisible(subject if left <= 0 else f"{subject[:half]} […{left} characters…] {subject[-half:]}")


@dataclass(slots=True)
class StartApproval:
    """One tool call of an agent that may start programs, and which of them nobody has approved yet."""

    is_approved: Callable[[str], bool]
    """Takes the digest of everything that would run."""
    wanted: tuple[str, str] | None = None
    """What would run, as a person reads it, and its digest."""
    variables: dict[str, str] = field(default_factory=dict)
    """The values that an editor was asked for: asked once, even if the call is repeated after an approval."""
    covered: set[str] = field(default_factory=set)
    """Digests of starts that were approved together with others of this call."""

    def require(self, would_run: Sequence[Mapping[str, Any]], digests: Sequence[str]) -> None:
        if all(it in self.covered or self.is_approved(it) for it in digests):
            return
        together = digests[0] if len(digests) == 1 else sha256("".join(digests).encode()).hexdigest()
        if not self.is_approved(together):
            self.wanted = (_start_lines(would_run), together)
            raise not_approved()
        self.covered.update(digests)


CURRENT_START: ContextVar[StartApproval | None] = ContextVar("start", default=None)
"""The call that a program is started for.

A context variable, because the tools between an agent and the debugger know nothing about approvals.
"""


def require_approved(would_run: Sequence[Mapping[str, Any]], digests: Sequence[str]) -> None:
    """Check a start at the last moment before it happens; for several at once, before the first.

    Calls that do not come from one of Dragoman's own agents pass.
    """
    start = CURRENT_START.get()
    if start is not None:
        start.require(would_run, digests)


def start_description(would_run: Sequence[Mapping[str, Any]]) -> str:
    """Everything that a start would run, as a person decides on it."""
    return _shown_subject(_start_lines(would_run))


def _start_lines(would_run: Sequence[Mapping[str, Any]]) -> str:
    """One line for each thing that would run, and below it whatever changes its behaviour."""
    return "\n".join(line for one in would_run for line in _program_lines(one))


def _program_lines(one: Mapping[str, Any]) -> Iterator[str]:
    yield f"{one.get('what', '')} {json.dumps(one.get('name', ''), ensure_ascii=False)}: {one.get('line', '')}"
    for key, value in one.items():
        if key not in {"what", "name", "line"}:
            yield f"    {key}: {value if isinstance(value, str) else json.dumps(value, ensure_ascii=False)}"


class Approvals:
    """The open questions to a person, and what was approved. No answer within five minutes means no."""

    def __init__(
        self,
        on_requested: Callable[[PendingApproval], None],
        settled: Callable[[PendingApproval, bool], None] = lambda *_: None,
        *,
        within_s: float = ANSWERED_WITHIN_S,
    ) -> None:
        """`settled` is called at the end of every question: answered, timed out, or its run was stopped."""
        self._on_requested = on_requested
        self._on_resolved = settled
        self._within_s = within_s
        self._open: dict[str, _OpenApproval] = {}
        self._approved: OrderedDict[tuple[str, str, bytes], None] = OrderedDict()

    def waiting(self) -> tuple[PendingApproval, ...]:
        return tuple(it.wanted for it in self._open.values())

    async def ask(
        self,
        session_key: str,
        run_id: str,
        tool: str,
        subject: str,
        lasts: bool = True,
        *,
        on_wait: WaitCallback = _ignore_wait,
    ) -> bool:
        """`on_wait` is called with the subject once a person is asked."""
        approved = (session_key, tool, sha256(subject.encode(errors="replace")).digest())
        if approved in self._approved:
            return True
        wanted = PendingApproval(new_id("approval"), session_key, run_id, _shown_subject(tool), _shown_subject(subject))
        allowed = await self._wait_for_answer(wanted, on_wait)
        if allowed and lasts:
            self._remember(approved)
        return allowed

    async def ask_start(
        self,
        session_key: str,
        run_id: str,
        tool: str,
        would_run: str,
        digest: str,
        *,
        on_wait: WaitCallback = _ignore_wait,
    ) -> bool:
        """Ask about a start. The approval is for the content that runs, whatever the tool."""
        wanted = PendingApproval(
            new_id("approval"), session_key, run_id, _shown_subject(tool), _shown_subject(would_run)
        )
        allowed = await self._wait_for_answer(wanted, on_wait)
        if allowed:
            self._remember(_start_key(session_key, digest))
        return allowed

    def is_start_approved(self, session_key: str, digest: str) -> bool:
        return _start_key(session_key, digest) in self._approved

    def _remember(self, approved: tuple[str, str, bytes]) -> None:
        self._approved[approved] = None
        while len(self._approved) > APPROVED_AT_MOST:
            self._approved.popitem(last=False)

    async def ask_trust(self, session_key: str, run_id: str, folder: str, tool: str = "") -> bool:
        """Ask for trust, each time anew: an approval for a tool never counts as trust.

        `tool` is what an agent needs the folder for; empty if the person needs it.
        """
        return await self._wait_for_answer(
            PendingApproval(new_id("approval"), session_key, run_id, _shown_subject(tool), folder, "trust")
        )

    async def _wait_for_answer(self, wanted: PendingApproval, on_wait: WaitCallback = _ignore_wait) -> bool:
        pending = self._open[wanted.id] = _OpenApproval(wanted)
        try:
            self._on_requested(wanted)
            on_wait(wanted.subject)
            with anyio.move_on_after(self._within_s):
                await pending.answered.wait()
        finally:
            del self._open[wanted.id]
            self._on_resolved(wanted, pending.allowed)
        return pending.allowed

    def forget(self, session_key: str) -> None:
        """Drop the approvals of an erased conversation."""
        for approved in [it for it in self._approved if it[0] == session_key]:
            del self._approved[approved]

    def answer(self, id: str, *, allowed: bool, by_person: bool = False) -> bool:
        """Answer a question. Returns whether it was still open: the first answer counts, and trust needs a person."""
        pending = self._open.get(id)
        if pending is None or pending.answered.is_set():
            return False
        if pending.wanted.kind == "trust" and not by_person:
            raise approval_needs_person()
        pending.allowed = allowed
        pending.answered.set()
        return True


def _start_key(session_key: str, digest: str) -> tuple[str, str, bytes]:
    """The key of an approved start. It cannot collide with a tool's, because no tool has an empty name."""
    return session_key, "", bytes.fromhex(digest)
