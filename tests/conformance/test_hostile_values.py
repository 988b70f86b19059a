"""Values that harm the reader: the stop is reported, the value is bounded, and the session continues."""

from __future__ import annotations

import re
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from tests.daemons import Cli
from tests.hostile import Agent, Answer, agent_with, hostile_home, within_bounds

pytestmark = pytest.mark.timeout(180)


@pytest.fixture(scope="module")
def cli(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Cli]:
    with hostile_home(tmp_path_factory.mktemp("h")) as cli:
        yield cli


@pytest.fixture
def agent(cli: Cli, tmp_path: Path) -> Iterator[Agent]:
    with agent_with(cli, tmp_path / "project", "python") as agent, within_bounds(agent):
        yield agent


def value_in(stop: Answer) -> dict[str, Any]:
    variables = stop["top_frame_variables"]["variables"]
    return next(it for it in variables if it["name"] == "value")


# What the value begins with, and its type.
SHOWN = {
    "string": ("'sssss", "str"),
    "bytes": (r"b'\x00\xff", "bytes"),
    "list": ("[0, 1, 2, 3", "list"),
    "dict": ("{'key_0': 0, ", "dict"),
    "fields": ("<__main__.Wide object at 0x", "Wide"),
    "strings": ("['ttttt", "list"),
    "cyclic": ("[{'back': [{'back': [...]}, [...]]}, [...]]", "list"),
    "nested": ("[[[[[...]]]]]", "list"),
    "raises": ("<__main__.ReprRaises object at 0x", "ReprRaises"),
    "huge": ("rrrrr", "ReprIsHuge"),
    "no-text": ("<__main__.ReprIsNoText object at 0x", "ReprIsNoText"),
    "connects": ("port 9 answered", "ReprConnects"),
    "prints": ("<ReprPrints>", "ReprPrints"),
    "exits": ("Unable to get repr", "ReprExits"),
    "recurses": ("<__main__.ReprRecurses object at 0x", "ReprRecurses"),
    "deletes": ("<__main__.PropertyDeletes object at 0x", "PropertyDeletes"),
    "lies": ("An exception was raised: RuntimeError", "LiesAboutItself"),
    "surrogates": (r"'\ud800 \x00 \x1b[2J \u202e \U000e0041'", "str"),
}


# Each group in one session: that the next value is shown as well proves that the last one has harmed nothing.
GROUPS = {
    "large": ["string", "bytes", "list", "dict", "fields", "strings"],
    "shaped": ["cyclic", "nested", "surrogates", "huge", "connects", "prints"],
    "failing": ["raises", "no-text", "exits", "recurses", "deletes", "lies"],
}


@pytest.mark.parametrize("group", GROUPS)
def test_hostile_values_are_shown_within_bounds_and_the_program_continues(agent: Agent, group: str) -> None:
    names = GROUPS[group]
    answer: Answer = {"stop_event_data": agent.stopped("values.py", *names, within_s=20)}
    for name in names:
        require_shown(agent, name, value_in(answer["stop_event_data"]))
        answer = agent.call("continue_debugging", within_s=20)
    assert (answer["status"], answer["exit_code"]) == ("completed", 0)
    assert answer["output"].endswith("done\n")


def test_every_value_is_in_one_group() -> None:
    assert sorted(name for names in GROUPS.values() for name in names) == sorted(SHOWN)


def require_shown(agent: Agent, name: str, value: dict[str, Any]) -> None:
    begins, type = SHOWN[name]
    assert value["value"].startswith(begins), name
    assert (value["type"], len(value["value"]) <= 400) == (type, True), name
    if name not in HOLDS_NO_MEMBERS:
        require_a_page_of_members(agent, value)
    agent.require_usable()
    whole = agent.call("evaluate_expression", expression="value", within_s=15)
    assert (whole["status"], whole["result"][:10]) == ("success", value["value"][:10]), name


# Texts, and an object whose million fields keep the debugger busy for as long as anybody asks.
HOLDS_NO_MEMBERS = {"string", "surrogates", "fields"}


def require_a_page_of_members(agent: Agent, value: dict[str, Any]) -> None:
    page = agent.call("get_variables", variables_reference=value["variables_reference"], within_s=10)
    assert page["status"] == "success"
    assert 0 < len(page["variables"]) <= 100


def test_what_a_repr_prints_is_output_of_the_program(agent: Agent) -> None:
    stop = agent.stopped("values.py", "prints")
    agent.call("continue_debugging")
    assert "printed by a repr" in agent.call("get_output", session_id=stop["session_id"])["output"]


def test_a_stop_reads_no_property(agent: Agent) -> None:
    """Listing members does, and is asked for; a stop is not."""
    agent.stopped("values.py", "deletes")
    agent.call("step_execution", step_type="out")
    assert (agent.workspace / "canary.txt").read_text() == "still here"
    agent.end()


def test_a_repr_that_never_ends_takes_no_more_than_its_budget_of_a_stop(agent: Agent) -> None:
    stop = agent.stopped("values.py", "endless", within_s=12)
    assert (stop["reason"], stop["call_stack"][0]["function_name"]) == ("breakpoint", "look")
    looked = agent.call("evaluate_expression", expression="value", timeout_s=2, within_s=5)
    assert looked["status"] == "error"
    agent.end()


def test_a_million_fields_are_answered_in_time_one_way_or_the_other(agent: Agent) -> None:
    value = value_in(agent.stopped("values.py", "fields"))
    page = agent.call("get_variables", variables_reference=value["variables_reference"], within_s=12)
    assert page["status"] == "success" or re.search("did not respond|busy", page["message"])
    agent.end()
