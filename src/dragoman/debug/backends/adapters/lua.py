"""Lua, debugged over the LuaPanda protocol. There is no adapter process: the daemon talks to the program."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from dragoman.core.localization import localize, localized_str
from dragoman.debug import source_files
from dragoman.debug.backends.adapters.spec import AdapterSpec, LaunchContext
from dragoman.debug.backends.luapanda.backend import open_lua_backend
from dragoman.debug.backends.luapanda.runtime import choose_interpreter
from dragoman.debug.backends.luapanda.settings import read_settings
from dragoman.debug.backends.quirks import AdapterQuirks
from dragoman.io.processes.command import ProcessCommand

_ONE_DAY_S = 86_400.0
_ANY_ADDRESS = frozenset({"0.0.0.0", "::"})  # noqa: S104  listened on, and nothing to connect to
_ANY_NAME = "<address of this machine>"
_PORT_CALLS = {"listening": ("listens", "start"), "connecting": ("connects to", "startServer")}


def _command(_: LaunchContext) -> ProcessCommand:
    raise AssertionError("a Lua program has no adapter")


def _arguments(context: LaunchContext) -> dict[str, Any]:
    """Also read here, so that mistakes are reported before anything starts."""
    read_settings(context.request, context.arguments, context.workspace)
    return dict(context.arguments)


def _facts(context: LaunchContext) -> Mapping[str, str]:
    settings = read_settings(context.request, context.arguments, context.workspace)
    if settings.mode == "started":
        return {"adapter": "LuaPanda", "interpreter": choose_interpreter(settings, context.adapter_environment)}
    does, call = _PORT_CALLS[settings.mode]
    host = _ANY_NAME if settings.host in _ANY_ADDRESS else settings.host
    calls = f'require("LuaPanda").{call}("{host}", {settings.port})'
    waits_for = localized_str(localize("a program that calls {call}", call=calls))
    connection = {"adapter": "LuaPanda", does: f"{settings.host}:{settings.port}", "waits for": waits_for}
    return connection | ({"warning": localized_str(settings.warning)} if settings.warning is not None else {})


LUA = AdapterSpec(
    name="lua",
    types=frozenset({"lua", "luapanda", "lua-panda"}),
    adapter_id="lua",
    transport="tcp",
    command=_command,
    arguments=_arguments,
    quirks=AdapterQuirks(
        suffixes=source_files.LUA,
        or_word="or",
        takes_time_limit=True,
        exit_code_from_process=True,
        dumps_from_outside=True,
        halts_busy=True,
        truth="not not ({condition})",
        hit_spelling={"%": "% {number}"},
        condition_error_pattern=r"condition: (?P<condition>.*)\nfailed: (?P<error>.*)\n",
        ready_timeout_s=_ONE_DAY_S,  # a game may connect at any time; callers that wait have their own deadline
    ),
    exception_filters=("uncaught",),
    facts=_facts,
    open_backend=open_lua_backend,
)
