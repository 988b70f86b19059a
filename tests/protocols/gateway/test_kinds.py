"""The specification's own form of events, diffs that are derived, and corners of the real one."""

from __future__ import annotations

import json
from typing import Any

import msgspec
import pytest
from msgspec import Raw

from dragoman.protocols.gateway import (
    A2ui,
    ChatDiff,
    ChatEvent,
    ChatStatus,
    ChatTextDelta,
    ChatUsage,
    Done,
    EventFrame,
    Reducer,
    SessionDefaults,
    ToolResult,
    ToolStart,
    ToolUpdate,
    canonical_session_key,
)
from tests.protocols.gateway.transcripts import of_type, reduced, text_of


def frame(payload: Any, event: str = "agent", seq: int | None = None) -> EventFrame:
    return EventFrame(event, Raw(json.dumps(payload).encode()), seq)


def events_of(*payloads: dict[str, Any]) -> list[ChatEvent]:
    return reduced(frame(payload) for payload in payloads)


def shown(event: ChatEvent) -> dict[str, Any]:
    """As a web page gets it."""
    value = json.loads(msgspec.json.encode(event))
    assert isinstance(value, dict)
    return value


def tool_frame(stream: str, seq: int | None = None, **data: Any) -> EventFrame:
    payload = {"runId": "r", "sessionKey": "s", "stream": stream, "data": {"toolCallId": "c1", **data}}
    return frame(payload | ({} if seq is None else {"seq": seq}))


def text_frame(text: str, delta: str, seq: int, **more: Any) -> EventFrame:
    return frame({"runId": "r", "stream": "assistant", "seq": seq, "data": {"text": text, "delta": delta, **more}})


def chat(state: str, seq: int | None = None, text: str | None = None, **more: Any) -> EventFrame:
    payload: dict[str, Any] = {"runId": "r", "state": state, **more}
    if text is not None:
        payload["message"] = {"role": "assistant", "content": [{"type": "text", "text": text}]}
    return frame(payload | ({} if seq is None else {"seq": seq}), "chat")


SPECIFIED: list[dict[str, Any]] = [
    {"kind": "text_delta", "content": "这是一段"},
    {
        "kind": "tool_start",
        "tool": "readFile",
        "id": "t1",
        "title": "Reading src/main.ts",
        "input": {"path": "src/main.ts"},
    },
    {"kind": "tool_result", "id": "t1", "output": "文件内容...", "error": None},
    {"kind": "a2ui", "payload": {"type": "createSurface", "surface": {"id": "s1", "title": "t"}, "components": []}},
    {"kind": "diff", "path": "src/main.ts", "original": "原始内容", "modified": "修改后内容"},
    {"kind": "diff", "path": "new.ts", "original": None, "modified": "x"},
    {"kind": "done", "stopReason": "end_turn"},
]


@pytest.mark.requirement(
    "chat:translate:kind-passes",
    "gateway:text-delta:kind",
    "gateway:text-delta:content",
    "gateway:tool-start:kind",
    "gateway:tool-start:tool",
    "gateway:tool-start:id",
    "gateway:tool-start:title",
    "gateway:tool-start:input",
    "gateway:tool-result:kind",
    "gateway:tool-result:id",
    "gateway:tool-result:output",
    "gateway:tool-result:error",
    "gateway:a2ui-event:kind",
    "gateway:diff:kind",
    "gateway:diff:path",
    "gateway:diff:original",
    "gateway:diff:original-null",
    "gateway:diff:modified",
    "gateway:done:kind",
    "gateway:done:stop-reason",
    "gateway:kind:event-name",
    "gateway:kind:seq-optional",
)
def test_every_event_of_the_specification_passes_unchanged() -> None:
    session = {"sessionKey": "", "runId": ""}
    assert [session | shown(event) for event in events_of(*SPECIFIED)] == [session | event for event in SPECIFIED]


def test_the_canvas_gets_its_message_as_it_came() -> None:
    [event] = events_of(SPECIFIED[3])
    assert isinstance(event, A2ui)
    assert json.loads(bytes(event.payload)) == SPECIFIED[3]["payload"]


def test_after_its_done_a_nameless_run_is_followed_by_the_next() -> None:
    events = events_of(*(SPECIFIED[:1] + SPECIFIED[-1:]) * 3)
    assert [type(event) for event in events] == [ChatTextDelta, Done] * 3


