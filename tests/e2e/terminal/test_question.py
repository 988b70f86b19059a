"""A question asked in a real terminal, answered by a real daemon from what it recorded."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.daemons import Cli, eventually
from tests.e2e.terminal.panes import ROWS, wrapped_pane

pytestmark = [pytest.mark.needs("tmux", "bash", "zsh", "fish")]


@pytest.mark.parametrize("shell", ["bash", "zsh", "fish"])
def test_why_did_it_fail_is_answered_above_the_prompt(shell: str, cli: Cli, tmp_path: Path) -> None:
    with wrapped_pane(shell, tmp_path, cli.variables()) as opened:
        opened.type(f"cat nothing-of-{shell}")
        opened.press("Enter")
        opened.has(f"nothing-of-{shell}: No such file")
        opened.type("echo ha")
        opened.has("prompt> echo ha")
        opened.press("M-/")
        opened.has("Enter to ask, Esc to close")
        opened.type("why did it fail?")
        opened.has("? why did it fail?")
        opened.press("Enter")
        lines = opened.until(lambda lines: lines[-1] == "prompt> echo ha" and "? why did it fail?" in lines)
        assert any("exit code 1" in line for line in lines[lines.index("? why did it fail?") :])
        opened.type("lf")
        opened.press("Enter")
        opened.until(lambda lines: "half" in lines)


@pytest.mark.parametrize("rows", [5, ROWS])
def test_a_closed_question_leaves_the_screen_as_it_was_also_at_the_bottom(rows: int, tmp_path: Path) -> None:
    with wrapped_pane("bash", tmp_path, rows=rows) as opened:
        opened.type("seq 20")
        opened.press("Enter")
        before = opened.until(lambda lines: lines[-2:] == ["20", "prompt>"])
        opened.press("M-/")
        opened.has("Enter to ask")
        opened.type("中文 and more")
        opened.has("? 中文 and more")
        opened.press("Escape")
        after = opened.lacks("Enter to ask")
        assert after == before[-len(after) :]
        opened.type("echo on")
        opened.has("prompt> echo on")


@pytest.mark.parametrize("shell", ["bash", "zsh", "fish"])
def test_without_a_daemon_a_dim_line_says_so_until_the_first_key(shell: str, tmp_path: Path) -> None:
    with wrapped_pane(shell, tmp_path) as opened:
        opened.has("Nothing is recorded until you run `dragoman up`.")
        opened.type("e")
        opened.lacks("Nothing is recorded")


def test_without_a_daemon_the_line_says_so_and_the_shell_continues(tmp_path: Path) -> None:
    with wrapped_pane("zsh", tmp_path) as opened:
        opened.press("M-/")
        opened.type("why?")
        opened.press("Enter")
        lines = opened.has("No daemon is running. Start one with `dragoman up`.")
        assert lines[-1] == "prompt>"
        opened.type("echo on")
        opened.press("Enter")
        opened.until(lambda lines: "on" in lines)


def test_a_window_that_is_resized_while_a_question_is_typed_keeps_the_question(tmp_path: Path) -> None:
    with wrapped_pane("bash", tmp_path) as opened:
        opened.press("M-/")
        opened.type("why is it so")
        opened.has("? why is it so")
        opened.resize(40, 10)
        opened.type(" wide")
        opened.until(lambda lines: lines.count("? why is it so wide") == 1)
        opened.press("Escape")
        opened.until(lambda lines: lines == ["prompt>"])


@pytest.mark.needs("editors")
def test_in_vim_the_key_is_vims(tmp_path: Path) -> None:
    with wrapped_pane("bash", tmp_path) as opened:
        opened.type("vim -u NONE -N")
        opened.press("Enter")
        opened.has("~")
        opened.press("M-/")
        opened.type("x")
        opened.until(lambda lines: lines[-1].startswith("/x"))


def test_a_failure_is_explained_in_a_dim_line_where_that_is_enabled(cli: Cli, tmp_path: Path) -> None:
    with wrapped_pane("bash", tmp_path, cli.variables() | {"DRAGOMAN_EXPLAIN_FAILURES": "true"}) as opened:
        opened.type("cat unexplained")
        opened.press("Enter")
        eventually(lambda: "exit code 1" in opened.dim())
        opened.type("zz")
        opened.until(lambda lines: lines[-1] == "prompt> zz" and not opened.dim())


def test_at_the_prompt_of_a_shell_without_a_hook_questions_are_asked_too(cli: Cli, tmp_path: Path) -> None:
    with wrapped_pane("dash", tmp_path, cli.variables() | {"ENV": str(tmp_path / ".bashrc")}) as opened:
        opened.type("echo on")
        opened.press("Enter")
        opened.until(lambda lines: lines[-2:] == ["on", "prompt>"])
        opened.press("M-/")
        opened.has("Enter to ask")
        opened.press("Escape")
        opened.lacks("Enter to ask")
        opened.type("cat")
        opened.press("Enter")
        opened.type("still running")
        opened.press("M-/", "Enter")
        opened.until(lambda lines: lines[-1].startswith("still running"))
        assert not any("Enter to ask" in line for line in opened.screen())
