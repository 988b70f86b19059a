"""Suggestions in a real terminal, from a real over real shells."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.daemons import Cli, eventually
from tests.e2e.terminal.panes import Pane, pane, person, wrapped_pane

pytestmark = [pytest.mark.needs("tmux", "bash", "zsh", "fish")]
LONG = "echo " + "abcdefghij" * 8
# Texts are typed; names in brackets are keys.
STEPS = [
    "echo hello wor", "[Left]", "X", "[End]", "[C-c]", "echo he", "[Up]", "[C-u]", "echo hel", "[C-l]", "lo", "[Enter]",
    LONG, "[C-u]", "vim -u NONE -N", "[Enter]", "iecho he", "[Escape]", ":q!", "[Enter]", "seq 100 | less", "[Enter]",
    "G", "q", "echo 中文", "[BSpace]", "[C-a]", "[Enter]",
]  # fmt: skip


def take(opened: Pane, step: str) -> None:
    if step.startswith("["):
        opened.press(step[1:-1])
    else:
        opened.type(step)


def become_the_same(over: Pane, bare: Pane, when: str) -> None:
    try:
        eventually(lambda: over.plain() == bare.plain(), every_s=0.03)
    except AssertionError:
        assert over.plain() == bare.plain(), when


def remember(opened: Pane, cli: Cli, line: str) -> None:
    """A command that ran, and that the daemon knows."""
    opened.type(line)
    opened.press("Enter")
    eventually(lambda: line in cli("history", "--all-workspaces", "--json").stdout)


@pytest.mark.parametrize("shell", ["bash", "zsh"])
def test_what_was_run_before_is_offered_in_dim_text_and_taken_with_a_key(shell: str, cli: Cli, tmp_path: Path) -> None:
    with wrapped_pane(shell, tmp_path, cli.variables()) as opened:
        remember(opened, cli, f"echo hello world {shell}")
        opened.type(f"echo hello world {shell[0]}")
        eventually(lambda: opened.dim() == shell[1:])
        opened.press("Right")
        opened.until(lambda lines: lines[-1].endswith(f"echo hello world {shell}") and not opened.dim())
        opened.press("Enter")
        opened.until(lambda lines: lines.count(f"hello world {shell}") == 2)


@pytest.mark.parametrize("shell", ["bash", "zsh"])
def test_the_screen_is_that_of_the_bare_shell_after_every_key(shell: str, cli: Cli, tmp_path: Path) -> None:
    variables = person(tmp_path)
    with (
        wrapped_pane(shell, tmp_path, cli.variables()) as over,
        pane([shell], variables, tmp_path / "work") as bare,
    ):
        bare.has("prompt>")
        for opened in (over, bare):
            opened.type("echo hello world")
            opened.press("Enter")
            opened.until(lambda lines: "hello world" in lines)
        for at, step in enumerate(STEPS):
            take(over, step)
            take(bare, step)
            become_the_same(over, bare, f"after step {at}, {step}")


def test_fish_suggests_by_itself_and_is_left_to_it(cli: Cli, tmp_path: Path) -> None:
    with wrapped_pane("fish", tmp_path, cli.variables()) as opened:
        remember(opened, cli, "echo only ours knows fish")
        opened.type("echo only ours")
        opened.has("echo only ours knows fish")  # drawn by fish
        opened.press("Right", "Enter")
        opened.until(lambda lines: lines.count("only ours knows fish") == 2)


@pytest.mark.parametrize("shell", ["bash", "zsh"])
def test_a_window_that_is_resized_while_a_suggestion_is_shown_keeps_nothing_of_it(
    shell: str, cli: Cli, tmp_path: Path
) -> None:
    line = f"echo {shell} resized while a suggestion stands behind the cursor"
    with wrapped_pane(shell, tmp_path, cli.variables()) as opened:
        remember(opened, cli, line)
        opened.press("C-l")
        opened.type(f"echo {shell} resized")
        eventually(opened.dim)
        opened.resize(36, 14)
        opened.type(" x")
        opened.until(lambda lines: lines == [f"prompt> echo {shell} resized x"])
        opened.resize(70, 14)
        opened.press("BSpace")
        opened.type("while")
        eventually(lambda: opened.dim() == "a suggestion stands behind the cursor")
        assert opened.plain()[0] == [f"prompt> echo {shell} resized while"]