@pytest.mark.parametrize(
    ("reason", "outcome"),
    [("end_turn", "final"), ("max_tokens", "final"), ("aborted", "aborted"), ("500 boom", "error")],
)
def test_a_reason_that_nobody_knows_is_the_message_of_an_error(reason: str, outcome: str) -> None:
    [done] = events_of({"kind": "done", "stopReason": reason})
    assert isinstance(done, Done)
    assert (done.stop_reason, done.outcome) == (reason, outcome)


def test_our_own_additions_to_the_form_are_read_too() -> None:
    start, update, status, usage = events_of(
        {"kind": "tool_start", "id": "t", "tool": "exec"},
        {"kind": "tool_update", "id": "t", "output": "so far"},
        {"kind": "status", "phase": "thinking"},
        {"kind": "usage", "outputTokens": 5},
    )
    assert isinstance(start, ToolStart)
    assert isinstance(update, ToolUpdate)
    assert (update.output, status, usage) == ("so far", ChatStatus(phase="thinking"), ChatUsage(output_tokens=5))


def test_a_failed_tool_of_the_form_carries_its_error_and_its_output() -> None:
    [_, result] = events_of({"kind": "tool_result", "id": "t", "output": "part", "error": "boom"})
    assert isinstance(result, ToolResult)
    assert (result.output, result.error) == ("part", "boom")


def test_the_form_with_run_and_session_joins_the_run() -> None:
    events = events_of(
        {"kind": "text_delta", "content": "a", "runId": "r", "sessionKey": "acp:x"},
        {"kind": "text_delta", "content": "b", "sessionKey": "acp:x"},
    )
    assert {(event.run_id, event.session_key) for event in events} == {("r", "agent:main:acp:x")}


def test_a_sessions_kind_in_a_real_tool_payload_is_not_the_specifications() -> None:
    payload = {
        "runId": "r",
        "stream": "tool",
        "kind": "done",
        "data": {"toolCallId": "c", "phase": "start", "name": "exec"},
    }
    assert [type(event) for event in events_of(payload)] == [ToolStart]


@pytest.mark.parametrize(
    "payload",
    [
        {"kind": "unknown"},
        {"kind": "tool_start", "tool": "no id"},
        {"kind": "a2ui"},
        {"stream": "unheard-of", "runId": "r", "data": {}},
        {"stream": "item", "runId": "r", "data": {"kind": "preamble", "progressText": "Let me look."}},
        {"stream": "assistant", "runId": "r"},
        {"stream": "usage", "runId": "r", "data": {"outputTokens": "many"}},
        {"stream": 5},
        [],
        "text",
        None,
    ],
)
def test_a_payload_of_another_shape_is_silent_and_does_no_harm(payload: Any) -> None:
    reducer = Reducer()
    assert reducer.feed(frame(payload)) == []
    assert reducer.feed(frame({"state": "unheard-of", "runId": "r"}, "chat")) == []
    assert [type(event) for event in reducer.feed(frame(SPECIFIED[0]))] == [ChatTextDelta]


def test_what_could_not_be_read_is_counted() -> None:
    reducer = Reducer()
    unreadable: list[Any] = [[], {"stream": "assistant", "runId": "r", "data": {"delta": 5}}]
    for payload in unreadable:
        reducer.feed(frame(payload))
    reducer.feed(EventFrame("chat"))
    assert reducer.unreadable == 3


@pytest.mark.parametrize(
    ("tool", "args", "expected"),
    [
        ("write", {"path": "a.py", "content": "x"}, [ChatDiff(path="a.py", original=None, modified="x")]),
        (
            "edit",
            {"path": "a.py", "oldText": "x", "newText": "y"},
            [ChatDiff(path="a.py", original="x", modified="y", partial=True)],
        ),
        (
            "Edit",
            {"file_path": "a.py", "old_string": "x", "new_string": ""},
            [ChatDiff(path="a.py", original="x", modified="", partial=True)],
        ),
        (
            "edit",
            {
                "path": "a.py",
                "edits": [{"oldText": "1", "newText": "2"}, {"oldText": "3", "newText": "4"}, {"oldText": "5"}],
            },
            [
                ChatDiff(path="a.py", original="1", modified="2", partial=True),
                ChatDiff(path="a.py", original="3", modified="4", partial=True),
            ],
        ),
        ("exec", {"path": "a.py", "content": "x"}, []),
        ("write", {"path": "a.py"}, []),
        ("write", {"content": "x"}, []),
        ("edit", ["a.py"], []),
    ],
)
def test_diffs_are_derived_from_the_arguments_of_file_tools(tool: str, args: Any, expected: list[ChatDiff]) -> None:
    frames = [
        tool_frame("tool", 1, phase="start", name=tool, args=args),
        tool_frame("tool", 2, phase="result", name=tool),
    ]
    diffs = of_type(reduced(frames), ChatDiff)
    assert [msgspec.structs.replace(diff, run_id="", session_key="", tool_id="") for diff in diffs] == expected
    assert all((diff.run_id, diff.tool_id) == ("r", "c1") for diff in diffs)


