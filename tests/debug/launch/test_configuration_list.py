"""What get_debugger_configurations shows: the file as written, and no more than that happens."""

from __future__ import annotations

import json
import os
from pathlib import Path

import pytest

from dragoman.debug.launch import list_configurations
from dragoman.debug.launch.workspace_files import MAX_BYTES, MAX_ENTRIES
from dragoman.workspace.file_access import FileAccessPolicy
from tests import requirements
from tests.debug.launch.workspaces import Workspace, a_configuration, fault_of

DOCUMENTED = [
    {
        "name": "Python: 当前文件",
        "type": "python",
        "request": "launch",
        "program": "${file}",
        "console": "integratedTerminal",
    },
    {
        "name": "Node: Attach by Process ID",
        "type": "node",
        "request": "attach",
        "processId": "${command:PickProcess}",
        "protocol": "inspector",
    },
]


@pytest.mark.requirement("debug:configurations:name", "debug:configurations:type")
@pytest.mark.requirement("debug:configurations:request", "debug:configurations:other-fields")
def test_every_configuration_is_listed_with_every_key_as_written(workspace: Workspace) -> None:
    workspace.launch_json(*DOCUMENTED, {**a_configuration(), "args": ["${input:x}"], "linux": {"stopOnEntry": True}})
    assert list_configurations(workspace.folder).configurations == [
        *DOCUMENTED,
        {
            "name": "main",
            "type": "python",
            "request": "launch",
            "args": ["${input:x}"],
            "linux": {"stopOnEntry": True},
        },
    ]


def test_compounds_are_listed_beside_the_configurations(workspace: Workspace) -> None:
    compound = {"name": "both", "configurations": ["a", {"name": "b", "folder": "x"}], "stopAll": True}
    workspace.launch_json(a_configuration(), compounds=[compound])
    listing = list_configurations(workspace.folder)
    assert [*listing.compounds, *listing.problems] == [compound]


@pytest.mark.parametrize("bom", ["", "\ufeff"])
@pytest.mark.parametrize("newline", ["\n", "\r\n", "\r"])
def test_comments_trailing_commas_a_mark_and_any_line_ends_are_read(
    workspace: Workspace, bom: str, newline: str
) -> None:
    lines = [
        "// {",
        "{ /* two */",
        '  "configurations": [',
        '    {"name": "a // b", "type": "x", "request": "attach", /* , */ },',
        "  ],",
        "}",
    ]
    workspace.write(".vscode/launch.json", bom + newline.join(lines))
    assert list_configurations(workspace.folder).configurations == [
        {"name": "a // b", "type": "x", "request": "attach"}
    ]


@pytest.mark.parametrize("text", ["", "// nothing yet", "{}", '{"configurations": null}'])
def test_a_file_that_says_nothing_offers_nothing(workspace: Workspace, text: str) -> None:
    workspace.write(".vscode/launch.json", text)
    assert list_configurations(workspace.folder).configurations == []


@pytest.mark.parametrize(
    "entry", [None, "main", {}, {"name": "x"}, a_configuration(request="run"), {**a_configuration(), "type": 3}]
)
def test_an_entry_that_cannot_be_started_is_named_and_the_others_are_listed(
    workspace: Workspace, entry: object
) -> None:
    workspace.launch_json(entry, a_configuration())
    listing = list_configurations(workspace.folder)
    (problem,) = listing.problems
    assert listing.configurations == [a_configuration()]
    assert problem.code == "bad_launch_json"
    assert problem.details["path"].startswith("configurations[0]")


def test_a_compound_without_configurations_is_a_problem(workspace: Workspace) -> None:
    workspace.launch_json(compounds=[{"name": "none", "configurations": []}, {"name": "odd", "configurations": [3]}])
    assert [problem.details["path"] for problem in list_configurations(workspace.folder).problems] == [
        "compounds[0]",
        "compounds[1].configurations[0]",
    ]


@pytest.mark.requirement("debug:configurations:error-not-found")
def test_a_workspace_without_the_file_says_which_file_and_what_else_can_be_done(workspace: Workspace) -> None:
    fault = fault_of(lambda: list_configurations(workspace.folder))
    assert fault.code == "no_launch_json"
    assert str(workspace.folder / ".vscode" / "launch.json") in str(fault.message)
    assert "program" in str(fault.hint)
    words = requirements.sentence("debug:configurations:error-not-found")
    assert fault.message.in_language("zh").startswith(words)


@pytest.mark.requirement("debug:configurations:error-format")
def test_a_malformed_file_is_reported_with_file_line_and_column(workspace: Workspace) -> None:
    path = workspace.write(
        ".vscode/launch.json", '{\n  // all of them\n  "configurations": [\n    {"name" "x"}\n  ]\n}'
    )
    fault = fault_of(lambda: list_configurations(workspace.folder))
    assert fault.code == "bad_launch_json"
    assert f"{path}, line 4, column 13: " in str(fault.message)
    assert fault.details == {"file": str(path), "line": 4, "column": 13}
    assert fault.message.in_language("zh").startswith(requirements.sentence("debug:configurations:error-format"))


