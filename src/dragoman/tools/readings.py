"""What can be read without being an operation: texts of a caller's own workspace, each under a name."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Protocol

from dragoman.phrases import Phrase
from dragoman.tools.operation import Caller


@dataclass(frozen=True, slots=True)
class Subject:
    """One that has texts: `id` names it in an address, `title` is what a person calls it, made visible and short."""

    id: str
    title: str
    state: str


@dataclass(frozen=True, slots=True)
class Kind:
    name: str
    title: Phrase
    description: Phrase


class Readings(Protocol):
    """Only of the caller's workspace; whatever lies elsewhere is unknown."""

    @property
    def kinds(self) -> tuple[Kind, ...]: ...

    def subjects(self, caller: Caller) -> list[Subject]: ...

    async def read(self, caller: Caller, subject_id: str, kind: str) -> str:
        """The text, at most so long that an agent can take it; a DragomanError where there is none."""
        ...