def test_a_tool_that_failed_changed_nothing() -> None:
    frames = [
        tool_frame("tool", 1, phase="start", name="write", args={"path": "a", "content": "x"}),
        tool_frame(
            "tool",
            2,
            phase="result",
            name="write",
            isError=True,
            result={"content": [{"type": "text", "text": "EACCES"}]},
        ),
    ]
    events = reduced(frames)
    assert of_type(events, ChatDiff) == []
    assert of_type(events, ToolResult)[0].error == "EACCES"


def test_a_gateway_of_the_form_sends_its_diffs_itself() -> None:
    start = {"kind": "tool_start", "id": "t", "tool": "write", "input": {"path": "a", "content": "x"}}
    assert of_type(events_of(start, {"kind": "tool_result", "id": "t", "output": ""}), ChatDiff) == []


@pytest.mark.parametrize(
    ("result", "output"),
    [("plain", "plain"), ({"content": "text"}, "text"), ([1, 2], "[1, 2]"), ({"content": 5}, '{"content": 5}')],
)
def test_a_result_of_any_shape_has_a_text(result: Any, output: str) -> None:
    [_, done] = reduced([tool_frame("tool", 1, phase="result", name="x", result=result)])
    assert isinstance(done, ToolResult)
    assert done.output == output


def test_a_tool_that_a_late_joiner_sees_only_the_end_of_has_a_start_all_the_same() -> None:
    events = reduced([tool_frame("item", 9, phase="end", kind="tool", name="read", title="read a", status="completed")])
    assert [type(event) for event in events] == [ToolStart, ToolResult]


def test_a_tool_that_is_still_running_at_the_end_of_its_run_gets_its_result_there() -> None:
    events = reduced([tool_frame("tool", 1, phase="start", name="exec"), chat("aborted", 2)])
    assert [type(event) for event in events] == [ToolStart, ToolResult, Done]
    assert of_type(events, ToolResult)[0].error == "the run ended before the tool did"


def test_an_end_without_a_result_is_reported_before_the_next_text() -> None:
    frames = [
        tool_frame("tool", 1, phase="start", name="read"),
        tool_frame("item", 2, phase="end", kind="tool", name="read", status="completed"),
        text_frame("Next", "Next", 3),
    ]
    assert [type(event) for event in reduced(frames)] == [ToolStart, ToolResult, ChatTextDelta]


def test_an_older_output_does_not_replace_a_newer_one() -> None:
    def update(seq: int, output: str) -> EventFrame:
        return tool_frame("command_output", seq, phase="delta", name="exec", output=output)

    events = of_type(reduced([update(5, "new"), update(3, "old"), update(5, "new"), update(6, "newer")]), ToolUpdate)
    assert [event.output for event in events] == ["new", "newer"]


def test_a_model_that_gives_every_call_the_same_id_is_understood() -> None:
    calls = [
        tool_frame("tool", seq, phase=phase, name="exec")
        for seq, phase in ((1, "start"), (2, "result"), (3, "start"), (4, "result"))
    ]
    late = [tool_frame("tool", 1, phase="start", name="exec")]
    assert [type(event) for event in reduced(calls + late)] == [ToolStart, ToolResult, ToolStart, ToolResult]


@pytest.mark.parametrize(
    ("key", "canonical"),
    [
        ("acp:x", "agent:main:acp:x"),
        ("agent:main:acp:x", "agent:main:acp:x"),
        ("agent:other:x", "agent:other:x"),
        ("main", "agent:main:main"),
        ("", ""),
        ("global", "global"),
    ],
)
def test_session_keys_have_one_spelling(key: str, canonical: str) -> None:
    assert canonical_session_key(key) == canonical


