"""A call that weighs too much is refused before anything of it is looked at."""

from __future__ import annotations

import time
from pathlib import Path
from typing import Any

import pytest

from dragoman.core.errors import DragomanError
from dragoman.tools import registry as tools_registry
from dragoman.tools.registry import require_bounded_size
from tests.tools.tool_fixture import opened

KNOWN = ("program", "env", "configuration")
MILLION = {f"k{number}": 0 for number in range(1_000_000)}


def nested(depth: int) -> Any:
    value: Any = 1
    for _ in range(depth):
        value = [value]
    return value


HEAVY: dict[str, dict[str, Any]] = {
    "unknown arguments": MILLION,
    "variables": {"env": MILLION},
    "members deep inside": {"configuration": {"a": [{"b": MILLION}]}},
    "elements": {"configuration": {"a": [0] * (tools_registry.MAX_PARTS + 1)}},
    "many short lists": {"configuration": {"a": [[0]] * tools_registry.MAX_PARTS}},
    "one text": {"program": "x" * (tools_registry.MAX_CHARACTERS + 1)},
    "names of members": {"env": {"n" * (tools_registry.MAX_CHARACTERS + 1): "1"}},
    "levels": {"configuration": nested(100_000)},
}


@pytest.mark.parametrize("name", HEAVY)
def test_a_heavy_call_is_refused_at_the_cost_of_a_light_one(name: str) -> None:
    began = time.thread_time()
    with pytest.raises(DragomanError) as refused:
        require_bounded_size("start_debugging", KNOWN, HEAVY[name])
    assert time.thread_time() - began < 0.1
    assert refused.value.code == "bad_arguments"
    assert len(str(refused.value.message) + str(refused.value.hint)) < 1000


@pytest.mark.parametrize(
    "arguments",
    [
        {},
        {"program": "x" * 1_000_000, "env": {f"V{number}": "x" * 100 for number in range(1000)}},
        {"configuration": {"args": ["a"] * 9000}},
        {"configuration": nested(tools_registry.MAX_DEPTH - 2)},
        {"prorgam": "a slip of the pen, which the parameters' own check names"},
    ],
)
def test_an_honest_call_passes(arguments: dict[str, Any]) -> None:
    require_bounded_size("start_debugging", KNOWN, arguments)


def test_what_is_refused_names_some_that_are_not_known_and_all_that_are() -> None:
    with pytest.raises(DragomanError) as refused:
        require_bounded_size("start_debugging", KNOWN, {"program": "", **{f"k{at}\u202e": 0 for at in range(20)}})
    assert refused.value.message.in_language("en") == (
        "start_debugging does not accept 21 arguments; unknown: "
        r"'k0\u202e', 'k1\u202e', 'k2\u202e', 'k3\u202e', 'k4\u202e'."
    )
    assert refused.value.hint is not None
    assert refused.value.hint.in_language("en") == "Parameters: program, env, configuration."


@pytest.mark.anyio
@pytest.mark.parametrize("parameter", ["env", "inputs"])
async def test_a_table_of_names_has_at_most_a_thousand(tmp_path: Path, parameter: str) -> None:
    async with opened(tmp_path) as bench:
        arguments: dict[str, Any] = {parameter: {f"N{number}": "1" for number in range(1001)}}
        answer = await bench.call("start_debugging", program="app.py", **arguments)
        assert answer["code"] == "bad_arguments"
        assert bench.starter.requests == []


@pytest.mark.anyio
async def test_an_agent_learns_that_its_call_is_too_large(tmp_path: Path) -> None:
    async with opened(tmp_path) as bench:
        answer = await bench.call("start_debugging", configuration=MILLION)
        assert answer["code"] == "bad_arguments"
        assert answer["message"] == "The arguments of start_debugging are too large."
        assert "10000 members" in answer["hint"]


@pytest.mark.anyio
async def test_the_name_of_an_unknown_argument_is_shown_short(tmp_path: Path) -> None:
    async with opened(tmp_path) as bench:
        arguments: dict[str, Any] = {"x" * 100_000: 1, "\x1b[2J": 2}
        answer = await bench.call("get_breakpoints", **arguments)
        assert "x" * 60 + "…: Extra inputs" in answer["message"]
        assert r"\x1b[2J: " in answer["message"]
        assert len(answer["message"]) < 500
