"""Clients for the three kinds of Lua runtime: our own, an unmodified LuaPanda with an injected helper, and one that
may load no code.
"""

from __future__ import annotations

import json
import re
from collections.abc import Mapping
from importlib import resources
from typing import Any, Protocol

from dragoman.core.errors import RemoteProtocolError
from dragoman.core.localization import LocalizedText, localize
from dragoman.debug.backends.port import AdapterRefusedError
from dragoman.io.drivers.luapanda_driver import LuaPandaDriver
from dragoman.protocols.luapanda import TOP_STACK_ID, LuaPandaVariable, read_assignment, read_variables

HELPER_GLOBAL = "__dragoman"
_INSTALL_TIMEOUT_S = 10.0
_HELPER_PARTS = ("text", "frames", "values", "expressions", "breakpoints", "errors", "install")

_ESCAPED_BYTES = re.compile(rb"[^A-Za-z0-9 !#$%&'()*+,\-./:;<=>?@\[\]^_`{}~]")


def lua_string(text: str) -> str:
    """Only printable ASCII; everything else as `\\ddd`, which every Lua reads alike."""
    data = text.encode("utf-8", "surrogateescape")
    return '"' + _ESCAPED_BYTES.sub(lambda found: b"\\%03d" % found[0][0], data).decode("ascii") + '"'


def lua_value(value: Any) -> str:
    if value is None or isinstance(value, bool):
        return "nil" if value is None else str(value).lower()
    if isinstance(value, int):
        return str(value)
    if isinstance(value, str):
        return lua_string(value)
    if isinstance(value, Mapping):
        return "{" + ",".join(f"[{lua_value(key)}]={lua_value(item)}" for key, item in value.items()) + "}"
    return "{" + ",".join(lua_value(item) for item in value) + "}"


_CHANGING_COMMANDS = frozenset({"evaluate", "assign"})


class RuntimeClient(Protocol):
    """Sends the requests of Dragoman's protocol extension to a stopped program, whatever kind of runtime answers."""

    async def ask(self, cmd: str, info: Mapping[str, Any], *, timeout_s: float) -> dict[str, Any]:
        """The answer's info. Raises `AdapterRefusedError` with the program's or the runtime's own words."""
        ...


class ExtendedRuntimeClient:
    """Our own runtime, which answers the extension's requests itself."""

    def __init__(self, driver: LuaPandaDriver) -> None:
        self._driver = driver

    async def ask(self, cmd: str, info: Mapping[str, Any], *, timeout_s: float) -> dict[str, Any]:
        answer = await self._driver.ask(cmd, info, timeout_s=timeout_s)
        return check_result(cmd, answer.info or {})


class HelperClient:
    """An unmodified LuaPanda with an injected helper: one REPL request of LuaPanda for each request of ours."""

    def __init__(self, driver: LuaPandaDriver) -> None:
        self._driver = driver
        self._stop = 0
        self._coroutine = ""
        self._known: dict[tuple[str, int], dict[str, Any]] = {}

    async def install(self) -> dict[str, Any]:
        """In code that is loaded from a string: what is written into the expression itself has no true globals."""
        loaded = f'(loadstring or load)({lua_string(helper_source())})(LuaPanda,"{HELPER_GLOBAL}")'
        return await self._run("install", loaded, timeout_s=_INSTALL_TIMEOUT_S)

    async def read_stop(self, stop: int, *, timeout_s: float) -> dict[str, Any]:
        """Reads the stop with this number first. Later questions about its innermost frame are answered from it."""
        self._stop, self._known = stop, {}
        found = await self.ask("look", {}, timeout_s=timeout_s)
        if not isinstance(found.get("frames"), list) or not isinstance(found.get("depth"), int):
            raise RemoteProtocolError("bad_look", "The helper's look has no frames.")
        self._coroutine, scopes = str(found.get("coroutine") or ""), found.get("scopes")
        if isinstance(scopes, dict) and scopes.get("scopes"):
            self._known["scopes", int(found["frames"][0]["index"])] = scopes
            self._known["variables", int(scopes["scopes"][0]["reference"])] = found.get("locals") or {}
        return found

    async def ask(self, cmd: str, info: Mapping[str, Any], *, timeout_s: float) -> dict[str, Any]:
        is_here = info.get("coroutine", self._coroutine) == self._coroutine and not info.get("start")
        known = self._known.pop((cmd, int(info.get("frame") or info.get("reference") or 0)), None) if is_here else None
        if known is not None:
            return known
        if cmd in _CHANGING_COMMANDS:
            self._known = {}
        asked = lua_value({**info, "stop": self._stop})
        return await self._run(cmd, f'{HELPER_GLOBAL}.call("{cmd}",{asked})', timeout_s=timeout_s)

    async def _run(self, cmd: str, expression: str, *, timeout_s: float) -> dict[str, Any]:
        asked = {"Expression": expression, "stackId": TOP_STACK_ID}
        answer = await self._driver.ask("runREPLExpression", asked, timeout_s=timeout_s)
        (result, *_) = read_variables(answer) or (None,)
        if result is None or not result.is_success or result.type != "string":
            raise AdapterRefusedError(cmd, result.value if result else "")
        return check_result(cmd, _decode_json(result.value[1:-1]))


