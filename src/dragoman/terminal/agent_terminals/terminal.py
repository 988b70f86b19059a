"""One terminal of an agent: the daemon holds the pty, the shell wrapper runs in it and marks prompts and commands.

The wrapper signs its marks with a token from the daemon, and marks each command with the id under which it is
recorded. Marks that a program prints have no effect, and an answer belongs to its command by id.

An incomplete bash command is refused before any of its lines runs. zsh and fish read a whole text first and end with
an exit code; bash runs the lines before an unclosed quote, and then shows a prompt without an exit code.

A program that waits for a line is recognised by its prompt. Ordinary output can look the same, so a prompt counts
only if the program has been quiet after it.
"""

from __future__ import annotations

import os
import re
import secrets
import string
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path

import anyio

from dragoman.core.errors import DragomanError
from dragoman.core.localization import localize
from dragoman.io.processes.command import CommandOutputError, command_output
from dragoman.io.processes.pty import Pty
from dragoman.protocols.osc import CommandFinished, InputStarted, Mark, MarkScanner, OutputStarted
from dragoman.protocols.shell_input import is_plain, to_shell_input
from dragoman.terminal.model import EndedBy
from dragoman.terminal.plain_text import to_plain_text

_CHECK_TIMEOUT_S = 2.0
# `-n` parses and runs nothing. How aliases and options change the text, only the shell itself knows.
_CHECK = '"$BASH" --norc -O extglob -n -c "$1" 2>&1 || :'
_LONGEST = 120
READY_TIMEOUT_S = 10.0
PROMPT_WITHIN_S = 2.0
"""After a command has ended: some prompts run git first."""
_START_TIMEOUT_S = 8.0
"""A shell that shows its prompt again and starts nothing has refused the line."""
_EXIT_TIMEOUT_S = 2.0
HOLDER_VARIABLE = "DRAGOMAN_HOLDER"
"""The variable with the token. The wrapper removes it from its environment."""
# A command that has shown a prompt of its own for this long is no longer waited for.
_PROMPT_QUIET_S = 1.0
_LAST_LINE_BYTES = 512
_CLEARS_LINE = b"\x05\x15"

_UNFINISHED = re.compile(
    rb"line \d+: (?:unexpected EOF while looking for matching|syntax error: unexpected end of file)[^\n]*"
)


async def require_complete_command(command: str, bash: str, path: str) -> None:
    """Refuse an incomplete bash command. `bash` is the program, and `path` is the PATH it is searched in."""
    argv = [bash, "--norc", "-c", _CHECK, "bash", command]
    try:
        output = await command_output(argv, {"PATH": path, "LC_ALL": "C"}, within_s=_CHECK_TIMEOUT_S)
    except CommandOutputError:  # the shell itself reports the syntax error then
        return
    if match := _UNFINISHED.search(output):
        raise DragomanError(
            "unfinished_command",
            localize("Incomplete command: {reason}.", reason=match[0].decode(errors="replace")),
            hint=localize("Nothing ran. Close every quote and block, then run the whole command again."),
        )


_PROMPT = re.compile(
    r"""(?: >>> | > | In\ \[\d+\]: | \((?:Pdb|gdb|lldb|dlv|rdbg)\)
    | [\w.-]{1,40} (?:\([^()]{0,80}\))? (?::\d+){0,2} [=-]? [>#]        # mysql>  psql=#  irb(main):001:0>
    | [A-Za-z]{1,20}\ >                                                 # php >
    | [$\#%❯»]
    | [\w.-]{1,40} \ ? (?: [$❯»] | (?<!\d)(?<!\d\ )% )                  # bash-5.2$  host%  project ❯
    # me@host:~/src$  / #  me@host ~>
    | (?=[^<]*[~/@\]]) [^<]{0,100} (?: [$❯»] | (?<![=>-])> | (?<!\#)\# | (?<!\d)(?<!\d\ )% )
    | (?:\[sudo\]\ )? [Pp]assword (?:\ for\ [^:]{1,80})? :
    | .{0,200} (?:\[[Yy]/[Nn]\]|\([Yy]/[Nn]\)) [:?]?
    )\ ?""",
    re.VERBOSE,
)
# `Name: `, `Continue? ` and similar prompts, which count for a caller that has just typed and expects the next
# question.
_SIGN = re.compile(r"(?:[>$#%:?❯»]|\([\w.-]+\)) ?\Z")


def is_prompt(unfinished: str) -> bool:
    return _PROMPT.fullmatch(unfinished) is not None


def may_be_prompt(unfinished: str) -> bool:
    return is_prompt(unfinished) or (len(unfinished) <= _LONGEST and _SIGN.search(unfinished) is not None)


