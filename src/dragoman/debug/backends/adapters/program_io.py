"""Streams, exit codes and temporary files of programs that Dragoman starts for an adapter (`runInTerminal`)."""

from __future__ import annotations

import codecs
import contextlib
import os
import re
import tempfile
import time
from collections.abc import AsyncIterator, Awaitable, Callable, Mapping
from functools import partial
from pathlib import Path
from signal import SIGABRT, SIGBUS, SIGFPE, SIGILL, SIGKILL, SIGSEGV, SIGTERM
from typing import Any

import anyio
import anyio.to_thread
from anyio.abc import ByteReceiveStream, ByteSendStream, TaskGroup

from dragoman.core.paths import find_paths
from dragoman.debug.backends.port import make_output_event
from dragoman.io.processes.command import ProcessCommand
from dragoman.io.processes.descendants import freeze_and_kill
from dragoman.io.processes.process_tree import ChildProcess, ProcessExit, ProcessTree
from dragoman.protocols.dap.bodies import EventBody, ExitedBody, RunInTerminalArguments, read_value

_STALE_AFTER_S = 86_400.0
_OUTPUT_END_TIMEOUT_S = 0.5  # after the program's end, because a child may keep its output open
_KILL_TIMEOUT_S = 1.0


async def decode_stream(stream: ByteReceiveStream) -> AsyncIterator[str]:
    """Never half a character: what is cut at the end of one piece stands at the start of the next."""
    decoder = codecs.getincrementaldecoder("utf-8")("replace")
    async for piece in stream:
        if text := decoder.decode(piece):
            yield text
    if rest := decoder.decode(b"", final=True):
        yield rest


def strip_noise(text: str, noise: re.Pattern[str] | None) -> str:
    if noise is None:
        return text
    return "".join(line for line in text.splitlines(keepends=True) if not noise.match(line))


def create_input_file(text: str | None) -> Path:
    """The caller removes the file once the program has opened it."""
    if text is None:
        return Path(os.devnull)
    fd, path = tempfile.mkstemp(dir=_scratch_folder(), prefix="input-")
    with os.fdopen(fd, "wb") as file:
        file.write(encode_input(text))
    return Path(path)


def encode_input(text: str) -> bytes:
    """Bytes that were no UTF-8 came as halves of surrogate pairs, and are bytes again; other halves mean nothing."""
    try:
        return text.encode("utf-8", "surrogateescape")
    except UnicodeEncodeError:
        return text.encode("utf-8", "replace")


def create_rows_file() -> Path:
    """A file for the output of a traced program; the tracer removes it."""
    fd, path = tempfile.mkstemp(dir=_scratch_folder(), prefix="rows-")
    os.close(fd)
    return Path(path)


def build_output_path() -> Path:
    """Where to build, instead of beside the sources. The debugger removes it, unless it is killed."""
    return _scratch_folder() / f"build-{os.urandom(8).hex()}"


def _scratch_folder() -> Path:
    folder = find_paths().runtime / "scratch"
    folder.mkdir(mode=0o700, parents=True, exist_ok=True)
    for path in folder.iterdir():
        with contextlib.suppress(OSError):
            if time.time() - path.lstat().st_mtime > _STALE_AFTER_S:
                path.unlink()
    return folder


_FATAL_SIGNALS = frozenset({SIGKILL, SIGTERM, SIGSEGV, SIGABRT, SIGBUS, SIGFPE, SIGILL})
_STREAM_CLOSED = (anyio.BrokenResourceError, anyio.ClosedResourceError)


PublishEvent = Callable[[EventBody], Awaitable[None]]


class PipedTerminal:
    """Serves `runInTerminal` without a terminal: the program gets pipes, its input, and then end of file."""

    def __init__(self, tree: ProcessTree, environment: Mapping[str, str], folder: Path, stdin: str | None) -> None:
        self._tree = tree
        self._environment = environment
        self._folder = folder
        self._stdin = stdin
        self._child: ChildProcess | None = None
        self._output_published = anyio.Event()

    async def run(
        self, arguments: Mapping[str, Any], group: TaskGroup, publish: PublishEvent, noise: re.Pattern[str] | None
    ) -> Any:
        value = read_value(arguments, RunInTerminalArguments, "runInTerminal")
        child = await self._tree.start(ProcessCommand(value.args, self._with(value.env or {}), self._in(value.cwd)))
        self._child = child
        group.start_soon(feed_stdin, child.stdin, self._stdin)
        group.start_soon(self._publish_output, child, publish, noise)
        return {"processId": child.pid}

    async def wait_for_exit(self, within_s: float) -> ProcessExit | None:
        """How the program ended, once all its output was published. None if it is running or never ran."""
        if self._child is None:
            return None
        with anyio.move_on_after(within_s):
            exit = await self._child.wait()
            with anyio.move_on_after(_OUTPUT_END_TIMEOUT_S):
                await self._output_published.wait()
            return exit
        return None

    async def kill(self) -> None:
        """With all that it started: what was asked for may be `npm`, and the program its child. They have ended then,
        unless they hang in the system."""
        if self._child is not None:
            await anyio.to_thread.run_sync(freeze_and_kill, partial(self._tree.with_descendants, self._child.pid))
            with anyio.move_on_after(_KILL_TIMEOUT_S):
                await self._child.wait()

    async def _publish_output(self, child: ChildProcess, publish: PublishEvent, noise: re.Pattern[str] | None) -> None:
        async with anyio.create_task_group() as group:
            group.start_soon(publish_output, child.stdout, "stdout", publish, None)
            if child.stderr is not None:
                group.start_soon(publish_output, child.stderr, "stderr", publish, noise)
        self._output_published.set()

    def _with(self, changes: Mapping[str, str | None]) -> dict[str, str]:
        """On top of what the adapter itself was started with; null takes a variable away."""
        merged = {**self._environment, **changes}
        return {name: value for name, value in merged.items() if value is not None}

    def _in(self, cwd: str | None) -> Path:
        return self._folder / cwd if cwd else self._folder


async def publish_output(
    stream: ByteReceiveStream, category: str, publish: PublishEvent, noise: re.Pattern[str] | None
) -> None:
    with contextlib.suppress(*_STREAM_CLOSED):
        async for text in decode_stream(stream):
            if shown := strip_noise(text, noise):
                await publish(make_output_event(shown, category))


async def feed_stdin(stdin: ByteSendStream, text: str | None) -> None:
    """A program that does not read to the end has its reasons."""
    with contextlib.suppress(*_STREAM_CLOSED):
        if text:
            await stdin.send(encode_input(text))
    await stdin.aclose()


def exited_events(exit: ProcessExit) -> list[EventBody]:
    """A signal as wait tells it, negative: DAP has no other way. Nothing where its supervisor was killed first."""
    code = exit.code if exit.signal is None else -exit.signal
    return [ExitedBody(exit_code=code)] if code is not None else []


def with_signal_exit_code(body: ExitedBody) -> ExitedBody:
    """An exit code that is hardly a program's own stands for a signal; 255 is too often meant as a code."""
    return ExitedBody(exit_code=body.exit_code - 256) if 256 - body.exit_code in _FATAL_SIGNALS else body