@pytest.mark.requirement("debug:configurations:error-workspace")
@pytest.mark.parametrize("folder", ["relative", "missing", "file"])
def test_a_workspace_that_is_not_a_folder_is_reported_as_such(workspace: Workspace, folder: str) -> None:
    workspace.write("file", "")
    path = Path(folder) if folder == "relative" else workspace.folder / folder
    fault = fault_of(lambda: list_configurations(path))
    assert fault.code == "bad_workspace"
    assert fault.message.in_language("zh").startswith(requirements.sentence("debug:configurations:error-workspace"))


@pytest.mark.parametrize(
    ("text", "place", "path"),
    [
        ("[]", (1, 1), "$"),
        ('{"configurations": {}}', (1, 20), "configurations"),
        ('{\n"compounds": 1}', (2, 14), "compounds"),
        ('{"configurations": [{"a\\u0000": 1}]}', (1, 33), 'configurations[0]["a\\u0000"]'),
        ('{"configurations": [\n{"name": "\\ud800"}]}', (2, 10), "configurations[0].name"),
        ("[" * 100 + "]" * 100, (1, 1), "$"),
        ('{"a": ' + "[" * 65 + "]" * 65 + "}", (1, 71), "a" + "[0]" * 64),
    ],
)
def test_a_wrong_value_is_reported_with_its_place_and_its_path(
    workspace: Workspace, text: str, place: tuple[int, int], path: str
) -> None:
    workspace.write(".vscode/launch.json", text)
    details = fault_of(lambda: list_configurations(workspace.folder)).details
    assert ((details["line"], details["column"]), details["path"]) == (place, path)


def test_a_file_that_is_not_utf_8_is_reported_with_its_line(workspace: Workspace) -> None:
    workspace.write(".vscode/launch.json", b'{\n"a": "\xff"}')
    fault = fault_of(lambda: list_configurations(workspace.folder))
    assert (fault.code, "line 2 is not UTF-8" in str(fault)) == ("bad_launch_json", True)


def test_a_file_longer_than_any_person_writes_is_not_read(workspace: Workspace) -> None:
    workspace.write(".vscode/launch.json", b" " * (MAX_BYTES + 1))
    assert f"larger than {MAX_BYTES} bytes" in str(fault_of(lambda: list_configurations(workspace.folder)))


def test_more_configurations_than_any_person_writes_are_refused(workspace: Workspace) -> None:
    workspace.launch_json(*[a_configuration()] * (MAX_ENTRIES + 1))
    assert f"more than {MAX_ENTRIES}" in str(fault_of(lambda: list_configurations(workspace.folder)))


def test_a_pipe_or_a_folder_in_the_file_s_place_does_not_hold_us(workspace: Workspace) -> None:
    path = workspace.folder / ".vscode" / "launch.json"
    os.mkfifo(path)
    assert "not a file" in str(fault_of(lambda: list_configurations(workspace.folder)))
    path.unlink()
    path.mkdir()
    assert "not a file" in str(fault_of(lambda: list_configurations(workspace.folder)))


def test_a_link_that_leads_nowhere_is_not_a_file(workspace: Workspace) -> None:
    path = workspace.folder / ".vscode" / "launch.json"
    path.symlink_to(path)
    assert fault_of(lambda: list_configurations(workspace.folder)).code == "no_launch_json"


def test_a_link_to_a_file_elsewhere_is_read_where_its_folder_is_allowed(workspace: Workspace, tmp_path: Path) -> None:
    """Else a cloned folder could show an agent any JSON of its user."""
    shared = tmp_path / "shared"
    shared.mkdir()
    (shared / "launch.json").write_text(json.dumps({"configurations": [a_configuration()]}))
    (workspace.folder / ".vscode" / "launch.json").symlink_to(shared / "launch.json")
    fault = fault_of(lambda: list_configurations(workspace.folder))
    assert (fault.code, "links outside the workspace" in str(fault)) == ("bad_launch_json", True)
    assert list_configurations(workspace.folder, FileAccessPolicy(allowed=(shared,))).configurations == [
        a_configuration()
    ]


def test_listing_runs_nothing_whatever_the_files_say(workspace: Workspace, tmp_path: Path) -> None:
    canary = tmp_path / "canary"
    touch = {"label": "touch", "type": "shell", "command": f"touch {canary}", "runOptions": {"runOn": "folderOpen"}}
    workspace.tasks_json(touch)
    workspace.launch_json(a_configuration(program=f"$(touch {canary})", preLaunchTask="touch", envFile=str(canary)))
    assert json.dumps(list_configurations(workspace.folder).configurations).count(str(canary)) == 2
    assert not canary.exists()
