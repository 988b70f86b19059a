"""Go, debugged by Delve, which builds the program itself and connects back to us. The program shares Delve's standard
streams.
"""

from __future__ import annotations

import os
import re
from collections.abc import Iterator, Mapping
from itertools import islice
from pathlib import Path
from typing import Any

from dragoman.core.errors import DragomanError
from dragoman.core.localization import localize
from dragoman.debug import source_files
from dragoman.debug.backends.adapters.discovery import require_adapter
from dragoman.debug.backends.adapters.program_io import build_output_path
from dragoman.debug.backends.adapters.spec import AdapterSpec, Address, LaunchContext
from dragoman.debug.backends.quirks import AdapterQuirks
from dragoman.debug.errors import no_program
from dragoman.io.processes.command import ProcessCommand

_MOST_FOLDERS = 2000
_HEAD_CHARACTERS = 8192
_MOST_NAMED = 10
_BUILD_TIMEOUT_S = 300.0  # the first build also compiles the standard library

_PACKAGE = re.compile(r"^package\s+(\w+)", re.MULTILINE)
_SKIPPED_FOLDERS = frozenset({"vendor", "testdata", "node_modules"})


def package_to_debug(folder: Path) -> tuple[Path, str]:
    """The package's folder, and the mode in which Delve takes it."""
    if is_program(folder):
        return folder, "debug"
    found = list(islice(_programs_below(folder), _MOST_NAMED + 1))
    if len(found) == 1:
        return found[0], "debug"
    if found:
        raise _several(folder, found)
    if any(folder.glob("*_test.go")):
        return folder, "test"
    raise no_program(folder=folder)


def is_program(folder: Path) -> bool:
    return "main" in {_package_of(file) for file in folder.glob("*.go") if not file.name.endswith("_test.go")}


def _package_of(file: Path) -> str:
    try:
        with file.open(errors="replace") as opened:
            match = _PACKAGE.search(opened.read(_HEAD_CHARACTERS))
    except OSError:
        return ""
    return match[1] if match else ""


def _programs_below(folder: Path) -> Iterator[Path]:
    """Not in other modules, nor where Go itself does not look."""
    for place, folders, names in islice(os.walk(folder), _MOST_FOLDERS):
        if Path(place) != folder and "go.mod" in names:
            folders.clear()
            continue
        folders[:] = sorted(it for it in folders if it not in _SKIPPED_FOLDERS and not it.startswith((".", "_")))
        if any(name.endswith(".go") for name in names) and is_program(Path(place)):
            yield Path(place)


def _several(folder: Path, found: list[Path]) -> DragomanError:
    names = ", ".join(str(it.relative_to(folder)) for it in found[:_MOST_NAMED])
    return DragomanError(
        "several_programs",
        localize("{folder} has several Go programs: {names}.", folder=folder, names=names),
        hint=localize("Set `program` to the folder of one of them."),
    )


_BUILD_MODES = frozenset({"debug", "test"})
# Keys of the Go extension: where to find tools and how to start its debugger. Dragoman decides that itself.
_IGNORED = frozenset({"dlvFlags", "dlvToolPath", "debugAdapter", "showLog", "logOutput", "console", "asRoot", "port"})
_FURTHER_FILE = re.compile(r"\.go'?(?:\s|$)")
_HAS_MAIN = re.compile(r"^func main\(\)", re.MULTILINE)
_NOISE = re.compile(
    r"DAP server (?:connected|listening) at|Type 'dlv help'|Detaching|Process \d+ has exited with status"
    r"|[-\dT:]+Z? (?:error|warning|info) layer=(?:dap|debugger) "
)


def _command(context: LaunchContext) -> ProcessCommand:
    """In the program's folder: `go build` looks for the module there."""
    adapter = require_adapter("go", context.adapter_environment)
    argv = [str(adapter), "dap", f"--client-addr=127.0.0.1:{context.at}"]
    program = _program(context)
    folder = program if program.is_dir() else program.parent
    return ProcessCommand(argv, context.environment, folder if folder.is_dir() else context.workspace)


def _arguments(context: LaunchContext) -> dict[str, Any]:
    given = {key: value for key, value in context.arguments.items() if key not in _IGNORED}
    if context.request != "launch":
        return {"mode": "remote" if _running_adapter(context) else "local", **given}
    mode, program = _mode(given, _program(context)), _program(context)
    cwd = given.get("cwd") or str(program if program.is_dir() else program.parent)
    if program.is_dir() and mode == "debug":
        program, mode = package_to_debug(program)
    given |= {"mode": mode, "program": str(_build_target(program, mode, given)), "cwd": str(context.workspace / cwd)}
    return {"output": str(build_output_path()), **given} if mode in _BUILD_MODES else given


def _program(context: LaunchContext) -> Path:
    named = context.arguments.get("program") or "."
    return Path(os.path.normpath(context.workspace / str(context.arguments.get("cwd") or "") / str(named)))


def _mode(given: Mapping[str, Any], program: Path) -> str:
    """Like `auto` in the Go extension. A program that is neither a folder nor source has already been built."""
    if (mode := given.get("mode", "auto")) != "auto":
        return str(mode)
    if program.name.endswith("_test.go"):
        return "test"
    return "debug" if program.is_dir() or program.suffix == ".go" else "exec"


def _build_target(program: Path, mode: str, given: Mapping[str, Any]) -> Path:
    """A file stands for its package, unless it must be built alone: outside a module, beside other programs, or with
    further files, which `go build` takes among its flags."""
    if mode not in _BUILD_MODES or program.suffix != ".go":
        return program
    is_in_module = any((folder / "go.mod").is_file() for folder in program.parents)
    names_files = _FURTHER_FILE.search(str(given.get("buildFlags") or "")) is not None
    alone = not is_in_module or names_files or (mode == "debug" and _has_other_mains(program))
    return program if alone else program.parent


def _has_other_mains(program: Path) -> bool:
    others = (path for path in program.parent.glob("*.go") if path != program and not path.name.endswith("_test.go"))
    return any(_HAS_MAIN.search(path.read_text(errors="replace")) for path in others)


def _running_adapter(context: LaunchContext) -> Address | None:
    port = context.arguments.get("port")
    if context.request != "attach" or not isinstance(port, int):
        return None
    return Address(str(context.arguments.get("host") or "127.0.0.1"), port)


def _facts(context: LaunchContext) -> Mapping[str, str]:
    return {} if _running_adapter(context) else {"adapter": str(require_adapter("go", context.adapter_environment))}


GO = AdapterSpec(
    name="go",
    types=frozenset({"go", "delve", "dlv"}),
    adapter_id="go",
    transport="calls",
    command=_command,
    arguments=_arguments,
    quirks=AdapterQuirks(
        suffixes=source_files.GO,
        hit_forms=frozenset({"==", ">", ">=", "<", "<="}),  # Delve reads `% 3 == 1` as `% 3`
        log_prefix=r"> \[Go \d+\]: ",
        build_failed=r"(?i)build error",
        ready_timeout_s=_BUILD_TIMEOUT_S,
        leaves_program_stopped=True,
        condition_stop_pattern=r"(?s)(?:runtime error: )?error evaluating expression: (?P<error>.*)",
        halts_anywhere=True,
        program_output_is_adapters=True,
        adapter_lines=_NOISE,
        exit_code_in_output=re.compile(r"Process \d+ has exited with status (?P<code>-?\d+)"),
    ),
    running_adapter=_running_adapter,
    facts=_facts,
)
