"""Names in a workspace's files are anybody's words: our sentences have a short piece of one, quoted, or none."""

from __future__ import annotations

import re
from collections.abc import Callable
from typing import Any

import pytest

from dragoman.debug.launch.errors import LaunchError
from tests.debug.launch.workspaces import Workspace, a_configuration, fault_of

MOST = 60
# A name that speaks, hides and moves the cursor; each word of it can be found again.
WORDS = " ".join(f"obey{number}" for number in range(60))
HOSTILE = f"\x1b]0;x\x07\u202e\n{WORDS}"


def unknown_configuration(workspace: Workspace) -> Any:
    workspace.launch_json(a_configuration(name=HOSTILE), a_configuration(name="second"))
    return workspace.start("main")


def unknown_task(workspace: Workspace) -> Any:
    workspace.tasks_json({"label": HOSTILE}, {"label": f"{HOSTILE}2"})
    return workspace.one(preLaunchTask="build")


def missing_task(workspace: Workspace) -> Any:
    return workspace.one(preLaunchTask=HOSTILE)


def task_cycle(workspace: Workspace) -> Any:
    workspace.tasks_json({"label": HOSTILE, "dependsOn": HOSTILE})
    return workspace.one(preLaunchTask=HOSTILE)


def missing_input(workspace: Workspace) -> Any:
    declared = {"id": "who", "type": "pickString", "description": HOSTILE, "options": [HOSTILE, "b"]}
    workspace.launch_json(a_configuration(program="${input:who}"), inputs=[declared])
    return workspace.start("main")


def no_such_option(workspace: Workspace) -> Any:
    declared = {"id": "who", "type": "pickString", "options": [HOSTILE, "b"]}
    workspace.launch_json(a_configuration(program="${input:who}"), inputs=[declared])
    return workspace.start("main", inputs={"who": "c"})


def unknown_setting(workspace: Workspace) -> Any:
    workspace.write(".vscode/settings.json", '{"a' + "b" * 10 + WORDS + '": 1}')
    return workspace.one(program="${config:a}")


def a_value_of_the_wrong_kind(workspace: Workspace) -> Any:
    return workspace.one(program={HOSTILE: HOSTILE})


FAULTS = [
    unknown_configuration,
    unknown_task,
    missing_task,
    task_cycle,
    missing_input,
    no_such_option,
    unknown_setting,
    a_value_of_the_wrong_kind,
]


@pytest.mark.parametrize("wrong", FAULTS)
def test_a_name_is_quoted_and_cut_in_a_sentence(workspace: Workspace, wrong: Callable[[Workspace], Any]) -> None:
    fault: LaunchError = fault_of(lambda: wrong(workspace))
    for result in (str(fault.message), str(fault.hint or "")):
        assert result.isprintable(), ascii(result)
        for quotation in re.findall(r'"[^"]*obey[^"]*', result):
            assert len(quotation) <= MOST + 2, quotation
        assert "obey" not in re.sub(r'"[^"]*', "", result)
    assert "obey" not in str(fault.hint or "")


@pytest.mark.parametrize("wrong", [unknown_configuration, unknown_task, no_such_option, unknown_setting])
def test_the_known_names_are_in_the_data(workspace: Workspace, wrong: Callable[[Workspace], Any]) -> None:
    fault: LaunchError = fault_of(lambda: wrong(workspace))
    assert any(WORDS in name for name in fault.details["known"])
    assert "`known`" in str(fault.hint)
