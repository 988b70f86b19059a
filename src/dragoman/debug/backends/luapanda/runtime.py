"""The LuaPanda runtime that Dragoman ships, copies of it in a project, and the Lua interpreters of this machine."""

from __future__ import annotations

import re
import shutil
import subprocess
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path

from dragoman.core.errors import DragomanError
from dragoman.core.localization import localize
from dragoman.debug.backends.luapanda.settings import LuaSettings

INTERPRETERS = ("lua", "lua5.4", "lua5.3", "luajit", "lua5.1", "lua5.2")
_HERE = Path(__file__).parent
_PROBE_TIMEOUT_S = 5.0
_VERSION = re.compile(r'\b(?:debuggerVer|VERSION)\s*=\s*"([^"]+)"')
_NAMES = ("LuaPanda.lua", "dragoman.lua")
_SKIPPED = frozenset({".git", "node_modules", ".venv"})
_PROBE_SCRIPT = (
    "io.write(_VERSION, '|', type(jit) == 'table' and jit.version or '', '|', "
    "pcall(require, 'socket.core') and 'socket' or '')"
)


@dataclass(frozen=True, slots=True)
class LuaInterpreter:
    path: str
    version: str
    has_socket: bool


@dataclass(frozen=True, slots=True)
class RuntimeCopy:
    """A LuaPanda in a project: the original with its version, or ours."""

    path: Path
    version: str
    is_ours: bool
    is_current: bool = True
    """For our own runtime: whether the file equals the one of this installation."""


def runtime_file() -> Path | None:
    """`lua/dragoman.lua`: in the package if installed, beside it in the repository."""
    for place in (_HERE.parents[2] / "lua" / "dragoman.lua", _HERE.parents[4] / "lua" / "dragoman.lua"):
        if place.is_file():
            return place
    return None


def require_runtime() -> Path:
    found = runtime_file()
    if found is None:
        raise DragomanError(
            "runtime_missing",
            localize("dragoman.lua is missing from this installation."),
            hint=localize("Reinstall Dragoman, or set `packagePath` to find your own LuaPanda.lua."),
        )
    return found


def choose_interpreter(settings: LuaSettings, environment: Mapping[str, str]) -> str:
    """`luaPath` is a name, or a path from where the program runs, which is not where the daemon does."""
    given = settings.interpreter
    names = (str(settings.cwd / given) if "/" in given else given,) if given else INTERPRETERS
    for name in names:
        found = shutil.which(name, path=environment.get("PATH", ""))
        if found is not None:
            return found
    raise DragomanError(
        "adapter_missing",
        localize("No Lua interpreter found: {names}.", names=", ".join(names)),
        hint=localize("Install Lua and luasocket (Debian: `apt install lua5.4 lua-socket`), or set `luaPath`."),
    )


def find_interpreters(environment: Mapping[str, str]) -> list[LuaInterpreter]:
    found: dict[Path, LuaInterpreter] = {}
    for name in INTERPRETERS:
        path = shutil.which(name, path=environment.get("PATH", ""))
        if path is not None and Path(path).resolve() not in found:
            found[Path(path).resolve()] = _probe_interpreter(path, environment)
    return list(found.values())


def find_copies(project: Path) -> Iterator[RuntimeCopy]:
    """Copies that programs of this project would load."""
    ours = runtime_file()
    current = ours.read_bytes() if ours is not None else b""
    for path in sorted(path for name in _NAMES for path in project.rglob(name)):
        if _SKIPPED.isdisjoint(path.parts):
            yield _read_copy(path, path.read_bytes(), current)


def is_ours(text: str) -> bool:
    return "dragoman" in text[:2000].lower()


def _read_copy(path: Path, data: bytes, current: bytes) -> RuntimeCopy:
    text = data.decode("utf-8", "replace")
    version = _VERSION.search(text)
    mine = is_ours(text)
    return RuntimeCopy(path, version[1] if version else "?", is_ours=mine, is_current=not mine or data == current)


def _probe_interpreter(path: str, environment: Mapping[str, str]) -> LuaInterpreter:
    try:
        asked = subprocess.run(  # noqa: S603  an interpreter of the user's own PATH
            [path, "-e", _PROBE_SCRIPT],
            capture_output=True,
            env=dict(environment),
            text=True,
            timeout=_PROBE_TIMEOUT_S,
            check=False,
        )
    except (OSError, subprocess.TimeoutExpired):
        return LuaInterpreter(path, "?", has_socket=False)
    version, jit, socket, *_ = (*asked.stdout.split("|"), "", "", "")
    return LuaInterpreter(path, jit or version or "?", has_socket=socket == "socket")
