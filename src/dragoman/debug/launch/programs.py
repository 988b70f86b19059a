"""Which program is meant and which debugger it needs: by its file, by its installed name, or by what a launcher
starts.

`program: "python3"` with `args: ["app.py"]` means app.py. Taken literally, a debugger would stop in the interpreter,
and every breakpoint of the project would stay unbound.
"""

from __future__ import annotations

import contextlib
import os
import re
import shlex
from collections.abc import Callable, Iterator, Mapping, Sequence
from fnmatch import filter
from itertools import islice
from pathlib import Path
from typing import Any

from dragoman.core.errors import DragomanError
from dragoman.core.localization import LocalizedText, localize
from dragoman.debug.launch.errors import LaunchError, listed, nearest, quoted, quoted_path
from dragoman.debug.launch.variables import likely_variable, split_variables
from dragoman.debug.launch.workspace_files import UnreadableError, file_kind, read_start
from dragoman.workspace.python_interpreter import find_interpreter

NATIVE = "native"
_MOST_ENTRIES = 2000
"""Entries of a folder."""
_BINARY_MAGIC = (
    b"\x7fELF",
    b"\xfe\xed\xfa\xce",
    b"\xfe\xed\xfa\xcf",
    b"\xce\xfa\xed\xfe",
    b"\xcf\xfa\xed\xfe",
    b"\xca\xfe\xba\xbe",
    b"MZ",
)
_HEAD_BYTES = 512
_MOST_NAMES = 5000

TypeFor = Callable[[Path], str]


EXTENSION_TYPES: Mapping[str, str] = {
    ".py": "python",
    ".pyw": "python",
    ".pyz": "python",
    ".pyzw": "python",
    ".js": "node",
    ".mjs": "node",
    ".cjs": "node",
    ".jsx": "node",
    ".ts": "node",
    ".mts": "node",
    ".cts": "node",
    ".tsx": "node",
    ".go": "go",
    ".lua": "lua",
    ".rb": "ruby",
}


# Names of interpreters, without the version that may follow (`python3.12`, `lua5.4`).
INTERPRETER_TYPES: Mapping[str, str] = {
    "python": "python",
    "pypy": "python",
    "node": "node",
    "nodejs": "node",
    "ts-node": "node",
    "tsx": "node",
    "lua": "lua",
    "luajit": "lua",
    "ruby": "ruby",
}


# Source files of languages whose debugger needs the built program.
BUILT_FROM: Mapping[str, str] = {
    ".c": "C",
    ".cc": "C++",
    ".cpp": "C++",
    ".cxx": "C++",
    ".h": "C",
    ".hpp": "C++",
    ".rs": "Rust",
    ".zig": "Zig",
    ".swift": "Swift",
}


# A folder counts as a program if it contains one of these files; `*` matches any name.
FOLDER_TYPES: Mapping[str, str] = {
    "__main__.py": "python",
    "go.mod": "go",
    "go.work": "go",
    "*.go": "go",
    "package.json": "node",
    "Cargo.toml": NATIVE,
}
_SHEBANG = re.compile(rb"#!\s*(?:\S*/)?([^\s/]+)(?:[ \t]+([^\r\n]*))?")
_VERSION = re.compile(r"[\d.]+$")


def debugger_type_for(program: Path) -> str:
    """The type name of the debugger for this program, or an error that says what to give instead."""
    if file_kind(program) == "folder":
        names = _file_names_in(program)
        return next((kind for name, kind in FOLDER_TYPES.items() if filter(names, name)), None) or _unknown_type(
            program
        )
    suffix = program.suffix.lower()
    if suffix in BUILT_FROM:
        return NATIVE  # its debugger reports whether it was built
    return EXTENSION_TYPES.get(suffix) or _by_content(program) or _unknown_type(program)


def _file_names_in(folder: Path) -> list[str]:
    try:
        with os.scandir(folder) as found:
            return [entry.name for entry in islice(found, _MOST_ENTRIES) if entry.is_file()]
    except OSError:
        return []


def _by_content(program: Path) -> str | None:
    head = _head(program)
    if head.startswith(_BINARY_MAGIC):
        return NATIVE
    match = _SHEBANG.match(head)
    return None if match is None else _interpreter(match[1].decode(errors="replace"), match[2] or b"")


def _head(program: Path) -> bytes:
    try:
        return read_start(program, _HEAD_BYTES)
    except (FileNotFoundError, UnreadableError):
        return b""


def _interpreter(name: str, rest: bytes) -> str | None:
    if name == "env":
        words = [word for word in rest.decode(errors="replace").split() if not word.startswith("-") and "=" not in word]
        name = words[0].rpartition("/")[2] if words else ""
    return INTERPRETER_TYPES.get(_VERSION.sub("", name))


def _unknown_type(program: Path) -> str:
    raise LaunchError(
        "unknown_program_type",
        localize("Cannot detect the program type of {program}.", program=quoted_path(program)),
        hint=_type_hint(),
        program=str(program),
    )


def _type_hint() -> LocalizedText:
    known = listed(sorted(set(EXTENSION_TYPES.values()) | {NATIVE}))
    return localize("Use an inline `configuration` with a `type`, such as {known}.", known=known)


UnwrapCommand = Callable[[Sequence[str], Path], Mapping[str, Any]]
"""From the words of a command, and the folder that it is run in, to a configuration of what it runs in the end."""


