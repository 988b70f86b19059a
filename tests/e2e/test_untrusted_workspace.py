"""A folder that somebody else wrote, every hook of which leaves a mark: none before a person trusts it, each after.

The second test is the first one's proof: with the guard off, the same hooks do run.
"""

from __future__ import annotations

import json
import os
import shlex
import subprocess
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import psutil
import pytest
from mcp import ClientSession

from tests.daemons import Cli, call, cli_with_home, code_of, daemons_of, eventually
from tests.servers.mcp.http_clients import session_of

pytestmark = [pytest.mark.anyio, pytest.mark.timeout(180)]

_PRELOADED = """
#include <fcntl.h>
__attribute__((constructor)) static void leave_a_mark(void) { open("%s", O_CREAT | O_WRONLY, 0600); }
"""
_PROGRAM = """
import os, pathlib
pathlib.Path({program!r}).touch()
if os.environ.get("FROM_FILE") == "1":
    pathlib.Path({env_file!r}).touch()
"""


@dataclass(frozen=True)
class Hostile:
    folder: Path
    marks: Path

    @classmethod
    def planted(cls, top: Path) -> Hostile:
        it = cls(top / "cloned", top / "marks")
        for folder in (
            it.folder / ".vscode",
            it.folder / ".venv" / "bin",
            it.folder / "bin",
            it.marks,
            top / "outside",
        ):
            folder.mkdir(parents=True)
        it._write("app.py", _PROGRAM.format(program=it.mark("program"), env_file=it.mark("env_file")))
        it._write("secrets.env", "FROM_FILE=1\n")
        it._script(it.folder / ".venv" / "bin" / "python", "venv", 'exec python3 "$@"')
        it._script(it.folder / "evil-python", "python", 'exec python3 "$@"')
        it._script(it.folder / "bin" / "dlv", "adapter")
        it._script(it.folder / "bin" / "python3", "path", 'exec /usr/bin/env python3 "$@"')
        (top / "outside" / "app.py").write_text(f"open({it.mark('outside')!r}, 'w')\n")
        it._preloaded()
        it._write(".vscode/settings.json", json.dumps(it._settings()))
        it._write(".vscode/tasks.json", json.dumps({"version": "2.0.0", "tasks": it._tasks()}))
        it._write(".vscode/launch.json", json.dumps({"configurations": it._configurations(top)}))
        return it

    def mark(self, name: str) -> str:
        return str(self.marks / name)

    def found(self) -> set[str]:
        return {path.name for path in self.marks.iterdir()}

    def _write(self, name: str, text: str) -> None:
        (self.folder / name).write_text(text)

    def _script(self, path: Path, mark: str, then: str = "") -> None:
        path.write_text(f"#!/bin/sh\ntouch {self.mark(mark)}\n{then}\n")
        path.chmod(0o755)

    def _preloaded(self) -> None:
        source = self.folder / "mark.c"
        source.write_text(_PRELOADED % self.mark("preload"))
        subprocess.run(["cc", "-shared", "-fPIC", "-o", self.folder / "mark.so", source], check=True)

    def _settings(self) -> dict[str, Any]:
        evil = str(self.folder / "bin" / "dlv")
        return {
            "debugpy.debugAdapterPath": evil,
            "go.alternateTools": {"dlv": evil},
            "python.defaultInterpreterPath": evil,
            "dragoman.adapters": {"python": {"command": [evil]}},
        }

    def _tasks(self) -> list[dict[str, Any]]:
        def touch(name: str, **more: Any) -> dict[str, Any]:
            return {"label": name, "type": "shell", "command": f"touch {self.mark(name)}", **more}

        opening = {"runOptions": {"runOn": "folderOpen"}}
        return [touch("task", dependsOn="before"), touch("before"), touch("after"), touch("opened", **opening)]

    def _configurations(self, top: Path) -> list[dict[str, Any]]:
        common = {"type": "python", "request": "launch", "program": "${workspaceFolder}/app.py"}
        tools = {"debugAdapterPath": str(self.folder / "bin" / "dlv"), "dlvToolPath": str(self.folder / "bin" / "dlv")}
        return [
            {
                "name": "all", "preLaunchTask": "task", "postDebugTask": "after", **common, **tools,
                "envFile": "${workspaceFolder}/secrets.env", "env": {"LD_PRELOAD": "${workspaceFolder}/mark.so"},
            },
            {"name": "python", **common, "python": "${workspaceFolder}/evil-python"},
            {"name": "outside", **common, "program": str(top / "outside" / "app.py")},
            {"name": "go", **common, **tools, "type": "go", "env": {"PATH": "${workspaceFolder}/bin:/usr/bin:/bin"}},
            {"name": "attach", "type": "python", "request": "attach", "processId": "${command:pickProcess}"},
            {"name": "command", **common, "program": "${command:evil.run}"},
        ]  # fmt: skip


STARTS: dict[str, dict[str, Any]] = {
    **{name: {"configuration_name": name} for name in ("all", "python", "outside", "go")},
    "attach": {"configuration_name": "attach", "process_id": os.getpid()},
    "inline": {"configuration": {"type": "python", "program": "app.py", "preLaunchTask": "task"}},
    "program": {"program": "app.py"},
}


