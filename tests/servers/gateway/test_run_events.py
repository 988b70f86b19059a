"""A run published as frames reads back as the same run: nothing doubled, nothing lost, one end."""

from __future__ import annotations

from typing import Any

import msgspec
import pytest
from hypothesis import given
from hypothesis import strategies as st

from dragoman.protocols.gateway import EventFrame, Reducer
from dragoman.protocols.gateway.chat_events import (
    ChatEvent,
    ChatStatus,
    ChatTextDelta,
    ChatUsage,
    Done,
    ToolResult,
    ToolStart,
    ToolUpdate,
)
from dragoman.protocols.gateway.messages import TOOL_EVENTS
from dragoman.servers.gateway.run_events import CHAT_EVERY_MS, OutgoingEvent, RunEvents

RUN = {"run_id": "r1", "session_key": "agent:main:a"}


def read(frames: list[OutgoingEvent], *, with_tools: bool = True) -> list[ChatEvent]:
    reducer = Reducer()
    sent = [frame for frame in frames if not frame.needs or with_tools]
    events = [EventFrame(it.event, msgspec.Raw(msgspec.json.encode(it.payload)), seq) for seq, it in enumerate(sent, 1)]
    return [result for event in events for result in reducer.feed(event)]


def spoken(*events: ChatEvent, every_ms: int = 10) -> list[OutgoingEvent]:
    speech = RunEvents("r1", "agent:main:a", 1_000)
    frames = speech.begin()
    for number, event in enumerate(events):
        frames += speech.publish(event, 1_000 + number * every_ms)
    return frames


def text_of(events: list[ChatEvent]) -> str:
    segments: list[str] = []
    for event in events:
        if isinstance(event, ChatTextDelta):
            segments += [""] * (event.segment + 1 - len(segments))
            if event.replace:
                segments[event.segment :] = [event.content]
            else:
                segments[event.segment] += event.content
    return "".join(segments)


def text_delta(text: str, segment: int = 0) -> ChatTextDelta:
    return ChatTextDelta(content=text, segment=segment, **RUN)  # type: ignore[arg-type]


def done(outcome: Any = "final", reason: str = "end_turn") -> Done:
    return Done(stop_reason=reason, outcome=outcome, **RUN)


WORDS = st.lists(st.text(st.characters(codec="utf-8", exclude_categories=["Cs"]), min_size=1, max_size=8), max_size=20)


@given(WORDS, st.sampled_from([1, 60, CHAT_EVERY_MS]), st.booleans())
def test_text_is_read_back_as_it_was_written(words: list[str], every_ms: int, with_tools: bool) -> None:
    frames = spoken(*map(text_delta, words), done(), every_ms=every_ms)
    events = read(frames, with_tools=with_tools)
    assert text_of(events) == "".join(words)
    assert [event for event in events if isinstance(event, Done)] == [done()]


@pytest.mark.parametrize(
    ("replaced", "appended"), [("Hello", ["Hel", "lo"]), ("Hi", ["Hel", ""]), ("Hel", ["Hel", ""])]
)
def test_only_the_new_part_of_a_replacement_is_appended(replaced: str, appended: list[str]) -> None:
    frames = spoken(text_delta("Hel"), ChatTextDelta(content=replaced, replace=True, **RUN), done())  # type: ignore[arg-type]
    assert [it.payload["data"]["delta"] for it in frames if it.payload.get("stream") == "assistant"] == appended
    assert text_of(read(frames)) == replaced


def test_replacing_a_message_removes_later_ones() -> None:
    anew = ChatTextDelta(content="new", segment=0, replace=True, **RUN)
    frames = spoken(text_delta("old"), text_delta("later", 1), anew, done())
    assert text_of(read(frames)) == "new"


def test_the_whole_text_is_sent_now_and_then_and_always_at_the_end() -> None:
    frames = spoken(*map(text_delta, "abcdefghij"), done(), every_ms=50)
    chats = [frame.payload for frame in frames if frame.event == "chat"]
    deltas = [payload["message"]["content"][0]["text"] for payload in chats if payload["state"] == "delta"]
    assert deltas == ["a", "abcd", "abcdefg", "abcdefghij"]
    assert "".join(payload["deltaText"] for payload in chats if payload["state"] == "delta") == "abcdefghij"
    assert chats[-1]["state"] == "final"


@pytest.mark.parametrize("with_tools", [True, False])
def test_a_tool_call_has_one_start_and_one_result_for_every_reader(with_tools: bool) -> None:
    start = ToolStart(id="t1", tool="get_source", title="Read", input=msgspec.Raw(b'{"line": 1}'), **RUN)
    result = ToolResult(id="t1", output="x = 1", error=None, **RUN)  # type: ignore[arg-type]
    events = read(
        spoken(text_delta("Let me look."), start, result, text_delta("One.", 1), done()), with_tools=with_tools
    )
    entries = [type(event) for event in events if not isinstance(event, ChatTextDelta | ToolUpdate)]
    assert entries == [ToolStart, ToolResult, Done]
    (began,) = [event for event in events if isinstance(event, ToolStart)]
    assert (began.id, began.tool) == ("t1", "get_source")
    (ended,) = [event for event in events if isinstance(event, ToolResult)]
    assert ended.error is None
    if with_tools:
        assert ended.output == "x = 1"


@pytest.mark.parametrize(
    ("output", "error", "answer"),
    [
        ("half", "exit code 2", "half\nexit code 2"),
        ("", "exit code 2", "exit code 2"),
        ("it failed: no", "it failed: no", "it failed: no"),
        ("whole", None, "whole"),
    ],
)
def test_a_tool_that_failed_says_what_it_wrote_and_what_went_wrong(output: str, error: str | None, answer: str) -> None:
    result = ToolResult(id="t1", output=output, error=error, **RUN)  # type: ignore[arg-type]
    (ended,) = [it for it in read(spoken(result, done())) if isinstance(it, ToolResult)]
    assert (ended.output, ended.error is None) == (answer, error is None)


def test_what_only_some_are_sent_is_marked() -> None:
    start = ToolStart(id="t1", tool="run", **RUN)  # type: ignore[arg-type]
    frames = spoken(start, done())
    assert {frame.needs for frame in frames if frame.payload.get("stream") == "tool"} == {TOOL_EVENTS}
    assert {frame.needs for frame in frames if frame.payload.get("stream") != "tool"} == {""}


@pytest.mark.parametrize(("outcome", "reason"), [("aborted", "aborted"), ("error", "the model broke off")])
def test_an_end_keeps_the_text_and_the_reason(outcome: str, reason: str) -> None:
    frames = spoken(text_delta("so far"), done(outcome, reason))
    events = read(frames)
    assert text_of(events) == "so far"
    assert events[-1] == done(outcome, reason)


def test_phases_and_tokens_are_passed_on() -> None:
    used = ChatUsage(input_tokens=3, output_tokens=4, total_tokens=7, **RUN)
    status = ChatStatus(phase="starting_model", **RUN)
    events = read(spoken(status, used, done()))
    assert [event for event in events if not isinstance(event, Done)] == [status, used]


def test_numbers_of_a_run_only_rise() -> None:
    numbers = [frame.payload["seq"] for frame in spoken(*map(text_delta, "abc"), done()) if frame.event == "agent"]
    assert numbers == sorted(set(numbers))
