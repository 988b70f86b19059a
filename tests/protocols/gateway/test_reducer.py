"""The reducer on what real gateways sent: text once, tools once, one end a run, whatever the frames do."""

from __future__ import annotations

import json
from collections import Counter
from random import Random

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from msgspec import Raw

from dragoman.protocols.gateway import (
    ChatEvent,
    ChatGap,
    ChatStatus,
    ChatTextDelta,
    ChatUsage,
    Done,
    EventFrame,
    Reducer,
    SequenceGap,
    ToolResult,
    ToolStart,
    ToolUpdate,
)
from tests.protocols.gateway.transcripts import (
    NAMES,
    ended_runs,
    event_frames,
    of_type,
    printed_by_chat,
    reduced,
    text_of,
)

CHATS = [f"v3-{name}" for name in ("07", "08", "09", "10", "11a", "11b", "11c", "11d", "14b", "14c", "15b")] + ["v4-21"]
EVERY_CHAT = pytest.mark.parametrize("name", CHATS)
SLOW = settings(suppress_health_check=[HealthCheck.too_slow], deadline=None, max_examples=60)
FRAMES = {name: event_frames(name) for name in CHATS}


def payload_of(frame: EventFrame) -> dict[str, object]:
    payload = json.loads(bytes(frame.payload))  # type: ignore[arg-type]
    assert isinstance(payload, dict)
    return payload


def is_terminal(frame: EventFrame) -> bool:
    return frame.event == "chat" and payload_of(frame).get("state") in {"final", "aborted", "error"}


def has_pieces(frames: list[EventFrame], run_id: str) -> bool:
    return any(
        payload_of(frame).get("runId") == run_id and payload_of(frame).get("stream") == "assistant" for frame in frames
    )


@pytest.mark.requirement(
    "gateway:stream:agent-event",
    "gateway:stream:agent-delta",
    "gateway:stream:chat-event",
    "gateway:stream:chat-state-delta",
    "chat:translate:delta-to-text",
    "chat:translate:no-double-text",
)
@EVERY_CHAT
def test_the_text_of_a_run_is_the_gateways_own_last_word(name: str) -> None:
    events = reduced(FRAMES[name])
    expected = printed_by_chat(name)
    assert expected
    assert {run_id: text_of(events, run_id) for run_id in expected} == expected


@EVERY_CHAT
def test_while_it_is_streamed_the_text_only_grows_towards_it(name: str) -> None:
    events = reduced(FRAMES[name])
    for run_id, final in printed_by_chat(name).items():
        shown = [text_of(events[: index + 1], run_id) for index in range(len(events))]
        assert all(final.startswith(text) for text in shown)
        assert sorted(map(len, shown)) == [len(text) for text in shown]


@EVERY_CHAT
def test_every_run_ends_exactly_once(name: str) -> None:
    assert sorted(ended_runs(reduced(FRAMES[name]))) == sorted(printed_by_chat(name))


@EVERY_CHAT
def test_every_tool_call_starts_once_and_ends_once_in_that_order(name: str) -> None:
    events = reduced(FRAMES[name])
    starts = [(event.run_id, event.id) for event in of_type(events, ToolStart)]
    results = [(event.run_id, event.id) for event in of_type(events, ToolResult)]
    assert starts == results
    assert len(set(starts)) == len(starts)
    assert bool(starts) is (name in {"v3-11a", "v3-11b", "v3-11c", "v3-11d", "v3-14b", "v4-21"})


@pytest.mark.requirement(
    "chat:translate:health-filtered", "chat:translate:tick-filtered", "chat:translate:lifecycle-filtered"
)
@pytest.mark.parametrize("name", NAMES)
def test_only_the_agent_and_chat_streams_reach_a_chat_and_never_their_lifecycle(name: str) -> None:
    reducer, silent = Reducer(), 0
    for frame in event_frames(name):
        result = reducer.feed(frame)
        if frame.event in {"agent", "chat", "session.tool"} and payload_of(frame).get("stream") != "lifecycle":
            continue
        assert result == []
        silent += 1
    assert silent > 0
    assert reducer.unreadable == 0


@pytest.mark.requirement("chat:translate:final-to-done", "gateway:stream:chat-state-final")
def test_final_is_the_end_of_the_turn() -> None:
    assert of_type(reduced(FRAMES["v3-07"]), Done)[0].stop_reason == "end_turn"


