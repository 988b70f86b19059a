"""`runInTerminal`: an adapter has us start the program, so its streams and its exit code are ours to tell."""

from __future__ import annotations

import contextlib
import re
from collections.abc import Awaitable, Callable, Mapping
from functools import partial
from pathlib import Path
from signal import SIGABRT, SIGBUS, SIGFPE, SIGILL, SIGKILL, SIGSEGV, SIGTERM
from typing import Any

import anyio
import anyio.to_thread
from anyio.abc import ByteReceiveStream, ByteSendStream, TaskGroup

from dragoman.debug.adapters.output_events import texts, without_noise
from dragoman.debug.adapters.scratch import input_bytes
from dragoman.debug.messages import fields, made, output
from dragoman.transport.command import Command
from dragoman.transport.descendants import freeze_and_kill
from dragoman.transport.supervised import Child, Exit, Tree
from dragoman.wire.dap import Event
from dragoman.wire.dap.bodies import RunInTerminalArguments, read_value

_OUTPUT_ENDS_WITHIN_S = 0.5  # after the program: a child of it may hold its output open
_KILLED_WITHIN_S = 1.0
_FATAL = frozenset({SIGKILL, SIGTERM, SIGSEGV, SIGABRT, SIGBUS, SIGFPE, SIGILL})
_CLOSED = (anyio.BrokenResourceError, anyio.ClosedResourceError)

Tell = Callable[[Event], Awaitable[None]]


class Terminal:
    """There is no terminal here: the program gets pipes, what it is given to read, and then the end of input."""

    def __init__(self, tree: Tree, environment: Mapping[str, str], folder: Path, stdin: str | None) -> None:
        self._tree = tree
        self._environment = environment
        self._folder = folder
        self._stdin = stdin
        self._child: Child | None = None
        self._heard = anyio.Event()

    async def run(
        self, arguments: Mapping[str, Any], group: TaskGroup, tell: Tell, noise: re.Pattern[str] | None
    ) -> Any:
        asked = read_value(arguments, RunInTerminalArguments, "runInTerminal")
        child = await self._tree.start(Command(asked.args, self._with(asked.env or {}), self._in(asked.cwd)))
        self._child = child
        group.start_soon(feed, child.stdin, self._stdin)
        group.start_soon(self._hear, child, tell, noise)
        return {"processId": child.pid}

    async def ended(self, within_s: float) -> Exit | None:
        """How the program ended, once all that it said was told; None where it lives, or never lived."""
        if self._child is None:
            return None
        with anyio.move_on_after(within_s):
            exit = await self._child.wait()
            with anyio.move_on_after(_OUTPUT_ENDS_WITHIN_S):
                await self._heard.wait()
            return exit
        return None

    async def kill(self) -> None:
        """With all that it started: what was asked for may be `npm`, and the program its child. They have ended then,
        unless they hang in the system."""
        if self._child is not None:
            await anyio.to_thread.run_sync(freeze_and_kill, partial(self._tree.with_descendants, self._child.pid))
            with anyio.move_on_after(_KILLED_WITHIN_S):
                await self._child.wait()

    async def _hear(self, child: Child, tell: Tell, noise: re.Pattern[str] | None) -> None:
        async with anyio.create_task_group() as group:
            group.start_soon(hear, child.stdout, "stdout", tell, None)
            if child.stderr is not None:
                group.start_soon(hear, child.stderr, "stderr", tell, noise)
        self._heard.set()

    def _with(self, changes: Mapping[str, str | None]) -> dict[str, str]:
        """On top of what the adapter itself was started with; null takes a variable away."""
        merged = {**self._environment, **changes}
        return {name: value for name, value in merged.items() if value is not None}

    def _in(self, cwd: str | None) -> Path:
        return self._folder / cwd if cwd else self._folder


async def hear(stream: ByteReceiveStream, category: str, tell: Tell, noise: re.Pattern[str] | None) -> None:
    with contextlib.suppress(*_CLOSED):
        async for text in texts(stream):
            if told := without_noise(text, noise):
                await tell(output(told, category))


async def feed(stdin: ByteSendStream, text: str | None) -> None:
    """A program that does not read to the end has its reasons."""
    with contextlib.suppress(*_CLOSED):
        if text:
            await stdin.send(input_bytes(text))
    await stdin.aclose()


def exited(exit: Exit) -> list[Event]:
    """A signal as wait tells it, negative: DAP has no other way. Nothing where its supervisor was killed first."""
    code = exit.code if exit.signal is None else -exit.signal
    return [made("exited", exitCode=code)] if code is not None else []


def with_signal(event: Event) -> Event:
    """An exit code that can hardly be a program's own is the signal that it stands for; 255 is too often meant."""
    code = fields(event).get("exitCode")
    return made("exited", exitCode=code - 256) if isinstance(code, int) and 256 - code in _FATAL else event
