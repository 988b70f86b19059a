"""What to run, and why it could not be run."""

from __future__ import annotations

import errno
import os
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from enum import Enum
from pathlib import Path

from dragoman.errors import DragomanError
from dragoman.phrases import say
from dragoman.transport.supervisor import packed


class Stdio(Enum):
    PIPES = "pipes"
    MERGED = "merged"  # both outputs in one pipe, in the order in which they were written
    TERMINAL = "terminal"


@dataclass(frozen=True, slots=True)
class Command:
    """The environment is exact: nothing is added, and it is never shown."""

    argv: Sequence[str]
    environment: Mapping[str, str] = field(repr=False)
    cwd: Path
    stdio: Stdio = Stdio.PIPES
    size: tuple[int, int] = (24, 80)
    """Rows and columns of its terminal, from its first moment on."""

    def start_message(self, id: int) -> bytes:
        """Everything as the bytes that the system will see; none of them can hold the NUL that separates them."""
        argv = [os.fsencode(word) for word in self.argv]
        variables = [os.fsencode(text) for pair in self.environment.items() for text in pair]
        fields = [os.fsencode(self.cwd), *argv, *variables]
        has_bad_name = any(not name or b"=" in name for name in variables[::2])
        if not argv or has_bad_name or any(b"\0" in one for one in fields):
            raise StartError(b"start", errno.EINVAL)
        is_terminal = int(self.stdio is Stdio.TERMINAL)
        return packed(b"start", id, is_terminal, fields[0], len(argv), *fields[1:])


class StartError(Exception):
    """As the supervisor tells it: how far the new process came, and what the system said then."""

    def __init__(self, stage: bytes, code: int) -> None:
        super().__init__(stage, code)
        self.stage = stage
        self.code = code

    def explained(self, command: Command) -> DragomanError:
        reason = os.strerror(self.code)
        if self.stage == b"ended":
            return tree_ended()
        if self.stage == b"folder":
            return _bad_folder(command.cwd, reason)
        if self.stage == b"command" and self.code == errno.ENOENT:
            return _not_found(command.argv[0])
        return cannot_start(command, reason)


def _bad_folder(cwd: Path, reason: str) -> DragomanError:
    return DragomanError(
        "bad_folder",
        say("The folder {path} cannot be entered: {reason}.", path=cwd, reason=reason),
        hint=say("Check `cwd` in the configuration."),
    )


def _not_found(program: str) -> DragomanError:
    return DragomanError(
        "command_not_found",
        say("There is no command {program}.", program=program),
        hint=say("Check its spelling, that it is installed, and that it is on the PATH of the client."),
    )


def cannot_start(command: Command, reason: str) -> DragomanError:
    program = command.argv[0] if command.argv else "?"
    return DragomanError(
        "cannot_start",
        say("{program} could not be started: {reason}.", program=program, reason=reason),
        hint=say("Check the command, and that the file may be executed."),
    )


def no_supervisor(reason: object) -> DragomanError:
    return DragomanError(
        "cannot_start",
        say("The supervisor of a new session could not be started: {reason}.", reason=reason),
        hint=say("`dragoman doctor` looks for what may be wrong."),
    )


def tree_ended() -> DragomanError:
    return DragomanError(
        "tree_ended", say("The session's processes have been ended."), hint=say("Start a new session.")
    )
