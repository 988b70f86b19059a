"""A real Lua program under our runtime, and the plain IDE that talks to it over a socket."""

from __future__ import annotations

import os
import re
import shutil
import socket
import subprocess
import time
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from pathlib import Path
from types import TracebackType
from typing import Any

from dragoman.protocols.luapanda.framing import LineReader, command_line, message_text, read_message

RUNTIME = Path(__file__).parents[2] / "lua" / "dragoman.lua"
LUAS = ("lua5.1", "lua5.2", "lua5.3", "lua5.4", "luajit")
PATIENCE_S = 10.0
STOPS = frozenset(
    {
        "stopOnEntry",
        "stopOnBreakpoint",
        "stopOnCodeBreakpoint",
        "stopOnStep",
        "stopOnStepIn",
        "stopOnStepOut",
        "stopOnPause",
        "stopOnException",
    }
)
Message = dict[str, Any]
_ID = re.compile(rb'"callbackId":"(\d+)"')


def settings(root: Path, **changed: str) -> dict[str, str]:
    return {
        "stopOnEntry": "true",
        "luaFileExtension": "",
        "cwd": str(root),
        "isNeedB64EncodeStr": "false",
        "TempFilePath": str(root),
        "logLevel": "1",
        "pathCaseSensitivity": "true",
        "OSType": "Linux",
        "clibPath": "",
        "useCHook": "false",
        "adapterVersion": "3.3.1",
        "autoPathMode": "false",
        "distinguishSameNameFile": "false",
        "truncatedOPath": "",
        **changed,
    }


class Ide:
    """One end of the connection: it sends lines, and keeps what came until somebody asks for it."""

    def __init__(self, connection: socket.socket) -> None:
        connection.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
        self._connection = connection
        self._reader = LineReader()
        self._ids = 100
        self.seen: list[Message] = []

    def write(self, data: bytes) -> None:
        self._connection.sendall(data)

    def option(self, level: int, name: int, value: bytes) -> None:
        self._connection.setsockopt(level, name, value)

    def send(self, cmd: str, info: Any = None, **fields: Any) -> str:
        self._ids += 1
        line = {"callbackId": str(self._ids), "cmd": cmd, "info": {} if info is None else info, **fields}
        self.write(command_line(line))
        return str(line["callbackId"])

    def send_many(self, count: int, cmd: str, info: Any) -> list[str]:
        ids = [str(self._ids + place) for place in range(1, count + 1)]
        self._ids += count
        self.write(b"".join(command_line({"callbackId": id, "cmd": cmd, "info": info}) for id in ids))
        return ids

    def next_message(self, within_s: float = PATIENCE_S) -> Message | None:
        """The next message, or None when the program has closed the connection."""
        deadline = time.monotonic() + within_s
        while (line := self._reader.next_line()) is None:
            self._connection.settimeout(max(0.001, deadline - time.monotonic()))
            try:
                data = self._connection.recv(1 << 16)
            except ConnectionResetError:
                return None
            if not data:
                return None
            self._reader.feed(data)
        message = read_message(message_text(line))
        self.seen.append(message)
        return message

    def wait_for(self, *cmds: str, id: str | None = None, within_s: float = PATIENCE_S) -> Message:
        deadline = time.monotonic() + within_s
        while True:
            message = self.next_message(max(0.001, deadline - time.monotonic()))
            assert message is not None, f"closed while waiting for {cmds}; seen {self.seen[-5:]}"
            if message["cmd"] in cmds and (id is None or message["callbackId"] == id):
                return message

    def answered_ids(self, cmd: str, count: int) -> list[str]:
        """The ids of the next answers to this command; read as text, for there may be very many."""
        answer, ids = re.compile(rb'"cmd":"%s"' % cmd.encode()), list[str]()
        while len(ids) < count:
            while (line := self._reader.next_line()) is None:
                self._connection.settimeout(PATIENCE_S)
                data = self._connection.recv(1 << 20)
                assert data, f"closed after {len(ids)} answers"
                self._reader.feed(data)
            if answer.search(line) and (id := _ID.search(line)):
                ids.append(id[1].decode())
        return ids

    def ask(self, cmd: str, info: Any = None, within_s: float = PATIENCE_S) -> Any:
        return self.wait_for(cmd, id=self.send(cmd, info), within_s=within_s)["info"]

    def stop(self, within_s: float = PATIENCE_S) -> Message:
        """The next stop, whatever the reason."""
        while True:
            message = self.wait_for(*STOPS, within_s=within_s)
            if "stack" in message:
                return message

    def go(self, cmd: str = "continue") -> Message:
        self.send(cmd)
        return self.stop()

    def start(self, root: Path, **changed: str) -> Message:
        """A session that is stopped at its entry."""
        self.ask("initSuccess", settings(root, **changed))
        return self.stop()

    def breakpoints(self, path: Path, *nodes: int | Mapping[str, Any]) -> Any:
        bks = [{"verified": True, "type": 2, "line": node} if isinstance(node, int) else {**node} for node in nodes]
        return self.ask("setBreakPoint", {"path": str(path), "bks": bks})

    def run_out(self) -> None:
        """Read until the program closes the connection."""
        while self.next_message() is not None:
            pass

    def close(self) -> None:
        self._connection.close()


