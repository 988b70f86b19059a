"""Events without names: each is given the run that it belongs to, and a duplicate end ends one run."""

from __future__ import annotations

import json
from typing import Any

import pytest
from msgspec import UNSET, Raw

from dragoman.chat.gateway_client import run_attribution
from dragoman.chat.gateway_client.run_attribution import RunAttribution, run_id_of
from dragoman.protocols.gateway import EventFrame, SequenceGap

Json = dict[str, Any]
TEXT = {"kind": "text_delta", "content": "x"}
PIECE = {"stream": "assistant", "data": {"delta": "x"}}
DONE = {"kind": "done", "stopReason": "end_turn"}
FINAL = {"state": "final"}


def frame(payload: Any) -> EventFrame:
    event = "chat" if isinstance(payload, dict) and "state" in payload else "agent"
    return EventFrame(event, Raw(json.dumps(payload).encode()))


def runs(statuses: list[EventFrame | SequenceGap]) -> list[tuple[Any, Any]]:
    payloads = [
        json.loads(bytes(it.payload)) for it in statuses if isinstance(it, EventFrame) and it.payload is not UNSET
    ]
    return [(it.get("runId"), it.get("sessionKey")) for it in payloads]


def on_event(it: RunAttribution, *payloads: Any) -> list[tuple[Any, Any]]:
    return [one for payload in payloads for one in runs(it.on_event(frame(payload)))]


def running(*sends: tuple[str, str]) -> RunAttribution:
    it = RunAttribution()
    for number, (key, session_key) in enumerate(sends, start=1):
        it.sent(key, session_key)
        assert it.answered(key, f"run-{number}") == []
    return it


@pytest.mark.parametrize("payload", [TEXT, PIECE, {"kind": "a2ui", "payload": {}}, {"kind": "diff", "path": "a"}])
def test_an_event_without_names_is_of_the_run_that_the_answer_named(payload: Json) -> None:
    it = running(("key", "acp:one"))
    assert on_event(it, payload, {"state": "delta"}) == [("run-1", "acp:one")] * 2


def test_what_has_names_passes_as_it_came() -> None:
    it, named = running(("key", "acp:one")), frame({**PIECE, "runId": "other", "sessionKey": "s"})
    assert it.on_event(named) == [named]
    assert on_event(it, {**TEXT, "runId": "other"}) == [("other", "acp:one")]


def test_an_empty_name_does_not_count_and_nothing_else_of_an_event_is_touched() -> None:
    it = running(("key", "acp:one"))
    payload = {**TEXT, "runId": None, "sessionKey": "", "more": [{"runId": "inner"}]}
    (result,) = it.on_event(frame(payload))
    assert isinstance(result, EventFrame)
    assert isinstance(result.payload, Raw)
    assert json.loads(bytes(result.payload)) == {**payload, "runId": "run-1", "sessionKey": "acp:one"}


@pytest.mark.parametrize("params", [None, UNSET, 5, [], {"idempotencyKey": 7}, Raw(b"[]"), Raw(b'{"sessionKey":5}')])
def test_a_request_of_another_shape_is_not_a_message(params: Any) -> None:
    assert RunAttribution().requested("chat.send", params) == ""


def test_what_comes_before_the_answer_waits_for_it_and_keeps_its_order() -> None:
    it = RunAttribution()
    it.sent("key", "acp:one")
    assert on_event(it, TEXT, {**TEXT, "runId": "elsewhere", "sessionKey": "s"}, DONE) == []
    assert runs(it.answered("key", "run-1")) == [("run-1", "acp:one"), ("elsewhere", "s"), ("run-1", "acp:one")]
    assert on_event(it, DONE) == [], "there is nothing left to end"


def test_without_a_name_in_the_answer_the_run_is_called_by_the_key_of_the_message() -> None:
    it = RunAttribution()
    it.sent("key", "main")
    assert it.answered("key", run_id_of(Raw(b'{"runId":null}'))) == []
    assert on_event(it, TEXT) == [("key", "main")]
    assert [run_id_of(Raw(it)) for it in (b"5", b"[]", b'{"runId":7}', b'{"runId":"r"}')] == ["", "", "", "r"]


