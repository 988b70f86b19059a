"""The three ways to a Lua program: we start it, it comes to us, or we go to it."""

from __future__ import annotations

import logging
import signal
import socket
from collections.abc import Mapping
from pathlib import Path
from typing import Protocol

import anyio
from anyio.abc import ByteStream, TaskGroup

from dragoman.debug.adapters.run_in_terminal import Tell, exited, feed, hear
from dragoman.debug.adapters.spec import Situation
from dragoman.debug.luapanda.harbour import Berth
from dragoman.debug.luapanda.runtime import interpreter_of, runtime_file
from dragoman.debug.luapanda.settings import LOOPBACK, LuaSettings
from dragoman.debug.messages import made, output
from dragoman.errors import DragomanError
from dragoman.phrases import say
from dragoman.transport.command import Command
from dragoman.transport.streams import accept_from, connect_tcp
from dragoman.transport.supervised import Child, Tree
from dragoman.transport.tcp import bind_tcp
from dragoman.wire.dap import Event

log = logging.getLogger(__name__)

_MEET_WITHIN_S = 20.0
_TRY_EVERY_S = 0.2  # a program waits for us for half a second as it starts, and a short one never again
_TRY_FOR_S = 10.0  # it answers when a hook of it fires
_SAID_WITHIN_S = 0.5
_ENDS_WITHIN_S = 2.0
_HERE = Path(__file__).parent


class Place(Protocol):
    greeted_within_s: float
    others_may_come: bool
    """Whether who came and did not speak LuaPanda is no loss."""

    async def run(self, group: TaskGroup, tell: Tell) -> None:
        """Without a debugger."""
        ...

    async def connect(self, group: TaskGroup, tell: Tell) -> ByteStream:
        """Waits as long as it takes; what the program writes is told from here on."""
        ...

    async def ended(self) -> list[Event]:
        """What there is to tell of the end, once the connection has gone."""
        ...

    async def terminated(self) -> bool:
        """Ends the program that we started; False where we did not."""
        ...


class Program:
    """One in a tree of ours: its outputs are heard, its end is told."""

    def __init__(self, tree: Tree, child: Child, stdin: str | None) -> None:
        self._tree = tree
        self._stdin = stdin
        self._silent = anyio.Event()
        self.child = child

    def pids(self) -> list[int]:
        return list(self._tree.pids())

    async def hear(self, tell: Tell) -> None:
        async with anyio.create_task_group() as group:
            group.start_soon(feed, self.child.stdin, self._stdin)
            await tell(made("process", name="", systemProcessId=self.child.pid))
            group.start_soon(hear, self.child.stdout, "stdout", tell, None)
            if self.child.stderr is not None:
                group.start_soon(hear, self.child.stderr, "stderr", tell, None)
        self._silent.set()

    async def terminate(self) -> None:
        """While it stands in its debugger nothing of its own runs: the signal is its end."""
        self.child.signal(signal.SIGTERM)
        with anyio.move_on_after(_ENDS_WITHIN_S):
            await self.child.wait()

    async def ended(self) -> list[Event]:
        """Also of one that goes on after it has left the debugger: it is ours, and so is its end."""
        exit = await self.child.wait()
        with anyio.move_on_after(_SAID_WITHIN_S):
            await self._silent.wait()
        return exited(exit)


class Started:
    """A Lua file, with a debugger that it need not know of."""

    greeted_within_s = 10.0
    others_may_come = False

    def __init__(self, tree: Tree, settings: LuaSettings, situation: Situation) -> None:
        self._tree = tree
        self._settings = settings
        self._situation = situation
        self._program: Program | None = None

    async def run(self, group: TaskGroup, tell: Tell) -> None:
        interpreter = interpreter_of(self._settings, self._situation.searched)
        await self._start([interpreter, str(self._settings.program), *self._settings.args], group, tell)

    async def connect(self, group: TaskGroup, tell: Tell) -> ByteStream:
        with bind_tcp(LOOPBACK, 0) as listener:
            return await self._met(listener, group, tell)

    async def _start(self, argv: list[str], group: TaskGroup, tell: Tell) -> Program:
        child = await self._tree.start(Command(argv, self._situation.environment, self._settings.cwd))
        self._program = Program(self._tree, child, self._situation.stdin)
        group.start_soon(self._program.hear, tell)
        return self._program

    async def _met(self, listener: socket.socket, group: TaskGroup, tell: Tell) -> ByteStream:
        argv = command_line(self._settings, self._situation.searched, listener.getsockname()[1])
        program = await self._start(argv, group, tell)
        async with anyio.create_task_group() as waiting:
            waiting.start_soon(_raise_when_ended, program)
            stream = await accept_from(listener, program.pids, deadline_s=_MEET_WITHIN_S)
            waiting.cancel_scope.cancel("it has come")
        return stream

    async def ended(self) -> list[Event]:
        return [*(await self._program.ended() if self._program else ()), made("terminated")]

    async def terminated(self) -> bool:
        if self._program is not None:
            await self._program.terminate()
        return True


