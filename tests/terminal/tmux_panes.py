"""A pane of a tmux of its own, recorded byte for byte: what a real terminal shows, beside what was written to it."""

from __future__ import annotations

import contextlib
import shlex
import subprocess
from collections.abc import Iterator
from pathlib import Path

from dragoman.terminal.screen import resize_sequence
from tests.daemons import PATIENCE, eventually


class Pane:
    def __init__(self, folder: Path, columns: int, rows: int) -> None:
        self.columns, self.rows = columns, rows
        self._socket = folder / "tmux.sock"
        self._record = folder / "record"
        self._resizes: list[tuple[int, bytes]] = []

    def tmux(self, *words: str) -> str:
        done = subprocess.run(
            ["tmux", "-S", self._socket, "-f", "/dev/null", *words],
            capture_output=True, text=True, timeout=10 * PATIENCE, check=True,
        )  # fmt: skip
        return done.stdout

    def begin(self, *command: str) -> None:
        self._record.touch()
        size = ("-x", str(self.columns), "-y", str(self.rows))
        self.tmux("new-session", "-d", *size, f"read -r _; exec {shlex.join(command)}")
        self.tmux("set", "-g", "status", "off")
        self.tmux("resize-window", *size)
        self.tmux("pipe-pane", "-O", f"exec cat > {shlex.quote(str(self._record))}")
        self.keys("Enter")

    def keys(self, *keys: str) -> None:
        self.tmux("send-keys", *keys)

    def type(self, text: str) -> None:
        self.tmux("send-keys", "-l", text)

    def recorded(self) -> bytes:
        """With what our wrapper puts there when the window changes."""
        data, whole, at = self._record.read_bytes(), b"", 0
        for place, result in self._resizes:
            whole, at = whole + data[at:place] + result, place
        return whole + data[at:]

    def resize(self, columns: int, rows: int) -> None:
        """Of a pane that has nothing to say at the moment."""
        result = resize_sequence((self.columns, self.rows), (columns, rows))
        self._resizes.append((len(self._record.read_bytes()), result))
        self.columns, self.rows = columns, rows
        self.tmux("resize-window", "-x", str(columns), "-y", str(rows))

    def shown(self) -> list[str]:
        return [line.rstrip() for line in self.tmux("capture-pane", "-p").split("\n")[: self.rows]]

    def scrollback(self) -> list[str]:
        lines = self.tmux("capture-pane", "-p", "-S", "-", "-E", "-1").split("\n")[:-1]
        return [line.rstrip() for line in lines]

    def cursor(self) -> tuple[int, int]:
        row, column = self.tmux("display", "-p", "#{cursor_y} #{cursor_x}").split()
        return int(row) + 1, int(column) + 1

    def wait_for(self, text: str) -> None:
        eventually(lambda: text in "\n".join(self.shown()))


@contextlib.contextmanager
def pane(folder: Path, *command: str, columns: int = 80, rows: int = 24) -> Iterator[Pane]:
    made = Pane(folder, columns, rows)
    try:
        made.begin(*command)
        yield made
    finally:
        with contextlib.suppress(subprocess.SubprocessError):
            made.tmux("kill-server")