class Program:
    """A Lua process in a folder of its own, with our runtime beside it as LuaPanda.lua."""

    def __init__(self, lua: str, root: Path) -> None:
        self.lua, self.root = lua, root
        self._listener: socket.socket | None = None
        self._ides: list[Ide] = []
        self.process: subprocess.Popen[str] | None = None
        debugger = root / "debugger"
        debugger.mkdir(exist_ok=True)
        shutil.copy(RUNTIME, debugger / "LuaPanda.lua")
        shutil.copy(RUNTIME, debugger / "dragoman.lua")

    def write(self, name: str, text: str) -> Path:
        path = self.root / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text, encoding="utf-8")
        return path

    def listen(self, port: int = 0) -> int:
        self._listener = socket.create_server(("127.0.0.1", port))
        self._listener.settimeout(PATIENCE_S)
        return int(self._listener.getsockname()[1])

    def run(self, *arguments: str, port: int, **environment: str) -> None:
        path = f"./?.lua;{self.root}/debugger/?.lua;;"
        env = {**os.environ, "LUA_PATH": path, "PANDA_PORT": str(port), **environment}
        self.process = subprocess.Popen(
            [self.lua, *arguments], cwd=self.root, env=env, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True
        )

    def accept(self) -> Ide:
        assert self._listener is not None
        return self._kept(Ide(self._listener.accept()[0]))

    def connect(self, port: int) -> Ide:
        """To a program that listens, or soon will."""
        deadline = time.monotonic() + PATIENCE_S
        while True:
            try:
                return self._kept(Ide(socket.create_connection(("127.0.0.1", port), timeout=PATIENCE_S)))
            except ConnectionRefusedError:
                assert time.monotonic() < deadline, f"nobody listens on {port}"

    def _kept(self, ide: Ide) -> Ide:
        self._ides.append(ide)
        return ide

    def stop_listening(self) -> None:
        if self._listener is not None:
            self._listener.close()
            self._listener = None

    def debug(self, *arguments: str, **environment: str) -> Ide:
        """Start a program that connects to us."""
        self.run(*arguments, port=self.listen(), **environment)
        return self.accept()

    def end(self, within_s: float = PATIENCE_S) -> tuple[int, str, str]:
        assert self.process is not None
        out, err = self.process.communicate(timeout=within_s)
        return self.process.returncode, out, err

    def __enter__(self) -> Program:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.stop_listening()
        for ide in self._ides:
            ide.close()
        if self.process is not None and self.process.poll() is None:
            self.process.kill()
        if self.process is not None:
            self.process.communicate()


@contextmanager
def stopped_at(
    lua: str, root: Path, text: str, line: int, arguments: Sequence[str] = (), **changed: str
) -> Iterator[tuple[Program, Ide, Message]]:
    """A program, written here, that an extended session has stopped at a line of it."""
    with Program(lua, root) as program:
        path = program.write("main.lua", text)
        ide = program.debug("main.lua", *arguments)
        ide.start(root, **{"dragoman": "1", **changed})
        ide.breakpoints(path, line)
        yield program, ide, ide.go()
