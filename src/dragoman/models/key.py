"""The key of a model: from a variable or from a command, asked for when it is needed, kept in memory, never told."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field

import anyio

from dragoman.models.faults import key_command_failed, no_key
from dragoman.phrases import say
from dragoman.transport.short_command import ShortCommandError, printed_by

_COMMAND_S = 15.0  # a password manager may ask its person


@dataclass(slots=True)
class Key:
    variable: str = ""
    command: Sequence[str] = field(default=(), repr=False)
    environment: Mapping[str, str] = field(default_factory=dict, repr=False)
    needed: bool = True
    """False for a model of this machine, which may have none."""
    _printed: str = field(default="", repr=False)
    _one_at_a_time: anyio.Lock = field(default_factory=anyio.Lock, repr=False)

    async def read(self) -> str:
        if self.command:
            return await self._by_command()
        text = self.environment.get(self.variable, "").strip() if self.variable else ""
        if not text and self.needed:
            raise no_key(self.variable)
        return text

    def was_refused(self) -> None:
        """The command is asked again: keys that a manager hands out expire."""
        self._printed = ""

    async def _by_command(self) -> str:
        async with self._one_at_a_time:
            if not self._printed:
                self._printed = await _first_line(self.command, self.environment)
            return self._printed


async def _first_line(command: Sequence[str], environment: Mapping[str, str]) -> str:
    try:
        printed = await printed_by(command, environment, within_s=_COMMAND_S)
    except ShortCommandError as error:
        raise key_command_failed(error.reason) from None
    lines = printed.decode(errors="replace").strip().splitlines()
    if not lines or not lines[0].isascii() or not lines[0].isprintable():
        raise key_command_failed(say("it printed no key"))
    return lines[0].strip()
