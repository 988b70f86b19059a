"""A command that prints a line and ends: no shell, a deadline, a bound on what it may print."""

from __future__ import annotations

import subprocess
from collections.abc import Mapping, Sequence

import anyio

from dragoman.phrases import Phrase, say

_MAX_BYTES = 65_536


class ShortCommandError(Exception):
    """Why there is nothing to use; what the command printed is not part of it."""

    def __init__(self, reason: Phrase) -> None:
        super().__init__(reason)
        self.reason = reason


async def printed_by(argv: Sequence[str], environment: Mapping[str, str], *, within_s: float) -> bytes:
    """What it wrote to its standard output; it reads nothing, and its error output is not kept."""
    try:
        with anyio.fail_after(within_s):
            return await _printed(argv, environment)
    except TimeoutError:
        raise ShortCommandError(say("it took too long")) from None
    except OSError as error:
        raise ShortCommandError(say("it could not be started: {reason}", reason=error.strerror)) from None


async def _printed(argv: Sequence[str], environment: Mapping[str, str]) -> bytes:
    process = await anyio.open_process(
        list(argv), stdin=subprocess.DEVNULL, stderr=subprocess.DEVNULL, env=dict(environment)
    )
    async with process:  # leaving it early kills the process
        assert process.stdout is not None
        held = b""
        async for piece in process.stdout:
            held += piece
            if len(held) > _MAX_BYTES:
                process.kill()
                raise ShortCommandError(say("it printed too much"))
        if await process.wait() != 0:
            raise ShortCommandError(say("it ended with exit code {code}", code=process.returncode))
    return held
