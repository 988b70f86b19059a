"""What a program answers to keys: waited for until it shows a prompt or has been quiet for a while."""

from __future__ import annotations

from contextlib import aclosing
from dataclasses import dataclass

import anyio

from dragoman.clock import Clock
from dragoman.terminal.agent_terminal import PROMPT_WITHIN_S, AgentTerminal
from dragoman.terminal.model import Command
from dragoman.terminal.plain import plain
from dragoman.terminal.prompts import may_be_prompt
from dragoman.terminal.service import TerminalService
from dragoman.terminal.watching import Watcher

# Output that may become a secret reaches the record up to 0.7 s late: less would cut an answer in two.
_QUIET_S = 1.0
_QUIET_AT_PROMPT_S = 0.3
# For programs that have shown nothing but the echo of the keys: they may be computing.
_UNANSWERED_S = 3.0
# After Ctrl-C a program may put things in order before it ends.
_INTERRUPTED_S = 5.0
_RECORDED_WITHIN_S = 15.0
_KEPT_BYTES = 4096


@dataclass(frozen=True, slots=True)
class Settled:
    """`ended` is the command that runs no more; otherwise it still runs, or nothing did."""

    shown: bytes
    ended: Command | None
    read_bytes: int
    """How much of the command's output was shown before."""


@dataclass(frozen=True, slots=True)
class Typing:
    service: TerminalService
    own: AgentTerminal
    clock: Clock
    patient: bool = False

    async def settled(self, keys: bytes, within_s: float) -> Settled:
        own = self.own
        before, ran, read_bytes = own.command_id, own.runs(own.command_id), own.read_bytes
        async with aclosing(self.service.watch(own.id)) as watcher:
            await own.type(keys)
            shown = await self._shown(watcher, keys, within_s)
        is_over = own.command_id and (ran or own.command_id != before) and not own.runs(own.command_id)
        ended = await self._recorded(own.command_id) if is_over else None
        return Settled(shown, ended, read_bytes if own.command_id == before else 0)

    async def _recorded(self, command_id: str) -> Command | None:
        ended = await self.service.wait_for_end(self.own.id, command_id, within_s=_RECORDED_WITHIN_S)
        await self.own.wait_ready(PROMPT_WITHIN_S)
        return ended

    async def _shown(self, watcher: Watcher, keys: bytes, within_s: float) -> bytes:
        """All of it up to a bound, oldest first out."""
        before = self.own.command_id
        runs = self.own.runs(before)
        until_s, shown = self.clock.monotonic_s() + within_s, b""
        while not (runs and not self.own.runs(before)):
            left_s = until_s - self.clock.monotonic_s()
            more = b""
            with anyio.move_on_after(max(0.0, min(left_s, self._patience_s(shown, keys)))):
                more = await anext(watcher, b"")
            if not more:
                break
            shown = (shown + more)[-_KEPT_BYTES:]
        return shown

    def _patience_s(self, shown: bytes, keys: bytes) -> float:
        text = plain(shown)
        unfinished = text.rpartition("\n")[2]
        if may_be_prompt(unfinished):
            is_echo = text.strip() == plain(keys).strip()
            return _UNANSWERED_S if is_echo else _QUIET_AT_PROMPT_S
        if self.patient:
            return _INTERRUPTED_S
        return _QUIET_S if text.strip() not in ("", plain(keys).strip()) else _UNANSWERED_S
