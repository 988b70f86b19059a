"""A pane of a real tmux: keys go in as a terminal would send them, and the screen comes out."""

from __future__ import annotations

import contextlib
import itertools
import os
import re
import shlex
import subprocess
import sys
from collections.abc import Callable, Iterator, Mapping
from pathlib import Path
from typing import Any

from tests.daemons import Cli, cli_with_home, eventually
from tests.peers import spare_fish_its_first_start

COLUMNS, ROWS = 70, 14
_DIM = re.compile(r"\x1b\[90m([^\x1b\n]*)")
_STYLE = re.compile(r"\x1b\[[0-9;]*m")
_numbers = itertools.count()
WRAPPER = [sys.executable, "-P", "-m", "dragoman.shell"]


class Pane:
    def __init__(self, socket: str) -> None:
        self._socket = socket

    def type(self, text: str) -> None:
        self._tmux("send-keys", "-l", "--", text)

    def press(self, *keys: str) -> None:
        """Keys by tmux's names: Enter, M-/, C-c, Right."""
        self._tmux("send-keys", *keys)

    def screen(self) -> list[str]:
        lines = [line.rstrip() for line in self._tmux("capture-pane", "-p").split("\n")]
        return lines[: max((at for at, line in enumerate(lines, 1) if line), default=0)]

    def plain(self) -> tuple[list[str], tuple[int, int]]:
        """What the shell drew and where its cursor is: all but dim text."""
        captured = _DIM.sub("", self._tmux("capture-pane", "-pe"))
        return [line.rstrip() for line in _STYLE.sub("", captured).rstrip().split("\n")], self.cursor()

    def dim(self) -> str:
        return "".join(_DIM.findall(self._tmux("capture-pane", "-pe"))).strip()

    def cursor(self) -> tuple[int, int]:
        row, column = self._tmux("display-message", "-p", "#{cursor_y} #{cursor_x}").split()
        return int(row), int(column)

    def resize(self, columns: int, rows: int) -> None:
        self._tmux("resize-window", "-x", str(columns), "-y", str(rows))

    def until(self, condition: Callable[[list[str]], Any], *, within_s: float = 10) -> list[str]:
        """The screen, once it is as wished."""
        seen: list[list[str]] = [[]]

        def report() -> bool:
            seen[0] = self.screen()
            return bool(condition(seen[0]))

        try:
            eventually(report, within_s=within_s, every_s=0.03)
        except AssertionError as error:
            raise AssertionError("\n".join([str(error), *seen[0]])) from None
        return seen[0]

    def has(self, text: str) -> list[str]:
        return self.until(lambda lines: any(text in line for line in lines))

    def lacks(self, text: str) -> list[str]:
        return self.until(lambda lines: not any(text in line for line in lines))

    def close(self) -> None:
        with contextlib.suppress(subprocess.CalledProcessError):
            self._tmux("kill-server")

    def _tmux(self, *arguments: str) -> str:
        return subprocess.run(
            ["tmux", "-L", self._socket, *arguments], check=True, capture_output=True, text=True, timeout=20
        ).stdout


@contextlib.contextmanager
def daemon(home: Path) -> Iterator[Cli]:
    with cli_with_home(home) as cli:
        assert cli("up", "--port", "0").returncode == 0
        yield cli


def person(home: Path) -> dict[str, str]:
    """A home with plain prompts; the variables that lead there."""
    (home / "work").mkdir(parents=True, exist_ok=True)
    spare_fish_its_first_start(home)
    (home / ".bashrc").write_text("PS1='prompt> '\n")
    (home / ".zshrc").write_text("PS1='prompt> '\n")
    fish = home / ".config" / "fish" / "config.fish"
    fish.parent.mkdir(parents=True, exist_ok=True)
    fish.write_text("function fish_prompt; echo -n 'prompt> '; end\nset fish_greeting\n")
    return {"HOME": str(home), "TERM": "xterm-256color", "HISTFILE": ""}


@contextlib.contextmanager
def wrapped_pane(
    shell: str, home: Path, variables: Mapping[str, str] | None = None, *, rows: int = ROWS
) -> Iterator[Pane]:
    """Without variables: where no daemon is."""
    elsewhere = {"DRAGOMAN_HOME": str(home / "none"), "DRAGOMAN_LANG": "en"}
    environment = {**(elsewhere if variables is None else variables), **person(home)}
    with pane([*WRAPPER, "--", shell], environment, home / "work", rows=rows) as opened:
        opened.has("prompt>")
        yield opened


@contextlib.contextmanager
def pane(command: list[str], environment: Mapping[str, str], folder: Path, *, rows: int = ROWS) -> Iterator[Pane]:
    socket = f"dragoman-test-{os.getpid()}-{next(_numbers)}"
    clean = {"PATH": os.environ["PATH"], "LANG": "C.UTF-8", "SHELL": "/bin/bash", **environment}
    subprocess.run(
        ["tmux", "-L", socket, "-f", os.devnull, "new-session", "-d", "-x", str(COLUMNS), "-y", str(rows),
         "-c", str(folder), "exec " + shlex.join(command)],
        env=clean, check=True, capture_output=True, timeout=20,
    )  # fmt: skip
    opened = Pane(socket)
    try:
        yield opened
    finally:
        opened.close()
