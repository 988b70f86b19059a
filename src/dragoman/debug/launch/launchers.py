"""Programs that only start another: interpreters, package managers, test runners. What they start is debugged.

`program: "python3"` with `args: ["app.py"]` means app.py. Taken literally, a debugger would stop in the interpreter,
and every breakpoint of the project would stay unbound.
"""

from __future__ import annotations

import re
import shlex
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import Any

from dragoman.debug.launch.files import kind_of

Unwrap = Callable[[Sequence[str], Path], Mapping[str, Any]]
"""From the words of a command, and the folder that it is run in, to a configuration of what it runs in the end."""

NATIVE_TYPES = frozenset(
    {"lldb", "lldb-dap", "lldb-vscode", "codelldb", "cppdbg", "cppvsdbg", "cpp", "c", "rust", "gdb", "native"}
)
_SAME = (
    frozenset({"python", "debugpy"}),
    frozenset({"node", "pwa-node", "javascript", "node2"}),
    frozenset({"go", "delve", "dlv"}),
)
_PYTHON = re.compile(r"(?:python|pypy)(?:\d(?:\.\d+)*)?")
_NAMES = frozenset(
    {"pytest", "py.test", "node", "nodejs", "go", "cargo", "npm", "npx", "pnpm", "pnpx", "yarn", "tsx", "ts-node"}
    | {"uv", "poetry", "pipenv", "hatch", "pdm", "rye", "env", "time", "nohup", "timeout", "nice", "cross-env"}
    | {"lua", "lua5.1", "lua5.2", "lua5.3", "lua5.4", "luajit", "ruby", "jest", "vitest", "mocha"}
)
_TAKEN = frozenset({"program", "args", "cwd", "env", "type"})


def is_launcher(given: Mapping[str, Any], folder: Path, cwd: Path) -> bool:
    """By its name. A file of the project that happens to have it is the project's own, unless it is an interpreter."""
    program, type = str(given.get("program") or ""), str(given.get("type") or "")
    name = Path(program).name
    if type in NATIVE_TYPES:  # who debugs an interpreter by that, means the interpreter
        return name == "cargo" and "/" not in program
    if _PYTHON.fullmatch(name):
        return "/" in program or not _is_program(cwd / program)
    if name not in _NAMES:
        return False
    if "/" not in program:
        return not any(_is_program(place / program) for place in (folder, cwd))
    path = cwd / program
    return not path.is_relative_to(folder) or path.parent.name == ".bin" or (path.parent / "activate").is_file()


def _is_program(path: Path) -> bool:
    """A file, or a folder of Go. Any other folder, such as one of tests that is called `node`, starts nothing."""
    kind = kind_of(path)
    return kind == "file" or (kind == "folder" and next(path.glob("*.go"), None) is not None)


def words_of(given: Mapping[str, Any]) -> list[str]:
    args = given.get("args") or []
    return [str(given["program"]), *(shlex.split(args) if isinstance(args, str) else map(str, args))]


def unwrapped(given: Mapping[str, Any], found: Mapping[str, Any]) -> dict[str, Any]:
    """A configuration with what its command runs in the end, `found`, in the place of the command."""
    kept = {key: value for key, value in given.items() if key not in _TAKEN}
    env = {**(given.get("env") or {}), **(found.get("env") or {})}
    started = {key: value for key, value in found.items() if key not in {"env", "name", "request"}}
    types = [str(it) for it in (given.get("type"), found.get("type")) if it]
    is_same = any(set(types) <= names for names in _SAME)
    type = {"type": types[0] if is_same else types[-1]} if types else {}
    return {**kept, **started, **type, **({"env": env} if env else {})}