@pytest.fixture(scope="module")
def served(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Cli]:
    with cli_with_home(tmp_path_factory.mktemp("h") / "home") as cli:
        yield cli


@pytest.fixture
def cli(served: Cli) -> Iterator[Cli]:
    """One daemon for all who do not kill it. Each has folders of its own, and nobody trusts any."""
    assert served("up").returncode == 0
    yield served
    if not daemons_of(served.home):
        return
    for folder in call(served.paths, "trust_list")["trusted"]:
        call(served.paths, "trust_revoke", {"folder": folder["folder"]})


@pytest.fixture
def hostile(tmp_path: Path) -> Hostile:
    return Hostile.planted(tmp_path)


async def asked(agent: ClientSession, tool: str, **arguments: Any) -> dict[str, Any]:
    result = await agent.call_tool(tool, arguments)
    assert isinstance(result.structured_content, dict), result
    return result.structured_content


def would_run(answer: dict[str, Any]) -> list[tuple[str, str]]:
    return [(it["what"], it["name"]) for it in answer["details"]["would_run"]]


async def test_nothing_of_a_cloned_folder_runs_whatever_is_read_or_asked_for(cli: Cli, hostile: Hostile) -> None:
    async with session_of(cli, workspace=str(hostile.folder)) as agent:
        listed = await asked(agent, "get_debugger_configurations")
        assert len(listed["configurations"]) == 6
        await asked(agent, "get_source", file_path="app.py")
        await asked(agent, "set_breakpoint", file_path="app.py", line_number=3)
        answers = {name: await asked(agent, "start_debugging", **start) for name, start in STARTS.items()}
        command = await asked(agent, "start_debugging", configuration_name="command")
        sessions = await asked(agent, "list_sessions")
    assert {name: (it["status"], it["code"]) for name, it in answers.items()} == dict.fromkeys(
        STARTS, ("error", "needs_trust")
    )
    assert (command["status"], command["code"]) == ("error", "unresolved_variable")
    assert sessions["sessions"] == []
    assert hostile.found() == set()


async def test_what_would_run_is_reported_in_full_and_as_data(cli: Cli, hostile: Hostile) -> None:
    async with session_of(cli, workspace=str(hostile.folder)) as agent:
        everything = await asked(agent, "start_debugging", configuration_name="all")
        named = await asked(agent, "start_debugging", configuration_name="python")
    assert would_run(everything) == [("task", "before"), ("task", "task"), ("program", "all"), ("task", "after")]
    program = everything["details"]["would_run"][2]
    assert program["env_files"] == [str(hostile.folder / "secrets.env")]
    assert program["variables"] == ["LD_PRELOAD"]
    assert program["runs_with"]["interpreter"] == str(hostile.folder / ".venv" / "bin" / "python")
    assert named["details"]["would_run"][0]["settings"] == {"python": str(hostile.folder / "evil-python")}
    assert f"dragoman trust {hostile.folder}" in everything["hint"]
    for sentence in (everything["message"], everything["hint"]):
        assert "touch" not in sentence


async def test_once_a_person_trusts_the_folder_every_hook_of_it_runs(cli: Cli, hostile: Hostile) -> None:
    """All but what may never come from a folder: which adapter is started, and what an editor would run by itself; and
    a program of another folder, which has a trust of its own."""
    assert cli("trust", str(hostile.folder)).returncode == 0
    outside = hostile.folder.parent / "outside"
    async with session_of(cli, workspace=str(hostile.folder)) as agent:
        refused = await asked(agent, "start_debugging", configuration_name="outside")
        assert (refused["code"], f"dragoman trust {outside}" in refused["hint"]) == ("needs_trust", True)
        assert hostile.found() == set()
        assert cli("trust", str(outside)).returncode == 0
        for name in ("all", "python", "outside"):
            ended = await asked(agent, "start_debugging", configuration_name=name)
            assert (ended["status"], ended["exit_code"]) == ("completed", 0), ended
        eventually(lambda: "after" in hostile.found())
        await asked(agent, "start_debugging", configuration_name="go")
    assert hostile.found() == {
        *("before", "task", "after", "program", "env_file", "preload", "venv", "python", "outside")
    }


async def test_an_agent_cannot_trust_a_folder_in_a_terminal_of_its_own(cli: Cli, hostile: Hostile) -> None:
    folder = str(hostile.folder)
    assert cli("trust", folder).returncode == 0
    outside = hostile.folder.parent / "outside"
    command = shlex.join(cli.command("trust", str(outside)))
    async with session_of(cli, workspace=folder) as agent:
        for line in (command, f"setsid {command} 2>&1 | cat"):
            ran = await asked(agent, "run_in_terminal", command=line, timeout_s=60)
            assert "Only a person can trust a folder" in ran["output"], ran
    assert [it["folder"] for it in cli.json("trust", "--list")] == [folder]
    assert cli("trust", str(outside)).returncode == 0  # which a person can


