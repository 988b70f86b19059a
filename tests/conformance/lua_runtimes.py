"""Lua programs under either runtime: our own, and an unmodified LuaPanda.lua where `LUAPANDA_LUA` names one."""

from __future__ import annotations

import os
import shutil
import subprocess
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from dragoman.debug.backends.adapters.lua import LUA
from dragoman.debug.backends.luapanda.runtime import runtime_file
from dragoman.debug.model import LaunchRequest
from dragoman.debug.service import DebugService
from dragoman.io.net.streams import free_port
from dragoman.workspace.breakpoints import Breakpoint
from dragoman.workspace.caller import Caller
from tests.conformance.test_python import client_of

PANDA = os.environ.get("LUAPANDA_LUA", "")
LUAS = ("lua5.1", "lua5.2", "lua5.3", "lua5.4", "luajit")
RUNTIMES = ("own", "panda") if PANDA else ("own",)


@dataclass(frozen=True, slots=True)
class LuaWorkspace:
    """A folder with programs, and the runtime that they find as `LuaPanda`."""

    folder: Path
    runtime: str
    interpreter: str

    @classmethod
    def made(cls, folder: Path, runtime: str, interpreter: str = "lua5.4") -> LuaWorkspace:
        (folder / "panda").mkdir()
        source = PANDA if runtime == "panda" else str(runtime_file())
        shutil.copy(source, folder / "panda" / "LuaPanda.lua")
        return cls(folder, runtime, interpreter)

    @property
    def client(self) -> Caller:
        return client_of(self.folder)

    def write(self, name: str, text: str) -> Path:
        path = self.folder / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text, "utf-8")
        return path

    def at(self, path: Path, line: int, **fields: Any) -> Breakpoint:
        return Breakpoint(id=0, path=str(path), line=line, **fields)

    def launch(self, program: Path, **more: Any) -> LaunchRequest:
        own = {"packagePath": [str(self.folder / "panda")]} if self.runtime == "panda" else {}
        data = {"type": "lua", "request": "launch", "name": "lua", "program": str(program), "luaPath": self.interpreter}
        return LaunchRequest(configuration={**data, **own, **more})

    def listening(self, port: int, **more: Any) -> LaunchRequest:
        return LaunchRequest(
            configuration={"type": "lua", "request": "attach", "name": "lua", "connectionPort": port, **more}
        )

    @contextmanager
    def running(self, program: Path, call: str, *args: str, before: str = "") -> Iterator[subprocess.Popen[str]]:
        """A program that somebody else started: its first act is to ask for its debugger."""
        first = f"{before} package.path = [[{self.folder}/panda/?.lua;]] .. package.path; require('LuaPanda').{call}"
        argv = [self.interpreter, "-e", first, program.name, *args]
        with subprocess.Popen(
            argv, cwd=self.folder, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True
        ) as process:
            try:
                yield process
            finally:
                process.kill()


__all__ = ["LUA", "LUAS", "PANDA", "RUNTIMES", "DebugService", "LuaWorkspace", "free_port"]