class Listening:
    """A program connects to us: one that somebody else started, or that we start beside."""

    greeted_within_s = 10.0
    others_may_come = True

    def __init__(self, berth: Berth, tree: Tree | None, settings: LuaSettings, situation: Situation) -> None:
        self._berth = berth
        self._tree = tree
        self._settings = settings
        self._situation = situation
        self._program: Program | None = None
        self._is_heard = False

    async def connect(self, group: TaskGroup, tell: Tell) -> ByteStream:
        if not self._is_heard:
            self._is_heard = True
            group.start_soon(self._tell_refused, tell)
            await self.run(group, tell)
        return await self._berth.taken()

    async def _tell_refused(self, tell: Tell) -> None:
        async for user in self._berth.refused:
            refused = say(
                "A program of the user {user} connected to port {port} and was refused. If it is a forwarder that you "
                "trust: `dragoman config set debug_port_users {user}`, then `dragoman restart`.",
                user=user,
                port=self._settings.port,
            )
            await tell(output(f"{refused}\n", "important"))

    async def run(self, group: TaskGroup, tell: Tell) -> None:
        if self._tree is not None and self._settings.program is not None:
            argv = [str(self._settings.program), *self._settings.args]
            child = await self._tree.start(Command(argv, self._situation.environment, self._settings.cwd))
            self._program = Program(self._tree, child, self._situation.stdin)
            group.start_soon(self._program.hear, tell)

    async def ended(self) -> list[Event]:
        if self._program is not None:
            with anyio.move_on_after(_ENDS_WITHIN_S):
                return [*await self._program.ended(), made("terminated")]
        return [made("terminated")]

    async def terminated(self) -> bool:
        if self._program is not None:
            await self._program.terminate()
        return self._program is not None


class Connecting:
    """The program listens. Tried until it is there, more often than by LuaPanda's own IDE, which misses short ones."""

    greeted_within_s = 3_600.0  # a connection can wait at its door until a hook of it fires
    others_may_come = True

    def __init__(self, settings: LuaSettings, users: frozenset[int]) -> None:
        self._settings = settings
        self._users = users

    async def run(self, _: TaskGroup, __: Tell) -> None:
        """It runs already."""

    async def connect(self, _: TaskGroup, __: Tell) -> ByteStream:
        while True:
            try:
                host, port = self._settings.host, self._settings.port
                return await connect_tcp(host, port, deadline_s=_TRY_FOR_S, retry=False, users=self._users)
            except DragomanError as error:
                if error.code not in {"connection_refused", "no_answer"}:
                    raise
            except OSError as error:
                log.info("a Lua program hung up before it was spoken to: %s", error)
            await anyio.sleep(_TRY_EVERY_S)

    async def ended(self) -> list[Event]:
        return [made("terminated")]

    async def terminated(self) -> bool:
        return False


def command_line(settings: LuaSettings, environment: Mapping[str, str], port: int) -> list[str]:
    """With LuaPanda's own file where `packagePath` leads to one, else with our runtime."""
    interpreter = interpreter_of(settings, environment)
    program = str(settings.program)
    own = next((folder for one in settings.package_path if (folder := _panda_below(one, settings.cwd))), None)
    runtime = runtime_file()
    if own is None and runtime is not None:
        return [interpreter, str(runtime), f"{LOOPBACK}:{port}", program, *settings.args]
    searched = ";".join(_pattern(one, settings.cwd) for one in settings.package_path)
    return [interpreter, str(_HERE / "boot.lua"), str(port), searched, program, *settings.args]


def _panda_below(entry: str, cwd: Path) -> Path | None:
    """An entry is a folder, or a pattern of `package.path`."""
    folder = cwd / (entry.rpartition("/")[0] if "?" in entry else entry)
    return folder if (folder / "LuaPanda.lua").is_file() else None


def _pattern(entry: str, cwd: Path) -> str:
    return entry if "?" in entry else f"{cwd / entry}/?.lua"


async def _raise_when_ended(program: Program) -> None:
    """Else one that died at once would be waited for until the deadline."""
    await program.child.wait()
    raise DragomanError(
        "adapter_gone",
        say("The Lua program ended before its debugger connected."),
        hint=say("Its output says why. Is luasocket installed for this Lua? `dragoman lua doctor` looks."),
    )
