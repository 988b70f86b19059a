"""Numbers of several debuggers as one program's: no two members' threads, frames or variables are taken for another's.

Threads are shown to people and stay as they are where they can. Frames and references are ours to hand out anyway
(`handles`), so a member's place is simply added to them: the first member's stay the same, and cost nothing.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from dragoman.debug.threads import KNOWN_AT_MOST
from dragoman.errors import RemoteProtocolError

SPAN = 1 << 40  # above any adapter's own numbers, and 8,192 members below what JSON readers take as whole
_REFERENCES = frozenset({"variablesReference", "sourceReference"})  # zero means "none" in these
_FRAME = "frameId"


class Threads:
    """Both ways between a member's threads and ours. Ours is never 0, which too many take for "no thread"."""

    def __init__(self) -> None:
        self._ours: dict[tuple[int, int], int] = {}
        self._theirs: dict[int, tuple[int, int]] = {}
        self._last = 0

    def ours(self, member: int, theirs: int) -> int:
        key = (member, theirs)
        if key not in self._ours:
            if len(self._ours) >= KNOWN_AT_MOST:
                raise RemoteProtocolError("too_many_threads", f"More than {KNOWN_AT_MOST} threads are told of.")
            number = theirs if theirs > 0 and theirs not in self._theirs else self._free()
            self._ours[key], self._theirs[number] = number, key
            self._last = max(self._last, number)
        return self._ours[key]

    def theirs(self, ours: int) -> tuple[int, int] | None:
        """The member and its own number; None for a thread that was never told."""
        return self._theirs.get(ours)

    def of(self, member: int) -> list[int]:
        return [ours for ours, (owner, _) in self._theirs.items() if owner == member]

    def numbers(self, member: int) -> dict[int, int]:
        """Our numbers by the member's own."""
        return {theirs: ours for ours, (owner, theirs) in self._theirs.items() if owner == member}

    def forget(self, ours: int) -> None:
        key = self._theirs.pop(ours, None)
        if key is not None:
            del self._ours[key]

    def _free(self) -> int:
        return self._last + 1


def raised(value: Any, member: int, *, frames: bool = False) -> Any:
    """A body with the member's place added to its references, and to its frames' ids where it is a stack."""
    if isinstance(value, list):
        return [raised(item, member, frames=frames) for item in value]
    if not isinstance(value, dict):
        return value
    return {key: _raised_field(key, item, member, frames=frames) for key, item in value.items()}


def _raised_field(key: str, item: Any, member: int, *, frames: bool) -> Any:
    if isinstance(item, int):
        is_reference = key in _REFERENCES and item != 0
        is_frame = key == _FRAME or (frames and key == "id")
        return item + member * SPAN if is_reference or is_frame else item
    return raised(item, member, frames=frames and key == "stackFrames")


def named_member(arguments: Mapping[str, Any]) -> int | None:
    """Whose frame or reference a request names; None where it names none."""
    for key, value in arguments.items():
        if isinstance(value, int) and (key == _FRAME or (key in _REFERENCES and value)):
            return value // SPAN
        if key == "source" and isinstance(value, dict) and value.get("sourceReference"):
            return int(value["sourceReference"]) // SPAN
    return None


def lowered(arguments: Mapping[str, Any]) -> dict[str, Any]:
    """The arguments in the member's own numbers."""
    return {key: _lowered_field(key, value) for key, value in arguments.items()}


def _lowered_field(key: str, value: Any) -> Any:
    if isinstance(value, int) and key in _REFERENCES | {_FRAME}:
        return value % SPAN
    return lowered(value) if key == "source" and isinstance(value, dict) else value