async def test_a_word_taken_back_counts_at_once(cli: Cli, hostile: Hostile) -> None:
    folder = str(hostile.folder)
    async with session_of(cli, workspace=folder) as agent:
        cli("trust", folder)
        assert [it["folder"] for it in cli.json("trust", "--list")] == [folder]
        assert (await asked(agent, "start_debugging", program="app.py"))["status"] == "completed"
        assert cli("trust", folder, "--revoke").returncode == 0
        assert (await asked(agent, "start_debugging", program="app.py"))["code"] == "needs_trust"
    assert cli.json("trust", "--list") == []


def test_the_command_says_what_it_did_and_refuses_what_is_too_wide_or_not_there(
    cli: Cli, hostile: Hostile, tmp_path: Path
) -> None:
    here = cli("trust", cwd=hostile.folder)
    assert (here.returncode, here.stdout) == (
        0,
        f"Trusted: {hostile.folder}. Agents may run its code as you.\n",
    )
    assert f"{hostile.folder}  20" in cli("trust", "--list").stdout
    for folder, reason in (("/", "broader than one project"), (str(tmp_path / "nowhere"), "Folder not found")):
        refused = cli("trust", folder)
        assert (refused.returncode, reason in refused.stderr) == (1, True)
    assert cli("trust", "/", "--yes").returncode == 0
    assert "itself is not trusted" in cli("trust", "--revoke", str(hostile.folder / "bin")).stderr


async def test_a_task_that_runs_dies_with_a_daemon_that_is_killed(cli: Cli, tmp_path: Path) -> None:
    folder = tmp_path / "slow"
    (folder / ".vscode").mkdir(parents=True)
    task = {"label": "build", "type": "shell", "command": "setsid sleep 100 & echo $! > pid; wait"}
    configuration = {"name": "it", "type": "python", "request": "launch", "program": "x.py", "preLaunchTask": "build"}
    (folder / ".vscode" / "tasks.json").write_text(json.dumps({"tasks": [task]}))
    (folder / ".vscode" / "launch.json").write_text(json.dumps({"configurations": [configuration]}))
    cli("trust", str(folder))
    async with session_of(cli, workspace=str(folder)) as agent:
        begun = await asked(agent, "start_debugging", configuration_name="it", wait=False)
        assert (begun["status"], begun["state"]) == ("success", "Starting")
        pid = eventually(lambda: (folder / "pid").exists() and int((folder / "pid").read_text() or 0))
        cli.kill()
    eventually(lambda: not psutil.pid_exists(pid) or psutil.Process(pid).status() == psutil.STATUS_ZOMBIE)


async def test_an_agent_is_shown_no_file_of_dragoman_itself_nor_of_anywhere_else(cli: Cli) -> None:
    """In a workspace that holds Dragoman's own folders, as a home folder does."""
    top = cli.home.parent
    hostile = Hostile.planted(top)
    secrets = [cli.paths.token_file("mcp"), cli.paths.state_file, Path("/proc/self/environ"), Path("/etc/hostname")]
    (hostile.folder / "link.py").symlink_to(cli.paths.token_file("mcp"))
    (hostile.folder / "away.py").symlink_to("/etc/hostname")
    paths = [*map(str, secrets), "cloned/link.py", "cloned/away.py", f"../../..{top}/../../etc/hostname"]
    async with session_of(cli, workspace=str(top)) as agent:
        found = {}
        for path in paths:
            read = await asked(agent, "get_source", file_path=path)
            broken = await asked(agent, "set_breakpoint", file_path=path, line_text="token")
            found[path] = {read.get("code"), broken.get("code")}
        assert (await asked(agent, "get_source", file_path="cloned/app.py"))["status"] == "success"
    assert set.union(*found.values()) == {"private_file", "outside_workspace"}, found


@pytest.mark.parametrize("folder", ["relative", "", "/a\0b", 7, None])
def test_the_daemon_accepts_only_absolute_paths_from_any_client(cli: Cli, folder: object) -> None:
    for method in ("trust_add", "trust_revoke"):
        assert code_of(lambda: call(cli.paths, method, {"folder": folder})) == "bad_request"  # noqa: B023
    assert call(cli.paths, "trust_list") == {"trusted": []}


async def test_a_workspace_named_through_a_link_is_what_the_link_leads_to(
    cli: Cli, hostile: Hostile, tmp_path: Path
) -> None:
    """A link into a trusted folder counts as that folder; one that leads out of it does not."""
    (tmp_path / "mine").mkdir()
    (tmp_path / "mine" / "app.py").write_text("print(1)")
    (tmp_path / "mine" / "borrowed").symlink_to(hostile.folder)
    (tmp_path / "link").symlink_to(tmp_path / "mine")
    cli("trust", str(tmp_path / "mine"))
    async with session_of(cli, workspace=str(tmp_path / "mine" / "borrowed")) as agent:
        assert (await asked(agent, "start_debugging", program="app.py"))["code"] == "needs_trust"
    async with session_of(cli, workspace=str(tmp_path / "link")) as agent:
        assert (await asked(agent, "start_debugging", program="app.py"))["status"] == "completed"
    assert hostile.found() == set()
