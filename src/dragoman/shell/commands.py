"""Which command runs, by the marks in the output.

Marks with our nonce make verified commands. Others are believed only where our hook says nothing, and what they make is
unverified: while a verified command runs, a mark of another's is something that it printed.
"""

from __future__ import annotations

from dataclasses import dataclass

from dragoman.shell.passing import RECORDED
from dragoman.wire.osc import (
    CommandFinished,
    CommandLineReported,
    InputStarted,
    Mark,
    OutputStarted,
    PromptStarted,
    PropertyReported,
)


@dataclass(slots=True)
class Began:
    """`line` is None where the shell did not tell it; `listed` is False where it may be another one's."""

    number: int
    verified: bool
    line: str | None
    cwd: str | None
    hidden: bool
    """The shell keeps it out of its own history."""
    listed: bool
    nested: bool
    """Told by a program that runs in a verified command."""
    started_ms: int = 0


@dataclass(slots=True)
class Ended:
    began: Began
    exit_code: int | None


@dataclass(slots=True)
class AtInput:
    """A prompt stands there and a line is typed."""


@dataclass(slots=True)
class LineGivenUp:
    """The next prompt came and nothing was run."""


Step = Began | Ended | AtInput | LineGivenUp


class Track:
    """One speaker's marks: a shell's with our hook, or everybody else's."""

    def __init__(self, *, verified: bool) -> None:
        self._verified = verified
        self._line: str | None = None
        self._cwd: str | None = None
        self._at_input = False
        self.running: Began | None = None

    def take(self, mark: Mark, number: int, *, nested: bool = False) -> list[Step]:
        if isinstance(mark, CommandLineReported):
            self._line = mark.command_line
        elif isinstance(mark, PropertyReported):
            self._cwd = mark.value if mark.key == "Cwd" else self._cwd
        elif isinstance(mark, OutputStarted):
            return [*self._ended(None), self._began(mark, number, nested)]
        elif isinstance(mark, CommandFinished):
            return self._ended(mark.exit_code)
        elif isinstance(mark, PromptStarted):
            return [*self._ended(None), *self._given_up()]
        elif isinstance(mark, InputStarted) and self.running is None and not self._at_input:
            self._at_input = True
            return [AtInput()]
        return []

    def finish(self, exit_code: int | None) -> list[Step]:
        return self._ended(exit_code)

    def _began(self, mark: OutputStarted, number: int, nested: bool) -> Step:
        line = mark.command_line if mark.command_line is not None else self._line
        self._line, self._at_input = None, False
        self.running = Began(
            number, self._verified, line, self._cwd,
            hidden=mark.parameters.get("hidden") == "1", listed=mark.parameters.get("listed") != "0", nested=nested,
        )  # fmt: skip
        return self.running

    def _ended(self, exit_code: int | None) -> list[Step]:
        began, self.running = self.running, None
        return [] if began is None else [Ended(began, exit_code)]

    def _given_up(self) -> list[Step]:
        was, self._at_input = self._at_input, False
        return [LineGivenUp()] if was else []


class Commands:
    """Both tracks, and which of them counts."""

    def __init__(self, nonce: str) -> None:
        self._nonce = nonce
        self._own, self._foreign = Track(verified=True), Track(verified=False)
        self._count = 0
        self._hooked = False
        self.marks_seen = False

    def verified(self, mark: Mark) -> bool:
        return bool(self._nonce) and mark.nonce == self._nonce

    @property
    def running(self) -> Began | None:
        """What our own hook's shell runs."""
        return self._own.running

    @property
    def shell_is_busy(self) -> bool:
        """A command of our own hook's shell runs: what is printed now is that command's."""
        return self._own.running is not None

    def take(self, mark: Mark) -> list[Step]:
        if mark.nonce == RECORDED:  # by a wrapper inside this one
            return []
        self.marks_seen = True
        if self.verified(mark):
            self._hooked = True
            nested = self._foreign.finish(None) if isinstance(mark, CommandFinished | PromptStarted) else []
            return [*nested, *self._numbered(self._own, mark)]
        if not self._hooked:
            return self._numbered(self._foreign, mark)
        # Whoever prints a prompt inside a command must not hold back what the command prints.
        steps = self._numbered(self._foreign, mark, nested=True) if self.shell_is_busy else []
        return [step for step in steps if isinstance(step, Began | Ended)]

    def unhook(self) -> list[Step]:
        """Another shell is in the place of ours, which says nothing with our nonce."""
        steps = self.finish(None)
        self._nonce, self._hooked, self.marks_seen = "", False, False
        return steps

    def finish(self, exit_code: int | None) -> list[Step]:
        """The shell ended: a command that still ran was its last, such as `exit`."""
        return [*self._foreign.finish(None), *self._own.finish(exit_code)]

    def begin_guessed(self, line: str) -> Began:
        self._count += 1
        return Began(self._count, False, line, None, hidden=False, listed=True, nested=False)

    def _numbered(self, track: Track, mark: Mark, *, nested: bool = False) -> list[Step]:
        steps = track.take(mark, self._count + 1, nested=nested)
        self._count += sum(isinstance(step, Began) for step in steps)
        return steps
