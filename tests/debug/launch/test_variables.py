"""Every `${…}`: its value, where it is refused, and that nothing is expanded twice."""

from __future__ import annotations

import tempfile
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from dragoman.debug.launch.config_node import ConfigNode, ConfigOrigin
from dragoman.debug.launch.variables import (
    PROCESS_PICKERS,
    VARIABLES,
    Expander,
    VariableInputs,
    VariableScope,
    split_variables,
)
from dragoman.debug.launch.workspace_files import WorkspaceFiles
from tests.debug.launch.workspaces import Workspace, fault_of

FULL: dict[str, Any] = {
    "file": "/home/me/project/src/deep/main.test.py",
    "line": 12,
    "column": 3,
    "selected_text": "total ${x}",
    "inputs": {"who": "me"},
    "process_id": 4242,
}


def scope_at(folder: Path, **changes: Any) -> VariableScope:
    facts = {
        "files": WorkspaceFiles(folder),
        "platform": "linux",
        "home": "/home/me",
        "environment": {"A": "value of a", "LOOP": "${env:A}${input:who}"},
        "folders": {"project": folder, "lib": Path("/home/me/lib")},
        "caller": VariableInputs(**FULL),
        "default_build_task": lambda: "build it",
        **changes,
    }
    return VariableScope(**facts)


PROJECT = Path("/home/me/project")


def expanded(value: Any, scope: VariableScope | None = None) -> Any:
    node = ConfigNode(value, (), ConfigOrigin("configuration", "bad_configuration"))
    return Expander(scope or scope_at(PROJECT), []).expand(node).value


TABLE = {
    "workspaceFolder": "/home/me/project",
    "workspaceFolder:lib": "/home/me/lib",
    "workspaceFolderBasename": "project",
    "workspaceFolderBasename:lib": "lib",
    "workspaceRoot": "/home/me/project",
    "workspaceRootFolderName": "project",
    "cwd": "/home/me/project",
    "cwd:lib": "/home/me/lib",
    "file": "/home/me/project/src/deep/main.test.py",
    "fileBasename": "main.test.py",
    "fileBasenameNoExtension": "main.test",
    "fileExtname": ".py",
    "fileDirname": "/home/me/project/src/deep",
    "fileDirnameBasename": "deep",
    "fileWorkspaceFolder": "/home/me/project",
    "fileWorkspaceFolderBasename": "project",
    "relativeFile": "src/deep/main.test.py",
    "relativeFile:lib": "../project/src/deep/main.test.py",
    "relativeFileDirname": "src/deep",
    "lineNumber": "12",
    "columnNumber": "3",
    "selectedText": "total ${x}",
    "env:A": "value of a",
    "env:NOT_SET": "",
    "env:LOOP": "${env:A}${input:who}",
    "input:who": "me",
    "userHome": "/home/me",
    "pathSeparator": "/",
    "/": "/",
    "command:pickProcess": "4242",
    "command:PickProcess": "4242",
    "defaultBuildTask": "build it",
}
REFUSED = {
    "execPath": "path of VS Code",
    "execInstallFolder": "path of VS Code",
    "extensionInstallFolder:x.y": "path of VS Code",
    "command:cmake.launchTargetPath": '"cmake.launchTargetPath" is a VS Code command',
    "workspaceFolder:none": 'no folder "none"',
    "env:": 'the name after "env:" is missing',
    "env": "is missing",
    "input:nobody": 'the input "nobody" is neither declared',
}


@pytest.mark.parametrize(("variable", "value"), TABLE.items())
def test_each_variable_means_what_the_editor_would_put_there(variable: str, value: str) -> None:
    assert expanded(f"<${{{variable}}}>") == f"<{value}>"


@pytest.mark.parametrize(("variable", "reason"), REFUSED.items())
def test_a_variable_that_only_an_editor_knows_is_refused_with_the_reason(variable: str, reason: str) -> None:
    fault = fault_of(lambda: expanded([f"${{{variable}}}"]))
    assert reason in str(fault)
    assert fault.hint is not None
    assert fault.details["path"] == "[0]"


def test_the_tables_of_these_tests_name_every_variable_there_is() -> None:
    tested = {name.partition(":")[0] for name in [*TABLE, *REFUSED]}
    assert tested == {*VARIABLES, "input"}


@pytest.mark.parametrize("picker", sorted(PROCESS_PICKERS))
def test_every_way_to_ask_for_a_process_takes_the_callers(picker: str) -> None:
    assert expanded(f"${{command:{picker}}}") == "4242"


