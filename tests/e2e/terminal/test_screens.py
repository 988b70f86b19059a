"""The same keys into a bare shell and a wrapped one, each in a tmux of the same size: the same screen, step by step."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from pathlib import Path

import pytest

from tests.e2e.terminal.panes import WRAPPER, Pane, pane, person

pytestmark = pytest.mark.needs("tmux", "bash", "zsh", "fish", "editors")

SHELLS = ["bash", "zsh", "fish"]
_TWO_LINES = {
    "bash": "PS1='over: \\w\\nprompt> '\n",
    "zsh": "PS1=$'over: %~\\nprompt> '\n",
    "fish": "function fish_prompt; echo over: (prompt_pwd); echo -n 'prompt> '; end\n",
}
_FILES = {"bash": ".bashrc", "zsh": ".zshrc", "fish": ".config/fish/config.fish"}


class Both:
    """Steps taken in both; after each the screens and the cursors are compared."""

    def __init__(self, bare: Pane, wrapped: Pane) -> None:
        self._bare, self._wrapped = bare, wrapped

    def type(self, text: str, *, shows: str) -> None:
        for each in (self._bare, self._wrapped):
            each.type(text)
        self._compare(shows)

    def press(self, *keys: str, shows: str = "") -> None:
        for each in (self._bare, self._wrapped):
            each.press(*keys)
        self._compare(shows)

    def resize(self, columns: int, rows: int, *, shows: str) -> None:
        for each in (self._bare, self._wrapped):
            each.resize(columns, rows)
        self._compare(shows)

    def _compare(self, shows: str) -> None:
        """Both come to rest: the bare one as wished, the wrapped one as the bare one."""
        if shows:
            self._bare.has(shows)
        self._wrapped.until(
            lambda lines: self._bare.screen() == lines and self._bare.cursor() == self._wrapped.cursor()
        )


@contextmanager
def both(shell: str, folder: Path, rc: str = "") -> Iterator[Both]:
    with ExitStack() as stack:
        panes = []
        for name, command in (("a", [shell]), ("b", [*WRAPPER, "--", shell])):
            home = folder / name / "home"
            variables = {"DRAGOMAN_HOME": str(folder / "none"), "DRAGOMAN_LANG": "en", **person(home)}
            with (home / _FILES[shell]).open("a") as file:
                file.write(rc)
            (home / "work" / "text").write_text("".join(f"line {number}\n" for number in range(1, 60)))
            panes.append(stack.enter_context(pane(command, variables, home / "work")))
            panes[-1].has("prompt>")
        yield Both(*panes)


@pytest.mark.parametrize("shell", SHELLS)
def test_typing_editing_history_paste_and_interrupts_look_as_in_a_bare_shell(shell: str, tmp_path: Path) -> None:
    with both(shell, tmp_path, _TWO_LINES[shell]) as terminals:
        terminals.type("echo 'one two' three", shows="three")
        terminals.press("Home", "Delete", "Delete", shows="prompt> ho 'one")
        terminals.press("C-u", "C-k")
        terminals.type("echo 中文字 wide", shows="wide")
        terminals.press("BSpace", "BSpace", "Left", "Enter", shows="中文字 wi")
        terminals.press("Up", shows="prompt> echo 中文字 wi")
        terminals.press("C-c")
        terminals.type("\x1b[200~echo pasted a\nwords b\x1b[201~", shows="words b")
        terminals.press("C-c")
        terminals.type("printf '\\033[38;5;208mcolour\\033[0m\\033[1;4mbold\\033[0m\\n'", shows="bold")
        terminals.press("Enter", shows="colourbold")
        terminals.type("sh -c 'echo run\"\"ning; exec sleep 100'", shows="100'")
        terminals.press("Enter", shows="running")  # before that an interrupt would be the shell's, or nobody's
        terminals.press("C-c", shows="^C")
        terminals.type("echo after", shows="echo after")
        terminals.press("Enter", shows="after")


@pytest.mark.parametrize("shell", SHELLS)
def test_full_screen_programs_job_control_and_resizing_look_as_in_a_bare_shell(shell: str, tmp_path: Path) -> None:
    with both(shell, tmp_path) as terminals:
        terminals.type("less text", shows="less text")
        terminals.press("Enter", shows="line 13")
        terminals.press("Space", shows="line 26")
        terminals.type("q", shows="prompt>")
        terminals.type("vim -u NONE -i NONE text", shows="vim")
        terminals.press("Enter", shows="line 1")
        terminals.type("ihello ", shows="hello line 1")
        terminals.resize(60, 10, shows="hello line 1")
        terminals.press("Escape")
        terminals.press("C-z", shows="prompt>")
        terminals.type("fg", shows="prompt> fg")
        terminals.press("Enter", shows="hello line 1")
        terminals.type(":q!", shows=":q!")
        terminals.press("Enter", shows="prompt>")
        terminals.type("stty size", shows="stty size")
        terminals.press("Enter", shows="10 60")
