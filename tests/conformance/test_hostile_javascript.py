"""Hostile JavaScript: bounded values, correct ends, and no process left."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.daemons import Cli
from tests.hostile import Agent, Answer, agent_with, hostile_home

pytestmark = [pytest.mark.timeout(180), pytest.mark.needs("javascript")]


@pytest.fixture(scope="module")
def cli(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Cli]:
    with hostile_home(tmp_path_factory.mktemp("h"), with_adapters=True) as cli:
        yield cli


@pytest.fixture
def agent(cli: Cli, tmp_path: Path) -> Iterator[Agent]:
    with agent_with(cli, tmp_path / "project", "javascript") as agent:
        yield agent
        agent.require_nothing_left()


SHOWN = {
    "list": "(1000000) [0, 1, 2",
    "cyclic": "(2) [{",
    "nested": "(1) [Array(1)]",
    "getter-raises": "{harmless: <accessor>}",
}


def test_hostile_values_are_shown_within_bounds_and_their_members_in_pages(agent: Agent) -> None:
    """In one session: that the next value is shown as well proves that the last one has harmed nothing."""
    answer: Answer = {"stop_event_data": agent.stopped("values.js", *SHOWN, within_s=20)}
    for shown in SHOWN.values():
        require_shown(agent, answer["stop_event_data"], shown)
        answer = agent.call("continue_debugging", within_s=20)
    assert (answer["status"], answer["exit_code"]) == ("completed", 0)


def require_shown(agent: Agent, stop: Answer, shown: str) -> None:
    value = next(it for it in stop["top_frame_variables"]["variables"] if it["name"] == "value")
    assert value["value"].startswith(shown)
    page = agent.call("get_variables", variables_reference=value["variables_reference"], within_s=10)
    assert 0 < len(page["variables"]) <= 100
    agent.require_usable()


@pytest.mark.parametrize("name", ["string", "map", "getter-endless", "text-endless"])
def test_a_value_that_takes_for_ever_does_not_hold_up_the_stop_or_the_end(agent: Agent, name: str) -> None:
    stop = agent.stopped("values.js", name, within_s=20)
    assert stop["call_stack"][0]["function_name"].endswith("look")
    agent.end()


@pytest.mark.parametrize(("name", "field", "value"), [("exit-3", "exit_code", 3), ("abort", "signal", "SIGABRT")])
def test_an_end_is_reported_as_it_was(agent: Agent, name: str, field: str, value: object) -> None:
    end = agent.start("programs.js", name, within_s=20)
    assert (end["status"], end[field]) == ("completed", value)


def test_an_exception_with_a_huge_message_stops_and_is_cut(agent: Agent) -> None:
    stop = agent.start("programs.js", "throws", within_s=20)["stop_event_data"]
    assert stop["reason"] == "exception"
    assert len(stop["exception"]["message"]) <= 1001
    agent.end()


def test_a_deep_stack_is_cut_and_a_busy_loop_is_paused_and_ended(agent: Agent) -> None:
    assert len(agent.stopped("programs.js", "deep", within_s=20)["call_stack"]) == 20
    agent.end()
    agent.stopped("programs.js", "busy")
    agent.call("continue_debugging", wait=False)
    assert agent.call("pause_debugging", timeout_s=10, within_s=10)["status"] == "stopped"
    agent.end()


@pytest.mark.parametrize("name", ["child", "reads", "flood"])
def test_children_input_and_floods_do_not_hold_up_a_session(agent: Agent, name: str) -> None:
    agent.stopped("programs.js", name, within_s=40)
    agent.require_usable()
    agent.end()
