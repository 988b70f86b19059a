"""One terminal of an agent: the daemon holds it, our own wrapper runs in it, and its shell tells what it does.

The wrapper marks prompts and commands with a word that the daemon gave it, and each command with the id under which it
is recorded. So a program that prints marks of its own changes nothing here, and an answer belongs to its command by id.
"""

from __future__ import annotations

import os
import re
import secrets
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from pathlib import Path

import anyio

from dragoman.errors import DragomanError
from dragoman.phrases import say
from dragoman.terminal.model import EndedBy
from dragoman.terminal.plain import plain
from dragoman.terminal.prompts import is_prompt
from dragoman.terminal.unfinished import require_finished
from dragoman.transport.pty import Pty
from dragoman.wire.osc import CommandFinished, InputStarted, Mark, MarkScanner, OutputStarted
from dragoman.wire.typed_command import is_plain, typed

READY_WITHIN_S = 10.0
PROMPT_WITHIN_S = 2.0
"""After a command has ended: some prompts ask git first."""
_NOTHING_RAN_S = 8.0
"""A shell that shows its prompt again and starts nothing has refused the line."""
_ENDS_WITHIN_S = 2.0
HOLDER = "DRAGOMAN_HOLDER"
"""The variable with the word; the wrapper takes it out of its environment."""
# Shells that take a paste as text, whatever is in it: a tab completes nothing, and several lines are one command.
_PASTES = frozenset({"bash", "zsh", "fish"})
# A command that shows a prompt of its own for so long is not waited for any longer.
_ASKED_FOR_S = 1.0
_LAST_LINE_BYTES = 512
_CLEARS_LINE = b"\x05\x15"
_CURSOR_KEYS = re.compile(rb"\x1b\[\?1([hl])")


@dataclass(frozen=True, slots=True)
class Client:
    """On whose behalf a terminal runs."""

    id: str
    workspace: Path
    cwd: Path
    environment: Mapping[str, str] = field(default_factory=dict, repr=False)
    trusts_workspace: bool = False
    link: str = ""
    """Its connection, or its conversation: the terminals are this one's alone, and end with it."""
    reconnected: bool = False
    """Whether it lost a connection before this one: what it had then is its own."""