# Shells with bracketed paste: a tab does not complete anything, and several lines are one command.
_PASTES = frozenset({"bash", "zsh", "fish"})
_CURSOR_KEYS = re.compile(rb"\x1b\[\?1([hl])")


@dataclass(frozen=True, slots=True)
class AgentClient:
    """The client that a terminal runs for."""

    id: str
    workspace: Path
    cwd: Path
    environment: Mapping[str, str] = field(default_factory=dict, repr=False)
    trusts_workspace: bool = False
    link: str = ""
    """The client's connection or conversation. Its terminals belong to it alone, and end with it."""
    reconnected: bool = False
    """Whether it lost a connection before this one: then its earlier terminals are still its own."""


class AgentTerminal:
    """One terminal of an agent, from the moment the record knows it.

    It runs one command at a time. `reserved` means that a call has taken it and its command may not have begun yet.
    """

    def __init__(
        self, pty: Pty, client: AgentClient, holder_token: str, now_s: float, freed: Callable[[], None]
    ) -> None:
        self.id = ""
        self.client = client
        self.used_at_s = now_s
        self.disconnected_at_s: float | None = None
        self.ended_by: EndedBy | None = None
        self.reserved = True
        self.is_at_prompt = False
        self.has_printed = self.has_marks = False
        """Whether the shell marks prompts and commands. For other shells, the record's detection is used."""
        self.read_bytes = 0
        """How much of the last command's output has been returned to the client."""
        self.application_keys = False
        """Whether the running program wants application cursor keys (DECCKM)."""
        self._pty = pty
        self._program = client.environment.get("SHELL", "bash")
        self._shell = Path(self._program).name
        self._holder_token = holder_token
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
        """The id of the command that began last; empty if it is not recorded."""
        return f"{self.id}:{self._number}" if self._number else ""

    @property
    def is_over(self) -> bool:
        return self._pty.exit is not None

    async def read_output(self) -> None:
        """Read and discard everything that the terminal shows: the wrapper sends it to the record."""
        async for data in self._pty.shown():
            self.has_printed = True
            self._last_shown = (self._last_shown + data)[-_LAST_LINE_BYTES:]
            for piece in self._marks.feed(data):
                if isinstance(piece, Mark):
                    self._handle_mark(piece)
                elif b"\x1b[?1" in piece:
                    for found in _CURSOR_KEYS.finditer(piece):
                        self.application_keys = found[1] == b"h"
            self.notify()
        # The output ends a moment before the exit status is known, and other tasks wait for the exit status.
        with anyio.move_on_after(_EXIT_TIMEOUT_S):
            await self._pty.wait()
        self.notify()

    def notify(self) -> None:
        changed, self._changed = self._changed, anyio.Event()
        changed.set()

    async def wait_until(self, condition: Callable[[], bool], within_s: float) -> bool:
        """Wait until the condition is true, and return whether it became true in time. It is checked after each
        output."""
        with anyio.move_on_after(within_s):
            while not (condition() or self.is_over):
                await self._changed.wait()
        return condition()

    async def wait_ready(self, within_s: float = READY_TIMEOUT_S) -> bool:
        """Wait for a prompt; return whether there is one. A shell without marks never reports one, and may be typed
        into anyway."""
        return await self.wait_until(lambda: self.is_at_prompt, within_s)

    async def run(self, command: str) -> None:
        if self._shell == "bash" and not is_plain(command.strip()):
            await require_complete_command(command, self._program, self.client.environment.get("PATH", os.defpath))
        self.is_at_prompt, self._submitted, self._prompted_again = False, True, False
        self.read_bytes = 0
        text = to_shell_input(command, self._shell).encode(errors="replace")
        if self._shell in _PASTES:
            left_over, self._has_left_over = self._has_left_over, False
            await self._type((_CLEARS_LINE if left_over else b"") + b"\x1b[200~" + text + b"\x1b[201~\r")
        else:
            await self._type(text.replace(b"\n", b"\r") + b"\r")

    async def wait_for_start(self, within_s: float) -> bool:
        """Whether the shell started the typed command. False also if it showed its prompt again instead."""
        await self.wait_until(lambda: not self._submitted or self._prompted_again, within_s)
        if await self.wait_until(lambda: not self._submitted, min(within_s, _START_TIMEOUT_S)):
            return True
        if self._prompted_again and within_s >= _START_TIMEOUT_S:
            self._submitted, self.is_at_prompt = False, True
        return False

    async def wait_for_finish(self, command_id: str, within_s: float) -> bool:
        """Whether that command has finished, by the shell's marks. The wait ends early if the command itself prompts
        for input."""
        with anyio.move_on_after(within_s):
            while await self.wait_until(lambda: not self.runs(command_id) or self._shows_prompt(), within_s):
                before = self._last_shown
                if await self.wait_until(lambda: not self.runs(command_id), _PROMPT_QUIET_S):
                    break
                if self._last_shown is before:
                    return False
        return not self.runs(command_id)

    def _shows_prompt(self) -> bool:
        return is_prompt(to_plain_text(self._last_shown).rpartition("\n")[2])

    def runs(self, command_id: str) -> bool:
        return self.command_id == command_id and self._running and not self.is_over

    async def type(self, data: bytes) -> None:
        """Type the keys. Text that stays unentered at a prompt would precede the next command, so `run` clears it."""
        self._has_left_over = self.is_at_prompt
        await self._type(data)

    def release(self) -> None:
        self.reserved = False
        self._freed()

    def hang_up(self, by: EndedBy) -> None:
        """Hang up, as when a person closes the window."""
        self.ended_by = by
        self._pty.hang_up()

    def _handle_mark(self, mark: Mark) -> None:
        """Process a mark. Marks without our token count only if our hook is silent."""
        if mark.nonce == self._holder_token:
            self.has_marks = True
        elif self.has_marks:
            return
        if isinstance(mark, InputStarted):
            # fish redraws its prompt at any time, so the typed command may still begin.
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
                localize("Terminal {id} accepts no more input.", id=self.id),
                hint=localize(
                    "The program running there does not read its input. Interrupt it, or use another terminal."
                ),
            )


