"""What targets ask of the client, such as to fill in a form: with ids and progress tokens that cannot collide."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from typing import Any

from dragoman.protocols.jsonrpc import Id, as_id

MAX_QUESTIONS = 32
"""Open ones per target."""


@dataclass(frozen=True, slots=True)
class OpenQuestion:
    target: int
    id: Id
    token: Any


class Questions:
    def __init__(self, targets: int) -> None:
        self._open: dict[Id, OpenQuestion] = {}
        self._targets = range(targets)

    def ask(self, target: int, message: Mapping[str, Any], new_id: Callable[[], int]) -> dict[str, Any] | None:
        """The question under an id of ours; None if the target has too many open."""
        question_id = as_id(message.get("id"))
        if question_id is None or sum(it.target == target for it in self._open.values()) >= MAX_QUESTIONS:
            return None
        number = new_id()
        params = message.get("params")
        meta = params.get("_meta") if isinstance(params, dict) else None
        token = meta.get("progressToken") if isinstance(meta, dict) else None
        self._open[number] = OpenQuestion(target, question_id, token)
        asked = {**message, "id": number}
        if token is not None and isinstance(params, dict) and isinstance(meta, dict):
            asked["params"] = {**params, "_meta": {**meta, "progressToken": number}}
        return asked

    def answered(self, number: Id) -> tuple[int, Id] | None:
        """Whose question this answers, and its id there; once."""
        found = self._open.pop(number, None)
        return (found.target, found.id) if found else None

    def progress(self, params: Mapping[str, Any]) -> Iterator[tuple[int, dict[str, Any]]]:
        number = as_id(params.get("progressToken"))
        found = self._open.get(number) if number is not None else None
        if found is not None and found.token is not None:
            yield found.target, {**params, "progressToken": found.token}

    def withdrawn(self, target: int, question_id: Id | None) -> Id | None:
        """Our id of a question that its target cancels."""
        number = next(
            (it for it, asked in self._open.items() if (asked.target, asked.id) == (target, question_id)), None
        )
        if number is not None:
            del self._open[number]
        return number
