"""A repository that came as an archive, with programs in its configuration: git runs none of them."""

from __future__ import annotations

import os
import shlex
import shutil
import subprocess
from pathlib import Path

import anyio
import pytest

from dragoman.cli.handover.repository import TreeState, tree_state
from dragoman.core.errors import DragomanError
from dragoman.debug.evidence.worktree import workspace_at
from dragoman.workspace.git_commands import git_environment, without_own_programs
from dragoman.workspace.repository import head_commit
from tests.workspace.test_repository import git


@pytest.fixture
def shop(tmp_path: Path) -> Path:
    """Every program that its configuration names leaves a file `ran-NAME` beside it."""
    folder = tmp_path / "shop"
    folder.mkdir()
    git(folder, "init", "-q")
    (folder / "a.py").write_text("1\n")
    (folder / ".gitattributes").write_text("*.py filter=theirs\n")
    git(folder, "add", ".")
    git(folder, "commit", "-qm", "first")
    return folder


def ran(tmp_path: Path) -> list[str]:
    return sorted(it.name for it in tmp_path.glob("ran-*"))


def program(tmp_path: Path, name: str) -> str:
    return f"touch {shlex.quote(str(tmp_path / f'ran-{name}'))}; cat"


def with_filters(shop: Path, *settings: str) -> None:
    for name in ("clean", "smudge", "process"):
        git(shop, "config", *settings, f"filter.theirs.{name}", program(shop.parent, name))
    git(shop, "config", *settings, "filter.theirs.required", "true")


def touched(file: Path) -> None:
    """Of another time, so that git has to look at the contents."""
    os.utime(file, (1, 1))


def test_the_test_itself_notices_a_filter_that_runs(shop: Path, tmp_path: Path) -> None:
    git(shop, "config", "filter.theirs.clean", program(tmp_path, "clean"))
    touched(shop / "a.py")
    subprocess.run(["git", "-C", str(shop), "status"], capture_output=True, check=False, timeout=20)
    assert ran(tmp_path) == ["ran-clean"]


def test_the_state_of_a_tree_is_read_without_its_filters(shop: Path, tmp_path: Path) -> None:
    with_filters(shop)
    git(shop, "config", "core.fsmonitor", program(tmp_path, "monitor"))
    touched(shop / "a.py")
    commit = head_commit(shop)
    assert tree_state(shop, commit) == TreeState(commit, is_dirty=False)
    (shop / "a.py").write_text("2\n")
    assert tree_state(shop, commit) == TreeState(commit, is_dirty=True)
    assert ran(tmp_path) == []


def test_a_submodule_is_not_looked_into(shop: Path, tmp_path: Path) -> None:
    inner = shop / "inner"
    shutil.copytree(shop, tmp_path / "copy")
    shutil.move(tmp_path / "copy", inner)
    git(shop, "add", "inner")
    git(shop, "commit", "-qm", "second")
    for name in ("clean", "smudge"):
        git(inner, "config", f"filter.theirs.{name}", program(tmp_path, name))
    touched(inner / "a.py")
    assert not tree_state(shop, head_commit(shop)).is_dirty
    assert ran(tmp_path) == []


def test_where_a_filter_cannot_be_switched_off_nothing_is_read(shop: Path, tmp_path: Path) -> None:
    (shop / ".gitattributes").write_text("*.py filter=a=b\n")
    git(shop, "commit", "-qam", "second")
    with (shop / ".git" / "config").open("a") as config:
        config.write(f'[filter "a=b"]\n\tclean = "{program(tmp_path, "clean")}"\n')
    touched(shop / "a.py")
    commit = head_commit(shop)
    assert tree_state(shop, commit) == TreeState(commit, is_dirty=True)
    assert ran(tmp_path) == []
    with pytest.raises(DragomanError) as caught:
        anyio.run(checked_out, shop)
    assert caught.value.code == "unusable_repository"


async def checked_out(shop: Path) -> str:
    async with workspace_at("HEAD", shop, dict(os.environ)) as tree:
        return (tree.path / "a.py").read_text()


def test_a_checkout_runs_no_filter_of_the_repository(shop: Path, tmp_path: Path) -> None:
    with_filters(shop)
    assert anyio.run(checked_out, shop) == "1\n"
    assert ran(tmp_path) == []


def test_settings_that_count_in_a_worktree_alone_run_nothing_either(shop: Path, tmp_path: Path) -> None:
    theirs = tmp_path / "theirs"
    git(shop, "config", "includeIf.gitdir:**/worktrees/**.path", str(theirs))
    theirs.write_text(f'[filter "theirs"]\n\tsmudge = "{program(tmp_path, "smudge")}"\n')
    assert anyio.run(checked_out, shop) == "1\n"
    assert ran(tmp_path) == []


def test_the_users_own_filters_stay(shop: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    own = tmp_path / "own"
    own.write_text('[filter "theirs"]\n\tsmudge = "sed s/1/2/"\n')
    monkeypatch.setenv("GIT_CONFIG_GLOBAL", str(own))
    assert anyio.run(checked_out, shop) == "2\n"


def test_variables_lead_to_no_other_repository_and_no_transport() -> None:
    given = {"HOME": "/h", "GIT_DIR": "/x", "GIT_SSH_COMMAND": "x", "GIT_CONFIG_GLOBAL": "/g", "GIT_CONFIG_COUNT": "1"}
    made = git_environment(given)
    assert {name for name in given if name in made} == {"HOME", "GIT_CONFIG_GLOBAL"}
    assert made["GIT_ALLOW_PROTOCOL"] == "none"


def test_hooks_of_the_configuration_are_switched_off_and_other_settings_are_left_alone() -> None:
    settings = b"local\0hook.theirs.command\0local\0filter.lfs.clean\0global\0filter.mine.clean\0local\0user.name\0"
    options = without_own_programs(settings)
    assert "hook.theirs.enabled=false" in options
    assert "filter.lfs.process=" in options
    assert "mine" not in str(options)
    assert "user" not in str(options)
