"""C, C++, Rust and whatever else LLDB knows, by lldb-dap over its standard streams."""

from __future__ import annotations

import os
import re
import shlex
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from dragoman.debug.adapters.finding import require_adapter
from dragoman.debug.adapters.native import native_arguments
from dragoman.debug.adapters.scratch import input_file
from dragoman.debug.adapters.spec import AdapterSpec, Situation
from dragoman.debug.dialect import Dialect
from dragoman.transport.command import Command

# Its remarks on the commands that we give it and on the life of the process, which we tell ourselves.
_NOISE = re.compile(r"Running \w+Commands:|\(lldb\) |Process \d+ (?:exited|launched|stopped|detached)")


def _command(situation: Situation) -> Command:
    """As expressions only: in its other mode the variable `n` is the command `next`."""
    adapter = require_adapter("lldb", situation.environment)
    return Command([str(adapter), "--repl-mode", "variable"], situation.environment, situation.workspace)


def _arguments(situation: Situation) -> dict[str, Any]:
    given = native_arguments(situation)
    if situation.request != "launch":
        return given
    given.setdefault("cwd", str(situation.workspace))
    source = input_file(situation.stdin)
    ours = {"initCommands": [f"?settings set target.input-path {shlex.quote(str(source))}"]}
    if source != Path(os.devnull):
        ours["postRunCommands"] = [f"?platform shell rm -f {shlex.quote(str(source))}"]
    return given | {key: [*commands, *given.get(key, ())] for key, commands in ours.items()}


def _facts(situation: Situation) -> Mapping[str, str]:
    return {"adapter": str(require_adapter("lldb", situation.environment))}


LLDB = AdapterSpec(
    name="lldb",
    types=frozenset({"lldb", "lldb-dap", "lldb-vscode", "cppdbg", "cpp", "c", "rust", "gdb", "native"}),
    adapter_id="lldb-dap",
    transport="stdio",
    command=_command,
    arguments=_arguments,
    # It takes but a number, and means "from there on" by it.
    dialect=Dialect(hit_forms=frozenset()),
    noise=_NOISE,
    facts=_facts,
)