@pytest.mark.requirement("chat:translate:error-to-done", "gateway:stream:chat-state-error")
def test_an_error_ends_the_run_with_its_message_and_eight_failed_attempts_before_it_do_not() -> None:
    [done] = reduced(FRAMES["v3-09"])
    assert isinstance(done, Done)
    assert (done.stop_reason, done.outcome) == ("500 stub exploded", "error")


@pytest.mark.requirement("chat:translate:aborted-to-done", "gateway:stream:chat-state-aborted")
def test_an_abort_ends_the_run_and_the_final_that_follows_it_changes_nothing() -> None:
    events = reduced(FRAMES["v3-08"])
    [done] = of_type(events, Done)
    assert (done.stop_reason, done.outcome, done.session_key) == ("aborted", "aborted", "agent:main:acp:abort")
    assert text_of(events, "idem-abort-1") == "Slow"


def test_the_tool_of_a_sender_is_reported_with_its_arguments_and_its_result() -> None:
    events = [event for event in reduced(FRAMES["v3-11a"]) if isinstance(event, ToolStart | ToolUpdate | ToolResult)]
    start, title, output, result = events
    assert isinstance(start, ToolStart)
    assert isinstance(title, ToolUpdate)
    assert isinstance(output, ToolUpdate)
    assert isinstance(result, ToolResult)
    assert (start.tool, json.loads(bytes(start.input))) == ("exec", {"command": "echo hi; seq 3"})  # type: ignore[arg-type]
    assert title.title == "exec print text → run seq 3"
    assert output.output == "hi\n1\n2\n3\n"
    assert (result.output, result.error, result.exit_code, result.duration_ms) == ("hi\n1\n2\n3", None, 0, 410)
    assert json.loads(bytes(result.result))["details"]["status"] == "completed"  # type: ignore[arg-type]


def test_an_observer_without_the_capability_still_learns_title_output_and_exit_code() -> None:
    events = reduced(FRAMES["v3-11b"])
    [start], [result] = of_type(events, ToolStart), of_type(events, ToolResult)
    assert (start.tool, start.title) == ("exec", "exec print text → run seq 3")
    assert (result.output, result.error, result.exit_code) == ("hi\n1\n2\n3", None, 0)


def test_a_subscribed_observer_gets_the_same_events_as_the_sender() -> None:
    assert reduced(FRAMES["v3-11c"]) == reduced(FRAMES["v3-11a"])


def test_a_failed_tool_says_why() -> None:
    [result] = of_type(reduced(FRAMES["v3-11d"]), ToolResult)
    assert result.error == "ENOENT: no such file or directory, access '<state>/workspace/nope.txt'"


def test_text_after_a_tool_is_a_segment_of_its_own() -> None:
    for name, glue in (("v3-11a", ""), ("v4-21", "\n\n")):
        texts = of_type(reduced(FRAMES[name]), ChatTextDelta)
        run_id = texts[-1].run_id
        segments = {text.segment: "" for text in texts if text.run_id == run_id}
        for text in texts:
            if text.run_id == run_id:
                segments[text.segment] += text.content
        assert segments == {0: "Let me look.", 1: f"{glue}Hello, this is the stub model. Done."}


def test_protocol_4_reports_phases_and_usage_once_though_two_streams_carry_the_phases() -> None:
    events = reduced(FRAMES["v4-21"])
    assert [event.phase for event in of_type(events, ChatStatus)] == [
        "preparing_workspace",
        "preparing_context",
        "starting_model",
    ]
    assert [event.output_tokens for event in of_type(events, ChatUsage)] == [9, 18]


def test_a_run_continues_over_a_reconnect_with_or_without_the_memory_of_it() -> None:
    kept = Reducer()
    before = reduced(event_frames("v3-15a"), kept)
    after = reduced(FRAMES["v3-15b"], kept)
    assert not any(text.replace for text in of_type(after, ChatTextDelta))
    assert text_of([*before, *after], "idem-reconn-1") == "Slow Slow Slow Slow Slow Slow Slow Slow"
    fresh = reduced(FRAMES["v3-15b"])
    assert of_type(fresh, ChatTextDelta)[0].replace
    assert text_of([*before, *fresh], "idem-reconn-1") == "Slow Slow Slow Slow Slow Slow Slow Slow"


def test_a_run_that_nobody_announced_is_placed_by_its_session() -> None:
    """A message queued behind an aborted run was run under an id of the gateway's making."""
    frames = [frame for frame in FRAMES["v3-14c"] if frame.event in {"agent", "chat"}]
    result = reduced(frames)
    assert {event.session_key for event in result} == {"agent:main:main"}
    assert {event.run_id for event in result} == {"12d40da3-b3d7-4d6d-ae3f-326346637ccf", "node-sub-1"}


