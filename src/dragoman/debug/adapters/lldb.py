"""C, C++, Rust and whatever else LLDB knows, by lldb-dap over its standard streams."""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import Any

from dragoman.debug.adapters.codelldb import CODELLDB
from dragoman.debug.adapters.finding import find_adapter, require_adapter
from dragoman.debug.adapters.native import (
    NATIVE,
    answering_sigterm,
    native_arguments,
    reading_from,
    stopping_at_panics,
)
from dragoman.debug.adapters.rust import formatters
from dragoman.debug.adapters.spec import AdapterSpec, Situation
from dragoman.transport.command import Command

# Its remarks on the commands that we give it and on the life of the process, which we tell ourselves.
_NOISE = re.compile(r"Running \w+Commands:|\(lldb\) |Process \d+ (?:exited|launched|stopped|detached)")
# It tells an end by signal 9 as the exit code 9. The last packet of its server knows: that is an X, and otherwise a W.
_PACKETS = "process plugin packet history"
_LAST_REMARKS = re.compile(rf"^\(lldb\) {_PACKETS}$", re.MULTILINE)
_SIGNAL = re.compile(r"^history\[\d+\] .* read packet: \$X(?P<signal>[0-9a-f]{2})[;#]", re.MULTILINE)


def _command(situation: Situation) -> Command:
    """As expressions only: in its other mode the variable `n` is the command `next`."""
    adapter = require_adapter("lldb", situation.searched)
    return Command([str(adapter), "--repl-mode", "variable"], situation.environment, situation.workspace)


def _arguments(situation: Situation) -> dict[str, Any]:
    given = answering_sigterm(stopping_at_panics(native_arguments(situation), quiet="?"), quiet="?")
    loads = [f"?{command}" for command in formatters(situation, given)]
    given["initCommands"] = [*loads, *given["initCommands"]]
    given["exitCommands"] = [*given.get("exitCommands", ()), _PACKETS]
    if situation.request != "launch":
        return given
    return reading_from({"cwd": str(situation.workspace), **given}, situation.stdin, quiet="?")


def _stand_in(environment: Mapping[str, str]) -> AdapterSpec | None:
    is_here = find_adapter("lldb", environment) is not None
    return None if is_here or find_adapter("codelldb", environment) is None else CODELLDB


def _facts(situation: Situation) -> Mapping[str, str]:
    return {"adapter": str(require_adapter("lldb", situation.searched))}


LLDB = AdapterSpec(
    name="lldb",
    types=frozenset({"lldb", "lldb-dap", "lldb-vscode", "cppdbg", "cpp", "c", "rust", "gdb", "native"}),
    adapter_id="lldb-dap",
    transport="stdio",
    command=_command,
    arguments=_arguments,
    dialect=NATIVE,
    noise=_NOISE,
    last_remarks=_LAST_REMARKS,
    signal_in_last_remarks=_SIGNAL,
    stand_in=_stand_in,
    facts=_facts,
)
