"""Checkouts of one repository are recognized, and nothing that a repository names is run."""

from __future__ import annotations

import os
import subprocess
from pathlib import Path

import pytest

from dragoman.workspace.repository import find_repository, head_commit, normalized_url

_AUTHOR = ("-c", "user.name=t", "-c", "user.email=t@example.org")


def git(folder: Path, *words: str) -> str:
    command = ["git", "-C", str(folder), *_AUTHOR, *words]
    return subprocess.run(command, check=True, capture_output=True, timeout=20, text=True).stdout.strip()


@pytest.fixture
def shop(tmp_path: Path) -> Path:
    folder = tmp_path / "shop"
    (folder / "lib").mkdir(parents=True)
    git(folder, "init", "-q")
    (folder / "a.py").write_text("1\n")
    git(folder, "add", ".")
    git(folder, "commit", "-qm", "first")
    return folder


@pytest.mark.parametrize(
    "url",
    [
        "git@example.org:me/shop.git",
        "example.org:me/shop",
        "ssh://git@example.org:2222/me/shop.git/",
        "https://me:token@Example.org/me/shop",
        "git://example.org//me/shop.git",
    ],
)
def test_a_remote_is_the_same_however_it_is_written(url: str) -> None:
    assert normalized_url(url) == "example.org/me/shop"


@pytest.mark.parametrize(
    "url", ["/srv/git/shop.git", "../shop.git", "file:///srv/git/shop.git", "", "https://", "ext::sh -c x"]
)
def test_a_folder_is_another_on_each_machine(url: str) -> None:
    assert normalized_url(url) == ""


def test_a_clone_has_the_same_first_commit_and_a_copy_the_same_origin(shop: Path, tmp_path: Path) -> None:
    git(shop, "remote", "add", "origin", "git@example.org:me/shop.git")
    git(shop, "clone", "-q", str(shop), str(tmp_path / "clone"))
    git(shop, "worktree", "add", "-q", str(tmp_path / "tree"))
    here, clone, tree = (find_repository(it) for it in (shop / "lib", tmp_path / "clone", tmp_path / "tree"))
    assert here is not None
    assert clone is not None
    assert tree is not None
    assert (here.top, clone.top, tree.top) == (shop, tmp_path / "clone", tmp_path / "tree")
    assert here.origin == tree.origin != ""
    assert clone.origin == ""  # its origin is a folder
    assert here.roots() == clone.roots() == tree.roots()
    assert len(here.roots()) == 1


def test_another_repository_has_neither(shop: Path, tmp_path: Path) -> None:
    other = tmp_path / "other"
    other.mkdir()
    git(other, "init", "-q")
    repository = find_repository(other)
    assert repository is not None
    assert (repository.origin, repository.roots()) == ("", ())  # nothing was committed
    assert find_repository(tmp_path) is None


def test_nothing_that_the_repository_names_is_run(shop: Path, tmp_path: Path) -> None:
    """Neither a hook, nor a monitor, nor a transport for objects that are missing, nor an alias or a pager."""
    mark = tmp_path / "ran"
    script = shop / "evil.sh"
    script.write_text(f"#!/bin/sh\ntouch {mark}\n")
    script.chmod(0o755)
    for name in ("core.fsmonitor", "core.sshCommand", "core.pager", "alias.rev-list", "pager.rev-list", "gpg.program"):
        git(shop, "config", name, f"!{script}" if name.startswith("alias") else str(script))
    git(shop, "config", "log.showSignature", "true")
    git(shop, "config", "remote.origin.url", "ssh://example.org/x")
    git(shop, "config", "remote.origin.promisor", "true")
    git(shop, "config", "extensions.partialClone", "origin")
    head = subprocess.run(
        ["git", "-C", str(shop), "rev-parse", "HEAD"], capture_output=True, text=True, check=True, timeout=20
    ).stdout
    commit = shop / ".git" / "objects" / head[:2] / head[2:].strip()
    mark.unlink(missing_ok=True)
    commit.unlink()  # git would fetch it from the promisor, by the command that is configured
    repository = find_repository(shop)
    assert repository is not None
    assert repository.roots({**os.environ, "GIT_SSH_COMMAND": str(script), "GIT_EXTERNAL_DIFF": str(script)}) == ()
    assert not mark.exists()


def test_files_that_are_no_repository_are_none(tmp_path: Path) -> None:
    (tmp_path / ".git").write_text("gitdir: /nonexistent\n")
    repository = find_repository(tmp_path)
    assert repository is not None
    assert (repository.origin, repository.roots()) == ("", ())


def test_the_commit_is_read_from_branches_packed_ones_worktrees_and_none(shop: Path, tmp_path: Path) -> None:
    assert head_commit(shop / "lib") == git(shop, "rev-parse", "HEAD") != ""
    git(shop, "worktree", "add", "-q", "-b", "side", str(tmp_path / "tree"))
    git(tmp_path / "tree", "commit", "-q", "--allow-empty", "-m", "second")
    assert head_commit(tmp_path / "tree") == git(tmp_path / "tree", "rev-parse", "HEAD") != head_commit(shop)
    git(shop, "pack-refs", "--all")
    for folder in (shop, tmp_path / "tree"):
        assert head_commit(folder) == git(folder, "rev-parse", "HEAD")
    git(shop, "checkout", "-q", "--detach", "side")
    assert head_commit(shop) == head_commit(tmp_path / "tree")
    git(shop, "checkout", "-q", "--orphan", "empty")
    assert head_commit(shop) == ""
    assert head_commit(tmp_path) == ""


@pytest.mark.parametrize("head", ["ref: ../../secret", "ref: refs/../../../secret", "ref: refs/heads/a b", "x" * 40])
def test_a_head_that_leads_elsewhere_is_not_followed(shop: Path, head: str) -> None:
    (shop / "secret").write_text("a" * 40)
    (shop / ".git" / "HEAD").write_text(head)
    assert head_commit(shop) == ""
