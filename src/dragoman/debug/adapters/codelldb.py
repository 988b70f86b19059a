"""CodeLLDB: C, C++ and Rust once more, with Rust's own way of showing values. It calls us."""

from __future__ import annotations

import re
import shlex
from collections.abc import Mapping
from typing import Any

from dragoman.debug.adapters.finding import require_adapter
from dragoman.debug.adapters.native import NATIVE, native_arguments, reading_from, stopping_at_panics
from dragoman.debug.adapters.spec import AdapterSpec, Situation
from dragoman.transport.command import Command

_NOISE = re.compile(
    r"Launch(?:ing: |ed process )|Console is in |Process exited|Attached to process|Loading \w+ formatters"
    r"|Executing script: |\(lldb\) |Breakpoint \d+: no locations|Breakpoint set in dummy target"
)


def _command(situation: Situation) -> Command:
    adapter = require_adapter("codelldb", situation.searched)
    return Command([str(adapter), "--connect", situation.at], situation.environment, situation.workspace)


def _arguments(situation: Situation) -> dict[str, Any]:
    given = stopping_at_panics(native_arguments(situation), quiet="")
    if core := given.pop("coreFile", None):
        # It has no key for that: the target is made with the core dump, and no process.
        create = shlex.join(["target", "create", "--core", str(core), *filter(None, [given.pop("program", "")])])
        return {**given, "targetCreateCommands": [create], "processCreateCommands": []}
    if situation.request != "launch":
        return given
    # Expressions as the language writes them, not as its Python wrapper does; and no terminal, for there is none.
    ours = {"terminal": "console", "expressions": "native"}
    return reading_from({"cwd": str(situation.workspace), **given, **ours}, situation.stdin, quiet="")


def _facts(situation: Situation) -> Mapping[str, str]:
    return {"adapter": str(require_adapter("codelldb", situation.searched))}


CODELLDB = AdapterSpec(
    name="codelldb",
    types=frozenset({"codelldb"}),
    adapter_id="codelldb",
    transport="calls",
    command=_command,
    arguments=_arguments,
    dialect=NATIVE,
    noise=_NOISE,
    facts=_facts,
)