def check_result(cmd: str, info: Any) -> dict[str, Any]:
    if not isinstance(info, dict):
        return {}
    failure = info.get("error")
    if isinstance(failure, dict):
        raise AdapterRefusedError(cmd, str(failure.get("message") or failure.get("code") or ""))
    return info


def _decode_json(text: str) -> Any:
    try:
        return json.loads(text, strict=False)
    except ValueError as error:
        raise RemoteProtocolError("bad_json", f"The helper's answer is not JSON: {error}.") from error


def helper_source() -> str:
    """One chunk of several files, without comments and indentation: LuaPanda reads it a character at a time."""
    folder = resources.files(__package__).joinpath("helper")
    text = "".join(folder.joinpath(f"{name}.lua").read_text("utf-8") for name in _HELPER_PARTS)
    lines = [re.sub(r"(?:^|\s+)--.*$", "", line).strip() for line in text.splitlines()]
    return "\n".join(line for line in lines if line) + "\n"


_LOCALS, _GLOBALS, _UPVALUES = 10_000, 20_000, 30_000
_NAMES = re.compile(r"[A-Za-z_]\w*(?:\.[A-Za-z_]\w*)*")


class PlainRuntimeClient:
    """An unmodified runtime that may load no code (`UseLoadstring` is "0"): only its own commands.

    Names such as `a.b.c` can be inspected, expressions cannot. Fields of tables cannot be set. Frames have no function
    names, and in a recursion all frames show the innermost call. Requests that would only seem to succeed are refused.
    """

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
            raise _refused(cmd, localize("This Lua runtime cannot load code, and has no command for this."))
        return await self._serve[cmd](info, timeout_s)

    async def _scopes(self, info: Mapping[str, Any], _: float) -> dict[str, Any]:
        frame = int(info["frame"])
        starts = {"locals": _LOCALS + frame, "upvalues": _UPVALUES + frame, "globals": _GLOBALS}
        return {"scopes": [{"name": name, "reference": reference} for name, reference in starts.items()]}

    async def _variables(self, info: Mapping[str, Any], timeout_s: float) -> dict[str, Any]:
        """The runtime always lists a whole table, so it is asked once per stop."""
        reference, start = int(info["reference"]), int(info.get("start") or 0)
        if reference not in self._children:
            asked = {"varRef": reference, "stackId": _frame_of(reference)}
            variables = read_variables(await self._driver.ask("getVariable", asked, timeout_s=timeout_s))
            self._children[reference] = [_variable_fields(each, at) for at, each in enumerate(variables, 1)]
        every = self._children[reference]
        page = every[start : start + int(info.get("count") or 100)]
        return {"variables": page, "more": start + len(page) < len(every)}

    async def _evaluate(self, info: Mapping[str, Any], timeout_s: float) -> dict[str, Any]:
        expression = str(info["expression"]).strip()
        if _NAMES.fullmatch(expression) is None:
            why = localize("This Lua runtime cannot load code: only names such as `a.b.c` can be evaluated.")
            raise _refused("evaluate", why)
        asked = {"varName": expression, "stackId": int(info.get("frame") or 2)}
        variables = read_variables(await self._driver.ask("getWatchedVariable", asked, timeout_s=timeout_s))
        if not variables or not variables[0].is_success:
            raise _refused("evaluate", localize("{name} is not defined here.", name=expression))
        return {"results": [_variable_fields(variables[0], 1)]}

    async def _assign(self, info: Mapping[str, Any], timeout_s: float) -> dict[str, Any]:
        reference, position = int(info["reference"]), int(info["position"])
        if reference < _LOCALS:
            raise _refused("assign", localize("This Lua runtime cannot set fields: it would create a global."))
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
            raise _refused("assign", localize("Not set: use a quoted string, a number, true, false, nil or a name."))
        return {"name": name, "type": done.type, "value": str(info["expression"]), "reference": 0}


def _frame_of(reference: int) -> int:
    starts = (_UPVALUES, _GLOBALS, _LOCALS)
    start = next((each for each in starts if reference >= each), 0)
    return max(reference - start, 2) if start in (_LOCALS, _UPVALUES) else 2


def _variable_fields(each: LuaPandaVariable, position: int) -> dict[str, Any]:
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


def _refused(cmd: str, why: LocalizedText) -> AdapterRefusedError:
    return AdapterRefusedError(cmd, str(why))
