"""A program's three standard descriptors, and our ends of them as streams."""

from __future__ import annotations

import itertools
import os
import termios
from collections.abc import Callable
from typing import NamedTuple

from dragoman.transport.command import Command, Stdio
from dragoman.transport.streams import PipeReader, PipeWriter
from dragoman.transport.system import System


class Near(NamedTuple):
    stdin: PipeWriter
    stdout: PipeReader
    stderr: PipeReader | None

    def close(self) -> None:
        for stream in self:
            if stream is not None:
                stream.close()


Ends = tuple[Near, list[int]]


def open_stdio(system: System, command: Command) -> Ends:
    """Our ends, and the program's three descriptors for us to close once they are handed over."""
    return _OPENERS[command.stdio](system, command)


def _open_pipes(system: System, _: Command) -> Ends:
    (stdin, to), (out, stdout), (err, stderr) = _pipes(system, 3)
    return Near(PipeWriter(to), PipeReader(out), PipeReader(err)), [stdin, stdout, stderr]


def _open_merged(system: System, _: Command) -> Ends:
    (stdin, to), (out, stdout) = _pipes(system, 2)
    return Near(PipeWriter(to), PipeReader(out), None), [stdin, stdout, stdout]


def _open_terminal(system: System, command: Command) -> Ends:
    near, far = system.terminal()
    try:
        termios.tcsetwinsize(near, command.size)
        writer = PipeWriter(os.dup(near))
    except BaseException:
        os.close(near)
        os.close(far)
        raise
    return Near(writer, PipeReader(near), None), [far, far, far]


def _pipes(system: System, count: int) -> list[tuple[int, int]]:
    opened: list[tuple[int, int]] = []
    try:
        while len(opened) < count:
            opened.append(system.pipe())
    except OSError:
        for fd in itertools.chain.from_iterable(opened):
            os.close(fd)
        raise
    return opened


_OPENERS: dict[Stdio, Callable[[System, Command], Ends]] = {
    Stdio.PIPES: _open_pipes,
    Stdio.MERGED: _open_merged,
    Stdio.TERMINAL: _open_terminal,
}
