"""Go by Delve, which builds the program itself. It calls us; the program has its standard streams."""

from __future__ import annotations

import os
import re
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from dragoman.debug import suffixes
from dragoman.debug.adapters.finding import require_adapter
from dragoman.debug.adapters.go_packages import package_to_debug
from dragoman.debug.adapters.scratch import build_file
from dragoman.debug.adapters.spec import AdapterSpec, Address, Situation
from dragoman.debug.dialect import Dialect
from dragoman.transport.command import Command

_BUILT_WITHIN_S = 300.0  # the standard library too, the first time
_BUILDING = frozenset({"debug", "test"})
# Of the Go extension: where to look for tools and how to start its debugger, which is our business here.
_IGNORED = frozenset({"dlvFlags", "dlvToolPath", "debugAdapter", "showLog", "logOutput", "console", "asRoot", "port"})
_FURTHER_FILE = re.compile(r"\.go'?(?:\s|$)")
_HAS_MAIN = re.compile(r"^func main\(\)", re.MULTILINE)
_NOISE = re.compile(
    r"DAP server (?:connected|listening) at|Type 'dlv help'|Detaching|Process \d+ has exited with status"
    r"|[-\dT:]+Z? (?:error|warning|info) layer=(?:dap|debugger) "
)


def _command(situation: Situation) -> Command:
    """In the program's folder: `go build` looks for the module there."""
    adapter = require_adapter("go", situation.searched)
    argv = [str(adapter), "dap", f"--client-addr=127.0.0.1:{situation.at}"]
    program = _program(situation)
    folder = program if program.is_dir() else program.parent
    return Command(argv, situation.environment, folder if folder.is_dir() else situation.workspace)


def _arguments(situation: Situation) -> dict[str, Any]:
    given = {key: value for key, value in situation.arguments.items() if key not in _IGNORED}
    if situation.request != "launch":
        return {"mode": "remote" if _listens_already(situation) else "local", **given}
    mode, program = _mode(given, _program(situation)), _program(situation)
    cwd = given.get("cwd") or str(program if program.is_dir() else program.parent)
    if program.is_dir() and mode == "debug":
        program, mode = package_to_debug(program)
    given |= {"mode": mode, "program": str(_to_build(program, mode, given)), "cwd": str(situation.workspace / cwd)}
    return {"output": str(build_file()), **given} if mode in _BUILDING else given


def _program(situation: Situation) -> Path:
    named = situation.arguments.get("program") or "."
    return Path(os.path.normpath(situation.workspace / str(situation.arguments.get("cwd") or "") / str(named)))


def _mode(given: Mapping[str, Any], program: Path) -> str:
    """As the Go extension does for `auto`; and what is neither a folder nor source was built already."""
    if (mode := given.get("mode", "auto")) != "auto":
        return str(mode)
    if program.name.endswith("_test.go"):
        return "test"
    return "debug" if program.is_dir() or program.suffix == ".go" else "exec"


def _to_build(program: Path, mode: str, given: Mapping[str, Any]) -> Path:
    """A file stands for its package, unless it must be built alone: outside a module, beside other programs, or with
    further files, which `go build` takes where its flags stand."""
    if mode not in _BUILDING or program.suffix != ".go":
        return program
    is_in_module = any((folder / "go.mod").is_file() for folder in program.parents)
    names_files = _FURTHER_FILE.search(str(given.get("buildFlags") or "")) is not None
    alone = not is_in_module or names_files or (mode == "debug" and _has_rivals(program))
    return program if alone else program.parent


def _has_rivals(program: Path) -> bool:
    others = (path for path in program.parent.glob("*.go") if path != program and not path.name.endswith("_test.go"))
    return any(_HAS_MAIN.search(path.read_text(errors="replace")) for path in others)


def _listens_already(situation: Situation) -> Address | None:
    port = situation.arguments.get("port")
    if situation.request != "attach" or not isinstance(port, int):
        return None
    return Address(str(situation.arguments.get("host") or "127.0.0.1"), port)


def _facts(situation: Situation) -> Mapping[str, str]:
    return {} if _listens_already(situation) else {"adapter": str(require_adapter("go", situation.searched))}


GO = AdapterSpec(
    name="go",
    types=frozenset({"go", "delve", "dlv"}),
    adapter_id="go",
    transport="calls",
    command=_command,
    arguments=_arguments,
    dialect=Dialect(
        suffixes=suffixes.GO,
        hit_forms=frozenset({"==", ">", ">=", "<", "<="}),  # of `% 3 == 1` it reads `% 3`
        log_prefix=r"> \[Go \d+\]: ",
        build_failed=r"(?i)build error",
        ready_within_s=_BUILT_WITHIN_S,
        leaves_standing=True,
        condition_stops=r"(?s)(?:runtime error: )?error evaluating expression: (?P<error>.*)",
        halts_anywhere=True,
    ),
    listens_already=_listens_already,
    program_output_is_adapters=True,
    noise=_NOISE,
    exit_code_in_output=re.compile(r"Process \d+ has exited with status (?P<code>-?\d+)"),
    facts=_facts,
)
