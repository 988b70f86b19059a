"""`dragoman shell --install`: a marked block that wraps new terminals, locks nobody out, and can be taken away."""

from __future__ import annotations

import os
import stat
from pathlib import Path

import pytest

from dragoman.cli.installation.shell_profile import BLOCK_END, BLOCK_START, change_profile
from dragoman.cli.output import ExitCode
from tests.daemons import code_of
from tests.e2e.terminal import panes
from tests.e2e.terminal.panes import pane

FILES = {"bash": ".bashrc", "zsh": ".zshrc", "fish": ".config/fish/config.fish"}
BEFORE = "# a person's own\nalias ll='ls -l'\n"


@pytest.fixture
def person(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.setenv("HOME", str(tmp_path))
    for name in ("ZDOTDIR", "XDG_CONFIG_HOME", "DRAGOMAN_SESSION_ID"):
        monkeypatch.delenv(name, raising=False)
    return tmp_path


def written(person: Path, shell: str, text: str = BEFORE) -> Path:
    path = person / FILES[shell]
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(text)
    return path


@pytest.mark.parametrize("shell", FILES)
def test_it_can_be_undone_to_the_last_byte_and_done_twice_is_done_once(shell: str, person: Path) -> None:
    path = written(person, shell)
    path.chmod(0o640)
    assert change_profile(shell=shell, yes=True) == ExitCode.OK
    once = path.read_text()
    assert once.startswith(BLOCK_START)
    assert once.endswith(BEFORE)
    assert change_profile(shell=shell, yes=True) == ExitCode.OK
    assert path.read_text() == once
    assert stat.S_IMODE(path.stat().st_mode) == 0o640
    assert change_profile(shell=shell, yes=True, removing=True) == ExitCode.OK
    assert path.read_text() == BEFORE


def test_what_a_person_wrote_around_an_older_block_stays(person: Path) -> None:
    path = written(person, "bash", f"first\n{BLOCK_START}\nold\n{BLOCK_END}\nlast\n")
    change_profile(shell="bash", yes=True)
    assert path.read_text().endswith("first\nlast\n")
    assert path.read_text().count(BLOCK_START) == 1
    change_profile(shell="bash", yes=True, removing=True)
    assert path.read_text() == "first\nlast\n"


def test_a_link_stays_a_link_and_its_target_is_edited(person: Path) -> None:
    managed = person / "dotfiles" / "bashrc"
    managed.parent.mkdir()
    managed.write_text(BEFORE)
    (person / ".bashrc").symlink_to("dotfiles/bashrc")
    change_profile(shell="bash", yes=True)
    assert (person / ".bashrc").is_symlink()
    assert managed.read_text().startswith(BLOCK_START)


def test_without_a_yes_nothing_is_changed_but_all_of_it_is_shown(
    person: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    path = written(person, "bash")
    assert change_profile(shell="bash") == ExitCode.DECLINED
    assert path.read_text() == BEFORE
    shown = capsys.readouterr().out
    assert f"+{BLOCK_START}" in shown
    assert "alias" not in shown


@pytest.mark.parametrize(("shell", "undo"), [("bash", "--uninstall`"), ("zsh", "--uninstall --shell zsh`")])
def test_what_undoes_it_names_the_shell_where_it_is_not_the_persons_own(
    shell: str, undo: str, person: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setenv("SHELL", "/bin/bash")
    written(person, shell)
    assert change_profile(shell=shell, yes=True) == ExitCode.OK
    captured = capsys.readouterr()
    assert f"To undo: `dragoman shell {undo}" in captured.out + captured.err


@pytest.mark.skipif(os.geteuid() != 0, reason="only root can give a file away")
def test_a_file_of_somebody_else_is_refused(person: Path) -> None:
    path = written(person, "bash")
    os.chown(path, 12345, 12345)
    assert code_of(lambda: change_profile(shell="bash", yes=True)) == "profile_refused"
    assert path.read_text() == BEFORE


def test_a_shell_without_lines_learns_which_have_some(person: Path) -> None:
    assert code_of(lambda: change_profile(shell="dash", yes=True)) == "unknown_shell"


def test_the_guide_shows_the_lines_as_they_are(person: Path) -> None:
    path = written(person, "bash", "")
    change_profile(shell="bash", yes=True)
    lines = path.read_text().replace(_program_in(path.read_text()), "/path/to/dragoman")
    guide = Path(__file__).parents[3] / "docs" / "guides" / "terminal.md"
    assert lines.strip() in guide.read_text()


@pytest.fixture(params=["bash", "zsh", "fish"])
def terminal(request: pytest.FixtureRequest, person: Path) -> tuple[str, Path, dict[str, str]]:
    shell = request.param
    environment = {**panes.person(person), "DRAGOMAN_HOME": str(person / "home")}
    change_profile(shell=shell, yes=True)
    return shell, person / FILES[shell], environment


@pytest.mark.needs("tmux", "bash", "zsh", "fish")
def test_a_new_terminal_is_wrapped_once_and_ends_with_its_shell(terminal: tuple[str, Path, dict[str, str]]) -> None:
    shell, _, environment = terminal
    keep = ["sh", "-c", f"{shell}; echo ended $?; read x"]
    with pane(keep, environment, Path(environment["HOME"])) as opened:
        opened.has("prompt>")
        opened.type('echo "[$DRAGOMAN_SESSION_ID]"')
        opened.press("Enter")
        (first,) = {line for line in opened.until(lambda lines: any(map(_is_id, lines))) if _is_id(line)}
        opened.type(f"{shell} -c true; {shell}")
        opened.press("Enter")
        opened.until(lambda lines: lines[-1].endswith("prompt>"))
        opened.type('echo "[$DRAGOMAN_SESSION_ID]"; exit 0')
        opened.press("Enter")
        opened.until(lambda lines: lines.count(first) == 2 and lines[-1].endswith("prompt>"))
        opened.type("exit 7")
        opened.press("Enter")
        opened.has("ended 7")


@pytest.mark.needs("tmux", "bash", "zsh", "fish")
@pytest.mark.parametrize("broken", ["exit 1", "exec /nonexistent", "kill -9 $$"])
def test_a_wrapper_that_does_not_start_leaves_the_shell_as_it_was(
    terminal: tuple[str, Path, dict[str, str]], broken: str
) -> None:
    shell, path, environment = terminal
    program = Path(environment["HOME"]) / "dragoman"
    program.write_text(f"#!/bin/sh\n{broken}\n")
    program.chmod(0o700)
    lines = path.read_text().replace(_program_in(path.read_text()), str(program))
    path.write_text(lines)
    with pane([shell], environment, Path(environment["HOME"])) as opened:
        opened.has("prompt>")
        opened.type('echo "here[$DRAGOMAN_SESSION_ID$DRAGOMAN_BEGAN]"')
        opened.press("Enter")
        opened.until(lambda lines: "here[]" in lines)


def _is_id(line: str) -> bool:
    return line.startswith("[") and line.endswith("]") and len(line) > 8 and "$" not in line


def _program_in(text: str) -> str:
    return next(word for word in text.split() if word.endswith("/dragoman"))
