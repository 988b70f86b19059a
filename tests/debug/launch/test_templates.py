"""Files as people have them: what editors write into a new launch.json, resolved from end to end."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import dragoman
from dragoman.debug.launch import (
    LaunchEnvironment,
    LaunchError,
    PlannedCommand,
    VariableInputs,
    list_configurations,
    planned_commands,
    require_program,
    resolve,
)
from dragoman.debug.launch.config_node import PLATFORMS
from dragoman.debug.model import LaunchRequest
from tests.debug.launch.workspaces import Workspace, a_configuration

PYTHON = """{
    // Use IntelliSense to learn about possible attributes.
    // Hover to view descriptions of existing attributes.
    "version": "0.2.0",
    "configurations": [
        {
            "name": "Python Debugger: Current File",
            "type": "debugpy",
            "request": "launch",
            "program": "${file}",
            "console": "integratedTerminal",
            "envFile": "${workspaceFolder}/.env",
        },
        {
            "name": "Flask",
            "type": "debugpy",
            "request": "launch",
            "module": "flask",
            "env": { "FLASK_APP": "app.py", "FLASK_DEBUG": "1" },
            "args": ["run", "--no-debugger"],
            "jinja": true,
        },
        {
            "name": "Remote",
            "type": "debugpy",
            "request": "attach",
            "connect": { "host": "${input:host}", "port": 5678 },
            "pathMappings": [{ "localRoot": "${workspaceFolder}", "remoteRoot": "." }],
        },
    ],
    "inputs": [{ "id": "host", "type": "promptString", "description": "Host?", "default": "localhost" }],
}"""


def test_the_python_template(workspace: Workspace) -> None:
    workspace.write(".vscode/launch.json", PYTHON)
    program = workspace.write("tool.py", "")
    (current,) = workspace.start("Python Debugger: Current File", file="tool.py").sessions
    require_program(current)
    assert (current.arguments["program"], [str(note) for note in current.notes]) == (
        str(program),
        [f"This envFile does not exist and was ignored: {workspace.folder}/.env"],
    )
    (flask,) = workspace.start("Flask").sessions
    require_program(flask)
    assert flask.arguments["env"] == {"FLASK_APP": "app.py", "FLASK_DEBUG": "1"}
    (remote,) = workspace.start("Remote").sessions
    assert remote.arguments["connect"] == {"host": "localhost", "port": 5678}
    assert remote.arguments["pathMappings"][0]["localRoot"] == str(workspace.folder)


def test_the_c_template_with_its_build(workspace: Workspace) -> None:
    label = "C/C++: gcc build active file"
    workspace.tasks_json(
        {
            "type": "cppbuild",
            "label": label,
            "command": "/usr/bin/gcc",
            "args": ["-g", "${file}", "-o", "${fileDirname}/${fileBasenameNoExtension}"],
            "options": {"cwd": "${fileDirname}"},
            "problemMatcher": ["$gcc"],
            "group": {"kind": "build", "isDefault": True},
        }
    )
    workspace.launch_json(
        {
            "name": "gcc",
            "type": "cppdbg",
            "request": "launch",
            "program": "${fileDirname}/${fileBasenameNoExtension}",
            "cwd": "${fileDirname}",
            "environment": [{"name": "LANG", "value": "C"}],
            "MIMode": "gdb",
            "setupCommands": [{"text": "-enable-pretty-printing"}],
            "preLaunchTask": label,
        }
    )
    source = workspace.write("my code/hello.c", "")
    launch = workspace.start("gcc", file=str(source))
    build, program = planned_commands(launch)
    assert build.line == f"/usr/bin/gcc -g '{source}' -o '{source.parent}/hello'"
    assert (build.cwd, program.line) == (str(source.parent), f"'{source.parent}/hello'")
    assert program.settings == {"setupCommands": [{"text": "-enable-pretty-printing"}]}
    assert launch.sessions[0].arguments["env"] == {"LANG": "C"}


def test_the_node_template_with_server_and_client(workspace: Workspace) -> None:
    workspace.tasks_json({"type": "npm", "script": "watch", "isBackground": True, "problemMatcher": "$tsc-watch"})
    workspace.launch_json(
        {
            "type": "pwa-node",
            "request": "launch",
            "name": "Server",
            "skipFiles": ["<node_internals>/**"],
            "program": "${workspaceFolder}/out/server.js",
            "outFiles": ["${workspaceFolder}/out/**/*.js"],
            "sourceMapPathOverrides": {"webpack:///./~/*": "${webRoot}/node_modules/*"},
            "preLaunchTask": "npm: watch",
        },
        {"type": "node", "request": "attach", "name": "Client", "port": 9229, "restart": True},
        compounds=[{"name": "Both", "configurations": ["Server", "Client"], "stopAll": True}],
    )
    server, client = workspace.start("Both").sessions
    assert server.arguments["outFiles"] == [f"{workspace.folder}/out/**/*.js"]
    assert server.arguments["sourceMapPathOverrides"] == {"webpack:///./~/*": "${webRoot}/node_modules/*"}
    assert server.before is not None
    assert server.before.command is not None
    assert server.before.command.ready is not None
    assert (client.request, client.arguments["port"]) == ("attach", 9229)


def test_the_go_and_rust_templates(workspace: Workspace) -> None:
    (workspace.folder / "cmd").mkdir()
    package = {"name": "go", "type": "go", "request": "launch", "mode": "auto", "program": "${fileDirname}"}
    cargo = {"name": "rust", "type": "lldb", "request": "launch", "cargo": {"args": ["build", "--bin=x"]}}
    workspace.launch_json(package, {**cargo, "program": "${workspaceFolder}/target/debug/x"})
    require_program(workspace.start("go", file="cmd/main.go").sessions[0])
    (result,) = planned_commands(workspace.start("rust"))
    assert result.settings == {"cargo": {"args": ["build", "--bin=x"]}}


def test_the_repository_s_own_examples_start() -> None:
    folder = Path(dragoman.__file__).parents[2] / "examples"
    offered = list_configurations(folder)
    assert len(offered.configurations) > 10
    assert offered.problems == []
    for written in (*offered.configurations, *offered.compounds):
        for session in resolve(
            LaunchRequest(configuration_name=written["name"]), LaunchEnvironment(folder), VariableInputs(process_id=1)
        ).sessions:
            if "preLaunchTask" not in written:  # which builds the program
                require_program(session)


# Whatever is written, the answer is a launch or a fault with a code


SCALARS = st.none() | st.booleans() | st.integers(-3, 99999) | st.floats(allow_nan=False, allow_infinity=False)
TEXTS = st.sampled_from(
    ["", "main", "a", "${file}", "${input:a}", "${env:HOME}", "$x", "build", "sequence", "npm", "/"]
)
VALUES = st.recursive(
    SCALARS | TEXTS | st.text(max_size=3),
    lambda inner: (
        st.lists(inner, max_size=3)
        | st.dictionaries(
            st.sampled_from(["name", "value", "quoting", "cwd", "env", "shell", "id", "port", "background", "A", "="]),
            inner,
            max_size=3,
        )
    ),
    max_leaves=6,
)
LAUNCH_KEYS = ["program", "args", "cwd", "env", "environment", "envFile", "preLaunchTask", "connect", "port", "module"]
TASK_KEYS = ["type", "command", "args", "script", "options", "dependsOn", "dependsOrder", "isBackground", "group"]
CONFIGURATIONS = st.dictionaries(st.sampled_from([*LAUNCH_KEYS, *PLATFORMS]), VALUES, max_size=4)
TASKS = st.dictionaries(st.sampled_from([*TASK_KEYS, "problemMatcher", "label", *PLATFORMS]), VALUES, max_size=5)


@pytest.fixture(scope="module")
def shared(tmp_path_factory: pytest.TempPathFactory) -> Workspace:
    folder = tmp_path_factory.mktemp("shared")
    (folder / ".vscode").mkdir()
    return Workspace(folder)


CODES = {
    "bad_configuration",
    "bad_env_file",
    "bad_tasks_json",
    "background_task",
    "missing_input",
    "no_such_folder",
    "no_such_program",
    "task_cycle",
    "unknown_task",
    "unresolved_variable",
}


def planned_or_error(workspace: Workspace, configuration: dict[str, Any]) -> list[PlannedCommand] | LaunchError:
    try:
        launch = resolve(LaunchRequest(configuration=configuration), workspace.client())
        json.dumps(launch.sessions[0].arguments, allow_nan=False)
        require_program(launch.sessions[0])
        return planned_commands(launch)
    except LaunchError as fault:
        return fault


@given(members=CONFIGURATIONS, kind=st.sampled_from(["launch", "attach"]))
@settings(max_examples=150, deadline=None)
def test_any_configuration_is_resolved_or_refused(shared: Workspace, members: Any, kind: str) -> None:
    shared.write(".vscode/tasks.json", "{}")
    answer = planned_or_error(shared, {**a_configuration(request=kind), **members})
    if isinstance(answer, LaunchError):
        assert answer.code in CODES
        assert str(answer.message) != answer.message.in_language("zh")
    else:
        assert answer[-1].what == {"launch": "program", "attach": "attach"}[kind]


@given(task=TASKS, other=TASKS, more=st.dictionaries(st.sampled_from(["options", "inputs", "linux"]), VALUES))
@settings(max_examples=150, deadline=None)
def test_any_tasks_file_is_planned_or_refused(shared: Workspace, task: Any, other: Any, more: Any) -> None:
    shared.write(".vscode/tasks.json", json.dumps({"tasks": [{"label": "main", **task}, other], **more}))
    answer = planned_or_error(shared, a_configuration(module="x", preLaunchTask="main"))
    assert answer.code in CODES if isinstance(answer, LaunchError) else answer[-1].what == "program"
