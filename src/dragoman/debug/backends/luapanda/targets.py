"""The three ways to reach a Lua program: start it, wait for it to connect, or connect to it."""

from __future__ import annotations

import logging
import signal
import socket
from collections.abc import Mapping
from pathlib import Path
from typing import Protocol

import anyio
from anyio.abc import ByteStream, TaskGroup

from dragoman.core.errors import DragomanError
from dragoman.core.localization import localize
from dragoman.debug.backends.adapters.program_io import PublishEvent, exited_events, feed_stdin, publish_output
from dragoman.debug.backends.adapters.spec import LaunchContext
from dragoman.debug.backends.luapanda.runtime import choose_interpreter, runtime_file
from dragoman.debug.backends.luapanda.settings import LOOPBACK, LuaSettings
from dragoman.debug.backends.luapanda.shared_ports import PortLease
from dragoman.debug.backends.port import make_event, make_output_event
from dragoman.io.net.streams import accept_from, connect_tcp
from dragoman.io.net.tcp_listener import bind_tcp
from dragoman.io.processes.command import ProcessCommand
from dragoman.io.processes.process_tree import ChildProcess, ProcessTree
from dragoman.protocols.dap.bodies import EventBody

log = logging.getLogger(__name__)

_CONNECT_TIMEOUT_S = 20.0
_RETRY_INTERVAL_S = 0.2  # a program waits half a second for a debugger when it starts; a short one never retries
_CONNECT_ATTEMPT_S = 10.0  # the program responds when one of its hooks fires
_OUTPUT_END_TIMEOUT_S = 0.5
_EXIT_TIMEOUT_S = 2.0
_HERE = Path(__file__).parent


class LuaTarget(Protocol):
    """A Lua program that can be debugged, and how to get a connection to it."""

    handshake_timeout_s: float
    accepts_other_peers: bool
    """Whether a peer that did not speak LuaPanda can be ignored."""

    async def run(self, group: TaskGroup, publish: PublishEvent) -> None:
        """Without a debugger."""
        ...

    async def connect(self, group: TaskGroup, publish: PublishEvent) -> ByteStream:
        """Waits as long as it takes. From here on, the program's output is published."""
        ...

    async def wait_for_exit_events(self) -> list[EventBody]:
        """The events of the end, once the connection has closed."""
        ...

    async def terminate_program(self) -> bool:
        """Ends the program that we started; False where we did not."""
        ...


class LuaProcess:
    """A program in a process tree of ours: its output is published, its exit is reported."""

    def __init__(self, tree: ProcessTree, child: ChildProcess, stdin: str | None) -> None:
        self._tree = tree
        self._stdin = stdin
        self._silent = anyio.Event()
        self.child = child

    def pids(self) -> list[int]:
        return list(self._tree.pids())

    async def read_output(self, publish: PublishEvent) -> None:
        async with anyio.create_task_group() as group:
            group.start_soon(feed_stdin, self.child.stdin, self._stdin)
            await publish(make_event("process", name="", systemProcessId=self.child.pid))
            group.start_soon(publish_output, self.child.stdout, "stdout", publish, None)
            if self.child.stderr is not None:
                group.start_soon(publish_output, self.child.stderr, "stderr", publish, None)
        self._silent.set()

    async def terminate(self) -> None:
        """A program that is stopped in its debugger does not handle the signal, so the signal ends it."""
        self.child.signal(signal.SIGTERM)
        with anyio.move_on_after(_EXIT_TIMEOUT_S):
            await self.child.wait()

    async def wait_for_exit_events(self) -> list[EventBody]:
        """Also ends a program that continues after it has left the debugger: we started it."""
        exit = await self.child.wait()
        with anyio.move_on_after(_OUTPUT_END_TIMEOUT_S):
            await self._silent.wait()
        return exited_events(exit)


class LaunchedTarget:
    """A Lua file that we start with a debugger. The file itself needs no changes."""

    handshake_timeout_s = 10.0
    accepts_other_peers = False

    def __init__(self, tree: ProcessTree, settings: LuaSettings, context: LaunchContext) -> None:
        self._tree = tree
        self._settings = settings
        self._context = context
        self._program: LuaProcess | None = None

    async def run(self, group: TaskGroup, publish: PublishEvent) -> None:
        interpreter = choose_interpreter(self._settings, self._context.adapter_environment)
        await self._start([interpreter, str(self._settings.program), *self._settings.args], group, publish)

    async def connect(self, group: TaskGroup, publish: PublishEvent) -> ByteStream:
        with bind_tcp(LOOPBACK, 0) as listener:
            return await self._accept_runtime(listener, group, publish)

    async def _start(self, argv: list[str], group: TaskGroup, publish: PublishEvent) -> LuaProcess:
        child = await self._tree.start(ProcessCommand(argv, self._context.environment, self._settings.cwd))
        self._program = LuaProcess(self._tree, child, self._context.stdin)
        group.start_soon(self._program.read_output, publish)
        return self._program

    async def _accept_runtime(self, listener: socket.socket, group: TaskGroup, publish: PublishEvent) -> ByteStream:
        argv = interpreter_command(self._settings, self._context.adapter_environment, listener.getsockname()[1])
        program = await self._start(argv, group, publish)
        async with anyio.create_task_group() as waiting:
            waiting.start_soon(_raise_when_ended, program)
            stream = await accept_from(listener, program.pids, deadline_s=_CONNECT_TIMEOUT_S)
            waiting.cancel_scope.cancel("it has come")
        return stream

    async def wait_for_exit_events(self) -> list[EventBody]:
        return [*(await self._program.wait_for_exit_events() if self._program else ()), make_event("terminated")]

    async def terminate_program(self) -> bool:
        if self._program is not None:
            await self._program.terminate()
        return True


