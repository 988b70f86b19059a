"""tasks.json: what a task would run, in which shell, folder and environment, and what it depends on."""

from __future__ import annotations

import itertools
import re
import subprocess
from functools import partial
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from dragoman.debug.launch.task_commands import QUOTINGS, QuotedWord, TaskCommand, shell_line
from dragoman.debug.launch.tasks import MAX_CHAIN, TaskPlan
from dragoman.debug.launch.variables import Platform
from dragoman.debug.launch.workspace_files import MAX_ENTRIES
from tests.debug.launch.workspaces import Workspace, a_configuration, fault_of


def planned(workspace: Workspace, *tasks: Any, wanted: Any = "main", **more: Any) -> TaskPlan:
    workspace.tasks_json(*tasks, **more)
    workspace.launch_json(a_configuration(preLaunchTask=wanted))
    plan = workspace.start("main", line=3).sessions[0].before
    assert plan is not None
    return plan


def command_of(workspace: Workspace, **task: Any) -> TaskCommand:
    command = planned(workspace, {"label": "main", **task}).command
    assert command is not None
    return command


@pytest.mark.parametrize(
    ("task", "argv"),
    [
        ({"command": "make", "args": ["-j", "a b"]}, ("make", "-j", "a b")),
        ({"type": "process", "command": "make"}, ("make",)),
        ({"type": "cppbuild", "command": "/usr/bin/gcc", "args": ["-g"]}, ("/usr/bin/gcc", "-g")),
        ({"type": "npm", "script": "build:all"}, ("npm", "run", "build:all")),
        ({"type": "shell", "command": "make && ls > 'a b'"}, ("/bin/sh", "-c", "make && ls > 'a b'")),
        ({"type": "shell", "command": "make", "args": ["all"]}, ("/bin/sh", "-c", "make all")),
        ({"type": "shell", "command": "my make", "args": ["x"]}, ("/bin/sh", "-c", "'my make' x")),
        ({"command": {"value": "make", "quoting": "strong"}}, ("make",)),
        ({"command": "run", "args": ["${lineNumber}", "${HOME}"]}, ("run", "3", "${HOME}")),
    ],
)
def test_a_task_runs_its_command_with_its_arguments(workspace: Workspace, task: Any, argv: tuple[str, ...]) -> None:
    assert command_of(workspace, **task).argv == argv


@pytest.mark.parametrize(
    ("arg", "written"),
    [
        ("plain", "plain"),
        ("$HOME", "$HOME"),
        ("a b", "'a b'"),
        ("it's a", "'it'\\''s a'"),
        ("'a b'", "'a b'"),
        ('x="a b"', 'x="a b"'),
        ("a\\ b", "a\\ b"),
        ("", "''"),
        ({"value": "a b", "quoting": "escape"}, "a\\ b"),
        ({"value": "$A b", "quoting": "weak"}, '"$A b"'),
        ({"value": "$A", "quoting": "strong"}, "'$A'"),
        ({"value": ["a", "b"]}, "'a b'"),
    ],
)
def test_an_argument_of_a_shell_task_is_quoted_where_it_must_be(workspace: Workspace, arg: Any, written: str) -> None:
    command = command_of(workspace, type="shell", command="echo", args=[arg])
    assert command.line == command.argv[-1] == f"echo {written}"


WORDS = st.text(alphabet=st.characters(exclude_categories=["Cs"], exclude_characters="\0"), max_size=12)


@given(st.lists(WORDS, min_size=1, max_size=4))
def test_strongly_quoted_words_reach_the_program_unchanged(words: list[str]) -> None:
    line = shell_line(QuotedWord("printf"), [QuotedWord("%s\\0"), *(QuotedWord(word, "strong") for word in words)])
    shown = subprocess.run(["/bin/sh", "-c", line.replace("%s\\0", "'%s\\0'", 1)], capture_output=True, check=True)
    assert shown.stdout.decode().split("\0")[:-1] == words


@pytest.mark.parametrize("kind", sorted(QUOTINGS))
def test_spaces_and_quotes_survive_every_kind_of_quoting(kind: str) -> None:
    line = shell_line(QuotedWord("printf"), [QuotedWord("%s", "strong"), QuotedWord('it\'s "a" b', kind)])
    assert subprocess.run(["/bin/sh", "-c", line], capture_output=True, check=True).stdout == b'it\'s "a" b'