def test_what_waited_for_a_message_that_was_refused_begins_nothing_of_it() -> None:
    it = running(("first", "acp:one"))
    on_event(it, DONE)
    it.sent("key", "acp:two")
    assert on_event(it, FINAL) == []
    assert it.refused("key") == [], "it was the first one's end, told again"


@pytest.mark.parametrize(("first", "second"), [(DONE, FINAL), (FINAL, DONE)])
def test_an_end_in_both_forms_ends_one_run_and_not_the_next(first: Json, second: Json) -> None:
    it = running(("one", "main"), ("two", "main"))
    assert on_event(it, TEXT, first, second) == [("run-1", "main")] * 2
    assert on_event(it, TEXT, first, second) == [("run-2", "main")] * 2


def test_batches_of_a_run_that_has_ended_say_nothing_of_the_next() -> None:
    it = running(("one", "main"), ("two", "main"))
    assert on_event(it, PIECE, DONE, {"state": "delta"}, FINAL, PIECE) == [("run-1", "main")] * 2 + [("run-2", "main")]


def test_an_end_of_another_kind_is_the_next_ones() -> None:
    it = running(("one", "main"), ("two", "main"))
    failed = {"state": "error", "errorMessage": "no"}
    assert on_event(it, TEXT, DONE, failed) == [("run-1", "main")] * 2 + [("run-2", "main")]


def test_a_session_that_is_named_says_which_of_two_runs() -> None:
    it = running(("one", "acp:one"), ("two", "acp:two"))
    assert on_event(it, {**TEXT, "sessionKey": "acp:two"}, TEXT) == [("run-2", "acp:two"), ("run-1", "acp:one")]


def test_what_nobody_here_asked_for_is_one_run_of_the_last_session() -> None:
    it = running(("key", "acp:one"))
    on_event(it, DONE)
    [first, second, end] = on_event(it, TEXT, TEXT, DONE)
    assert first == second == end
    assert first[0] != "run-1"
    assert first[1] == "acp:one"
    assert on_event(it, FINAL, {"state": "delta"}) == []


def test_a_run_that_was_stopped_takes_its_end_and_nothing_of_the_next() -> None:
    it = running(("one", "main"))
    it.requested("chat.abort", {"sessionKey": "main", "runId": "run-1"})
    it.sent("two", "main")
    it.answered("two", "run-2")
    stopped = {"kind": "done", "stopReason": "aborted"}
    assert on_event(it, TEXT, stopped, TEXT) == [("run-2", "main"), ("run-1", "main"), ("run-2", "main")]


def test_a_run_that_nobody_waits_for_does_not_keep_the_next_from_its_answer() -> None:
    it = running(("one", "main"))
    it.leave("main", "run-1")
    it.requested("chat.send", Raw(b'{"sessionKey":"main","idempotencyKey":"two"}'))
    it.answered("two", "run-2")
    assert on_event(it, TEXT, DONE) == [("run-2", "main")] * 2


def test_a_run_that_ended_before_its_answer_is_not_started_by_it() -> None:
    it = running(("key", "main"))
    on_event(it, TEXT, DONE)
    it.sent("key", "main")
    assert it.answered("key", "run-1") == []
    it.sent("next", "main")
    it.answered("next", "run-2")
    assert on_event(it, TEXT) == [("run-2", "main")]


def test_more_than_can_wait_is_a_gap(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(run_attribution, "HELD_AT_MOST", 3)
    it = RunAttribution()
    it.sent("key", "main")
    entries = [one for _ in range(4) for one in it.on_event(frame(TEXT))]
    assert entries == [SequenceGap(expected=0, received=0)]
    assert it.answered("key", "run-1") == []


def test_runs_that_never_end_are_forgotten_in_time() -> None:
    it = running(*[(f"key-{number}", "main") for number in range(run_attribution.RUNS_AT_MOST + 1)])
    assert on_event(it, TEXT) == [("run-2", "main")]


@pytest.mark.parametrize(
    "payload", [5, None, [], {"runId": 7, "kind": "done"}, {"kind": "new"}, {"stream": "lifecycle"}]
)
def test_what_is_not_of_a_run_passes_as_it_came(payload: Any) -> None:
    it, entries = running(("key", "main")), frame(payload)
    assert it.on_event(entries) == [entries]
