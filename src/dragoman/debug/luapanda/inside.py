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
from dragoman.wire.luapanda import TOP_STACK_ID, State, read_variables

WORD = "__dragoman"
_INSTALLED_WITHIN_S = 10.0


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
        self.stop = 0
        """The number of the stop: references die with it."""

    async def install(self) -> dict[str, Any]:
        """In code that is loaded from a string: what is written into the expression itself has no true globals."""
        loaded = f'(loadstring or load)({lua_string(_source())})(LuaPanda,"{WORD}")'
        return await self._run("install", loaded, timeout_s=_INSTALLED_WITHIN_S)

    async def ask(self, cmd: str, info: Mapping[str, Any], *, timeout_s: float) -> dict[str, Any]:
        asked = lua_value({**info, "stop": self.stop})
        return await self._run(cmd, f'{WORD}.call("{cmd}",{asked})', timeout_s=timeout_s)

    async def _run(self, cmd: str, expression: str, *, timeout_s: float) -> dict[str, Any]:
        asked = {"Expression": expression, "stackId": TOP_STACK_ID}
        answer = await self._driver.ask("runREPLExpression", asked, timeout_s=timeout_s)
        (result, *_) = read_variables(answer) or (None,)
        if result is None or not result.is_success or result.type != "string":
            raise AdapterRefusedError(cmd, result.value if result else "")
        return checked(cmd, _decoded(result.value[1:-1]))

    @property
    def can_be_asked(self) -> bool:
        return self._driver.connection.state in (State.STOPPED, State.RUNNING)


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


def _source() -> str:
    """Without comments and indentation: LuaPanda reads it a character at a time."""
    text = resources.files(__package__).joinpath("helper.lua").read_text("utf-8")
    lines = [re.sub(r"(?:^|\s+)--.*$", "", line).strip() for line in text.splitlines()]
    return "\n".join(line for line in lines if line) + "\n"
