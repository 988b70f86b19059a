"""Tracks which command runs, by the marks in the output, and summarises its output.

Marks with our nonce make verified commands. Other marks count only where our hook is silent, and make unverified
commands. While a verified command runs, a mark without the nonce is output of that command.
"""

from __future__ import annotations

import re
from dataclasses import dataclass

from dragoman.protocols.osc import (
    CommandFinished,
    CommandLineReported,
    InputStarted,
    Mark,
    OutputStarted,
    PromptStarted,
    PropertyReported,
)
from dragoman.shell.mark_filter import RECORDED_NONCE

_LINES = 5
_END_BYTES = 2048


@dataclass(slots=True)
class CommandBegan:
    """`line` is None if the shell did not report it; `listed` is False if it may belong to another command."""

    number: int
    verified: bool
    line: str | None
    cwd: str | None
    hidden: bool
    """The shell keeps it out of its own history."""
    listed: bool
    nested: bool
    """Reported by a program that runs inside a verified command."""
    started_ms: int = 0


@dataclass(slots=True)
class CommandEnded:
    began: CommandBegan
    exit_code: int | None


@dataclass(slots=True)
class InputBegan:
    """A prompt is shown and a line is typed."""


@dataclass(slots=True)
class LineAbandoned:
    """The next prompt appeared and nothing was run."""


CommandStep = CommandBegan | CommandEnded | InputBegan | LineAbandoned


class MarkTrack:
    """The marks of one source: the hooked shell, or everything else."""

    def __init__(self, *, verified: bool) -> None:
        self._verified = verified
        self._line: str | None = None
        self._cwd: str | None = None
        self._at_input = False
        self.running: CommandBegan | None = None

    def handle(self, mark: Mark, number: int, *, nested: bool = False) -> list[CommandStep]:
        if isinstance(mark, CommandLineReported):
            self._line = mark.command_line
        elif isinstance(mark, PropertyReported):
            self._cwd = mark.value if mark.key == "Cwd" else self._cwd
        elif isinstance(mark, OutputStarted):
            return [*self._ended(None), self._began(mark, number, nested)]
        elif isinstance(mark, CommandFinished):
            return self._ended(mark.exit_code)
        elif isinstance(mark, PromptStarted):
            return [*self._ended(None), *self._abandoned()]
        elif isinstance(mark, InputStarted) and self.running is None and not self._at_input:
            self._at_input = True
            return [InputBegan()]
        return []

    def finish(self, exit_code: int | None) -> list[CommandStep]:
        return self._ended(exit_code)

    def _began(self, mark: OutputStarted, number: int, nested: bool) -> CommandStep:
        line = mark.command_line if mark.command_line is not None else self._line
        self._line, self._at_input = None, False
        self.running = CommandBegan(
            number, self._verified, line, self._cwd,
            hidden=mark.parameters.get("hidden") == "1", listed=mark.parameters.get("listed") != "0", nested=nested,
        )  # fmt: skip
        return self.running

    def _ended(self, exit_code: int | None) -> list[CommandStep]:
        began, self.running = self.running, None
        return [] if began is None else [CommandEnded(began, exit_code)]

    def _abandoned(self) -> list[CommandStep]:
        was, self._at_input = self._at_input, False
        return [LineAbandoned()] if was else []


class CommandTracker:
    """Tracks verified and other marks, and decides which of them count."""

    def __init__(self, nonce: str) -> None:
        self._nonce = nonce
        self._own, self._foreign = MarkTrack(verified=True), MarkTrack(verified=False)
        self._count = 0
        self._hooked = False
        self.marks_seen = False

    def verified(self, mark: Mark) -> bool:
        return bool(self._nonce) and mark.nonce == self._nonce

    @property
    def running(self) -> CommandBegan | None:
        """The command line that the hooked shell runs."""
        return self._own.running

    @property
    def shell_is_busy(self) -> bool:
        """The hooked shell runs a command: what is printed now is that command's output."""
        return self._own.running is not None

    def handle(self, mark: Mark) -> list[CommandStep]:
        if mark.nonce == RECORDED_NONCE:  # recorded by a wrapper inside this one
            return []
        self.marks_seen = True
        if self.verified(mark):
            self._hooked = True
            nested = self._foreign.finish(None) if isinstance(mark, CommandFinished | PromptStarted) else []
            return [*nested, *self._numbered(self._own, mark)]
        if not self._hooked:
            return self._numbered(self._foreign, mark)
        # A prompt that is printed inside a command must not hold back the command's output.
        steps = self._numbered(self._foreign, mark, nested=True) if self.shell_is_busy else []
        return [step for step in steps if isinstance(step, CommandBegan | CommandEnded)]

    def unhook(self) -> list[CommandStep]:
        """Another shell replaced ours; it prints no marks with our nonce."""
        steps = self.finish(None)
        self._nonce, self._hooked, self.marks_seen = "", False, False
        return steps

    def finish(self, exit_code: int | None) -> list[CommandStep]:
        """The shell ended: a command that was still running was its last, such as `exit`."""
        return [*self._foreign.finish(None), *self._own.finish(exit_code)]

    def begin_detected(self, line: str) -> CommandBegan:
        self._count += 1
        return CommandBegan(self._count, False, line, None, hidden=False, listed=True, nested=False)

    def _numbered(self, track: MarkTrack, mark: Mark, *, nested: bool = False) -> list[CommandStep]:
        steps = track.handle(mark, self._count + 1, nested=nested)
        self._count += sum(isinstance(step, CommandBegan) for step in steps)
        return steps


_UNSEEN = re.compile(rb"\x1b\[[0-?]*[ -/]*[@-~]|\x1b\][^\x07\x1b]*(?:\x07|\x1b\\)|\x1b[ -/]*[0-~]|[\x00-\x08\x0b-\x1f]")


class OutputSummary:
    """The first and last five lines of a command's output. Adding has a constant cost."""

    def __init__(self) -> None:
        self._head = self._tail = b""

    def add(self, data: bytes) -> None:
        if len(self._head) < _END_BYTES:
            room = _END_BYTES - len(self._head)
            self._head += data[:room]
            data = data[room:]
        if data:
            self._tail = (self._tail + data[-_END_BYTES:])[-_END_BYTES:]

    def text(self) -> str:
        if len(self._tail) < _END_BYTES:  # no output is missing between the two
            lines = _lines(self._head + self._tail)
            return "\n".join(lines if len(lines) <= 2 * _LINES else lines[:_LINES] + lines[-_LINES:])
        return "\n".join(_lines(self._head)[:_LINES] + _lines(self._tail)[1:][-_LINES:])


def _lines(data: bytes) -> list[str]:
    """A line that was overwritten counts in its last state."""
    text = _UNSEEN.sub(b"", data.replace(b"\r\n", b"\n").replace(b"\r", b"\n")).decode("utf-8", "replace")
    return [line.rstrip() for line in text.split("\n") if line.strip()]
