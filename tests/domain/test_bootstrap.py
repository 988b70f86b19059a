"""What sets up a machine: everything that tests ask for, and nothing where it is there already."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import build_page
import install_editor
import pytest

from tests.peers import INSTALLED, PEERS
from tools import bootstrap

# A package manager that writes down what it was asked for, and knows no `lldb-19`.
APT = """#!/bin/sh
echo "$@" >> "$(dirname "$0")/asked"
case "$*" in *lldb-19*) exit 100;; esac
"""


@pytest.fixture
def machine(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """With a package manager, a shell and no more."""
    (tmp_path / "apt-get").write_text(APT)
    (tmp_path / "apt-get").chmod(0o755)
    for name in ("sh", "dirname"):
        (tmp_path / name).symlink_to(f"/bin/{name}")
    monkeypatch.setenv("PATH", str(tmp_path))
    monkeypatch.setattr(os, "getuid", lambda: 0)
    return tmp_path


def asked(machine: Path) -> list[str]:
    return (machine / "asked").read_text().splitlines()


@pytest.mark.parametrize("peer", PEERS)
def test_every_peer_of_a_test_is_installed(peer: str) -> None:
    brought = {name for names in bootstrap.LIGHT | bootstrap.HEAVY for name in names.split()}
    brought |= {"ruby"} if "rdbg" in brought else set()
    for wanted in PEERS[peer]:
        made = [*(INSTALLED / name for name in bootstrap.ADAPTERS), build_page.BUILT, install_editor.EDITOR]
        is_ours = any(wanted.startswith(str(place)) for place in made)
        assert is_ours or brought.issuperset(wanted.split()), wanted


def test_one_package_that_is_unknown_does_not_keep_the_others_away(
    machine: Path, capfd: pytest.CaptureFixture[str]
) -> None:
    bootstrap.install_programs({"tmux": "tmux", "lldb-dap": "lldb-19", "/no/such/file": "lua-socket"})
    install = "install -qq -y --no-install-recommends"
    assert asked(machine) == [
        "update -qq",
        f"{install} lldb-19 lua-socket tmux",
        *(f"{install} {package}" for package in ("lldb-19", "lua-socket", "tmux")),
    ]
    assert capfd.readouterr().out.endswith("could not install: lldb-19\n")


def test_what_is_there_is_not_asked_for(machine: Path) -> None:
    bootstrap.install_programs({"apt-get other": "apt", str(machine): "folder"})
    assert not (machine / "asked").exists()


def test_a_machine_that_has_all_needs_no_network(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Neither pip nor a package manager nor npm is started."""
    monkeypatch.delenv("CI", raising=False)
    monkeypatch.delenv("FULL", raising=False)
    monkeypatch.setattr(bootstrap, "VENV", tmp_path)
    (tmp_path / "bin").mkdir()
    (tmp_path / "bin" / "pip").touch()
    digest = bootstrap.digest_of("pyproject.toml", "constraints.txt")
    (tmp_path / ".dragoman-test").write_text(digest)
    monkeypatch.setattr(bootstrap, "is_there", lambda _: True)
    monkeypatch.setattr(build_page, "is_built", lambda _: True)
    monkeypatch.setattr(subprocess, "call", lambda *_, **__: pytest.fail("something was started"))
    monkeypatch.setattr(sys, "argv", ["bootstrap.py", "test"])
    bootstrap.main()
