"""A command to run, why it could not be started, and the output of one that prints a line and exits."""

from __future__ import annotations

import errno
import os
import subprocess
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from enum import Enum
from pathlib import Path

import anyio

from dragoman.core.errors import DragomanError
from dragoman.core.localization import LocalizedText, localize
from dragoman.io.errors import bad_folder, command_not_found, tree_ended
from dragoman.io.processes.supervisor import pack_message

_MAX_BYTES = 65_536


class Stdio(Enum):
    PIPES = "pipes"
    MERGED = "merged"  # both outputs in one pipe, in the order in which they were written
    TERMINAL = "terminal"


@dataclass(frozen=True, slots=True)
class ProcessCommand:
    """The environment is exact: nothing is added, and it is never shown."""

    argv: Sequence[str]
    environment: Mapping[str, str] = field(repr=False)
    cwd: Path
    stdio: Stdio = Stdio.PIPES
    size: tuple[int, int] = (24, 80)
    """Rows and columns of its terminal, from the start."""

    def start_message(self, id: int) -> bytes:
        """Everything as the bytes that the system will see; none may contain NUL, the separator."""
        argv = [os.fsencode(word) for word in self.argv]
        variables = [os.fsencode(text) for pair in self.environment.items() for text in pair]
        fields = [os.fsencode(self.cwd), *argv, *variables]
        has_bad_name = any(not name or b"=" in name for name in variables[::2])
        if not argv or has_bad_name or any(b"\0" in one for one in fields):
            raise ProcessStartError(b"start", errno.EINVAL)
        is_terminal = int(self.stdio is Stdio.TERMINAL)
        return pack_message(b"start", id, is_terminal, fields[0], len(argv), *fields[1:])


class ProcessStartError(Exception):
    """As the supervisor reports it: how far the new process came, and the error of the system."""

    def __init__(self, stage: bytes, code: int) -> None:
        super().__init__(stage, code)
        self.stage = stage
        self.code = code

    def explained(self, command: ProcessCommand) -> DragomanError:
        reason = os.strerror(self.code)
        if self.stage == b"ended":
            return tree_ended()
        if self.stage == b"folder":
            return bad_folder(path=command.cwd, reason=reason)
        if self.stage == b"command" and self.code == errno.ENOENT:
            return command_not_found(program=command.argv[0])
        return cannot_start(command, reason)


def cannot_start(command: ProcessCommand, reason: str) -> DragomanError:
    program = command.argv[0] if command.argv else "?"
    return DragomanError(
        "cannot_start",
        localize("Could not start {program}: {reason}.", program=program, reason=reason),
        hint=localize("Check the command, and that the file is executable."),
    )


class CommandOutputError(Exception):
    """Why there is no usable output. The message does not include what the command printed."""

    def __init__(self, reason: LocalizedText) -> None:
        super().__init__(reason)
        self.reason = reason


async def command_output(
    argv: Sequence[str], environment: Mapping[str, str], *, within_s: float, max_bytes: int = _MAX_BYTES
) -> bytes:
    """Return the standard output. The command reads nothing, and its error output is discarded."""
    try:
        with anyio.fail_after(within_s):
            return await _read_output(argv, environment, max_bytes)
    except TimeoutError:
        raise CommandOutputError(localize("it took too long")) from None
    except OSError as error:
        raise CommandOutputError(localize("it could not be started: {reason}", reason=error.strerror)) from None


async def _read_output(argv: Sequence[str], environment: Mapping[str, str], max_bytes: int) -> bytes:
    process = await anyio.open_process(
        list(argv), stdin=subprocess.DEVNULL, stderr=subprocess.DEVNULL, env=dict(environment)
    )
    async with process:  # leaving it early kills the process
        assert process.stdout is not None
        held = b""
        async for piece in process.stdout:
            held += piece
            if len(held) > max_bytes:
                process.kill()
                raise CommandOutputError(localize("it printed too much"))
        if await process.wait() != 0:
            raise CommandOutputError(localize("it ended with exit code {code}", code=process.returncode))
    return held