NATIVE_TYPES = frozenset(
    {"lldb", "lldb-dap", "lldb-vscode", "codelldb", "cppdbg", "cppvsdbg", "cpp", "c", "rust", "gdb", "native"}
)
_EQUIVALENT_TYPES = (
    frozenset({"python", "debugpy"}),
    frozenset({"node", "pwa-node", "javascript", "node2"}),
    frozenset({"go", "delve", "dlv"}),
)
_PYTHON = re.compile(r"(?:python|pypy)(?:\d(?:\.\d+)*)?")
_LAUNCHER_NAMES = frozenset(
    {"pytest", "py.test", "node", "nodejs", "go", "cargo", "npm", "npx", "pnpm", "pnpx", "yarn", "tsx", "ts-node"}
    | {"uv", "poetry", "pipenv", "hatch", "pdm", "rye", "env", "time", "nohup", "timeout", "nice", "cross-env"}
    | {"lua", "lua5.1", "lua5.2", "lua5.3", "lua5.4", "luajit", "ruby", "jest", "vitest", "mocha"}
)
_REPLACED_KEYS = frozenset({"program", "args", "cwd", "env", "type"})


def is_launcher(given: Mapping[str, Any], folder: Path, cwd: Path) -> bool:
    """By its name. A file of the project with this name belongs to the project, unless it is an interpreter."""
    program, type = str(given.get("program") or ""), str(given.get("type") or "")
    name = Path(program).name
    if type in NATIVE_TYPES:  # a native debugger would debug the interpreter itself
        return name == "cargo" and "/" not in program
    if _PYTHON.fullmatch(name):
        return "/" in program or not _is_program(cwd / program)
    if name not in _LAUNCHER_NAMES:
        return False
    if "/" not in program:
        return not any(_is_program(place / program) for place in (folder, cwd))
    path = cwd / program
    return not path.is_relative_to(folder) or path.parent.name == ".bin" or (path.parent / "activate").is_file()


def _is_program(path: Path) -> bool:
    """A file, or a folder of Go. Any other folder, such as one of tests that is called `node`, starts nothing."""
    kind = file_kind(path)
    return kind == "file" or (kind == "folder" and next(path.glob("*.go"), None) is not None)


def command_words(given: Mapping[str, Any]) -> list[str]:
    args = given.get("args") or []
    return [str(given["program"]), *(shlex.split(args) if isinstance(args, str) else map(str, args))]


def unwrap_configuration(given: Mapping[str, Any], found: Mapping[str, Any]) -> dict[str, Any]:
    """A configuration with what its command runs in the end, `found`, in the place of the command."""
    kept = {key: value for key, value in given.items() if key not in _REPLACED_KEYS}
    env = {**(given.get("env") or {}), **(found.get("env") or {})}
    started = {key: value for key, value in found.items() if key not in {"env", "name", "request"}}
    types = [str(it) for it in (given.get("type"), found.get("type")) if it]
    is_same = any(set(types) <= names for names in _EQUIVALENT_TYPES)
    type = {"type": types[0] if is_same else types[-1]} if types else {}
    return {**kept, **started, **type, **({"env": env} if env else {})}


_NODE_BIN = Path("node_modules", ".bin")


def installed_script(name: str, workspace: Path, environment: Mapping[str, str]) -> Path | None:
    """`pytest` of the client's environment, `mocha` of the workspace's packages; a path is never looked for."""
    if Path(name).name != name:
        return None
    return next(
        (path for folder in _script_folders(workspace, environment) if file_kind(path := folder / name) == "file"), None
    )


def environment_script(name: str, workspace: Path, environment: Mapping[str, str]) -> Path | None:
    """`pytest` of the active environment, or of the workspace's own: `python` means the same environment there."""
    with contextlib.suppress(DragomanError):
        interpreter = find_interpreter(workspace, environment)
        path = interpreter.path.parent / name
        return path if interpreter.found_by != "PATH" and file_kind(path) == "file" else None
    return None


def _script_folders(workspace: Path, environment: Mapping[str, str]) -> Iterator[Path]:
    with contextlib.suppress(DragomanError):  # without an interpreter, nothing could run the script
        yield find_interpreter(workspace, environment).path.parent
    yield workspace / _NODE_BIN


def no_program(path: Path) -> LaunchError:
    return _missing_path(
        "no_such_program", localize("The program does not exist: {path}.", path=quoted_path(path)), path
    )


def no_folder(path: Path) -> LaunchError:
    return _missing_path(
        "no_such_folder", localize("The working directory does not exist: {path}.", path=quoted_path(path)), path
    )


def _missing_path(code: str, message: LocalizedText, path: Path) -> LaunchError:
    likely = _nearest_path(path)
    return LaunchError(code, message, hint=_path_hint(path, likely), path=str(path), nearest=likely)


def _nearest_path(path: Path) -> str | None:
    """The file that was probably meant, in the nearest folder on the way that there is."""
    there = next(parent for parent in path.parents if file_kind(parent) == "folder")
    name = nearest(path.relative_to(there).parts[0], _names_in(there))
    return None if name is None else str(there / name)


def _path_hint(path: Path, likely: str | None) -> LocalizedText:
    for _, variable in split_variables(str(path)):
        if variable is not None:
            meant = likely_variable(variable)
            shown = quoted(f"${{{variable}}}")
            return (
                localize("{shown} is not a variable.", shown=shown)
                if meant is None
                else localize("{shown} is not a variable. Did you mean {meant}?", shown=shown, meant=quoted(meant))
            )
    if likely is not None:
        return localize("See `nearest` for similar names.")
    return localize("Fix the path, or build the program first (a preLaunchTask can do that).")


def _names_in(folder: Path) -> list[str]:
    try:
        with os.scandir(folder) as found:
            return [entry.name for entry, _ in zip(found, range(_MOST_NAMES), strict=False)]
    except OSError:
        return []