@pytest.mark.parametrize(
    ("variable", "argument"),
    [
        ("file", "file"),
        ("fileDirname", "file"),
        ("relativeFile", "file"),
        ("fileWorkspaceFolder", "file"),
        ("lineNumber", "line"),
        ("columnNumber", "column"),
        ("selectedText", "selected_text"),
        ("command:pickProcess", "process_id"),
    ],
)
def test_what_the_caller_did_not_say_is_asked_for_by_name(variable: str, argument: str) -> None:
    fault = fault_of(lambda: expanded(f"${{{variable}}}", scope_at(PROJECT, caller=VariableInputs())))
    assert (fault.code, fault.details["needs"]) == ("unresolved_variable", argument)
    assert f"`{argument}`" in str(fault.hint)


def test_a_relative_file_is_the_workspaces(workspace: Workspace) -> None:
    scope = scope_at(PROJECT, caller=VariableInputs(file="src/../a.py"))
    assert expanded("${file} ${relativeFileDirname}", scope) == "/home/me/project/a.py ."


def test_a_file_belongs_to_the_innermost_folder_that_holds_it() -> None:
    folders = {"project": PROJECT, "src": PROJECT / "src"}
    assert expanded("${fileWorkspaceFolder}", scope_at(PROJECT, folders=folders)) == "/home/me/project/src"
    outside = scope_at(PROJECT, caller=VariableInputs(file="/etc/hosts"))
    assert "is not in a folder" in str(fault_of(lambda: expanded("${fileWorkspaceFolder}", outside)))


def test_windows_has_its_own_separator() -> None:
    assert expanded("${pathSeparator}${/}", scope_at(PROJECT, platform="windows")) == "\\\\"


@pytest.mark.parametrize(
    "text", ["${HOME}", "${webRoot}/x", "$workspaceFolder", "${", "${}", "}${", "$ {file}", "${File}"]
)
def test_what_is_not_a_variable_of_ours_stays_as_written(text: str) -> None:
    assert expanded(text) == text


@pytest.mark.parametrize("text", ["${env:${env:A}}", "${${file}}", "${a${b${c}"])
def test_a_variable_inside_a_variable_stays_as_written(text: str) -> None:
    assert expanded(text) == text


def test_keys_lists_and_objects_are_expanded_and_other_values_are_kept() -> None:
    value = {"${env:A}": ["${lineNumber}", {"x": "${userHome}"}], "n": 1, "t": True, "nothing": None}
    assert expanded(value) == {"value of a": ["12", {"x": "/home/me"}], "n": 1, "t": True, "nothing": None}


def test_a_small_file_cannot_expand_to_gigabytes() -> None:
    scope = scope_at(PROJECT, environment={"LONG": "x" * 100_000})
    fault = fault_of(lambda: expanded(["${env:LONG}" * 100] * 100, scope))
    assert "more than 16777216 characters" in str(fault)


# Settings


SETTINGS = """{
  "python.path": "/usr/bin/python", // flat
  "go": {"build": {"tags": "x y"}, "test.flags": "-v"},
  "port": 8080, "on": true, "list": [1], "where": "${workspaceFolder}/bin ${env:LOOP} ${config:port}",
}"""


@pytest.mark.parametrize(
    ("key", "value"),
    [
        ("python.path", "/usr/bin/python"),
        ("go.build.tags", "x y"),
        ("go.test.flags", "-v"),
        ("port", "8080"),
        ("on", "true"),
    ],
)
def test_a_setting_is_found_flat_or_nested(workspace: Workspace, key: str, value: str) -> None:
    workspace.write(".vscode/settings.json", SETTINGS)
    assert expanded(f"${{config:{key}}}", scope_at(workspace.folder)) == value


def test_a_setting_may_name_variables_but_what_they_mean_may_not(workspace: Workspace) -> None:
    workspace.write(".vscode/settings.json", SETTINGS)
    assert expanded("${config:where}", scope_at(workspace.folder)) == (
        f"{workspace.folder}/bin ${{env:A}}${{input:who}} ${{config:port}}"
    )


@pytest.mark.parametrize(
    ("key", "reason"),
    [("python.paht", 'Did you mean "python.path"?'), ("go", "not a single value"), ("list", "not a single value")],
)
def test_a_setting_that_is_not_there_or_not_one_value_is_refused(workspace: Workspace, key: str, reason: str) -> None:
    workspace.write(".vscode/settings.json", SETTINGS)
    assert reason in str(fault_of(lambda: expanded(f"${{config:{key}}}", scope_at(workspace.folder))))


def test_a_workspace_without_settings_says_that_the_setting_is_missing(workspace: Workspace) -> None:
    fault = fault_of(lambda: expanded("${config:a}", scope_at(workspace.folder)))
    assert 'settings.json has no "a"' in str(fault)