@pytest.mark.parametrize(
    ("own", "option", "argv"),
    [
        ("/bin/bash", None, ("/bin/bash", "-c", "x")),
        ("/opt/zsh", None, ("/opt/zsh", "-c", "x")),
        ("/usr/bin/fish", None, ("/bin/sh", "-c", "x")),
        ("", None, ("/bin/sh", "-c", "x")),
        ("/bin/bash", {"executable": "/bin/dash"}, ("/bin/dash", "-c", "x")),
        ("/bin/bash", {"executable": "fish", "args": ["-N", "-c"]}, ("fish", "-N", "-c", "x")),
        ("/bin/bash", {"args": ["-lc"]}, ("/bin/bash", "-lc", "x")),
    ],
)
def test_the_shell_is_the_tasks_else_the_clients_else_sh(
    workspace: Workspace, own: str, option: Any, argv: tuple[str, ...]
) -> None:
    workspace.environment["SHELL"] = own
    assert command_of(workspace, type="shell", command="x", options={"shell": option}).argv == argv


def test_options_of_the_file_are_the_defaults_of_its_tasks(workspace: Workspace) -> None:
    common = {"cwd": "${workspaceFolder}/common", "env": {"A": "file", "B": "file"}}
    tasks = [
        {"label": "main", "command": "x", "options": {"env": {"B": "task", "C": None}}, "dependsOn": "own"},
        {"label": "own", "command": "x", "options": {"cwd": "own/./deep"}},
    ]
    plan = planned(workspace, *tasks, options=common)
    command, own = plan.command, plan.depends_on[0].command
    assert command is not None
    assert own is not None
    assert (command.cwd, command.env) == (f"{workspace.folder}/common", {"A": "file", "B": "task", "C": None})
    assert (own.cwd, own.env) == (f"{workspace.folder}/own/deep", {"A": "file", "B": "file"})
    assert "task" not in repr(command).replace(command.cwd, "")


@pytest.mark.parametrize(("platform", "argv", "cwd"), [("linux", ("gmake", "-l"), "l"), ("osx", ("make",), "base")])
def test_the_block_of_the_system_replaces_command_and_options(
    workspace: Workspace, platform: Platform, argv: tuple[str, ...], cwd: str
) -> None:
    workspace.platform = platform
    block = {"command": "gmake", "args": ["-l"], "options": {"cwd": "l"}}
    command = command_of(workspace, command="make", options={"cwd": "base", "env": {"A": "1"}}, linux=block)
    assert (command.argv, command.cwd, command.env) == (argv, f"{workspace.folder}/{cwd}", {"A": "1"})


def test_an_npm_task_runs_in_its_path(workspace: Workspace) -> None:
    assert command_of(workspace, type="npm", script="x", path="web").cwd == f"{workspace.folder}/web"


def test_only_what_runs_is_expanded(workspace: Workspace) -> None:
    assert command_of(workspace, command="x", detail="${execPath}", windows={"command": "${execPath}"}).argv == ("x",)


def test_inputs_of_tasks_are_declared_in_their_own_file(workspace: Workspace) -> None:
    inputs = [{"id": "goal", "type": "promptString", "default": "all"}]
    plan = planned(workspace, {"label": "main", "command": "make", "args": ["${input:goal}"]}, inputs=inputs)
    assert plan.command is not None
    assert plan.command.argv == ("make", "all")


@pytest.mark.parametrize(
    ("wanted", "label"),
    [
        ("npm: build", "npm: build"),
        ({"type": "npm", "script": "build"}, "npm: build"),
        ("old", "old"),
        ("${defaultBuildTask}", "the default"),
        ("${env:TASK}", "old"),
    ],
)
def test_a_task_is_found_by_label_by_members_or_as_the_default(workspace: Workspace, wanted: Any, label: str) -> None:
    workspace.environment["TASK"] = "old"
    tasks = [
        {"type": "npm", "script": "build", "group": "build"},
        {"label": "by pattern", "command": "x", "group": {"kind": "build", "isDefault": "**/*.c"}},
        {"taskName": "old", "command": "x", "group": {"kind": "test", "isDefault": True}},
        {"label": "the default", "command": "x", "group": {"kind": "build", "isDefault": True}},
    ]
    assert planned(workspace, *tasks, wanted=wanted).label == label


