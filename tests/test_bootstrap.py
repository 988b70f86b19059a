"""What sets up a machine: everything that tests ask for, and nothing where it is there already."""

from __future__ import annotations

import ast
import contextlib
import hashlib
import importlib
import os
import re
import subprocess
import sys
import tomllib
import zipfile
from pathlib import Path
from typing import Any

import build_page
import catalogue
import install_editor
import pytest
import setup_words
import working_gdb

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


def test_every_sentence_of_the_tools_has_its_chinese_and_no_other() -> None:
    files = [bootstrap.ROOT / "hatch_build.py", *(bootstrap.ROOT / "tools").glob("*.py")]
    calls = [node for file in files for node in ast.walk(ast.parse(file.read_bytes())) if isinstance(node, ast.Call)]
    made = [it.args[0] for it in calls if isinstance(it.func, ast.Name) and it.func.id in _SPEAKERS and it.args]
    assert {it.value for it in made if isinstance(it, ast.Constant)} == setup_words.CHINESE.keys()


_SPEAKERS = {"in_words", "report", "say", "stop"}


@pytest.mark.parametrize(("locale", "result"), [("zh_CN.UTF-8", "正在安装 tmux"), ("C.UTF-8", "Installing tmux")])
def test_a_machine_is_set_up_in_the_language_of_its_person(
    machine: Path, monkeypatch: pytest.MonkeyPatch, capfd: pytest.CaptureFixture[str], locale: str, result: str
) -> None:
    monkeypatch.setenv("DRAGOMAN_LANG", "")
    monkeypatch.setenv("LC_ALL", locale)
    bootstrap.install_packages(["tmux"])
    assert f"• {result}\n" in capfd.readouterr().out


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
    digest = bootstrap.digest_of("pyproject.toml", "requirements-dev.txt")
    (tmp_path / ".dragoman-test").write_text(digest)
    monkeypatch.setattr(bootstrap, "is_there", lambda _: True)
    monkeypatch.setattr(working_gdb, "ensure", lambda: True)
    monkeypatch.setattr(build_page, "is_built", lambda: True)
    monkeypatch.setattr(catalogue, "is_compiled", lambda: True)
    monkeypatch.setattr(subprocess, "call", lambda *_, **__: pytest.fail("something was started"))
    monkeypatch.setattr(sys, "argv", ["bootstrap.py", "test"])
    bootstrap.main()


# Packages of Python: by their hashes, and nothing that is built.

FILES = ("requirements.txt", "requirements-dev.txt", "requirements-page.txt")


def locked(name: str) -> dict[str, str]:
    """Package to version. Every entry has a hash, and says nothing of where it comes from."""
    text = (bootstrap.ROOT / name).read_text().replace("\\\n", "")
    lines = [line for line in text.splitlines() if line and not line.startswith("#")]
    assert all("--hash=sha256:" in line and "://" not in line for line in lines)
    return dict(re.findall(r"^([\w.-]+)==(\S+)", "\n".join(lines), re.MULTILINE))


def wanted_by_project() -> tuple[set[str], set[str]]:
    """What dragoman needs to run and to be built, and what its tests need besides."""
    project = tomllib.loads((bootstrap.ROOT / "pyproject.toml").read_text())
    groups, extras = project["dependency-groups"], project["project"]["optional-dependencies"]
    needed = {*project["project"]["dependencies"], *groups["build"], *(it for extra in extras.values() for it in extra)}
    return set(map(plain_name, needed)), {plain_name(it) for it in groups["dev"] if isinstance(it, str)}


def page_packages() -> list[str]:
    """What brings Node to a machine without it."""
    packages: list[str] = tomllib.loads((bootstrap.ROOT / "pyproject.toml").read_text())["dependency-groups"]["page"]
    return packages


def plain_name(requirement: str) -> str:
    return re.split(r"[^\w.-]", requirement)[0].lower().replace("_", "-")


def test_every_package_that_is_asked_for_is_locked_once() -> None:
    run, dev, page = map(locked, FILES)
    needed, for_tests = wanted_by_project()
    assert [f"{name}=={version}" for name, version in page.items()] == page_packages()
    assert needed <= run.keys()
    assert for_tests <= dev.keys()
    assert run.items() <= dev.items()


