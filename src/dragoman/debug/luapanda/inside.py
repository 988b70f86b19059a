"""What is asked of a stopped program, in the words of our extension, whoever answers: our own runtime by itself, an
unmodified LuaPanda through an injected helper, or, where it may load no code, its bare commands."""

from __future__ import annotations

import json
import re
from collections.abc import Mapping
from importlib import resources
from typing import Any, Protocol

from dragoman.debug.backend import AdapterRefusedError
from dragoman.debug.luapanda.literals import lua_string, lua_value
from dragoman.errors import RemoteProtocolError
from dragoman.transport.luapanda_driver import LuaPandaDriver
from dragoman.wire.luapanda import TOP_STACK_ID, read_variables

WORD = "__dragoman"
_INSTALLED_WITHIN_S = 10.0
_PARTS = ("text", "frames", "values", "expressions", "breakpoints", "errors", "install")
_CHANGES = frozenset({"evaluate", "assign"})


class Inside(Protocol):
    async def ask(self, cmd: str, info: Mapping[str, Any], *, timeout_s: float) -> dict[str, Any]:
        """The answer's info. Raises `AdapterRefusedError` with the program's or the runtime's own words."""
        ...


class Native:
    """Our own runtime."""

    def __init__(self, driver: LuaPandaDriver) -> None:
        self._driver = driver

    async def ask(self, cmd: str, info: Mapping[str, Any], *, timeout_s: float) -> dict[str, Any]:
        answer = await self._driver.ask(cmd, info, timeout_s=timeout_s)
        return checked(cmd, answer.info or {})


class Helper:
    """One request of LuaPanda's REPL for each of ours."""

    def __init__(self, driver: LuaPandaDriver) -> None:
        self._driver = driver
        self._stop = 0
        self._coroutine = ""
        self._known: dict[tuple[str, int], dict[str, Any]] = {}

    async def install(self) -> dict[str, Any]:
        """In code that is loaded from a string: what is written into the expression itself has no true globals."""
        loaded = f'(loadstring or load)({lua_string(helper_source())})(LuaPanda,"{WORD}")'
        return await self._run("install", loaded, timeout_s=_INSTALLED_WITHIN_S)

    async def look(self, stop: int, *, timeout_s: float) -> dict[str, Any]:
        """The first look at a stop, of that number: what is asked next of its innermost frame is answered with it."""
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
        if cmd in _CHANGES:
            self._known = {}
        asked = lua_value({**info, "stop": self._stop})
        return await self._run(cmd, f'{WORD}.call("{cmd}",{asked})', timeout_s=timeout_s)

    async def _run(self, cmd: str, expression: str, *, timeout_s: float) -> dict[str, Any]:
        asked = {"Expression": expression, "stackId": TOP_STACK_ID}
        answer = await self._driver.ask("runREPLExpression", asked, timeout_s=timeout_s)
        (result, *_) = read_variables(answer) or (None,)
        if result is None or not result.is_success or result.type != "string":
            raise AdapterRefusedError(cmd, result.value if result else "")
        return checked(cmd, _decoded(result.value[1:-1]))


def checked(cmd: str, info: Any) -> dict[str, Any]:
    if not isinstance(info, dict):
        return {}
    failure = info.get("error")
    if isinstance(failure, dict):
        raise AdapterRefusedError(cmd, str(failure.get("message") or failure.get("code") or ""))
    return info


def _decoded(text: str) -> Any:
    try:
        return json.loads(text, strict=False)
    except ValueError as error:
        raise RemoteProtocolError("bad_json", f"The helper's answer is not JSON: {error}.") from error


def helper_source() -> str:
    """One chunk of several files, without comments and indentation: LuaPanda reads it a character at a time."""
    folder = resources.files(__package__).joinpath("helper")
    text = "".join(folder.joinpath(f"{name}.lua").read_text("utf-8") for name in _PARTS)
    lines = [re.sub(r"(?:^|\s+)--.*$", "", line).strip() for line in text.splitlines()]
    return "\n".join(line for line in lines if line) + "\n"
