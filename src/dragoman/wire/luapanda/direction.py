"""Which end wrote a line, told by what it carries: captures often hold both directions."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Literal

from dragoman.wire.luapanda.messages import ANSWERED, NOTICES, STOPS

End = Literal["ide", "runtime"]

# Commands whose answer is an object too: a field that only the answer has.
_ANSWER_FIELDS = {"initSuccess": "debuggerVer", "setVariable": "success"}


def written_by(fields: Mapping[str, Any]) -> End | None:
    """None where it could be either. The runtime writes an empty table as a list, the IDE as an object."""
    cmd, info = fields.get("cmd"), fields.get("info")
    if "stack" in fields or isinstance(info, list) or cmd in NOTICES or cmd in STOPS - ANSWERED:
        return "runtime"
    if not isinstance(info, dict):
        return None
    return "runtime" if _ANSWER_FIELDS.get(str(cmd)) in info else "ide"
