"""Lua by the LuaPanda protocol: no adapter is started, the daemon itself speaks with the program."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from dragoman.debug import suffixes
from dragoman.debug.adapters.spec import AdapterSpec, Situation
from dragoman.debug.dialect import Dialect
from dragoman.debug.luapanda.opening import open_lua
from dragoman.debug.luapanda.runtime import interpreter_of
from dragoman.debug.luapanda.settings import read_settings
from dragoman.phrases import say, spoken
from dragoman.transport.command import Command

_A_DAY_S = 86_400.0
_ANY_ADDRESS = frozenset({"0.0.0.0", "::"})  # noqa: S104  listened on, and nothing to connect to
_ANY_NAME = "<address of this machine>"
_REACHED = {"listening": ("listens", "start"), "connecting": ("connects to", "startServer")}


def _command(_: Situation) -> Command:
    raise AssertionError("a Lua program has no adapter")


def _arguments(situation: Situation) -> dict[str, Any]:
    """Read once here as well: what is wrong with them is told before anything is started."""
    read_settings(situation.request, situation.arguments, situation.workspace)
    return dict(situation.arguments)


def _facts(situation: Situation) -> Mapping[str, str]:
    settings = read_settings(situation.request, situation.arguments, situation.workspace)
    if settings.way == "started":
        return {"adapter": "LuaPanda", "interpreter": interpreter_of(settings, situation.searched)}
    does, call = _REACHED[settings.way]
    host = _ANY_NAME if settings.host in _ANY_ADDRESS else settings.host
    calls = f'require("LuaPanda").{call}("{host}", {settings.port})'
    waits_for = spoken(say("a program that calls {call}", call=calls))
    told = {"adapter": "LuaPanda", does: f"{settings.host}:{settings.port}", "waits for": waits_for}
    return told | ({"warning": spoken(settings.warning)} if settings.warning is not None else {})


LUA = AdapterSpec(
    name="lua",
    types=frozenset({"lua", "luapanda", "lua-panda"}),
    adapter_id="lua",
    transport="tcp",
    command=_command,
    arguments=_arguments,
    dialect=Dialect(
        suffixes=suffixes.LUA,
        or_word="or",
        passes_limits=True,
        is_seen_from_outside=True,
        halts_busy=True,
        truth="not not ({condition})",
        hit_spelling={"%": "% {number}"},
        condition_failed=r"condition: (?P<condition>.*)\nfailed: (?P<error>.*)\n",
        ready_within_s=_A_DAY_S,  # nobody knows when a game gets so far; who waits has a deadline of their own
    ),
    exception_filters=("uncaught",),
    exit_code_from_process=True,
    facts=_facts,
    opens=open_lua,
)