def test_session_keys_follow_the_gateways_defaults() -> None:
    defaults = SessionDefaults(default_agent_id="ops", main_key="home", main_session_key="agent:ops:home")
    assert canonical_session_key("acp:x", defaults) == "agent:ops:acp:x"
    assert canonical_session_key("home", defaults) == "agent:ops:home"
    [event] = Reducer(defaults).feed(frame({"kind": "text_delta", "content": "a", "sessionKey": "acp:x"}))
    assert event.session_key == "agent:ops:acp:x"


def test_a_final_that_differs_corrects_from_the_first_segment_that_does() -> None:
    frames = [
        text_frame("One. ", "One. ", 1),
        tool_frame("tool", 2, phase="start", name="a"),
        tool_frame("tool", 3, phase="result", name="a"),
        text_frame("Two.", "Two.", 4),
        chat("final", 5, "One. 2."),
    ]
    events = reduced(frames)
    correction = of_type(events, ChatTextDelta)[-1]
    assert (correction.segment, correction.content, correction.replace) == (1, "2.", True)
    assert text_of(events, "r") == "One. 2."


def test_a_final_that_differs_from_the_start_replaces_everything() -> None:
    frames = [
        text_frame("a", "a", 1),
        tool_frame("tool", 2, phase="result", name="t"),
        text_frame("b", "b", 3),
        chat("final", 4, "other"),
    ]
    correction = of_type(reduced(frames), ChatTextDelta)[-1]
    assert (correction.segment, correction.content, correction.replace) == (0, "other", True)


def test_a_segment_that_the_agent_begins_again_without_a_tool_is_rewritten_and_not_doubled() -> None:
    events = reduced(
        [
            text_frame("Hel", "Hel", 1),
            text_frame("Hello", "lo", 2),
            text_frame("Hi", "Hi", 3),
            text_frame("Hi!", "!", 4),
        ]
    )
    assert text_of(events, "r") == "Hi!"


def test_pieces_that_were_missed_are_restored_from_the_segments_own_text() -> None:
    events = reduced([text_frame("a", "a", 1), text_frame("abcd", "d", 4), text_frame("abcde", "e", 5)])
    assert text_of(events, "r") == "abcde"


def test_a_late_joiner_after_a_tool_gets_the_beginning_from_the_chat_and_continues_without_doubling() -> None:
    frames = [
        text_frame("Hello", "lo", 9),
        chat("delta", 9, "Look.Hello"),
        text_frame("Hello!", "!", 10),
        chat("delta", 10, "Look.Hello!"),
    ]
    texts = [text_of(reduced(frames[: count + 1]), "r") for count in range(len(frames))]
    assert texts == ["Hello", "Look.Hello", "Look.Hello!", "Look.Hello!"]


def test_protocol_4_may_send_only_what_was_added_to_the_chat() -> None:
    alone = [chat("delta", 1, deltaText="Hel"), chat("delta", 2, deltaText="lo"), chat("delta", 2, deltaText="lo")]
    assert text_of(reduced(alone), "r") == "Hello"
    both = [
        text_frame("Hel", "Hel", 1),
        chat("delta", 1, deltaText="Hel"),
        text_frame("Hello", "lo", 2),
        chat("delta", 2, deltaText="lo"),
    ]
    assert text_of(reduced(both), "r") == "Hello"
    replaced = [*both, chat("delta", 3, deltaText="Bye", replace=True)]
    assert text_of(reduced(replaced), "r") == "Bye"
    joined = [
        text_frame("Hello", "lo", 2),
        chat("delta", 2, deltaText="lo"),
        text_frame("Hello!", "!", 3),
        chat("delta", 3, deltaText="!"),
    ]
    assert text_of(reduced(joined), "r") == "Hello!"


def test_an_error_without_a_message_is_still_an_error() -> None:
    [done] = reduced([chat("error", 1)])
    assert done == Done(run_id="r", stop_reason="error", outcome="error")


def test_a_message_with_plain_text_content_is_read() -> None:
    events = reduced([frame({"runId": "r", "state": "final", "message": {"content": "plain"}}, "chat")])
    assert text_of(events, "r") == "plain"


def test_the_vocabulary_reads_back_what_it_writes() -> None:
    decoder: msgspec.json.Decoder[ChatEvent] = msgspec.json.Decoder(ChatEvent)
    for event in events_of(*SPECIFIED):
        assert decoder.decode(msgspec.json.encode(event)) == event
