"""Trust in a folder is for its own files: a program elsewhere, or behind a link that leads out, needs its own."""

from __future__ import annotations

import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from dragoman.workspace import trust
from dragoman.workspace.trust import CodeLocations
from tests.debug.test_starting import PYTHON, Agent, agent_in, python, shell, written

pytestmark = [pytest.mark.anyio, pytest.mark.timeout(120)]


def cloned(agent: Agent) -> Path:
    """A folder that somebody cloned and nobody trusted, beside the agent's own."""
    folder = agent.folder.parent / "cloned"
    (folder / ".git").mkdir(parents=True)
    (folder / "run.py").write_text("open('ran', 'w')\n")
    (folder / "conftest.py").write_text("open('ran', 'w')\n")
    (folder / ".env").write_text("A=1\n")
    (agent.folder / "own.py").write_text("print(1)\n")
    return folder


def linked(agent: Agent, to: Path, name: str = "link.py") -> str:
    (agent.folder / name).symlink_to(to)
    return name


def named(agent: Agent, **more: Any) -> dict[str, Any]:
    written(agent, python(**{"program": "own.py", **more}))
    return {"configuration_name": "main"}


def link_into_workspace(agent: Agent, folder: Path) -> dict[str, Any]:
    """Judged by where it leads it would be ours; who owns the folder can turn it round at any time."""
    (folder / "back.py").symlink_to(agent.folder / "own.py")
    return {"program": str(folder / "back.py")}


def environment_of_others(agent: Agent, folder: Path) -> dict[str, Any]:
    (folder / ".venv" / "bin").mkdir(parents=True)
    (folder / ".venv" / "pyvenv.cfg").write_text("")
    (folder / ".venv" / "bin" / "python").symlink_to(Path(sys.base_prefix) / "bin" / "python3")
    linked(agent, folder / ".venv", ".venv")
    return {"program": "own.py"}


def looks_like_environment(_: Agent, folder: Path) -> dict[str, Any]:
    (folder / "pyvenv.cfg").write_text("")
    return {"program": str(folder / "run.py")}


STRANGE: dict[str, Callable[[Agent, Path], dict[str, Any]]] = {
    "absolute": lambda _, folder: {"program": str(folder / "run.py")},
    "upwards": lambda *_: {"program": "../cloned/run.py"},
    "a link": lambda agent, folder: {"program": linked(agent, folder / "run.py")},
    "a linked folder": lambda agent, folder: {"program": f"{linked(agent, folder, 'lib')}/run.py"},
    "a relative link": lambda agent, _: {"program": linked(agent, Path("../cloned/run.py"))},
    "a link of others": link_into_workspace,
    "the folder it runs in": lambda _, folder: {"program": "own.py", "cwd": str(folder)},
    "a module of that folder": lambda agent, folder: named(agent, module="run", program="", cwd=str(folder)),
    "an installed tool's script": lambda _, folder: {
        "configuration": {"type": "python", "module": "runpy", "args": [str(folder / "run.py")]}
    },
    "an installed tool's folder": lambda _, folder: {
        "configuration": {"type": "python", "module": "pytest", "args": [str(folder)]}
    },
    "the interpreter": lambda agent, folder: named(agent, python=str(folder / "python")),
    "a folder that looks like an environment": looks_like_environment,
    "an option of the interpreter": lambda agent, folder: named(agent, pythonArgs=[f"-X={folder}/run.py"]),
    "a value of an option": lambda agent, folder: named(agent, pythonArgs=["-X", f"presite={folder}/run.py"]),
    "an option that is one letter": lambda agent, folder: named(agent, pythonArgs=[f"-m{folder}/run.py"]),
    "an address in an option": lambda agent, folder: named(agent, runtimeArgs=[f"--import=file://{folder}/run.py"]),
    "what builds it": lambda agent, folder: named(agent, buildFlags=f"-race -toolexec={folder}/run.py"),
    "an option in a variable": lambda agent, folder: named(agent, env={"NODE_OPTIONS": f"--require={folder}/run.py"}),
    "the environment": environment_of_others,
    "the search path": lambda agent, folder: named(agent, env={"PYTHONPATH": f"${{workspaceFolder}}:{folder}"}),
    "the agent's variable": lambda _, folder: {"program": "own.py", "env": {"PYTHONPATH": str(folder)}},
    "the file of variables": lambda agent, folder: named(agent, envFile=str(folder / ".env")),
}