class IncomingTarget:
    """A program that connects to us: one that somebody else started, or that we start beside."""

    handshake_timeout_s = 10.0
    accepts_other_peers = True

    def __init__(
        self, lease: PortLease, tree: ProcessTree | None, settings: LuaSettings, context: LaunchContext
    ) -> None:
        self._lease = lease
        self._tree = tree
        self._settings = settings
        self._context = context
        self._program: LuaProcess | None = None
        self._is_started = False

    async def connect(self, group: TaskGroup, publish: PublishEvent) -> ByteStream:
        if not self._is_started:
            self._is_started = True
            group.start_soon(self._publish_refusals, publish)
            await self.run(group, publish)
        return await self._lease.wait_for_connection()

    async def _publish_refusals(self, publish: PublishEvent) -> None:
        async for user in self._lease.refused:
            refused = localize(
                "Refused a connection to port {port} from user {user}. If you trust that forwarder, run "
                "`dragoman config set debug_port_users {user}`, then `dragoman restart`.",
                user=user,
                port=self._settings.port,
            )
            await publish(make_output_event(f"{refused}\n", "important"))

    async def run(self, group: TaskGroup, publish: PublishEvent) -> None:
        if self._tree is not None and self._settings.program is not None:
            argv = [str(self._settings.program), *self._settings.args]
            child = await self._tree.start(ProcessCommand(argv, self._context.environment, self._settings.cwd))
            self._program = LuaProcess(self._tree, child, self._context.stdin)
            group.start_soon(self._program.read_output, publish)

    async def wait_for_exit_events(self) -> list[EventBody]:
        if self._program is not None:
            with anyio.move_on_after(_EXIT_TIMEOUT_S):
                return [*await self._program.wait_for_exit_events(), make_event("terminated")]
        return [make_event("terminated")]

    async def terminate_program(self) -> bool:
        if self._program is not None:
            await self._program.terminate()
        return self._program is not None


class OutgoingTarget:
    """A program that listens. It is retried more often than LuaPanda's own IDE does, which misses short programs."""

    handshake_timeout_s = 3_600.0  # a connection may be accepted only when one of its hooks fires
    accepts_other_peers = True

    def __init__(self, settings: LuaSettings, users: frozenset[int]) -> None:
        self._settings = settings
        self._users = users

    async def run(self, _: TaskGroup, __: PublishEvent) -> None:
        """It runs already."""

    async def connect(self, _: TaskGroup, __: PublishEvent) -> ByteStream:
        while True:
            try:
                host, port = self._settings.host, self._settings.port
                return await connect_tcp(host, port, deadline_s=_CONNECT_ATTEMPT_S, retry=False, users=self._users)
            except DragomanError as error:
                if error.code not in {"connection_refused", "no_answer"}:
                    raise
            except OSError as error:
                log.info("a Lua program hung up before it was spoken to: %s", error)
            await anyio.sleep(_RETRY_INTERVAL_S)

    async def wait_for_exit_events(self) -> list[EventBody]:
        return [make_event("terminated")]

    async def terminate_program(self) -> bool:
        return False


def interpreter_command(settings: LuaSettings, environment: Mapping[str, str], port: int) -> list[str]:
    """With LuaPanda's own file where `packagePath` leads to one, else with our runtime."""
    interpreter = choose_interpreter(settings, environment)
    program = str(settings.program)
    own = next((folder for one in settings.package_path if (folder := _luapanda_folder(one, settings.cwd))), None)
    runtime = runtime_file()
    if own is None and runtime is not None:
        return [interpreter, str(runtime), f"{LOOPBACK}:{port}", program, *settings.args]
    adapter_environment = ";".join(_pattern(one, settings.cwd) for one in settings.package_path)
    return [interpreter, str(_HERE / "boot.lua"), str(port), adapter_environment, program, *settings.args]


def _luapanda_folder(entry: str, cwd: Path) -> Path | None:
    """An entry is a folder, or a pattern of `package.path`."""
    folder = cwd / (entry.rpartition("/")[0] if "?" in entry else entry)
    return folder if (folder / "LuaPanda.lua").is_file() else None


def _pattern(entry: str, cwd: Path) -> str:
    return entry if "?" in entry else f"{cwd / entry}/?.lua"


async def _raise_when_ended(program: LuaProcess) -> None:
    """Else one that died at once would be waited for until the deadline."""
    await program.child.wait()
    raise DragomanError(
        "adapter_gone",
        localize("The Lua program ended before the debugger connected."),
        hint=localize("See its output. Is luasocket installed for this Lua? Check with `dragoman lua doctor`."),
    )
