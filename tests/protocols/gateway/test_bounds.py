"""What a reducer keeps is bounded, whatever a gateway sends, and so is what a frame costs."""

from __future__ import annotations

import json
import time
import tracemalloc
from collections import Counter
from typing import Any

import pytest
from msgspec import Raw

from dragoman.protocols.gateway import EventFrame, Reducer, ToolResult, ToolStart
from dragoman.protocols.gateway.reducer import MAX_KEPT_BYTES
from dragoman.protocols.gateway.run_tools import MAX_CALLS
from tests.protocols.gateway.transcripts import of_type, reduced, text_of


def frame(payload: Any, event: str = "agent") -> EventFrame:
    return EventFrame(event, Raw(json.dumps(payload).encode()))


def started(number: int) -> EventFrame:
    data = {"toolCallId": f"c{number}", "phase": "start"}
    return frame({"runId": "r", "stream": "tool", "seq": number, "data": data})


def test_the_cost_of_a_piece_does_not_grow_with_the_text_before_it() -> None:
    def seconds(pieces: int) -> float:
        reducer, piece = Reducer(), frame({"kind": "text_delta", "runId": "r", "content": "x" * 100})
        began = time.process_time()
        for _ in range(pieces):
            reducer.feed(piece)
        return time.process_time() - began

    short = min(seconds(2_000) for _ in range(3))
    assert seconds(32_000) < 16 * short * 4


@pytest.mark.parametrize(
    "payload",
    [
        {"kind": "text_delta", "content": "x" * 1_000_000},
        {"kind": "tool_update", "tool": "exec", "id": "c", "output": "x" * 1_000_000},
        {"stream": "tool", "data": {"toolCallId": "c", "phase": "start", "name": "edit", "args": ["x" * 1_000_000]}},
        {"stream": "item", "data": {"toolCallId": "c", "phase": "end", "kind": "command", "summary": "x" * 1_000_000}},
    ],
)
def test_large_runs_that_never_end_are_kept_within_a_ceiling(payload: dict[str, Any]) -> None:
    reducer = Reducer()
    tracemalloc.start()
    try:
        for number in range(150):
            reducer.feed(frame({**payload, "runId": f"r{number}"}))
        assert tracemalloc.get_traced_memory()[0] < 1.5 * MAX_KEPT_BYTES
    finally:
        tracemalloc.stop()
    assert text_of(reducer.feed(frame({"kind": "text_delta", "runId": "r149", "content": "on"})), "r149") == "on"


def test_a_call_that_is_forgotten_for_newer_ones_has_its_result_too() -> None:
    events = reduced([*map(started, range(MAX_CALLS + 3)), frame({"runId": "r", "state": "final"}, "chat")])
    assert Counter(event.id for event in of_type(events, ToolResult)) == {
        f"c{number}": 1 for number in range(MAX_CALLS + 3)
    }
    assert events.index(of_type(events, ToolResult)[0]) < events.index(of_type(events, ToolStart)[-1])


def test_a_run_remembers_a_bounded_number_of_calls() -> None:
    reducer = Reducer()
    for number in range(MAX_CALLS * 2):
        reducer.feed(started(number))
    [run] = reducer._runs.values()
    assert len(run._tools._calls) == MAX_CALLS
