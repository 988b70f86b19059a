"""Where adapters are found, and what is said where one is not."""

from __future__ import annotations

from pathlib import Path

import pytest

from dragoman.core.errors import DragomanError
from dragoman.core.paths import Paths, find_paths
from dragoman.debug.backends.adapters import discovery
from dragoman.debug.backends.adapters.discovery import (
    AdapterLocation,
    adapter_missing,
    adapter_version,
    find_adapter,
    find_on_path,
    install_command,
)
from dragoman.debug.backends.adapters.javascript import JAVASCRIPT
from dragoman.debug.backends.adapters.spec import LaunchContext


@pytest.fixture
def paths(home: Path) -> Paths:
    return find_paths()


@pytest.fixture
def user(tmp_path: Path) -> dict[str, str]:
    """A client with nothing installed, and a home of its own."""
    (tmp_path / "bin").mkdir()
    return {"HOME": str(tmp_path / "user"), "PATH": str(tmp_path / "bin")}


def program(path: Path, text: str = "") -> Path:
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(f"#!/bin/sh\necho '{text}'\n")
    path.chmod(0o755)
    return path


def settings(paths: Paths, text: str) -> None:
    paths.config.mkdir(parents=True, exist_ok=True)
    paths.settings_file.write_text(text)


def test_what_is_not_there_is_not_found(user: dict[str, str], paths: Paths) -> None:
    assert find_adapter("go", user, paths) is None


def test_the_settings_come_before_path_and_path_before_the_usual_places(
    user: dict[str, str], paths: Paths, tmp_path: Path
) -> None:
    usual = program(Path(user["HOME"]) / "go" / "bin" / "dlv")
    assert find_adapter("go", user, paths) == AdapterLocation(usual, "machine")
    there = program(tmp_path / "bin" / "dlv")
    assert find_adapter("go", user, paths) == AdapterLocation(there, "path")
    named = program(tmp_path / "elsewhere" / "dlv")
    settings(paths, f'[adapters.go]\npath = "{named}"\n')
    assert find_adapter("go", user, paths) == AdapterLocation(named, "settings")


def test_our_own_comes_before_path(user: dict[str, str], paths: Paths, tmp_path: Path) -> None:
    program(tmp_path / "bin" / "codelldb")
    own = program(paths.adapters_folder / "codelldb" / "adapter" / "codelldb")
    assert find_adapter("codelldb", user, paths) == AdapterLocation(own, "ours")


def test_of_several_extensions_the_newest_is_taken(user: dict[str, str], paths: Paths) -> None:
    for version in ("1.9.0", "1.11.8", "1.10.0"):
        program(Path(user["HOME"]) / f".vscode/extensions/vadimcn.vscode-lldb-{version}/adapter/codelldb")
    adapter = find_adapter("codelldb", user, paths)
    assert adapter is not None
    assert "1.11.8" in str(adapter.path)


