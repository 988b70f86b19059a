"""A folder with programs to debug, a daemon that was started in it, and an agent that works there too."""

from __future__ import annotations

import contextlib
import json
import os
import sys
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from dragoman.io.drivers.control_client import ControlClient
from tests.daemons import call
from tests.page.hostile import ALL, IMAGE, SEQUENCES
from tests.servers.target_daemon import TargetDaemon, target_daemon

ROOT = Path(__file__).parents[2]

ADDING = """\
def add(values):
    total = 0
    for value in values:
        total += value
    return total


hostile = "<img src=x onerror='window.pwned = 1'>"
many = list(range(10_000))
numbers = [1, 2, 3]
result = add(numbers)
print("the sum is", result)
print(hostile)
"""
ENDLESS = """\
import time

count = 0
while True:
    count += 1
    time.sleep(0.01)
"""


PRINTING = """\
for number in range(100_000):
    print(f"line {number}")
values = {f"name {number}": number for number in range(10_000)}
print("all is printed")
"""
UNBROKEN = """\
for _ in range(100):
    print("x" * 10_000, end="")
print("the end")
"""
HOSTILE = f"""\
import threading

said = {ALL!r}
values = {{said: said, "sequences": {SEQUENCES!r}}}
globals()[said] = said


class Named:
    def __repr__(self):
        return said


named = Named()
print(said)
print(values["sequences"])
worker = threading.Thread(target=threading.Event().wait, args=(30,), name=said, daemon=True)
worker.start()


def never():
    pass


def fail():
    raise ValueError(said)


fail.__code__ = fail.__code__.replace(co_name={IMAGE!r}, co_qualname={IMAGE!r})
fail()
"""
PROGRAMS = {"adding": ADDING, "endless": ENDLESS, "printing": PRINTING, IMAGE: HOSTILE, "unbroken": UNBROKEN}


@dataclass(frozen=True)
class DebugWorkspace:
    folder: Path
    daemon: TargetDaemon

    def tool(self, name: str, /, *, folder: Path | None = None, **arguments: Any) -> Any:
        """As somebody at a command line in the same folder would, or in another."""
        place = str(folder or self.folder)
        about = {"workspace": place, "cwd": place, "environment": dict(os.environ)}
        with ControlClient.open(self.daemon.paths, role="tools", about=about) as link:
            return link.call("call", {"tool": name, "arguments": arguments})["data"]

    def clear(self) -> None:
        """Of what a test debugged."""
        for session in self.tool("list_sessions")["sessions"]:
            if session["state"] != "Terminated":
                self.tool("stop_debugging", session_id=session["session_id"])
        self.tool("remove_breakpoint", clear_all=True)


@contextlib.contextmanager
def debug_workspace(room: Path) -> Iterator[DebugWorkspace]:
    folder, home = room / "work", room / "home"
    furnish(folder, PROGRAMS)
    with target_daemon(home, folder=folder) as daemon:
        call(daemon.paths, "trust_add", {"folder": str(folder)})
        yield DebugWorkspace(folder, daemon)


def furnish(folder: Path, programs: Mapping[str, str]) -> None:
    (folder / ".vscode").mkdir(parents=True)
    for name, text in programs.items():
        (folder / f"{name}.py").write_text(text)
    (folder / ".vscode" / "launch.json").write_text(json.dumps({"configurations": [*map(_runs, programs)]}))


def _runs(name: str) -> dict[str, Any]:
    program = f"${{workspaceFolder}}/{name}.py"
    return {"name": name, "type": "debugpy", "request": "launch", "program": program, "python": sys.executable}
