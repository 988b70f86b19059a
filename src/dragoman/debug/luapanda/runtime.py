"""The runtime that we ship, and the Luas of this machine: what they are, and what they lack."""

from __future__ import annotations

import re
import shutil
import subprocess
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path

from dragoman.debug.luapanda.settings import LuaSettings
from dragoman.errors import DragomanError
from dragoman.phrases import say

INTERPRETERS = ("lua", "lua5.4", "lua5.3", "luajit", "lua5.1", "lua5.2")
_HERE = Path(__file__).parent
_ANSWERS_WITHIN_S = 5.0
_VERSION = re.compile(r'\b(?:debuggerVer|VERSION)\s*=\s*"([^"]+)"')
_NAMES = ("LuaPanda.lua", "dragoman.lua")
_SKIPPED = frozenset({".git", "node_modules", ".venv"})
_QUESTION = (
    "io.write(_VERSION, '|', type(jit) == 'table' and jit.version or '', '|', "
    "pcall(require, 'socket.core') and 'socket' or '')"
)


@dataclass(frozen=True, slots=True)
class Interpreter:
    path: str
    version: str
    has_socket: bool


@dataclass(frozen=True, slots=True)
class Copy:
    """A LuaPanda in a project: the original with its version, or ours."""

    path: Path
    version: str
    is_ours: bool
    is_current: bool = True
    """Of ours: whether it is the very file that this installation has."""


def runtime_file() -> Path | None:
    """`lua/dragoman.lua`: within the package where it is installed, beside it in the repository."""
    for place in (_HERE.parents[1] / "lua" / "dragoman.lua", _HERE.parents[3] / "lua" / "dragoman.lua"):
        if place.is_file():
            return place
    return None


def require_runtime() -> Path:
    found = runtime_file()
    if found is None:
        raise DragomanError(
            "runtime_missing",
            say("dragoman.lua is not part of this installation."),
            hint=say("Install dragoman again, or use your own LuaPanda.lua: `packagePath` says where it is."),
        )
    return found


def interpreter_of(settings: LuaSettings, environment: Mapping[str, str]) -> str:
    """`luaPath` is a name, or a path from where the program runs, which is not where the daemon does."""
    given = settings.interpreter
    names = (str(settings.cwd / given) if "/" in given else given,) if given else INTERPRETERS
    for name in names:
        found = shutil.which(name, path=environment.get("PATH", ""))
        if found is not None:
            return found
    raise DragomanError(
        "adapter_missing",
        say("There is no Lua interpreter: {names}.", names=", ".join(names)),
        hint=say("Install Lua and luasocket (Debian: `apt install lua5.4 lua-socket`), or have `luaPath` name one."),
    )


def interpreters(environment: Mapping[str, str]) -> list[Interpreter]:
    found: dict[Path, Interpreter] = {}
    for name in INTERPRETERS:
        path = shutil.which(name, path=environment.get("PATH", ""))
        if path is not None and Path(path).resolve() not in found:
            found[Path(path).resolve()] = _asked(path, environment)
    return list(found.values())


def copies(project: Path) -> Iterator[Copy]:
    """Those that programs of this project would load."""
    ours = runtime_file()
    current = ours.read_bytes() if ours is not None else b""
    for path in sorted(path for name in _NAMES for path in project.rglob(name)):
        if _SKIPPED.isdisjoint(path.parts):
            yield _copy(path, path.read_bytes(), current)


def is_ours(text: str) -> bool:
    return "dragoman" in text[:2000].lower()


def _copy(path: Path, data: bytes, current: bytes) -> Copy:
    text = data.decode("utf-8", "replace")
    version = _VERSION.search(text)
    mine = is_ours(text)
    return Copy(path, version[1] if version else "?", is_ours=mine, is_current=not mine or data == current)


def _asked(path: str, environment: Mapping[str, str]) -> Interpreter:
    try:
        asked = subprocess.run(  # noqa: S603  an interpreter of the user's own PATH
            [path, "-e", _QUESTION],
            capture_output=True,
            env=dict(environment),
            text=True,
            timeout=_ANSWERS_WITHIN_S,
            check=False,
        )
    except (OSError, subprocess.TimeoutExpired):
        return Interpreter(path, "?", has_socket=False)
    version, jit, socket, *_ = (*asked.stdout.split("|"), "", "", "")
    return Interpreter(path, jit or version or "?", has_socket=socket == "socket")
