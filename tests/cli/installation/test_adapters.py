"""`dragoman adapters` as a person meets it: the real command in its own process."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path

import pytest

from tests.peers import give_adapters


def dragoman(*arguments: str, **variables: str) -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        [sys.executable, "-m", "dragoman.cli.main", "adapters", *arguments],
        check=False,
        capture_output=True,
        text=True,
        env=os.environ | variables,
        timeout=60,
    )


@pytest.fixture
def bare(tmp_path: Path) -> dict[str, str]:
    """A machine with nothing on it but a home."""
    (tmp_path / "bin").mkdir()
    return {"PATH": str(tmp_path / "bin"), "HOME": str(tmp_path)}


def settings(home: Path, text: str) -> None:
    (home / "config").mkdir()
    (home / "config" / "settings.toml").write_text(text)


def test_each_adapter_has_a_line_with_its_version_or_how_to_install_it(bare: dict[str, str]) -> None:
    done = dragoman(**bare)
    assert done.returncode == 0
    lines = {line.split()[0]: line for line in done.stdout.splitlines()}
    assert list(lines) == ["python", "javascript", "go", "lldb", "codelldb", "ruby", "lua"]
    assert "bundled with dragoman" in lines["python"]
    assert lines["javascript"].endswith("install it with: dragoman adapters install javascript")
    assert lines["lua"].endswith("install it with: luarocks install luasocket")


@pytest.mark.needs("go", "codelldb")
def test_as_json_it_says_what_was_found_and_where(home: Path) -> None:
    give_adapters(home)
    rows = {row["name"]: row for row in json.loads(dragoman("--json").stdout)}
    assert (rows["go"]["found"], rows["go"]["install"]) == ("on PATH", None)
    assert rows["go"]["version"].startswith("1.")
    assert {"go", "delve"} <= set(rows["go"]["types"])
    assert rows["codelldb"]["found"] == "installed by dragoman"
    assert rows["codelldb"]["path"].startswith(str(home))
    assert {"node", "pwa-node"} <= set(rows["javascript"]["types"])


@pytest.mark.needs("lua")
def test_lua_is_there_where_an_interpreter_has_luasocket() -> None:
    rows = {row["name"]: row for row in json.loads(dragoman("--json").stdout)}
    assert (rows["lua"]["found"], rows["lua"]["install"]) == ("with luasocket", None)
    assert {"lua", "luapanda", "lua-panda"} == set(rows["lua"]["types"])
    done = dragoman("install", "lua")
    assert (done.returncode, "is already installed" in done.stdout) == (0, True)


def test_the_chinese_say_it_in_chinese(bare: dict[str, str]) -> None:
    done = dragoman(**bare, DRAGOMAN_LANG="zh")
    assert "未安装；安装命令：dragoman adapters install javascript" in done.stdout


def test_declared_ones_are_listed_and_a_wrong_path_spoils_only_its_own_line(home: Path, bare: dict[str, str]) -> None:
    settings(home, '[adapters.go]\npath = "/nowhere"\n[adapters.zig]\ncommand = ["zig-dap"]\ntypes = ["zig"]\n')
    done = dragoman(**bare)
    assert done.returncode == 0
    assert "/nowhere, which does not exist" in done.stdout
    assert "zig-dap  (declared in the settings)" in done.stdout


def test_a_wrong_declaration_is_reported_here_and_by_the_doctor(home: Path) -> None:
    settings(home, '[adapters.zig]\ncommand = ["zig-dap"]\n')
    done = dragoman()
    assert (done.returncode, "invalid adapters.zig" in done.stderr) == (1, True)
    doctor = subprocess.run(
        [sys.executable, "-m", "dragoman.cli.main", "doctor"], capture_output=True, text=True, check=False, timeout=60
    )
    assert "invalid adapters.zig" in doctor.stdout


def test_what_the_system_installs_is_shown_and_not_done(bare: dict[str, str]) -> None:
    done = dragoman("install", "ruby", **bare)
    assert (done.returncode, done.stdout.splitlines()[-1].strip()) == (1, "gem install debug")


def test_what_is_there_is_not_installed_again() -> None:
    done = dragoman("install", "python")
    assert (done.returncode, "already" in done.stdout) == (0, True)


def test_an_unknown_name_lists_the_known_ones() -> None:
    done = dragoman("install", "cobol")
    assert (done.returncode, "python, ruby" in done.stderr) == (1, True)


def test_without_npm_it_says_what_to_install(bare: dict[str, str]) -> None:
    done = dragoman("install", "javascript", **bare)
    assert (done.returncode, "npm is not on PATH" in done.stderr) == (1, True)


@pytest.mark.needs("npm")
@pytest.mark.timeout(300)
def test_javascript_is_installed_from_the_registry(home: Path) -> None:
    done = subprocess.run(
        [sys.executable, "-m", "dragoman.cli.main", "adapters", "install", "javascript"],
        capture_output=True,
        text=True,
        check=False,
        timeout=280,
    )
    assert done.returncode == 0, done.stderr
    assert (home / "state" / "adapters" / "javascript" / "vsDebugServer.cjs").is_file()
    row = next(row for row in json.loads(dragoman("--json").stdout) if row["name"] == "javascript")
    assert row["version"][0].isdigit()