def test_an_unknown_task_is_reported_with_the_known_ones(workspace: Workspace) -> None:
    fault = fault_of(lambda: planned(workspace, {"label": "build"}, {"label": "test"}, wanted="biuld"))
    assert (fault.code, fault.details["known"]) == ("unknown_task", ["build", "test"])
    assert fault.details["path"] == "configurations[0].preLaunchTask"
    assert 'Did you mean "build"?' in str(fault.hint)


@pytest.mark.parametrize("wanted", ["npm: build", {"type": "npm", "script": "build"}, "npm: pack - web"])
def test_a_script_of_a_package_is_a_task_that_no_file_needs_to_name(workspace: Workspace, wanted: Any) -> None:
    (workspace.folder / "package.json").write_text('{"scripts": {"build": "tsc", "bad": 1}}')
    (workspace.folder / "web").mkdir()
    (workspace.folder / "web" / "package.json").write_text('{"scripts": {"pack": "x"}}')
    workspace.launch_json(a_configuration(preLaunchTask=wanted))
    plan = workspace.one(preLaunchTask=wanted).before
    assert plan is not None
    assert plan.command is not None
    name, folder = ("pack", "/web") if wanted == "npm: pack - web" else ("build", "")
    assert (plan.command.argv, plan.command.cwd) == (("npm", "run", name), f"{workspace.folder}{folder}")
    for unknown in ("npm: bad", "npm: missing", "npm: build - web"):
        assert fault_of(partial(workspace.one, preLaunchTask=unknown)).code == "unknown_task"


def test_without_a_tasks_file_there_is_no_task(workspace: Workspace) -> None:
    workspace.launch_json(a_configuration(preLaunchTask="build"))
    fault = fault_of(lambda: workspace.start("main"))
    assert (fault.code, str(fault.hint)) == ("unknown_task", "None is defined.")
    workspace.launch_json(a_configuration(preLaunchTask="${defaultBuildTask}"))
    assert fault_of(lambda: workspace.start("main")).code == "unknown_task"


@pytest.mark.parametrize("wanted", [None, ""])
def test_no_task_runs_if_none_is_named(workspace: Workspace, wanted: Any) -> None:
    assert workspace.one(preLaunchTask=wanted).before is None


def test_dependencies_are_planned_in_their_order_and_once(workspace: Workspace) -> None:
    tasks = [
        {"label": "main", "dependsOn": ["left", "right"], "dependsOrder": "sequence"},
        {"label": "left", "command": "l", "dependsOn": {"label": "base"}},
        {"label": "right", "command": "r", "dependsOn": "base"},
        {"label": "base", "command": "b"},
    ]
    plan = planned(workspace, *tasks)
    left, right = plan.depends_on
    assert (plan.command, plan.in_sequence, left.in_sequence) == (None, True, False)
    assert left.depends_on[0] is right.depends_on[0]


def test_tasks_that_wait_for_each_other_are_reported_as_a_cycle(workspace: Workspace) -> None:
    chain = {"main": "a", "a": "b", "b": "c", "c": "a"}
    tasks = [{"label": label, "command": "x", "dependsOn": [other]} for label, other in chain.items()]
    fault = fault_of(lambda: planned(workspace, *tasks))
    assert (fault.code, fault.details["tasks"]) == ("task_cycle", ["a", "b", "c", "a"])
    assert fault.details["path"] == "tasks[3].dependsOn[0]"


def test_a_chain_longer_than_any_person_writes_is_refused(workspace: Workspace) -> None:
    labels = ["main", *(f"t{number}" for number in range(MAX_CHAIN))]
    tasks = [{"label": a, "dependsOn": b} for a, b in itertools.pairwise(labels)]
    tasks.append({"label": labels[-1], "command": "x"})
    assert fault_of(lambda: planned(workspace, *tasks)).code == "task_cycle"
    assert planned(workspace, *tasks, wanted=labels[1]).label == labels[1]


