"""What `dragoman debug` starts or attaches to: a program, a configuration, a module of Python, or a process."""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import Any

from dragoman.cli.debug.places import here
from dragoman.cli.hello import working_folder
from dragoman.errors import DragomanError
from dragoman.phrases import say

_VERSION = re.compile(r"[\d.]+$")


@dataclass(frozen=True, slots=True)
class Named:
    words: tuple[str, ...]
    """The program and its arguments, or where something else is named, arguments alone."""
    config: str | None = None
    module: str | None = None
    pid: int | None = None
    type: str | None = None


def target(named: Named, cwd: str | None) -> dict[str, Any]:
    """A program runs where one stands; a configuration says itself where, and a process is there already."""
    _require_one(named)
    words = [] if named.words == ("",) else list(named.words)
    folder = here(cwd) if cwd else None
    if named.config is not None:
        return {"configuration_name": named.config, "args": words or None, "cwd": folder}
    if named.module is not None:
        module = {"type": "python", "request": "launch", "name": named.module, "module": named.module}
        return {"configuration": module, "args": words or None, "cwd": folder or working_folder()}
    if named.pid is not None:
        return {"configuration": _attaching(named.pid, named.type)}
    program, *args = named.words
    named_program = program if _is_command(program) else here(program)
    return {"program": named_program, "args": args or None, "cwd": folder or working_folder()}


def _is_command(program: str) -> bool:
    """`python3`, `npm` and the like mean what they start, and no file of that name beside us."""
    from pathlib import Path

    from dragoman.debug.launch.launchers import is_launcher

    folder = Path(working_folder())
    return "/" not in program and is_launcher({"program": program}, folder, folder)


def _require_one(named: Named) -> None:
    program = bool(named.words and named.words[0])
    if named.type is not None and (named.pid is None or named.config is not None):
        raise DragomanError(
            "type_without_pid",
            say("--type goes with --pid alone."),
            hint=say("A program's debugger is told by its file; a configuration has a `type` of its own."),
        )
    if named.config is not None and named.module is None:
        return
    if (named.config, named.module, named.pid).count(None) < 2 or (named.pid is not None and program):
        raise DragomanError(
            "several_targets",
            say("Only one thing can be debugged by one command."),
            hint=say(
                "Give a program, or --config, or --module, or --pid. --config takes --pid for what it attaches to."
            ),
        )
    if not program and named.module is None and named.pid is None:
        raise DragomanError(
            "no_program",
            say("There is nothing to debug."),
            hint=say("Name a program, or a configuration with --config; `dragoman debug --help` has the rest."),
        )


def _attaching(pid: int, type: str | None) -> dict[str, Any]:
    return {"type": type or type_of_process(pid), "request": "attach", "name": f"process {pid}"}


def type_of_process(pid: int) -> str:
    """By the name of what it runs; whether it is there and ours the daemon says, for all who ask."""
    import psutil

    from dragoman.debug.launch.program_types import INTERPRETERS, NATIVE

    try:
        name = psutil.Process(pid).exe().rpartition("/")[2]
    except (psutil.Error, OverflowError, ValueError):
        return NATIVE
    return INTERPRETERS.get(_VERSION.sub("", name), NATIVE)