def test_of_several_versions_on_path_the_one_without_a_number_and_then_the_newest(
    user: dict[str, str], paths: Paths, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    for name in ("lldb-dap-18", "lldb-dap-20"):
        program(tmp_path / "bin" / name)
    assert find_adapter("lldb", user, paths) == AdapterLocation(tmp_path / "bin" / "lldb-dap-20", "path")
    program(tmp_path / "bin" / "lldb-dap")
    assert find_adapter("lldb", user, paths) == AdapterLocation(tmp_path / "bin" / "lldb-dap", "path")


def test_a_path_in_the_settings_that_leads_nowhere_is_an_error(user: dict[str, str], paths: Paths) -> None:
    settings(paths, '[adapters.go]\npath = "/nowhere/dlv"\n')
    with pytest.raises(DragomanError, match=r"adapters\.go\.path") as caught:
        find_adapter("go", user, paths)
    assert caught.value.code == "adapter_missing"


def test_a_relative_path_variable_is_not_looked_up(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    program(tmp_path / "bin" / "dlv")
    monkeypatch.chdir(tmp_path)
    assert find_on_path("dlv", {"PATH": "bin:."}) is None


@pytest.mark.parametrize("name", [name for name in discovery.ADAPTER_SEARCHES if name != "python"])
def test_a_missing_one_is_reported_with_a_command(user: dict[str, str], name: str) -> None:
    error = adapter_missing(name, user)
    assert error.code == "adapter_missing"
    assert install_command(name, user) in str(error.hint)


@pytest.mark.parametrize(
    ("name", "there", "uid", "command"),
    [
        ("go", ("apt-get",), 0, "apt-get install -y delve golang-go"),
        ("go", ("apt-get",), 1000, "sudo apt-get install -y delve golang-go"),
        ("go", ("apt-get", "go"), 1000, "go install github.com/go-delve/delve/cmd/dlv@latest"),
        ("go", ("brew",), 1000, "brew install delve go"),
        ("go", (), 1000, "go install github.com/go-delve/delve/cmd/dlv@latest"),
        ("lldb", ("brew",), 1000, "brew install llvm"),
        ("lldb", ("dnf",), 1000, "sudo dnf install -y lldb"),
        ("lldb", (), 1000, "dragoman adapters install codelldb"),
        ("ruby", ("gem",), 1000, "gem install debug"),
        ("javascript", (), 1000, "dragoman adapters install javascript"),
    ],
)
def test_the_command_is_the_one_for_this_machine(
    user: dict[str, str],
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    name: str,
    there: tuple[str, ...],
    uid: int,
    command: str,
) -> None:
    for one in there:
        program(tmp_path / "bin" / one)
    monkeypatch.setattr("os.getuid", lambda: uid)
    assert install_command(name, user) == command


def test_debian_is_asked_for_its_newest_lldb(
    user: dict[str, str], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    program(tmp_path / "bin" / "apt-get")
    program(tmp_path / "bin" / "apt-cache", "lldb-14 - old\nlldb-19 - good\nlldb-16 - old")
    monkeypatch.setenv("PATH", f"{tmp_path / 'bin'}:/bin:/usr/bin")
    discovery._newest_lldb.cache_clear()
    assert install_command("lldb", user).endswith("apt-get install -y lldb-19")
    discovery._newest_lldb.cache_clear()


@pytest.mark.parametrize(
    ("name", "text", "version"),
    [("go", "Delve Debugger\nVersion: 1.20.2\nBuild: x", "1.20.2"), ("ruby", "rdbg3 1.4.0", "1.4.0"), ("go", "?", "")],
)
def test_a_version_is_what_the_adapter_says(tmp_path: Path, name: str, text: str, version: str) -> None:
    assert adapter_version(name, program(tmp_path / "adapter", text)) == version


def test_one_that_does_not_answer_has_no_version(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    silent = tmp_path / "dlv"
    silent.write_text("#!/bin/sh\nexec sleep 60\n")
    silent.chmod(0o755)
    monkeypatch.setattr(discovery, "_ASKED_WITHIN_S", 0.2)
    assert adapter_version("go", silent) == ""


def test_a_version_may_be_in_a_file_beside(tmp_path: Path) -> None:
    adapter = program(tmp_path / "adapter" / "codelldb")
    assert adapter_version("codelldb", adapter) == ""
    (tmp_path / "version.json").write_text('{"version": "1.11.8"}')
    assert adapter_version("codelldb", adapter) == "1.11.8"


@pytest.mark.needs("lldb")
def test_lldb_sends_its_version_in_its_first_answer() -> None:
    import os

    adapter = find_adapter("lldb", os.environ)
    assert adapter is not None
    assert adapter_version("lldb", adapter.path)[0].isdigit()


def test_the_clients_node_runs_js_debug_and_the_configurations_runs_the_program(
    user: dict[str, str], paths: Paths, tmp_path: Path
) -> None:
    """A folder on the PATH of a launch file must not give us what we start."""
    adapter = program(paths.adapters_folder / "javascript" / "vsDebugServer.cjs")
    clients, programs = program(tmp_path / "bin" / "node"), program(tmp_path / "other" / "node")
    situation = LaunchContext(
        "launch",
        {"program": "a.js"},
        {**user, "PATH": str(programs.parent)},
        tmp_path,
        at="socket",
        client_environment=user,
    )
    assert JAVASCRIPT.command(situation).argv == [str(clients), str(adapter), "socket"]
    assert JAVASCRIPT.arguments(situation)["runtimeExecutable"] == str(programs)
    assert JAVASCRIPT.facts(situation)["interpreter"] == str(programs)