def test_many_dependencies_of_many_tasks_are_planned_in_no_time(workspace: Workspace) -> None:
    """Each of forty layers depends twice on the next: a planner that forgets would take forever."""
    tasks = [{"label": f"{n}{side}", "dependsOn": [f"{n + 1}a", f"{n + 1}b"]} for n in range(40) for side in "ab"]
    tasks += [{"label": "40a", "command": "x"}, {"label": "40b", "command": "x"}]
    assert planned(workspace, *tasks, wanted="0a").label == "0a"


def test_more_tasks_than_any_person_writes_are_refused(workspace: Workspace) -> None:
    fault = fault_of(lambda: planned(workspace, *[{"label": "main"}] * (MAX_ENTRIES + 1)))
    assert (fault.code, fault.details["path"]) == ("bad_tasks_json", "tasks")


@pytest.mark.parametrize(
    ("task", "path"),
    [
        ({}, "tasks[0]"),
        ({"type": "gulp", "command": "x"}, "tasks[0].type"),
        ({"type": "npm"}, "tasks[0]"),
        ({"command": 3}, "tasks[0].command"),
        ({"command": "x", "args": "y"}, "tasks[0].args"),
        ({"command": "x", "args": [{"quoting": "weak"}]}, "tasks[0].args[0]"),
        ({"command": "x", "args": [{"value": "a", "quoting": "loud"}]}, "tasks[0].args[0].quoting"),
        ({"command": "x", "dependsOrder": "random"}, "tasks[0].dependsOrder"),
        ({"command": "x", "options": {"env": {"A": {}}}}, "tasks[0].options.env.A"),
        ({"command": "x", "linux": {"args": [1]}}, "tasks[0].linux.args[0]"),
        ({"command": "x", "isBackground": "yes"}, "tasks[0].isBackground"),
    ],
)
def test_a_wrong_task_is_reported_with_its_place(workspace: Workspace, task: Any, path: str) -> None:
    fault = fault_of(lambda: command_of(workspace, **task))
    assert (fault.code, fault.details["path"]) == ("bad_tasks_json", path)
    assert fault.details["file"].endswith("tasks.json")


# Background tasks


def background(ends: Any) -> dict[str, Any]:
    return {"background": {"beginsPattern": "begin", "endsPattern": ends}}


@pytest.mark.parametrize(
    ("matcher", "line"),
    [
        (background("^ready on (?<port>\\d+)$"), "ready on 80"),
        (background({"regexp": "ready"}), "it is ready now"),
        ([{"owner": "x"}, background("ready")], "ready"),
        ({"base": "$tsc-watch"}, "12:00:00 - Found 0 errors. Watching for file changes."),
        (["$eslint", "$tsc-watch"], "12:00:00 - Found 1 error. Watching for file changes."),
        ("$esbuild-watch", "[watch] build finished, watching for changes..."),
    ],
)
def test_a_background_task_is_ready_when_its_matcher_says_so(workspace: Workspace, matcher: Any, line: str) -> None:
    ready = command_of(workspace, command="x", isBackground=True, problemMatcher=matcher).ready
    assert isinstance(ready, re.Pattern)
    assert ready.search(line)


@pytest.mark.parametrize("matcher", [None, [], "$eslint", {"owner": "x"}])
def test_a_background_task_that_never_says_it_is_ready_is_refused(workspace: Workspace, matcher: Any) -> None:
    fault = fault_of(lambda: command_of(workspace, command="x", isBackground=True, problemMatcher=matcher))
    assert (fault.code, "background.endsPattern" in str(fault.hint)) == ("background_task", True)


@pytest.mark.parametrize("pattern", ["(", "a" * 1001, 7])
def test_a_pattern_that_cannot_be_used_is_reported_with_its_place(workspace: Workspace, pattern: Any) -> None:
    task = {"command": "x", "isBackground": True, "problemMatcher": background(pattern)}
    fault = fault_of(lambda: command_of(workspace, **task))
    assert fault.details["path"] == "tasks[0].problemMatcher.background.endsPattern"