class AgentTerminal:
    """One of them, from the moment the record knows it. It runs one command at a time: `reserved` says that a call has
    taken it and its command may not have begun yet."""

    def __init__(self, pty: Pty, client: Client, word: str, now_s: float, freed: Callable[[], None]) -> None:
        self.id = ""
        self.client = client
        self.used_at_s = now_s
        self.left_at_s: float | None = None
        self.ended_by: EndedBy | None = None
        self.reserved = True
        self.is_at_prompt = False
        self.has_printed = self.has_marks = False
        """Whether its shell tells prompts and commands. Another one is believed by what the record guesses."""
        self.read_bytes = 0
        """How much of its last command's output answers to its client have shown."""
        self.application_keys = False
        """Whether what runs wants its arrow keys as applications do (DECCKM)."""
        self._pty = pty
        self._program = client.environment.get("SHELL", "bash")
        self._shell = Path(self._program).name
        self._word = word
        self._freed = freed
        self._marks = MarkScanner()
        self._submitted = self._prompted_again = self._running = False
        self._number = ""
        self._last_shown = b""
        self._has_left_over = False
        self._changed = anyio.Event()

    @property
    def pid(self) -> int:
        return self._pty.pid

    @property
    def command_id(self) -> str:
        """Of the command that began last; empty where it is not recorded."""
        return f"{self.id}:{self._number}" if self._number else ""

    @property
    def is_over(self) -> bool:
        return self._pty.exit is not None

    async def hear(self) -> None:
        """All that it shows is read and let go: the record gets it from the wrapper."""
        async for data in self._pty.shown():
            self.has_printed = True
            self._last_shown = (self._last_shown + data)[-_LAST_LINE_BYTES:]
            for piece in self._marks.feed(data):
                if isinstance(piece, Mark):
                    self._take(piece)
                elif b"\x1b[?1" in piece:
                    for found in _CURSOR_KEYS.finditer(piece):
                        self.application_keys = found[1] == b"h"
            self.notify()
        # It shows no more a moment before its end is known, which is what others wait for.
        with anyio.move_on_after(_ENDS_WITHIN_S):
            await self._pty.wait()
        self.notify()

    def notify(self) -> None:
        changed, self._changed = self._changed, anyio.Event()
        changed.set()

    async def until(self, condition: Callable[[], bool], within_s: float) -> bool:
        """Whether it came true in time; looked at whenever the terminal has shown something."""
        with anyio.move_on_after(within_s):
            while not (condition() or self.is_over):
                await self._changed.wait()
        return condition()

    async def wait_ready(self, within_s: float = READY_WITHIN_S) -> bool:
        """Whether the shell waits for a command. One without marks never says so, and is typed into all the same."""
        return await self.until(lambda: self.is_at_prompt, within_s)

    async def run(self, command: str) -> None:
        if self._shell == "bash" and not is_plain(command.strip()):
            await require_finished(command, self._program, self.client.environment.get("PATH", os.defpath))
        self.is_at_prompt, self._submitted, self._prompted_again = False, True, False
        self.read_bytes = 0
        text = typed(command, self._shell).encode(errors="replace")
        if self._shell in _PASTES:
            left_over, self._has_left_over = self._has_left_over, False
            await self._type((_CLEARS_LINE if left_over else b"") + b"\x1b[200~" + text + b"\x1b[201~\r")
        else:
            await self._type(text.replace(b"\n", b"\r") + b"\r")

    async def wait_begun(self, within_s: float) -> bool:
        """Whether the shell runs what was typed. False as well where it has shown its prompt again instead."""
        await self.until(lambda: not self._submitted or self._prompted_again, within_s)
        if await self.until(lambda: not self._submitted, min(within_s, _NOTHING_RAN_S)):
            return True
        if self._prompted_again and within_s >= _NOTHING_RAN_S:
            self._submitted, self.is_at_prompt = False, True
        return False

    async def wait_ended(self, command_id: str, within_s: float) -> bool:
        """Whether that command is over, as the shell tells it. Not waited for while it asks for a line itself."""
        with anyio.move_on_after(within_s):
            while await self.until(lambda: not self.runs(command_id) or self._asks(), within_s):
                before = self._last_shown
                if await self.until(lambda: not self.runs(command_id), _ASKED_FOR_S):
                    break
                if self._last_shown is before:
                    return False
        return not self.runs(command_id)

    def _asks(self) -> bool:
        return is_prompt(plain(self._last_shown).rpartition("\n")[2])

    def runs(self, command_id: str) -> bool:
        return self.command_id == command_id and self._running and not self.is_over

    async def type(self, data: bytes) -> None:
        """What comes to a prompt and is not entered would else stand before the next command."""
        self._has_left_over = self.is_at_prompt
        await self._type(data)

    def release(self) -> None:
        self.reserved = False
        self._freed()

    def hang_up(self, by: EndedBy) -> None:
        """As when a person closes the window."""
        self.ended_by = by
        self._pty.hang_up()

    def _take(self, mark: Mark) -> None:
        """Marks of others are believed only where our hook says nothing."""
        if mark.nonce == self._word:
            self.has_marks = True
        elif self.has_marks:
            return
        if isinstance(mark, InputStarted):
            # fish draws its prompt again whenever it likes: what was typed may still begin.
            self._prompted_again = True
            self.is_at_prompt = not self._submitted
            self._running = False
            self._freed()
        elif isinstance(mark, OutputStarted):
            self.is_at_prompt, self._submitted, self._running = False, False, True
            self._has_left_over = False
            self._number, self.read_bytes = mark.parameters.get("id", ""), 0
        elif isinstance(mark, CommandFinished):
            self._running = False

    async def _type(self, data: bytes) -> None:
        if not await self._pty.type(data):
            raise DragomanError(
                "cannot_type",
                say("The terminal {id} takes no more input.", id=self.id),
                hint=say("What runs there does not read. Interrupt it, or use another terminal."),
            )


def new_word() -> str:
    return secrets.token_hex(16)
