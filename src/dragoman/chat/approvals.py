"""Leave to act: asked of a person before an agent writes or runs what was not approved in this conversation."""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import Any

import anyio

from dragoman.ids import new_id

ANSWERED_WITHIN_S = 300.0
_SUBJECT = 2_000


@dataclass(frozen=True, slots=True)
class Wanted:
    """What an agent wants to do, in the words that the person decides on."""

    id: str
    session_key: str
    run_id: str
    tool: str
    subject: str


@dataclass(slots=True, eq=False)
class _Open:
    wanted: Wanted
    answered: anyio.Event = field(default_factory=anyio.Event)
    allowed: bool = False


def subject_of(tool: str, arguments: Mapping[str, Any]) -> str | None:
    """What is run or written, as one text; None where nothing is. What is not listed here changes only the session."""
    names = _SUBJECTS.get(tool)
    if names is None:
        return None
    given = {name: arguments[name] for name in names if arguments.get(name)}
    text = given["command"] if set(given) == {"command"} else json.dumps(given, ensure_ascii=False, sort_keys=True)
    return f"{text}"[:_SUBJECT]


_SUBJECTS: Mapping[str, tuple[str, ...]] = {
    "start_debugging": ("configuration_name", "configuration", "program", "args", "cwd", "env", "stdin"),
    "run_in_terminal": ("command", "input", "terminal", "cwd"),
}


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
        self._approved: set[tuple[str, str, str]] = set()

    def waiting(self) -> tuple[Wanted, ...]:
        return tuple(it.wanted for it in self._open.values())

    async def ask(self, session_key: str, run_id: str, tool: str, subject: str) -> bool:
        if (session_key, tool, subject) in self._approved:
            return True
        asked = _Open(Wanted(new_id("approval"), session_key, run_id, tool, subject))
        self._open[asked.wanted.id] = asked
        try:
            self._told(asked.wanted)
            with anyio.move_on_after(self._within_s):
                await asked.answered.wait()
        finally:
            del self._open[asked.wanted.id]
            self._settled(asked.wanted, asked.allowed)
        if asked.allowed:
            self._approved.add((session_key, tool, subject))
        return asked.allowed

    def answer(self, id: str, *, allowed: bool) -> bool:
        """Whether it still waited: the first answer counts."""
        asked = self._open.get(id)
        if asked is None or asked.answered.is_set():
            return False
        asked.allowed = allowed
        asked.answered.set()
        return True
