"""From a name, a configuration or a program to what an adapter is given."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from dragoman.debug.launch import (
    LaunchError,
    environment_with,
    list_configurations,
    planned_commands,
    require_program,
    resolve,
)
from dragoman.debug.launch.resolution import MAX_SESSIONS
from dragoman.debug.launch.variables import Platform
from dragoman.debug.model import LaunchRequest
from tests import requirements
from tests.debug.launch.workspaces import Workspace, a_configuration, fault_of


def test_the_listed_name_is_the_one_that_starts(workspace: Workspace) -> None:
    workspace.launch_json(a_configuration(name="one"), a_configuration(name="二 / two", program="${workspaceFolder}/x"))
    for written in list_configurations(workspace.folder).configurations:
        launch = workspace.start(written["name"])
        assert [session.name for session in launch.sessions] == [launch.name] == [written["name"]]
    assert workspace.start("二 / two").sessions[0].arguments["program"] == f"{workspace.folder}/x"


def test_known_names_are_in_the_order_of_the_file_and_once(workspace: Workspace) -> None:
    workspace.launch_json(*(a_configuration(name=name) for name in ("one", "two", "one", "three")))
    assert fault_of(lambda: workspace.start("four")).details["known"] == ["one", "two", "three"]


@pytest.mark.requirement("debug:start:error-unknown-name")
def test_an_unknown_name_is_reported_with_the_nearest_and_all_known_ones(workspace: Workspace) -> None:
    compound = {"name": "all", "configurations": ["Run tests"]}
    workspace.launch_json(a_configuration(name="Run tests"), "broken", {"type": "x"}, compounds=[compound])
    fault = fault_of(lambda: workspace.start("run test"))
    assert (fault.code, fault.details["known"]) == ("unknown_configuration", ["Run tests", "all"])
    assert str(fault.hint) == 'Did you mean "Run tests"? See `known` for all.'
    assert fault.details["known"] == ["Run tests", "all"]
    words = requirements.sentence("debug:start:error-unknown-name").replace("XYZ", "run test")
    assert fault.message.in_language("zh").startswith(words)


def test_of_two_configurations_with_one_name_the_first_is_started(workspace: Workspace) -> None:
    workspace.launch_json(a_configuration(type="first"), a_configuration(type="second"))
    assert workspace.start("main").sessions[0].type == "first"


def test_everything_an_adapter_may_want_passes_through(workspace: Workspace) -> None:
    more: dict[str, Any] = {
        "justMyCode": False,
        "console": "integratedTerminal",
        "rules": [{"a": 1}],
        "outFiles": ["${cwd}/*.js"],
    }
    assert workspace.one(**more).arguments == {**a_configuration(), **more, "outFiles": [f"{workspace.folder}/*.js"]}


@pytest.mark.parametrize(("platform", "program"), [("linux", "l"), ("osx", "m"), ("windows", "general")])
def test_the_block_of_the_system_replaces_what_is_beside_it(
    workspace: Workspace, platform: Platform, program: str
) -> None:
    workspace.platform = platform
    blocks: dict[str, Any] = {"linux": {"program": "l", "args": ["${cwd}"]}, "osx": {"program": "m"}}
    session = workspace.one(program="general", **blocks)
    assert session.arguments["program"] == program
    assert not {"linux", "osx", "windows"} & set(session.arguments)


def test_what_a_block_replaces_and_other_systems_blocks_are_not_even_expanded(workspace: Workspace) -> None:
    session = workspace.one(program="${execPath}", windows={"cwd": "${execPath}"}, linux={"program": "here"})
    assert session.arguments["program"] == "here"


def test_a_fault_in_a_block_is_reported_where_it_is_written(workspace: Workspace) -> None:
    fault = fault_of(lambda: workspace.one(args=["good"], linux={"args": ["good", 3]}))
    assert fault.details["path"] == "configurations[0].linux.args[1]"
    fault = fault_of(lambda: workspace.one(linux={"env": {"A": "${execPath}"}}))
    assert fault.details["path"] == "configurations[0].linux.env.A"


@pytest.mark.parametrize(
    ("members", "path"),
    [
        ({"args": {"a": 1}}, "args"),
        ({"args": ["a", 1]}, "args[1]"),
        ({"program": ["x"]}, "program"),
        ({"cwd": 3}, "cwd"),
        ({"env": []}, "env"),
        ({"env": {"A": []}}, "env.A"),
        ({"env": {"A=B": "x"}}, 'env["A=B"]'),
        ({"environment": [{"value": "x"}]}, "environment[0]"),
        ({"envFile": 1}, "envFile"),
        ({"preLaunchTask": 1}, "preLaunchTask"),
        ({"linux": []}, "linux"),
        ({"type": ""}, "type"),
    ],
)
def test_a_value_of_the_wrong_kind_is_reported_with_its_path(workspace: Workspace, members: Any, path: str) -> None:
    workspace.tasks_json({"label": "a"})
    fault = fault_of(lambda: workspace.one(**members))
    assert (fault.code, fault.details["path"]) == ("bad_launch_json", f"configurations[0].{path}")
    assert {"file", "line", "column"} <= set(fault.details)


def test_a_fault_names_line_and_column_of_the_value(workspace: Workspace) -> None:
    text = '{"configurations": [\n  {"name": "main", "type": "x",\n   "request": "launch", "args": ["a", 7]}]}'
    workspace.write(".vscode/launch.json", text)
    fault = fault_of(lambda: workspace.start("main"))
    assert (fault.details["line"], fault.details["column"]) == (3, 39)
    assert "line 3, column 39: configurations[0].args[1]: this must be a string, not 7" in str(fault)


def test_arguments_in_one_string_are_left_to_the_adapter(workspace: Workspace) -> None:
    assert workspace.one(args="--port ${lineNumber}", caller={"line": 3}).arguments["args"] == "--port 3"


def test_a_misspelt_variable_is_noted_and_a_foreign_one_is_not(workspace: Workspace) -> None:
    session = workspace.one(program="${workspaceFoldr}/x", webRoot="${zzz}")
    (note,) = session.notes
    assert "workspaceFolder" in str(note)
    assert session.arguments["program"] == "${workspaceFoldr}/x"


# Attaching


@pytest.mark.parametrize(
    ("members", "process_id", "expected"),
    [
        ({"connect": {"host": "localhost", "port": 5678}}, None, {"connect": {"host": "localhost", "port": 5678}}),
        ({"connect": {"port": "${env:PORT}"}}, None, {"connect": {"port": 9000}}),
        ({"port": "${env:PORT}"}, None, {"port": 9000}),
        ({"port": 9229}, 77, {"port": 9229}),
        ({"processId": "${command:pickProcess}"}, 77, {"processId": 77}),
        ({"pid": 12}, 77, {"pid": 12}),
        ({}, 77, {"processId": 77}),
        ({"processId": "soon"}, None, {"processId": "soon"}),
        ({"port": "99999999999999"}, None, {"port": "99999999999999"}),
    ],
)
def test_attaching_by_port_and_by_process_passes_through_as_numbers(
    workspace: Workspace, members: dict[str, Any], process_id: int | None, expected: dict[str, Any]
) -> None:
    workspace.environment["PORT"] = "9000"
    session = workspace.one(request="attach", **members, caller={"process_id": process_id})
    assert session.arguments == {**a_configuration(request="attach"), **expected}
    require_program(session)


# Environment


def test_env_goes_over_the_file_and_both_go_over_the_client(workspace: Workspace) -> None:
    workspace.environment |= {"A": "client", "B": "client", "C": "client", "GONE": "client"}
    workspace.write(".env", "A=file\nB=file\nD=${C} and ${B}\n")
    session = workspace.one(envFile="${workspaceFolder}/.env", env={"A": "env", "GONE": None, "N": 3, "T": True})
    assert session.env == {"A": "env", "B": "file", "D": "client and file", "GONE": None, "N": "3", "T": "true"}
    assert session.arguments["env"] == session.env
    whole = environment_with(session.env, workspace.environment)
    assert (whole["A"], whole["B"], whole["C"], "GONE" in whole) == ("env", "file", "client", False)


def test_several_files_are_read_in_order(workspace: Workspace) -> None:
    workspace.write("one.env", "A=1\nB=1")
    workspace.write("two.env", "B=2")
    assert workspace.one(envFile=["one.env", "two.env"]).env == {"A": "1", "B": "2"}


def test_a_missing_file_and_unread_lines_are_noted_without_their_text(workspace: Workspace) -> None:
    workspace.write("odd.env", "A=1\nsecret words\n\n# fine\nalso-secret\n")
    notes = [str(note) for note in workspace.one(envFile=["odd.env", "none.env"]).notes]
    assert [("2, 5" in notes[0], "secret" in notes[0]), notes[1].startswith("This envFile does not exist")] == [
        (True, False),
        True,
    ]


@pytest.mark.parametrize("content", [b"\xff\xfe", None])
def test_a_file_that_cannot_be_read_is_a_fault_at_envfile(workspace: Workspace, content: bytes | None) -> None:
    if content is None:
        (workspace.folder / "x.env").mkdir()
    else:
        workspace.write("x.env", content)
    fault = fault_of(lambda: workspace.one(envFile="x.env"))
    assert (fault.code, fault.details["path"]) == ("bad_env_file", "configurations[0].envFile")


def test_the_list_form_of_the_c_debuggers_is_the_same_environment(workspace: Workspace) -> None:
    session = workspace.one(environment=[{"name": "A", "value": "${userHome}"}, {"name": "B", "value": "b"}])
    assert session.arguments["env"] == {"A": "/home/me", "B": "b"}
    assert "environment" not in session.arguments


def test_values_of_the_environment_stay_out_of_reprs(workspace: Workspace) -> None:
    workspace.environment["TOKEN"] = "s3cret"
    session = workspace.one(env={"A": "${env:TOKEN}"}, args=["${env:TOKEN}"])
    assert "s3cret" not in repr(session) + repr(workspace.client())


# Compounds


def test_a_compound_starts_its_configurations_in_their_order(workspace: Workspace) -> None:
    workspace.tasks_json({"label": "b", "command": "make", "args": ["${input:goal}"]}, inputs=[])
    members: list[Any] = ["two", {"name": "one", "folder": "project"}]
    compound = {"name": "all", "configurations": members, "stopAll": True, "preLaunchTask": "${defaultBuildTask}"}
    workspace.launch_json(a_configuration(name="one"), a_configuration(name="two"), compounds=[compound])
    workspace.tasks_json({"label": "b", "command": "make", "group": {"kind": "build", "isDefault": True}})
    launch = workspace.start("all")
    assert [session.name for session in launch.sessions] == ["two", "one"]
    assert (launch.stop_all, launch.before and launch.before.label) == (True, "b")


def test_a_member_that_is_not_there_is_reported_in_its_place(workspace: Workspace) -> None:
    workspace.launch_json(a_configuration(), compounds=[{"name": "all", "configurations": ["main", "mian"]}])
    fault = fault_of(lambda: workspace.start("all"))
    assert (fault.code, fault.details["path"]) == ("unknown_configuration", "compounds[0].configurations[1]")
    assert 'Did you mean "main"?' in str(fault.hint)


def test_a_compound_of_more_sessions_than_a_machine_bears_is_refused(workspace: Workspace) -> None:
    members = ["main"] * (MAX_SESSIONS + 1)
    workspace.launch_json(a_configuration(), compounds=[{"name": "all", "configurations": members}])
    assert f"more than {MAX_SESSIONS}" in str(fault_of(lambda: workspace.start("all")))


# Without a launch.json


def test_an_inline_configuration_needs_no_file_and_is_resolved_like_one(workspace: Workspace) -> None:
    session = workspace.inline({"type": "go", "request": "attach", "port": "${lineNumber}"}, line=80)
    assert session.arguments == {"type": "go", "request": "attach", "name": "inline", "port": 80}


def test_an_inline_configuration_takes_its_type_from_its_program(workspace: Workspace) -> None:
    session = workspace.inline({"program": "${workspaceFolder}/app.mjs", "args": ["x"]})
    assert (session.name, session.type, session.request) == ("app.mjs", "node", "launch")


def test_what_a_caller_says_besides_goes_over_what_is_written(workspace: Workspace) -> None:
    written = a_configuration(args=["written"], cwd="${workspaceFolder}", env={"A": "written", "B": "written"})
    workspace.launch_json(written)
    for way in ({"configuration_name": written["name"]}, {"configuration": written}):
        request = LaunchRequest(**way, args=("said",), cwd="sub", env={"A": "said"})
        (session,) = resolve(request, workspace.client()).sessions
        assert (session.arguments["args"], session.arguments["cwd"]) == (["said"], str(workspace.folder / "sub"))
        assert session.env == session.arguments["env"] == {"A": "said", "B": "written"}


def test_an_inline_configuration_is_not_changed(workspace: Workspace) -> None:
    given = {"program": "${workspaceFolder}/app.py"}
    workspace.inline(given)
    assert given == {"program": "${workspaceFolder}/app.py"}


@pytest.mark.parametrize(
    ("configuration", "path"),
    [
        ({"request": "launch"}, "$"),
        ({"type": "x", "args": [1]}, "args[0]"),
        ({"type": "x", "request": "go"}, "request"),
    ],
)
def test_a_fault_of_an_inline_configuration_has_a_path_and_no_place(
    workspace: Workspace, configuration: dict[str, Any], path: str
) -> None:
    fault = fault_of(lambda: workspace.inline(configuration))
    assert (fault.code, fault.details) == ("bad_configuration", {"path": path})
    assert f"{path} of configuration: " in str(fault)


def test_just_a_program_is_started_with_its_words_untouched(workspace: Workspace) -> None:
    path = workspace.write("src/main.py", "")
    request = LaunchRequest(program="src/main.py", args=("${file}", "a b"), cwd="src", env={"A": "${env:B}"})
    (session,) = resolve(request, workspace.client()).sessions
    assert session.arguments == {
        "name": "main.py",
        "type": "python",
        "request": "launch",
        "program": str(path),
        "args": ["${file}", "a b"],
        "cwd": str(workspace.folder / "src"),
        "env": {"A": "${env:B}"},
    }


def test_a_program_may_be_named_from_the_folder_it_runs_in(workspace: Workspace) -> None:
    path = workspace.write("src/main.py", "")
    (session,) = resolve(LaunchRequest(program="main.py", cwd="src"), workspace.client()).sessions
    assert session.arguments["program"] == str(path)


@pytest.mark.parametrize(
    ("script", "first_line", "kind"),
    [(".venv/bin/pytest", "#!/x/python3", "python"), ("node_modules/.bin/mocha", "#!/usr/bin/env node", "node")],
)
def test_a_bare_name_is_what_was_installed_for_the_workspace(
    workspace: Workspace, script: str, first_line: str, kind: str
) -> None:
    path = workspace.write(script, f"{first_line}\n")
    workspace.write(".venv/bin/python", "").chmod(0o755)
    (session,) = resolve(LaunchRequest(program=path.name), workspace.client()).sessions
    assert (session.arguments["program"], session.type) == (str(path), kind)
    fault = fault_of(lambda: resolve(LaunchRequest(program=f"./missing/{path.name}"), workspace.client()))
    assert fault.code == "no_such_program"


def test_the_table_of_types_is_the_callers_to_replace(workspace: Workspace) -> None:
    workspace.write("x.weird", "")
    (session,) = resolve(
        LaunchRequest(program="x.weird"), workspace.client(), type_for=lambda path: path.suffix
    ).sessions
    assert session.type == ".weird"


@pytest.mark.parametrize(
    "launch_request",
    [
        LaunchRequest(),
        LaunchRequest(configuration_name="a", program="b"),
        LaunchRequest(configuration={"type": "x"}, program="b"),
        LaunchRequest(configuration_name="a", configuration={"type": "x"}),
    ],
)
def test_exactly_one_way_to_say_what_to_start_is_taken(workspace: Workspace, launch_request: LaunchRequest) -> None:
    fault = fault_of(lambda: resolve(launch_request, workspace.client()))
    assert (fault.code, "`configuration_name`" in str(fault.hint)) == ("bad_start", True)


@pytest.mark.parametrize(
    "launch_request",
    [
        LaunchRequest(configuration_name="main"),
        LaunchRequest(configuration={"type": "x"}),
        LaunchRequest(program="x.py"),
    ],
)
def test_no_way_starts_anything_in_a_workspace_that_is_not_there(
    workspace: Workspace, launch_request: LaunchRequest
) -> None:
    workspace.folder = Path("/nowhere/at/all")
    assert fault_of(lambda: resolve(launch_request, workspace.client())).code == "bad_workspace"


def test_a_nul_in_the_callers_words_is_refused_before_the_system_sees_it(workspace: Workspace) -> None:
    assert fault_of(lambda: workspace.inline({"type": "x", "program": "a\0b"})).code == "bad_configuration"
    assert fault_of(lambda: resolve(LaunchRequest(program="a\0b"), workspace.client())).code == "bad_configuration"


# What must exist


def test_a_missing_program_is_reported_with_the_file_that_was_meant(workspace: Workspace) -> None:
    path = workspace.write("src/server.py", "")
    session = workspace.one(program="${workspaceFolder}/src/sever.py")
    fault = fault_of(lambda: require_program(session))
    assert (fault.code, fault.details["nearest"]) == ("no_such_program", str(path))
    plain = fault_of(lambda: resolve(LaunchRequest(program="src/sever.py"), workspace.client()))
    assert (plain.code, plain.details["nearest"]) == ("no_such_program", str(path))


def test_a_missing_folder_on_the_way_is_the_one_that_is_named(workspace: Workspace) -> None:
    workspace.write("source/server.py", "")
    session = workspace.one(program="${workspaceFolder}/sorce/server.py")
    assert fault_of(lambda: require_program(session)).details["nearest"] == str(workspace.folder / "source")


def test_a_missing_folder_to_run_in_is_reported(workspace: Workspace) -> None:
    (workspace.folder / "build").mkdir()
    fault = fault_of(lambda: require_program(workspace.one(program="x", cwd="${workspaceFolder}/biuld")))
    assert (fault.code, fault.details["nearest"]) == ("no_such_folder", str(workspace.folder / "build"))


@pytest.mark.parametrize(
    ("program", "hint"),
    [("${workspaceFoldr}/x.py", 'Did you mean "workspaceFolder"?'), ("${qqq}/x.py", '"${qqq}" is not a variable.')],
)
def test_a_program_named_by_no_variable_says_so(workspace: Workspace, program: str, hint: str) -> None:
    assert hint in str(fault_of(lambda: require_program(workspace.one(program=program))).hint)


def test_a_program_that_is_there_or_is_a_module_is_let_through(workspace: Workspace) -> None:
    workspace.write("app.js", "")
    workspace.write("src/x.py", "")
    require_program(workspace.one(program="app.js"))
    require_program(workspace.one(program="x.py", cwd="src"))
    require_program(workspace.one(type="node", program="${workspaceFolder}/app"))
    require_program(workspace.one(module="app"))


def test_nothing_near_gets_the_general_advice(workspace: Workspace) -> None:
    fault = fault_of(lambda: require_program(workspace.one(program="/nowhere/zz")))
    assert "preLaunchTask" in str(fault.hint)


@pytest.mark.parametrize("program", ["a" * 5000, "a/" * 3000, "x.py/below", "\udcff.py"])
def test_a_path_that_the_system_would_not_take_is_a_plain_fault(workspace: Workspace, program: str) -> None:
    workspace.write("x.py", "")
    with pytest.raises(LaunchError):
        resolve(LaunchRequest(program=program), workspace.client())
    with pytest.raises(LaunchError):
        require_program(workspace.inline({"type": "x", "program": program, "cwd": program}))


def test_null_is_nothing_wherever_it_is(workspace: Workspace) -> None:
    nulls = ("args", "cwd", "env", "envFile", "environment", "program", "preLaunchTask", "linux", "module")
    members: dict[str, Any] = dict.fromkeys(nulls)
    session = workspace.one(**members)
    require_program(session)
    (result,) = planned_commands(workspace.start("main"))
    assert (result.line, result.cwd) == ("", str(workspace.folder))


@pytest.mark.parametrize("where", ["program", "envFile", "args"])
def test_a_nul_that_comes_out_of_a_variable_is_refused_where_it_was_put_in(workspace: Workspace, where: str) -> None:
    value: Any = ["${input:x}"] if where == "args" else "${input:x}"
    fault = fault_of(lambda: workspace.one(**{where: value}, caller={"inputs": {"x": "a\0b"}}))
    assert fault.details["path"].startswith(f"configurations[0].{where}")
