"""What several debuggers say of one breakpoint: it is bound when one of them has bound it."""

from __future__ import annotations

import itertools
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

Answer = Mapping[str, Any]  # a DAP breakpoint


@dataclass(slots=True)
class _Entry:
    """A breakpoint that was asked for: our number, and each member's own with what it last said."""

    number: int
    said: dict[tuple[int, int | None], Answer] = field(default_factory=dict)

    def told(self) -> dict[str, Any]:
        best = next((it for it in self.said.values() if it.get("verified")), None)
        worded = next((it for it in self.said.values() if it.get("message")), None)
        chosen = best or worded or next(iter(self.said.values()), {"verified": False})
        return {**chosen, "id": self.number}


class MemberBreakpoints:
    """Entries by list: a file's path, or the command of a list that is not a file's."""

    def __init__(self) -> None:
        self._numbers = itertools.count(1)
        self._lists: dict[str, list[_Entry]] = {}

    def asked(self, key: str, count: int) -> None:
        """A list replaces the one before it."""
        self._lists[key] = [_Entry(next(self._numbers)) for _ in range(count)]

    def answered(self, key: str, member: int, answers: Sequence[Answer]) -> None:
        for entry, answer in zip(self._lists.get(key, ()), answers, strict=False):
            entry.said[member, _id_of(answer)] = answer

    def told(self, key: str) -> list[dict[str, Any]]:
        return [entry.told() for entry in self._lists.get(key, ())]

    def all_told(self) -> list[dict[str, Any]]:
        return [told for key in self._lists for told in self.told(key)]

    def changed(self, member: int, answer: Answer) -> dict[str, Any] | None:
        """After a `breakpoint` event: what is to be told, if it is one of ours."""
        number = _id_of(answer)
        entry = self._entry(member, number)
        if entry is None:
            return None
        before, said = entry.told(), entry.said[member, number]
        entry.said[member, number] = {**_without_reason(said), **answer}
        return entry.told() if entry.told() != before else None

    def left(self, member: int) -> None:
        for entry in itertools.chain.from_iterable(self._lists.values()):
            entry.said = {key: answer for key, answer in entry.said.items() if key[0] != member}

    def number(self, member: int, theirs: int) -> int | None:
        entry = self._entry(member, theirs)
        return entry.number if entry else None

    def _entry(self, member: int, theirs: int | None) -> _Entry | None:
        """None also where it gave several the same id, as js-debug does in a list that it is sent again: then the id
        tells nothing."""
        entries = itertools.chain.from_iterable(self._lists.values())
        found = [entry for entry in entries if (member, theirs) in entry.said] if theirs is not None else []
        return found[0] if len(found) == 1 else None


def _id_of(answer: Answer) -> int | None:
    number = answer.get("id")
    return number if isinstance(number, int) else None


def _without_reason(said: Answer) -> Answer:
    """Why it was not bound is over once it is; a reason that still holds is told again."""
    return {name: value for name, value in said.items() if name != "message"}
