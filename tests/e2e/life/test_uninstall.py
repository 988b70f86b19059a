"""`dragoman uninstall`: what was made is listed, and goes after a yes; what is not ours stays."""

from __future__ import annotations

import json
from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.daemons import Cli, cli_with_home


@pytest.fixture
def used(tmp_path: Path) -> Iterator[Cli]:
    """A home of a person who has used everything: a daemon, clients with our entry, a wrapped shell, projects with
    files of ours, an editor with our extension."""
    home = tmp_path / "person"
    (home / ".cursor").mkdir(parents=True)
    (home / ".cursor" / "mcp.json").write_text('{"mcpServers": {"other": {"command": "other"}}}\n')
    (home / ".bashrc").write_text("alias ll='ls -l'\n")
    with cli_with_home(tmp_path / "home") as cli:
        cli.environment.update(HOME=str(home), SHELL="/bin/bash", XDG_CONFIG_HOME=str(home / ".config"))
        assert cli("up", "--port", "0").returncode == 0
        assert cli("config", "set", "log_level", "debug").returncode == 0
        assert cli("client-config", "cursor", "--write").returncode == 0
        assert cli("shell", "--install", "--yes").returncode == 0
        project = home / "project"
        (project / "lib").mkdir(parents=True)
        (project / "taken").mkdir()
        (project / ".mcp.json").write_text('{"mcpServers": {"other": {"command": "other"}}}\n')
        for client in ("claude-code", "vscode"):
            assert cli("client-config", client, "--write", "--project", cwd=project).returncode == 0
        for folder in ("lib", "taken"):
            assert cli("lua", "install", folder, cwd=project).returncode == 0
        (project / "taken" / "LuaPanda.lua").write_text("-- now somebody else's\n")
        (home / ".vscode" / "extensions" / "dragoman.dragoman-0.1.0").mkdir(parents=True)
        (home / ".config" / "Code" / "User" / "globalStorage" / "dragoman.dragoman" / "environment").mkdir(parents=True)
        yield cli


def test_all_of_it_is_listed_and_nothing_goes_without_a_yes(used: Cli) -> None:
    person = Path(used.environment["HOME"])
    result = used("uninstall")
    assert result.returncode == 4
    for trace in ("the running daemon", "Cursor", str(person / ".bashrc"), *map(str, folders(used))):
        assert trace in result.stdout
    project = person / "project"
    for made in (project / ".mcp.json", project / ".vscode" / "mcp.json", project / "lib" / "LuaPanda.lua"):
        assert str(made) in result.stdout
    assert str(project / "taken") not in result.stdout
    assert "globalStorage/dragoman.dragoman" in result.stdout
    assert "Nothing changed" in result.stdout
    assert used.status()["state"] == "running"
    assert "dragoman" in (person / ".cursor" / "mcp.json").read_text()


def test_after_a_yes_only_what_was_the_persons_is_left(used: Cli) -> None:
    person = Path(used.environment["HOME"])
    result = used("uninstall", "--yes")
    assert result.returncode == 0, result.stdout + result.stderr
    assert "uninstall" in result.stdout.splitlines()[-1]
    assert used.status()["state"] == "stopped"
    assert [it for it in folders(used) if it.exists()] == []
    assert (person / ".bashrc").read_text() == "alias ll='ls -l'\n"
    assert "dragoman" not in (person / ".cursor" / "mcp.json").read_text()
    assert '"other"' in (person / ".cursor" / "mcp.json").read_text()
    project = person / "project"
    assert "dragoman" not in (project / ".vscode" / "mcp.json").read_text()
    assert json.loads((project / ".mcp.json").read_text()) == {"mcpServers": {"other": {"command": "other"}}}
    assert [it.name for it in project.rglob("*.lua")] == ["LuaPanda.lua"], "the one that is somebody else's now"
    assert list((person / ".config" / "Code" / "User" / "globalStorage").iterdir()) == []
    assert "  code --uninstall-extension dragoman.dragoman" in result.stdout.splitlines()
    again = used("uninstall", "--yes")
    assert (again.returncode, "Nothing of Dragoman is left" in again.stdout) == (0, True)


def folders(cli: Cli) -> list[Path]:
    return [cli.paths.config, cli.paths.state, cli.paths.runtime]