def new_holder_token() -> str:
    return secrets.token_hex(16)


# These depend on the cursor key mode (DECCKM): CSI by default, SS3 in application mode.
_CURSOR = {"up": b"A", "down": b"B", "right": b"C", "left": b"D", "home": b"H", "end": b"F"}
_FIXED = {
    "enter": b"\r",
    "tab": b"\t",
    "shift-tab": b"\x1b[Z",
    "escape": b"\x1b",
    "space": b" ",
    "backspace": b"\x7f",
    "delete": b"\x1b[3~",
    "insert": b"\x1b[2~",
    "page-up": b"\x1b[5~",
    "page-down": b"\x1b[6~",
    "ctrl-space": b"\0",
    "ctrl-[": b"\x1b",
    "ctrl-\\": b"\x1c",
    "ctrl-]": b"\x1d",
    "ctrl-_": b"\x1f",
}
_FUNCTIONS = dict(
    zip(
        (f"f{number}" for number in range(1, 13)),
        (
            b"\x1bOP",
            b"\x1bOQ",
            b"\x1bOR",
            b"\x1bOS",
            *(b"\x1b[%d~" % code for code in (15, 17, 18, 19, 20, 21, 23, 24)),
        ),
        strict=True,
    )
)
_CONTROL = {f"ctrl-{letter}": bytes([ord(letter) & 0x1F]) for letter in string.ascii_lowercase}
_ALT = {f"alt-{letter}": b"\x1b" + letter.encode() for letter in string.ascii_lowercase + string.digits + ".,/<>-_"}
# xterm encodes modifiers as 1 plus shift 1, alt 2, ctrl 4.
_MODIFIED = {
    f"{modifier}-{name}": b"\x1b[1;%d" % number + final
    for modifier, number in (("shift", 2), ("alt", 3), ("ctrl", 5))
    for name, final in _CURSOR.items()
}
_BYTES = {**_FIXED, **_FUNCTIONS, **_CONTROL, **_ALT, **_MODIFIED}
_ALIASES = {"return": "enter", "esc": "escape", "del": "delete", "pageup": "page-up", "pagedown": "page-down"}
KEY_CHOICES = (
    "enter, tab, shift-tab, escape, space, backspace, delete, insert, up, down, left, right, home, end, page-up, "
    "page-down, f1 to f12, ctrl-a to ctrl-z, alt-a to alt-z, ctrl-up, shift-left …, or one character"
)


def key_bytes(names: Sequence[str], *, application: bool = False) -> bytes:
    return b"".join(_key(name, application=application) for name in names)


def _key(name: str, *, application: bool) -> bytes:
    if len(name) == 1 and name.isprintable():
        return name.encode(errors="replace")
    known = name.strip().lower().replace("+", "-")
    known = _ALIASES.get(known, known)
    if known in _CURSOR:
        return (b"\x1bO" if application else b"\x1b[") + _CURSOR[known]
    if known not in _BYTES:
        raise DragomanError(
            "unknown_key",
            localize("Unknown key {name}.", name=ascii(name[:40])),
            hint=localize("Keys: {names}.", names=KEY_CHOICES),
        )
    return _BYTES[known]
