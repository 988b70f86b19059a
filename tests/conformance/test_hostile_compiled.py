"""Hostile Go and C: bounded values, correct ends, and no process left."""

from __future__ import annotations

import subprocess
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from tests.daemons import Cli
from tests.hostile import STOP, Agent, Answer, agent_with, hostile_home

pytestmark = pytest.mark.timeout(180)

BUILDS = {
    "go": ("main.go", ["go", "build", "-gcflags=all=-N -l", "-o", "main", "."]),
    "c": ("programs.c", ["gcc", "-g", "-O0", "programs.c", "-o", "programs"]),
}
GO = pytest.param("go", marks=pytest.mark.needs("go"))
C = pytest.param("c", marks=pytest.mark.needs("lldb", "c"))


@pytest.fixture(scope="module")
def cli(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Cli]:
    with hostile_home(tmp_path_factory.mktemp("h")) as cli:
        yield cli


@pytest.fixture(scope="module")
def workspaces(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Built once: debug information holds the paths of sources."""
    return tmp_path_factory.mktemp("w")


class Native:
    """An agent with a program that is built, and named by its source."""

    def __init__(self, agent: Agent, language: str) -> None:
        self.agent = agent
        self.source, command = BUILDS[language]
        self.binary = Path(self.source).stem
        self.language = language
        if not (agent.workspace / self.binary).exists():
            subprocess.run(command, cwd=agent.workspace, check=True, capture_output=True)

    def start(self, name: str, **more: Any) -> Answer:
        configuration: dict[str, Any] = {
            "type": "go" if self.language == "go" else "lldb",
            "request": "launch",
            "name": name,
        }
        configuration |= {"mode": "exec"} if self.language == "go" else {}
        configuration |= {"program": self.binary, "args": [name]}
        return self.agent.call("start_debugging", configuration=configuration, within_s=40, **more)

    def stopped(self, name: str, text: str = STOP) -> Answer:
        self.agent.call("set_breakpoint", file_path=self.source, line_text=text)
        answer = self.start(name)
        assert answer["status"] == "stopped", answer
        stop: Answer = answer["stop_event_data"]
        return stop


@pytest.fixture
def native(cli: Cli, workspaces: Path, request: pytest.FixtureRequest) -> Iterator[Native]:
    language = request.param
    with agent_with(cli, workspaces / language, language) as agent:
        yield Native(agent, language)
        agent.call("remove_breakpoint", clear_all=True)
        agent.require_nothing_left()


def variable(stop: Answer, name: str) -> Answer:
    found: Answer = next(it for it in stop["top_frame_variables"]["variables"] if it["name"] == name)
    return found


@pytest.mark.parametrize("native", [GO], indirect=True)
@pytest.mark.parametrize("name", ["endless", "string", "list", "map", "cyclic"])
def test_a_hostile_value_of_go_is_shown_within_bounds(native: Native, name: str) -> None:
    """Delve calls no method of the program to show a value."""
    value = variable(native.stopped(name, "look here"), "value")
    assert len(value["value"]) <= 2001
    if value.get("variables_reference"):
        page = native.agent.call("get_variables", variables_reference=value["variables_reference"], within_s=10)
        assert 0 < len(page["variables"]) <= 100
    native.agent.require_usable()
    native.agent.end()


@pytest.mark.parametrize("native", [C], indirect=True)
@pytest.mark.parametrize("name", ["list", "string", "cyclic", "wild", "unset"])
def test_a_hostile_value_of_c_is_shown_within_bounds(native: Native, name: str) -> None:
    native.stopped(name)
    shown = native.agent.call("step_execution", step_type="out", within_s=20)["stop_event_data"]
    value = variable(shown, "value")
    assert len(value["value"]) <= 2001
    if value.get("variables_reference"):
        page = native.agent.call("get_variables", variables_reference=value["variables_reference"], within_s=10)
        assert len(page["variables"]) <= 100
    native.agent.require_usable()
    native.agent.end()


@pytest.mark.parametrize("native", [GO, C], indirect=True)
def test_an_exit_code_is_reported(native: Native) -> None:
    end = native.start("exit-3")
    assert (end["status"], end["exit_code"]) == ("completed", 3)


@pytest.mark.parametrize("native", [GO, C], indirect=True)
def test_a_program_that_was_killed_is_reported_with_the_signal(native: Native) -> None:
    end = native.start("killed")
    assert (end["status"], end["signal"]) == ("completed", "SIGKILL")


@pytest.mark.parametrize(
    ("native", "name", "words"),
    [
        pytest.param("go", "null", "nil pointer", marks=pytest.mark.needs("go")),
        pytest.param("go", "panics", "mmmm", marks=pytest.mark.needs("go")),
        pytest.param("go", "deadlock", "deadlock", marks=pytest.mark.needs("go")),
        pytest.param("c", "segfault", "SIGSEGV", marks=pytest.mark.needs("lldb", "c")),
        pytest.param("c", "abort", "SIGABRT", marks=pytest.mark.needs("lldb", "c")),
    ],
    indirect=["native"],
)
def test_what_ends_a_program_stops_it_first_and_is_named(native: Native, name: str, words: str) -> None:
    stop = native.start(name)["stop_event_data"]
    sentence = f"{stop['exception']['type']} {stop['exception']['message']}"
    assert (stop["reason"], words in sentence, len(sentence) < 2000) == ("exception", True, True), sentence
    native.agent.end()


@pytest.mark.parametrize("native", [GO, C], indirect=True)
def test_a_deep_stack_is_cut_and_a_busy_loop_is_paused_and_ended(native: Native) -> None:
    assert len(native.stopped("deep")["call_stack"]) == 20
    native.agent.end()
    native.stopped("busy")
    native.agent.call("continue_debugging", wait=False)
    assert native.agent.call("pause_debugging", timeout_s=10, within_s=10)["status"] == "stopped"
    native.agent.end()


@pytest.mark.parametrize(
    ("native", "name"),
    [
        *(pytest.param("go", name, marks=pytest.mark.needs("go")) for name in ("child", "reads", "flood", "many")),
        *(pytest.param("c", name, marks=pytest.mark.needs("lldb", "c")) for name in ("forks", "reads", "flood")),
    ],
    indirect=["native"],
)
def test_children_input_and_floods_do_not_hold_up_a_session(native: Native, name: str) -> None:
    native.stopped(name)
    native.agent.require_usable()
    native.agent.end()
