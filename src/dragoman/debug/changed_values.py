"""Values that were set at a stop, for a debugger that goes on showing the old ones until the program runs again."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import msgspec
from msgspec import UNSET

from dragoman.debug.messages import answer
from dragoman.wire.dap import Response


class ChangedValues:
    """By the reference of what holds them, in our numbers."""

    def __init__(self) -> None:
        self._by_holder: dict[int, dict[str, dict[str, Any]]] = {}

    def forget(self) -> None:
        self._by_holder.clear()

    def seen(self, command: str, arguments: Mapping[str, Any], response: Response) -> Response:
        """The answer, corrected where it lists what was changed."""
        holder = arguments.get("variablesReference", 0)
        if command == "setVariable" and response.body is not UNSET:
            told = msgspec.json.decode(response.body, type=dict[str, Any])
            self._by_holder.setdefault(holder, {})[str(arguments.get("name"))] = told
        if command == "variables" and holder in self._by_holder and response.body is not UNSET:
            return self._corrected(holder, response)
        return response

    def _corrected(self, holder: int, response: Response) -> Response:
        changed = self._by_holder[holder]
        body = msgspec.json.decode(response.body, type=dict[str, Any])  # type: ignore[arg-type]
        listed = [{**it, **changed.get(it.get("name", ""), {})} for it in body.get("variables", ())]
        return answer("variables", {**body, "variables": listed})