def test_a_broken_settings_file_is_reported_with_its_own_place(workspace: Workspace) -> None:
    path = workspace.write(".vscode/settings.json", '{"a": \n tru}')
    fault = fault_of(lambda: expanded("${config:a}", scope_at(workspace.folder)))
    assert (fault.code, fault.details) == ("bad_settings_json", {"file": str(path), "line": 2, "column": 2})


# Inputs


INPUTS = [
    {"id": "port", "type": "promptString", "description": "Which port?", "default": "80"},
    {"id": "mode", "type": "pickString", "description": "How?", "options": ["fast", {"label": "Slow", "value": "s"}]},
    {"id": "where", "type": "promptString", "default": "${workspaceFolderBasename}/${input:port}"},
    {"id": "task", "type": "command", "command": "ext.pick", "default": "unused"},
    {"id": "bare", "type": "promptString"},
    {"id": "odd", "type": "dropdown"},
]


def with_inputs(workspace: Workspace, variable: str, **inputs: str) -> Any:
    workspace.launch_json(
        {"name": "main", "type": "x", "request": "launch", "value": f"${{input:{variable}}}"}, inputs=INPUTS
    )
    return workspace.start("main", inputs=inputs).sessions[0].arguments["value"]


@pytest.mark.parametrize(
    ("name", "given", "value"),
    [
        ("port", {}, "80"),
        ("port", {"port": "8080"}, "8080"),
        ("port", {"port": "${env:HOME}"}, "${env:HOME}"),
        ("mode", {"mode": "fast"}, "fast"),
        ("mode", {"mode": "s"}, "s"),
        ("where", {}, "project/${input:port}"),
        ("task", {"task": "given"}, "given"),
        ("unknown", {"unknown": "given"}, "given"),
    ],
)
def test_an_input_is_what_the_caller_gave_else_its_default(
    workspace: Workspace, name: str, given: dict[str, str], value: str
) -> None:
    assert with_inputs(workspace, name, **given) == value


def test_a_missing_input_is_reported_with_its_description_and_options(workspace: Workspace) -> None:
    fault = fault_of(lambda: with_inputs(workspace, "mode"))
    assert (fault.code, fault.details["id"]) == ("missing_input", "mode")
    assert (fault.details["description"], fault.details["options"]) == ("How?", ["fast", "s"])
    assert '"inputs": {"mode": …}' in str(fault.hint)
    assert fault.details["path"] == "configurations[0].value"


@pytest.mark.parametrize(
    ("name", "given", "code", "reason"),
    [
        ("bare", {}, "missing_input", "has no default"),
        ("task", {}, "missing_input", 'the VS Code command "ext.pick"'),
        ("prot", {}, "missing_input", 'Did you mean "port"?'),
        ("mode", {"mode": "fats"}, "bad_input", 'Did you mean "fast"?'),
        ("odd", {}, "bad_launch_json", 'one of "promptString", "pickString", "command"'),
    ],
)
def test_an_input_that_has_no_value_is_refused(
    workspace: Workspace, name: str, given: dict[str, str], code: str, reason: str
) -> None:
    fault = fault_of(lambda: with_inputs(workspace, name, **given))
    assert (fault.code, reason in str(fault)) == (code, True)


# Properties


EMPTY = Path(tempfile.gettempdir())


USABLE = st.text(alphabet=st.characters(exclude_categories=["Cs"], exclude_characters="\0"))


@given(USABLE)
def test_text_without_variables_is_expanded_to_itself(text: str) -> None:
    plain = text.replace("${", "$(")
    assert expanded(plain) == plain


@given(st.text(alphabet="${}a:env/"))
def test_splitting_and_joining_a_text_changes_nothing(text: str) -> None:
    assert "".join(literal if name is None else f"${{{name}}}" for literal, name in split_variables(text)) == text


@given(USABLE, st.text(alphabet="${}:aenvA"), st.text(alphabet="xyz "))
def test_a_value_from_outside_is_put_in_once_and_never_looked_into(before: str, value: str, after: str) -> None:
    plain = before.replace("${", "$(").removesuffix("$")
    scope = scope_at(EMPTY, environment={"A": value}, caller=VariableInputs(inputs={"i": value}, selected_text=value))
    text = "${env:A}|${input:i}|${selectedText}"
    assert expanded(plain + text + after, scope) == f"{plain}{value}|{value}|{value}{after}"


@given(st.lists(st.sampled_from(sorted(TABLE)), max_size=6))
def test_expansion_of_a_sequence_is_the_sequence_of_expansions(names: list[str]) -> None:
    assert expanded("".join(f"${{{name}}}" for name in names)) == "".join(TABLE[name] for name in names)
