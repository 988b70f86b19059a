"""Workarounds for debugpy's late `continued` events, and for adapters that show old values after `setVariable`.

debugpy resumes all threads and reports it once, when the first has left. A thread that leaves only after another has
stopped again makes it report a second time, though all are stopped by then; and since it has reported that they left
this stop, it leaves the `continue` from it unanswered.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import msgspec
from msgspec import UNSET

from dragoman.debug.backends.port import make_response
from dragoman.protocols.dap import Response


class LateContinues:
    """Tells a late `continued` of debugpy from a real one. Debuggees are named by their slots."""

    def __init__(self) -> None:
        self._stopped: set[int] = set()
        self._silent: set[int] = set()

    def stopped(self, debuggee: int) -> None:
        self._stopped.add(debuggee)
        self._silent.discard(debuggee)

    def is_late(self, debuggee: int) -> bool:
        """Whether a `continued` of this moment belongs to a stop before: nobody has sent the member on from this."""
        if debuggee not in self._stopped:
            return False
        self._silent.add(debuggee)
        return True

    def mark_resumed(self, debuggee: int) -> None:
        self._stopped.discard(debuggee)

    def mark_refused(self, debuggee: int) -> None:
        self._stopped.add(debuggee)

    def answers(self, debuggee: int, command: str) -> bool:
        """Whether it will; a step is answered in any case."""
        return command != "continue" or debuggee not in self._silent

    def left(self, debuggee: int) -> None:
        self._stopped.discard(debuggee)
        self._silent.discard(debuggee)


class ChangedValues:
    """Values that were set at this stop, by the reference of their container."""

    def __init__(self) -> None:
        self._by_holder: dict[int, dict[str, dict[str, Any]]] = {}

    def forget(self) -> None:
        self._by_holder.clear()

    def correct(self, command: str, arguments: Mapping[str, Any], response: Response) -> Response:
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
        return make_response("variables", {**body, "variables": listed})
