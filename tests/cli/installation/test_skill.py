"""`dragoman setup` writes the skill for agents, and `--undo` takes out exactly what it wrote."""

from __future__ import annotations

from pathlib import Path

import pytest

from dragoman.cli.dispatch import run
from dragoman.cli.installation import skill
from dragoman.cli.output import ExitCode

Output = pytest.CaptureFixture[str]
MOVING = ("DRAGOMAN_HOME", "XDG_CONFIG_HOME", "XDG_STATE_HOME", "CLAUDE_CONFIG_DIR", "CODEX_HOME", "DRAGOMAN_LANG")
FILES = {Path("SKILL.md"), Path("references/answers.md"), Path("references/tools.md")}


@pytest.fixture
def home(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A person with Claude Code and Cursor, and no program on the PATH."""
    home = tmp_path / "home"
    for folder in (".claude", ".cursor"):
        (home / folder).mkdir(parents=True)
    monkeypatch.setenv("HOME", str(home))
    monkeypatch.setenv("PATH", str(tmp_path / "bin"))
    for name in MOVING:
        monkeypatch.delenv(name, raising=False)
    monkeypatch.chdir(tmp_path)
    return home


def claude(home: Path) -> Path:
    return home / ".claude/skills/dragoman-debugging"


def shared(home: Path) -> Path:
    return home / ".agents/skills/dragoman-debugging"


def files_in(folder: Path) -> set[Path]:
    return {it.relative_to(folder) for it in folder.rglob("*") if it.is_file()}


def test_setup_writes_one_copy_per_folder_and_undo_removes_it(home: Path, capsys: Output) -> None:
    (home / ".gemini").mkdir()
    assert run(["setup", "--yes"]) == ExitCode.OK
    shown = capsys.readouterr().out
    assert "SKILL.md (" in shown
    assert "Cursor, Gemini CLI: skill written to" in shown
    assert files_in(claude(home)) == files_in(shared(home)) == FILES
    assert run(["setup", "--yes"]) == ExitCode.OK
    assert "skill" not in capsys.readouterr().out
    assert run(["setup", "--undo", "--yes"]) == ExitCode.OK
    assert "Claude Code: skill removed from" in capsys.readouterr().out
    assert not claude(home).exists()
    assert not shared(home).exists()


def test_without_a_terminal_it_is_shown_and_not_written(home: Path, capsys: Output) -> None:
    assert run(["setup"]) == ExitCode.DECLINED
    assert f"skill in {claude(home)}:" in capsys.readouterr().out
    assert not claude(home).exists()


def test_a_changed_skill_is_neither_overwritten_nor_removed(home: Path, capsys: Output) -> None:
    run(["setup", "--yes"])
    mine = claude(home) / "SKILL.md"
    mine.write_text("my own words")
    capsys.readouterr()
    assert run(["setup", "--yes"]) == ExitCode.OK
    assert run(["setup", "--undo", "--yes"]) == ExitCode.OK
    assert capsys.readouterr().out.count(f"{claude(home)} is unchanged: it is not what Dragoman wrote.") == 2
    assert mine.read_text() == "my own words"
    assert files_in(claude(home)) == FILES
    assert not shared(home).exists()


def test_a_skill_of_an_earlier_version_is_updated_and_can_be_removed(
    home: Path, capsys: Output, monkeypatch: pytest.MonkeyPatch
) -> None:
    earlier = {"SKILL.md": b"as it was", "references/gone.md": b"not any more"}
    with monkeypatch.context() as before:
        before.setattr("dragoman.cli.installation.mcp_clients.skill_files", lambda: earlier)
        assert run(["setup", "--yes"]) == ExitCode.OK
    assert run(["setup", "--yes"]) == ExitCode.OK
    assert (claude(home) / "SKILL.md").read_bytes() == skill.skill_files()["SKILL.md"]
    assert run(["setup", "--undo", "--yes"]) == ExitCode.OK
    assert not claude(home).exists()


def test_files_that_others_put_beside_it_stay(home: Path) -> None:
    run(["setup", "--yes"])
    note = claude(home) / "references/notes.md"
    note.write_text("mine")
    run(["setup", "--undo", "--yes"])
    assert files_in(claude(home)) == {Path("references/notes.md")}


def test_a_link_is_left_alone(home: Path, tmp_path: Path, capsys: Output) -> None:
    """Whoever works on the skill links it: writing through the link would change a repository."""
    elsewhere = tmp_path / "elsewhere"
    elsewhere.mkdir()
    (elsewhere / "SKILL.md").write_bytes(skill.skill_files()["SKILL.md"])
    claude(home).parent.mkdir()
    claude(home).symlink_to(elsewhere)
    run(["setup", "--yes"])
    run(["setup", "--undo", "--yes"])
    assert files_in(elsewhere) == {Path("SKILL.md")}
    assert claude(home).is_symlink()


def test_the_folder_of_claude_moves_with_its_variable(
    home: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("CLAUDE_CONFIG_DIR", str(tmp_path / "moved"))
    run(["setup", "--yes"])
    assert (tmp_path / "moved/skills/dragoman-debugging/SKILL.md").is_file()
    assert not claude(home).exists()


def test_a_folder_that_cannot_be_written_fails_and_the_others_go_on(home: Path, capsys: Output) -> None:
    (home / ".claude/skills").write_text("a file")
    assert run(["setup", "--yes"]) == ExitCode.FAILED
    assert "Cannot write" in capsys.readouterr().err
    assert files_in(shared(home)) == FILES


def test_uninstall_removes_the_skill(home: Path, capsys: Output) -> None:
    run(["setup", "--yes"])
    assert run(["uninstall", "--yes"]) == ExitCode.OK
    assert str(claude(home)) in capsys.readouterr().out
    assert not claude(home).exists()
    assert not shared(home).exists()
