"""A launch configuration with LuaPanda's keys: who starts the program, who listens where, and what `initSuccess`
sends.
"""

from __future__ import annotations

import os
import sys
import tempfile
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Literal

from dragoman.core.errors import DragomanError
from dragoman.core.localization import LocalizedText, localize

LOOPBACK = "127.0.0.1"
DEFAULT_PORT = 8818
_PORTS = range(1, 65536)
_SYSTEM_NAMES = {"darwin": "Darwin", "win32": "Windows_NT"}

ConnectionMode = Literal["started", "listening", "connecting"]
"""We start a Lua file; or a program connects to us, also one that we start; or it listens and we connect."""


@dataclass(frozen=True, slots=True)
class PathReplacement:
    """`docPathReplace`: what a path begins with in the runtime, and what it begins with here."""

    there: str
    here: str


@dataclass(frozen=True, slots=True)
class LuaSettings:
    mode: ConnectionMode
    cwd: Path
    host: str
    port: int
    program: Path | None
    args: tuple[str, ...]
    interpreter: str
    package_path: tuple[str, ...]
    stop_on_entry: bool
    extension: str
    auto_path: bool
    is_case_sensitive: bool
    same_names: bool
    truncated: str
    replacement: PathReplacement | None
    encodes_strings: bool
    log_level: int
    uses_c_hook: bool
    c_library: str
    """The folder above `linux/x86_64/503/libpdebug.so` and its likes."""

    @property
    def warning(self) -> LocalizedText | None:
        """Whoever reaches the port controls the program, so a warning says at the start that other machines can reach
        it."""
        if self.mode != "listening" or self.host in {LOOPBACK, "localhost", "::1"}:
            return None
        return localize(
            "Listening on {host}:{port}: other machines can connect, and the traffic is not encrypted.",
            host=self.host,
            port=self.port,
        )

    def init(self) -> dict[str, Any]:
        """Always stopping at the entry: breakpoints and helpers are set there, and the known race cannot happen."""
        return {
            "stopOnEntry": True,
            "luaFileExtension": self.extension,
            "cwd": str(self.cwd),
            "TempFilePath": tempfile.gettempdir(),
            "isNeedB64EncodeStr": self.encodes_strings,
            "logLevel": self.log_level,
            "pathCaseSensitivity": self.is_case_sensitive,
            "OSType": _SYSTEM_NAMES.get(sys.platform, "Linux"),
            "clibPath": self.c_library,
            "useCHook": self.uses_c_hook,
            "adapterVersion": "3.3.1",
            "autoPathMode": self.auto_path,
            "distinguishSameNameFile": self.same_names,
            "truncatedOPath": self.truncated,
            "DevelopmentMode": False,
            "dragoman": "1",
        }


def read_settings(request: str, given: Mapping[str, Any], workspace: Path) -> LuaSettings:
    _refuse_pid(request, given)
    cwd = Path(os.path.normpath(workspace / str(given.get("cwd") or "")))
    mode = _connection_mode(request, given)
    return LuaSettings(
        mode=mode,
        cwd=cwd,
        host=str(given.get("connectionIP") or given.get("host") or LOOPBACK),
        port=_port(given),
        program=_program(given, cwd),
        args=_words(given.get("args")),
        interpreter=str(given.get("luaPath") or ""),
        package_path=_words(given.get("packagePath")),
        stop_on_entry=_flag(given, "stopOnEntry", default=False),
        extension=str(given.get("luaFileExtension") or "").removeprefix("."),
        # The folder is known if Dragoman starts the program. Chunk names of other programs are matched by file name.
        auto_path=_flag(given, "autoPathMode", default=mode != "started"),
        is_case_sensitive=_flag(given, "pathCaseSensitivity", default=True),
        same_names=_flag(given, "distinguishSameNameFile", default=False),
        truncated=str(given.get("truncatedOPath") or ""),
        replacement=_replacement(given.get("docPathReplace")),
        encodes_strings=_flag(given, "isNeedB64EncodeStr", default=False),
        log_level=int(given.get("logLevel", 1)) if str(given.get("logLevel", 1)) in {"0", "1", "2"} else 1,
        uses_c_hook=_flag(given, "useCHook", default=False),
        c_library=_folder(given.get("clibPath"), cwd),
    )


def _refuse_pid(request: str, given: Mapping[str, Any]) -> None:
    """A runtime that nobody has loaded cannot be put into a process from outside."""
    if request == "attach" and (given.get("processId") or given.get("pid")):
        raise DragomanError(
            "not_supported",
            localize("Lua programs are attached by port, not by process ID."),
            hint=localize(
                'Call `require("LuaPanda").start("127.0.0.1", 8818)` in it, then attach with `connectionPort`.'
            ),
        )


def _connection_mode(request: str, given: Mapping[str, Any]) -> ConnectionMode:
    if _flag(given, "VSCodeAsClient", default=False):
        return "connecting"
    if request == "launch" and str(given.get("program") or "").endswith((".lua", ".luac")):
        return "started"
    return "started" if request == "launch" and given.get("luaPath") and given.get("program") else "listening"


def _program(given: Mapping[str, Any], cwd: Path) -> Path | None:
    named = str(given.get("program") or "")
    return Path(os.path.normpath(cwd / named)) if named else None


def _port(given: Mapping[str, Any]) -> int:
    given_port = given.get("connectionPort", given.get("port", DEFAULT_PORT))
    text = str(given_port)
    if not (text.isascii() and text.isdecimal() and int(text) in _PORTS):
        raise DragomanError(
            "bad_configuration",
            localize("`connectionPort` is not a valid port: {value}.", value=ascii(text[:40])),
            hint=localize("Use a number from 1 to 65535. LuaPanda's default is 8818."),
        )
    return int(text)


def _folder(value: Any, cwd: Path) -> str:
    """With the slash that the runtime expects at its end."""
    return f"{os.path.normpath(cwd / value)}/" if isinstance(value, str) and value else ""


def _flag(given: Mapping[str, Any], name: str, *, default: bool) -> bool:
    """LuaPanda's files have booleans and their texts."""
    value = given.get(name, default)
    return value if isinstance(value, bool) else str(value).lower() == "true"


def _words(value: Any) -> tuple[str, ...]:
    if isinstance(value, str):
        return tuple(value.split())
    return tuple(str(word) for word in value) if isinstance(value, list) else ()


def _replacement(value: Any) -> PathReplacement | None:
    """A list of two: the runtime's beginning of paths, and ours."""
    if not isinstance(value, list) or len(value) != 2 or not all(isinstance(one, str) and one for one in value):
        return None
    return PathReplacement(value[0].rstrip("/"), value[1].rstrip("/"))