@pytest.mark.parametrize("how", STRANGE)
async def test_code_that_lies_elsewhere_runs_only_when_its_own_folder_is_trusted(tmp_path: Path, how: str) -> None:
    async with agent_in(tmp_path) as agent:
        folder = cloned(agent)
        refused = await agent.call("start_debugging", **STRANGE[how](agent, folder))
        assert (refused["code"], str(folder) in str(refused)) == ("needs_trust", True)
        assert not (folder / "ran").exists()
        assert not (agent.folder / "ran").exists()


@pytest.mark.parametrize("how", ["the environment", "a link of others"])
async def test_with_trust_in_that_folder_it_runs(tmp_path: Path, how: str) -> None:
    """The control: nothing else refuses these."""
    async with agent_in(tmp_path) as agent:
        folder = cloned(agent)
        wanted = STRANGE[how](agent, folder)
        await agent.book.trust(folder)
        assert (await agent.call("start_debugging", **wanted)).get("code") is None


async def test_a_task_that_runs_in_or_from_another_folder_is_asked_for(tmp_path: Path) -> None:
    async with agent_in(tmp_path) as agent:
        folder = cloned(agent)
        for task in (
            shell("t", "true", options={"cwd": str(folder)}),
            {"label": "t", "type": "process", "command": str(folder / "run.py")},
        ):
            written(agent, python(program="own.py", preLaunchTask="t"), tasks=(task,))
            assert (await agent.start())["code"] == "needs_trust"


async def test_what_is_installed_is_not_asked_about(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """The system's interpreter, one that is linked to it, an environment where tools keep them, and data elsewhere."""
    monkeypatch.setenv("HOME", str(tmp_path / "home"))
    async with agent_in(tmp_path) as agent:
        cloned(agent)
        data = agent.folder.parent / "data.csv"
        data.write_text("1\n")
        apart = tmp_path / "home" / ".virtualenvs" / "tools"
        (apart / "bin").mkdir(parents=True)
        (apart / "pyvenv.cfg").write_text(f"home = {Path(sys.base_prefix) / 'bin'}\n")
        (apart / "bin" / "python").symlink_to(Path(sys.base_prefix) / "bin" / "python3")
        linked(agent, agent.folder / "own.py")
        wanted = named(agent, program="link.py", python=str(apart / "bin" / "python"), args=[str(data)])
        assert (await agent.call("start_debugging", **wanted)).get("code") is None
        folders = CodeLocations(agent.folder, agent.caller.environment)
        for path in (PYTHON / "python3", Path("/usr/bin/env"), Path("/bin/sh"), Path(sys.executable), Path("/")):
            assert folders.untrusted_places(path) == [], path


def test_a_world_writable_folder_is_not_a_system_folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    system = tmp_path / "opt"
    monkeypatch.setattr(trust, "_SYSTEM", (str(system),))
    (system / "shared" / "tool").mkdir(parents=True)
    script = system / "shared" / "tool" / "run.py"
    script.write_text("")
    folders = CodeLocations(tmp_path / "workspace")
    assert folders.untrusted_places(script) == []
    (system / "shared").chmod(0o777)
    assert folders.untrusted_places(script) == [script]


async def test_a_workspace_that_is_itself_reached_by_a_link_holds_its_files(tmp_path: Path) -> None:
    async with agent_in(tmp_path) as agent:
        cloned(agent)
        moved = tmp_path / "elsewhere"
        agent.folder.rename(moved)
        agent.folder.symlink_to(moved)
        assert (await agent.call("start_debugging", program=str(agent.folder / "own.py"))).get("code") is None
