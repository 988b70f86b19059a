"""An unmodified runtime that may load no code (`UseLoadstring` is "0"): what its own commands give, and no more.

Names such as `a.b.c` can be looked at, not expressions; fields of tables cannot be set; frames have no function names,
and in a recursion all show the innermost call. What would pass for success and is none is refused.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import Any

from dragoman.debug.backend import AdapterRefusedError
from dragoman.phrases import Phrase, say
from dragoman.transport.luapanda_driver import LuaPandaDriver
from dragoman.wire.luapanda import Variable, read_assignment, read_variables

_LOCALS, _GLOBALS, _UPVALUES = 10_000, 20_000, 30_000
_NAMES = re.compile(r"[A-Za-z_]\w*(?:\.[A-Za-z_]\w*)*")


class Bare:
    def __init__(self, driver: LuaPandaDriver) -> None:
        self._driver = driver
        self._children: dict[int, list[dict[str, Any]]] = {}
        self._serve = {
            "scopes": self._scopes,
            "variables": self._variables,
            "evaluate": self._evaluate,
            "assign": self._assign,
        }

    def forget(self) -> None:
        """References die at every stop."""
        self._children = {}

    async def ask(self, cmd: str, info: Mapping[str, Any], *, timeout_s: float) -> dict[str, Any]:
        if cmd not in self._serve:
            raise _cannot(cmd, say("This Lua runtime may load no code, and has no command for that."))
        return await self._serve[cmd](info, timeout_s)

    async def _scopes(self, info: Mapping[str, Any], _: float) -> dict[str, Any]:
        frame = int(info["frame"])
        starts = {"locals": _LOCALS + frame, "upvalues": _UPVALUES + frame, "globals": _GLOBALS}
        return {"scopes": [{"name": name, "reference": reference} for name, reference in starts.items()]}

    async def _variables(self, info: Mapping[str, Any], timeout_s: float) -> dict[str, Any]:
        """An expansion always lists everything: it is asked for once a stop."""
        reference, start = int(info["reference"]), int(info.get("start") or 0)
        if reference not in self._children:
            asked = {"varRef": reference, "stackId": _frame_of(reference)}
            found = read_variables(await self._driver.ask("getVariable", asked, timeout_s=timeout_s))
            self._children[reference] = [_told(each, at) for at, each in enumerate(found, 1)]
        every = self._children[reference]
        page = every[start : start + int(info.get("count") or 100)]
        return {"variables": page, "more": start + len(page) < len(every)}

    async def _evaluate(self, info: Mapping[str, Any], timeout_s: float) -> dict[str, Any]:
        expression = str(info["expression"]).strip()
        if _NAMES.fullmatch(expression) is None:
            why = say("This Lua runtime may load no code: only names such as `a.b.c` can be asked.")
            raise _cannot("evaluate", why)
        asked = {"varName": expression, "stackId": int(info.get("frame") or 2)}
        found = read_variables(await self._driver.ask("getWatchedVariable", asked, timeout_s=timeout_s))
        if not found or not found[0].is_success:
            raise _cannot("evaluate", say("There is no {name} here.", name=expression))
        return {"results": [_told(found[0], 1)]}

    async def _assign(self, info: Mapping[str, Any], timeout_s: float) -> dict[str, Any]:
        reference, position = int(info["reference"]), int(info["position"])
        if reference < _LOCALS:
            raise _cannot("assign", say("This Lua runtime would make a global of it: fields cannot be set here."))
        name = self._children.get(reference, [{}] * position)[position - 1].get("name", "")
        asked = {
            "varRef": reference,
            "stackId": _frame_of(reference),
            "newValue": str(info["expression"]),
            "varName": name,
        }
        done = read_assignment(await self._driver.ask("setVariable", asked, timeout_s=timeout_s))
        self._children.pop(reference, None)
        if not done.success:
            raise _cannot("assign", say("Not set: a text in quotes, a number, true, false, nil or a name is needed."))
        return {"name": name, "type": done.type, "value": str(info["expression"]), "reference": 0}


def _frame_of(reference: int) -> int:
    starts = (_UPVALUES, _GLOBALS, _LOCALS)
    start = next((each for each in starts if reference >= each), 0)
    return max(reference - start, 2) if start in (_LOCALS, _UPVALUES) else 2


def _told(each: Variable, position: int) -> dict[str, Any]:
    """String keys and values carry quotes of the runtime's own."""
    is_key = each.name.startswith('"') and each.name.endswith('"') and len(each.name) > 1
    value = each.value[1:-1] if each.type == "string" and each.value[:1] == '"' else each.value
    return {
        "name": each.name[1:-1] if is_key else each.name,
        "keyType": "string" if is_key else "",
        "type": each.type,
        "value": value,
        "reference": each.variables_reference,
        "position": position,
    }


def _cannot(cmd: str, why: Phrase) -> AdapterRefusedError:
    return AdapterRefusedError(cmd, str(why))
