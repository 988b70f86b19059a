"""Programs that somebody else started, and the ports by which each language lets a debugger in."""

from __future__ import annotations

import contextlib
import os
import signal
import subprocess
import sys
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import anyio.to_thread
import psutil

from dragoman.debug.backends.adapters.discovery import require_adapter
from dragoman.debug.backends.luapanda.runtime import require_runtime
from dragoman.io.net.streams import free_port
from tests.conformance.table.languages import INTERPRETER
from tests.conformance.table.stage import Stage, eventually

_Command = Sequence[str]


def _python(stage: Stage, port: int) -> _Command:
    return (sys.executable, "-m", "debugpy", "--listen", str(port), str(stage.program), "walk")


def _node(stage: Stage, port: int) -> _Command:
    return ("node", f"--inspect=127.0.0.1:{port}", str(stage.program), "walk")


def _delve(stage: Stage, port: int) -> _Command:
    served = ("--headless", "--accept-multiclient", "--continue", f"--listen=127.0.0.1:{port}")
    return ("dlv", "exec", *served, str(stage.program), "--", "walk")


def _lldb_server(stage: Stage, port: int) -> _Command:
    """The program is no child of it, and keeps where it writes when the server goes."""
    server = str(require_adapter("lldb", os.environ)).replace("lldb-dap", "lldb-server")
    both = f'"$1" walk & exec {server} gdbserver 127.0.0.1:{port} --attach $!'
    return ("sh", "-c", both, "sh", str(stage.program))


def _rdbg(stage: Stage, port: int) -> _Command:
    rdbg = str(require_adapter("ruby", os.environ))
    return (rdbg, "-n", "--open", "--port", str(port), "-c", "--", "ruby", str(stage.program), "walk")


def _lua(stage: Stage, port: int) -> _Command:
    """It listens from its first line on."""
    folder, name = require_runtime().parent, "dragoman"
    if "packagePath" in stage.language.configuration:
        folder, name = Path(os.environ["LUAPANDA_LUA"]).parent, "LuaPanda"
    serve = f"package.path = package.path .. [[;{folder}/?.lua]]; require('{name}').startServer('127.0.0.1', {port})"
    return (INTERPRETER, "-e", serve, str(stage.program), "walk")


_LISTENS: Mapping[str, Callable[[Stage, int], _Command]] = {
    "debugpy": _python,
    "node": _node,
    "go": _delve,
    "lldb": _lldb_server,
    "codelldb": _lldb_server,
    "rdbg": _rdbg,
    "lua": _lua,
}
_NAMED: Mapping[str, Callable[[Stage, int], dict[str, Any]]] = {
    "debugpy": lambda _, port: {"connect": {"host": "127.0.0.1", "port": port}},
    "node": lambda _, port: {"port": port},
    "go": lambda _, port: {"mode": "remote", "port": port},
    "lldb": lambda _, port: {"gdb-remote-port": port, "gdb-remote-hostname": "127.0.0.1"},
    "codelldb": lambda stage, port: {
        "targetCreateCommands": [f"target create {stage.program}"],
        "processCreateCommands": [f"gdb-remote 127.0.0.1:{port}"],
    },
    "rdbg": lambda _, port: {"debugPort": str(port)},
    "lua": lambda _, port: {"connectionPort": port, "VSCodeAsClient": True},
}
_RUNS = {"debugpy": (sys.executable,), "node": ("node",), "rdbg": ("ruby",), "lua": (INTERPRETER,)}


def by_pid(stage: Stage) -> _Command:
    return (*_RUNS.get(stage.language.type, ()), str(stage.program), "walk")


@contextmanager
def running(command: _Command) -> Iterator[subprocess.Popen[bytes]]:
    """In a group of its own: a program outlives the server that lets a debugger in."""
    quiet = subprocess.DEVNULL
    with subprocess.Popen(command, stdout=quiet, stderr=quiet, start_new_session=True) as started:
        try:
            yield started
        finally:
            os.killpg(started.pid, signal.SIGKILL)


@contextmanager
def listening(stage: Stage) -> Iterator[tuple[subprocess.Popen[bytes], dict[str, Any], int]]:
    type, port = stage.language.type, free_port()
    with running(_LISTENS[type](stage, port)) as started:
        yield started, _NAMED[type](stage, port), port


async def program_at(started: subprocess.Popen[bytes], port: int) -> int:
    """The program itself, once it or its server listens. Asked of the system: some take whoever knocks for a client."""

    def found() -> list[int]:
        result = psutil.net_connections("tcp")
        if not any(it.status == psutil.CONN_LISTEN and it.laddr and it.laddr.port == port for it in result):
            return []
        return [process.pid for process in _tree(started.pid) if process.cmdline()[-1:] == ["walk"]]

    async def listens() -> bool:
        with contextlib.suppress(psutil.Error):  # one that has gone meanwhile
            return bool(await anyio.to_thread.run_sync(found))
        return False

    await eventually(listens)
    return found()[-1]


def _tree(pid: int) -> list[psutil.Process]:
    root = psutil.Process(pid)
    return [root, *root.children(recursive=True)]
