"""A real shell with an overlay over it, on an emulated screen: what a person would see after each key."""

from __future__ import annotations

import contextlib
import fcntl
import os
import pty
import select
import shutil
import signal
import struct
import termios
import time
from collections.abc import Callable, Iterator
from pathlib import Path

import pyte

from dragoman.protocols.omnish.messages import CompletionRequest, CompletionResponse, CompletionSuggestion
from dragoman.protocols.osc import Mark, MarkScanner
from dragoman.shell.overlay.overlay import Overlay
from dragoman.shell.settings import ShellSettings
from tests.daemons import PATIENCE

COLUMNS, ROWS = 60, 12
_A, _B = r"\e]133;A\a", r"\e]133;B\a"
_BASH = rf"""
PS1='\[{_A}\]\w $ \[{_B}\]'; HISTFILE=
PS0='\e]133;C\a'
PROMPT_COMMAND='printf "\e]133;D;%s\a\e]633;P;Cwd=%s\a" $? "$PWD"'
"""
_ZSH = r"""
PS1=$'%{\e]133;A\a%}%~ %# %{\e]133;B\a%}'
preexec() { printf '\e]133;C\a' }
precmd() { printf '\e]133;D;%s\a\e]633;P;Cwd=%s\a' $? "$PWD" }
"""


class Wrapped:
    """`history` is what the daemon would suggest; without an overlay it is the bare shell on the same screen."""

    def __init__(self, child: int, terminal: int, overlay: Overlay | None, history: list[str]) -> None:
        self._child, self._terminal = child, terminal
        self.overlay, self.history = overlay, history
        self.screen = pyte.HistoryScreen(COLUMNS, ROWS)
        self._stream = pyte.ByteStream(self.screen)
        self._scanner = MarkScanner()
        self.sent: list[object] = []
        self.at_prompt = False
        self.prompted = 0

    def type(self, data: bytes | str) -> None:
        data = data if isinstance(data, bytes) else data.encode()
        self._send(self.overlay.handle_keys(data, time.monotonic()) if self.overlay else data)
        self._flush()

    def feed(self, data: bytes) -> None:
        """Straight to the screen."""
        self._stream.feed(data)

    def say(self, message: object) -> None:
        assert self.overlay is not None
        self.overlay.handle_message(message, time.monotonic())
        self._flush()

    def resize(self, columns: int, rows: int) -> None:
        if self.overlay:
            self.overlay.handle_resize(columns, rows)
            self._flush()
        self.screen.resize(rows, columns)
        fcntl.ioctl(self._terminal, termios.TIOCSWINSZ, struct.pack("HHHH", rows, columns, 0, 0))

    def until(self, condition: Callable[[], object], *, within_s: float = 5, name: str = "") -> None:
        deadline = time.monotonic() + within_s * PATIENCE
        while not condition():
            assert time.monotonic() < deadline, "\n".join([name, *self.shown])
            self._pump(0.005)

    def prompts(self) -> None:
        """Until the shell waits for a line and has drawn it."""
        self.until(lambda: self.at_prompt)
        self.calm()

    def calm(self, quiet_s: float = 0.06) -> None:
        """Until the shell has said nothing for a while: there is no other sign that a key has no effect."""
        until_s = time.monotonic() + quiet_s
        while time.monotonic() < until_s:
            if self._pump(0.002):
                until_s = time.monotonic() + quiet_s

    @property
    def shown(self) -> list[str]:
        lines = [line.rstrip() for line in self.screen.display]
        return lines[: max((at for at, line in enumerate(lines, 1) if line), default=0)]

    @property
    def plain(self) -> tuple[list[str], tuple[int, int]]:
        """What the shell drew and where its cursor is: all but dim text."""
        rows = [
            "".join(" " if cells[x].fg == "brightblack" else cells[x].data for x in range(self.screen.columns)).rstrip()
            for cells in (self.screen.buffer[y] for y in range(self.screen.lines))
        ]
        return rows, self.cursor

    @property
    def row(self) -> str:
        return str(self.screen.display[self.screen.cursor.y]).rstrip()

    @property
    def cursor(self) -> tuple[int, int]:
        return self.screen.cursor.y, self.screen.cursor.x

    def dim(self) -> str:
        """The dim text of the cursor's row."""
        cells = self.screen.buffer[self.screen.cursor.y]
        return "".join(cells[x].data for x in range(COLUMNS) if cells[x].fg == "brightblack").rstrip()

    def _pump(self, wait_s: float) -> bool:
        self._tick()
        if not select.select([self._terminal], [], [], wait_s)[0]:
            return False
        with contextlib.suppress(OSError):
            for piece in self._scanner.feed(os.read(self._terminal, 65536)):
                self._take(piece)
        self._flush()
        return True

    def _take(self, piece: bytes | Mark) -> None:
        now_s = time.monotonic()
        if isinstance(piece, bytes):
            self._stream.feed(self.overlay.handle_output(piece, now_s) if self.overlay else piece)
            return
        self.at_prompt = type(piece).__name__ == "InputStarted"
        self.prompted += self.at_prompt
        if self.overlay:
            self.overlay.handle_mark(piece, True, now_s)
            self._flush()

    def _tick(self) -> None:
        wakes_at_s = self.overlay.wakes_at_s if self.overlay else None
        if self.overlay and wakes_at_s is not None and wakes_at_s <= time.monotonic():
            self.overlay.tick(time.monotonic())
            self._flush()

    def _flush(self) -> None:
        if self.overlay is None:
            return
        self._stream.feed(self.overlay.pop_screen())
        self._send(self.overlay.pop_keys())
        for message in self.overlay.pop_messages():
            self.sent.append(message)
            if isinstance(message, CompletionRequest):
                self.say(self._completed(message))

    def _completed(self, request: CompletionRequest) -> CompletionResponse:
        found = [each for each in self.history if each.startswith(request.input) and each != request.input]
        return CompletionResponse(request.sequence_id, [CompletionSuggestion(each, 0.9) for each in found])

    def _send(self, data: bytes) -> None:
        while data:
            data = data[os.write(self._terminal, data) :]

    def close(self) -> None:
        os.close(self._terminal)
        with contextlib.suppress(ProcessLookupError):
            os.kill(self._child, signal.SIGKILL)
        os.waitpid(self._child, 0)