def test_a_gap_is_reported_to_the_chat() -> None:
    assert Reducer().feed(SequenceGap(4, 9)) == [ChatGap(expected=4, received=9)]


@EVERY_CHAT
def test_either_stream_alone_gives_the_same_text(name: str) -> None:
    frames = FRAMES[name]
    chat_only = reduced(frame for frame in frames if frame.event == "chat")
    agent_only = reduced(frame for frame in frames if frame.event != "chat")
    for run_id, final in printed_by_chat(name).items():
        assert text_of(chat_only, run_id) == final
        assert text_of(agent_only, run_id) == (final if has_pieces(frames, run_id) else "")
    assert ended_runs(agent_only) == []


def all_chats() -> st.SearchStrategy[str]:
    return st.sampled_from(CHATS)


@SLOW
@given(all_chats(), st.data())
def test_repeated_and_late_frames_change_nothing(name: str, data: st.DataObject) -> None:
    """Straight into the reducer, where no frame number helps: a subscribed node gets frames without one."""
    frames = FRAMES[name]
    disturbed: list[EventFrame] = []
    for index, frame in enumerate(frames):
        disturbed.append(frame)
        disturbed += [frames[earlier] for earlier in data.draw(st.lists(st.integers(0, index), max_size=2))]
    assert reduced(disturbed) == reduced(frames)


@SLOW
@given(all_chats(), st.data())
def test_whatever_else_is_lost_the_end_of_a_run_sets_its_text_right(name: str, data: st.DataObject) -> None:
    kept = [frame for frame in FRAMES[name] if is_terminal(frame) or data.draw(st.booleans())]
    events = reduced(kept)
    expected = printed_by_chat(name)
    assert sorted(ended_runs(events)) == sorted(expected)
    for run_id, final in expected.items():
        if final:
            assert text_of(events, run_id) == final
    starts, results = of_type(events, ToolStart), of_type(events, ToolResult)
    assert Counter(event.id for event in starts) == Counter(event.id for event in results)


@SLOW
@given(all_chats(), st.data())
def test_a_client_that_joins_late_ends_with_the_same_text(name: str, data: st.DataObject) -> None:
    frames = FRAMES[name]
    start = data.draw(st.integers(0, len(frames) - 1))
    events = reduced(frames[start:])
    over = {payload_of(frame)["runId"] for frame in frames[:start] if is_terminal(frame)}
    for run_id, final in printed_by_chat(name).items():
        if run_id not in over and final:
            assert text_of(events, run_id) == final


@SLOW
@given(all_chats(), st.randoms(use_true_random=False))
def test_how_the_two_streams_are_interleaved_does_not_matter_in_the_end(name: str, dice: Random) -> None:
    """Within a stream the order stays; a run's terminal frame stays last."""
    frames = FRAMES[name]
    chat = [frame for frame in frames if frame.event == "chat"]
    agent = [frame for frame in frames if frame.event != "chat"]
    merged: list[EventFrame] = []
    while chat or agent:
        source = agent if not chat or (agent and (is_terminal(chat[0]) or dice.random() < 0.5)) else chat
        merged.append(source.pop(0))
    result = reduced(merged)
    for run_id, final in printed_by_chat(name).items():
        if final:
            assert text_of(result, run_id) == final


def test_state_is_bounded_and_a_run_that_was_dropped_is_not_doubled() -> None:
    reducer = Reducer()
    frames = FRAMES["v3-10"]
    half = len(frames) // 2
    result: list[ChatEvent] = reduced(frames[:half], reducer)
    for number in range(2000):
        reducer.feed(EventFrame("chat", frame_of_run(f"other-{number}")))
    result += reduced(frames[half:], reducer)
    assert text_of(result, "idem-ok-1") == printed_by_chat("v3-10")["idem-ok-1"]
    assert len(reducer._runs) <= 256
    for number in range(5000):
        reducer.feed(EventFrame("chat", frame_of_run(f"gone-{number}", "final")))
    assert len(reducer._ended) == 1024


def frame_of_run(run_id: str, state: str = "delta") -> Raw:
    message = {"role": "assistant", "content": [{"type": "text", "text": "x"}]}
    return Raw(json.dumps({"runId": run_id, "sessionKey": "s", "state": state, "message": message}).encode())