@pytest.mark.parametrize("file", FILES)
def test_packages_come_by_their_hashes_and_nothing_is_fetched_for_ourselves(file: str) -> None:
    packages, ourselves = bootstrap.package_commands(file)
    assert packages[-5:] == ["--require-hashes", "--only-binary", ":all:", "-r", str(bootstrap.ROOT / file)]
    assert ourselves[-4:] == ["--no-deps", "--no-build-isolation", "-e", str(bootstrap.ROOT)]


@pytest.mark.parametrize("is_tampered", [False, True])
def test_a_package_of_another_content_is_refused(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, is_tampered: bool
) -> None:
    """By the real pip: the index may be anybody's."""
    wheel = tmp_path / "plain-1.0-py3-none-any.whl"
    with zipfile.ZipFile(wheel, "w") as made:
        made.writestr("plain.py", "")
        made.writestr("plain-1.0.dist-info/METADATA", "Metadata-Version: 2.1\nName: plain\nVersion: 1.0\n")
        made.writestr("plain-1.0.dist-info/WHEEL", "Wheel-Version: 1.0\nRoot-Is-Purelib: true\nTag: py3-none-any\n")
        made.writestr("plain-1.0.dist-info/RECORD", "plain.py,,\n")
    digest = hashlib.sha256(wheel.read_bytes()).hexdigest()
    if is_tampered:
        with zipfile.ZipFile(wheel, "a") as made:
            made.writestr("more.py", "")
    (tmp_path / "r.txt").write_text(f"plain==1.0 --hash=sha256:{digest}\n")
    monkeypatch.setattr(bootstrap, "ROOT", tmp_path)
    command = bootstrap.package_commands("r.txt")[0]
    there = ["--no-index", "--find-links", str(tmp_path), "--target", str(tmp_path / "installed")]
    ran = subprocess.run([*command, *there], capture_output=True, text=True, check=False)
    assert (ran.returncode == 0, (tmp_path / "installed" / "plain.py").exists()) == (not is_tampered, not is_tampered)
    assert ("DO NOT MATCH" in ran.stderr) == is_tampered


# The page, which comes with the package.


@pytest.fixture
def hook(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Any:
    """Of a clone in which nothing was built yet."""
    monkeypatch.syspath_prepend(bootstrap.ROOT)
    from hatchling.bridge.app import Application

    hatch_build = importlib.import_module("hatch_build")

    monkeypatch.setattr(build_page, "is_built", lambda: False)
    monkeypatch.setattr(build_page, "BUILT", tmp_path / "built")
    return hatch_build.PageHook(str(bootstrap.ROOT), {}, None, None, str(tmp_path), "wheel", Application())


def with_node(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, version: str) -> None:
    for name, result in (("node", version), ("npm", "")):
        (tmp_path / name).write_text(f"#!/bin/sh\necho {result}\n")
        (tmp_path / name).chmod(0o755)
    monkeypatch.setenv("PATH", str(tmp_path))


@pytest.mark.parametrize(("version", "is_enough"), [("v18.20.4", False), ("v20.0.0", True), ("v24.1.0", True)])
def test_a_machine_without_a_new_node_builds_the_page_with_one_from_a_package(
    hook: Any, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, version: str, is_enough: bool
) -> None:
    with_node(tmp_path, monkeypatch, version)
    assert hook.dependencies() == ([] if is_enough else page_packages())


def test_a_package_without_the_page_is_not_built_and_the_reason_is_reported(
    hook: Any, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    with_node(tmp_path, monkeypatch, "v18.20.4")
    with pytest.raises(SystemExit):
        hook.initialize("standard", {})
    assert "The page needs Node 20 or newer" in capsys.readouterr().err
    hook.initialize("editable", {})


@pytest.mark.parametrize("has_page", [False, True])
def test_a_source_archive_carries_the_page_or_says_that_it_lacks_it(
    hook: Any, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, has_page: bool
) -> None:
    monkeypatch.setattr(build_page, "PAGE", tmp_path / "web")
    if has_page:
        build_page.BUILT.mkdir()
        (build_page.BUILT / "index.html").touch()
    with contextlib.nullcontext() if has_page else pytest.raises(SystemExit):
        hook.initialize("standard", {})
    assert hook.dependencies() == []