@contextlib.contextmanager
def wrapped(
    shell: str, home: Path, history: list[str] | None = None, *, settings: ShellSettings | None = None, rc: str = ""
) -> Iterator[Wrapped]:
    """`history=None` is the bare shell."""
    overlay = None
    if history is not None:
        overlay = Overlay(settings or ShellSettings(), session_id="s", columns=COLUMNS, rows=ROWS)
        overlay.connected = True
    child, terminal = _started(shell, home, rc)
    session = Wrapped(child, terminal, overlay, history or [])
    try:
        session.prompts()
        yield session
    finally:
        session.close()


def _started(shell: str, home: Path, rc: str) -> tuple[int, int]:
    (home / "work").mkdir(parents=True, exist_ok=True)
    (home / ".inputrc").write_text("set enable-bracketed-paste on\n")
    (home / "rc").write_text(_BASH + rc)
    (home / ".zshrc").write_text(_ZSH + rc)
    program = shutil.which(shell) or shell
    arguments = {"bash": ["bash", "--noprofile", "--rcfile", str(home / "rc")], "zsh": ["zsh", "-d"]}[shell]
    environment = {
        "HOME": str(home), "ZDOTDIR": str(home), "INPUTRC": str(home / ".inputrc"), "PATH": os.environ["PATH"],
        "TERM": "xterm-256color", "LANG": "C.UTF-8",
    }  # fmt: skip
    child, terminal = pty.fork()
    if child == 0:
        os.chdir(home / "work")
        os.execve(program, arguments, environment)
    fcntl.ioctl(terminal, termios.TIOCSWINSZ, struct.pack("HHHH", ROWS, COLUMNS, 0, 0))
    return child, terminal
