"""Bodies, typed on demand; the capabilities of nine real adapters."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import msgspec
import pytest

from dragoman.core.errors import RemoteProtocolError
from dragoman.protocols.dap import (
    Capabilities,
    Connection,
    Event,
    EventReceived,
    RequestReceived,
    ResponseReceived,
    read_arguments,
    read_body,
    typed_body,
)
from dragoman.protocols.dap import bodies as b

ADAPTERS = sorted((Path(__file__).parents[2] / "vectors" / "dap-capabilities").glob("*.json"))


def event(name: str, body: Any) -> Event:
    return Event(event=name, body=msgspec.Raw(json.dumps(body).encode()))


@pytest.mark.parametrize("path", ADAPTERS, ids=lambda path: path.stem)
def test_the_capabilities_of_real_adapters_come_back_from_initialize_as_they_were(path: Path) -> None:
    theirs = json.loads(path.read_text())
    client, adapter = Connection(), Connection()
    adapter.receive_data(client.send_request("initialize", {"adapterID": path.stem}))
    (asked,) = adapter.events()
    assert isinstance(asked, RequestReceived)
    client.receive_data(adapter.send_response(asked.message, msgspec.Raw(path.read_bytes())))
    (answered,) = client.events()
    assert isinstance(answered, ResponseReceived)
    capabilities = Capabilities(read_body(answered.message, msgspec.Raw))
    assert json.loads(bytes(capabilities.raw)) == theirs
    assert {name for name in theirs if capabilities.has(name)} == {name for name in theirs if theirs[name] is True}
    assert capabilities.get("exceptionBreakpointFilters") == theirs.get("exceptionBreakpointFilters")


def test_nine_adapters_are_among_the_vectors() -> None:
    assert len(ADAPTERS) == 9


def test_a_capabilities_event_changes_what_it_names_and_nothing_else() -> None:
    before = Capabilities(msgspec.Raw(b'{"supportsStepBack":false,"supportsGotoTargetsRequest":true}'))
    changed = typed_body(event("capabilities", {"capabilities": {"supportsStepBack": True}}))
    assert isinstance(changed, b.CapabilitiesBody)
    after = before.merged(changed.capabilities)
    assert (after.has("supportsStepBack"), after.has("supportsGotoTargetsRequest")) == (True, True)
    assert not before.has("supportsStepBack")


@pytest.mark.parametrize(
    ("name", "body", "typed"),
    [
        ("initialized", {}, b.InitializedBody()),
        (
            "stopped",
            {"reason": "breakpoint", "threadId": 3, "allThreadsStopped": True, "hitBreakpointIds": [1, 2], "x": 1},
            b.StoppedBody(reason="breakpoint", thread_id=3, all_threads_stopped=True, hit_breakpoint_ids=(1, 2)),
        ),
        ("continued", {"threadId": 1}, b.ContinuedBody(thread_id=1)),
        ("exited", {"exitCode": -9}, b.ExitedBody(exit_code=-9)),
        ("terminated", {"restart": {"a": [1]}}, b.TerminatedBody(restart={"a": [1]})),
        ("thread", {"reason": "started", "threadId": 2}, b.ThreadBody(reason="started", thread_id=2)),
        ("output", {"output": "hi\n"}, b.OutputBody(output="hi\n", category="console")),
        (
            "output",
            {"output": "x", "category": "stderr", "source": {"path": "/a.py"}, "line": 4},
            b.OutputBody(output="x", category="stderr", source=b.DapSource(path="/a.py"), line=4),
        ),
        (
            "breakpoint",
            {"reason": "changed", "breakpoint": {"id": 1, "verified": True, "line": 7}},
            b.BreakpointBody(reason="changed", breakpoint=b.ChangedBreakpoint(id=1, verified=True, line=7)),
        ),
        ("process", {"name": "a.out", "systemProcessId": 42}, b.ProcessBody(name="a.out", system_process_id=42)),
        ("invalidated", {"areas": ["stacks"]}, b.InvalidatedBody(areas=("stacks",))),
        (
            "progressStart",
            {"progressId": "p", "title": "Loading", "cancellable": True, "requestId": 4},
            b.ProgressStartBody(progress_id="p", title="Loading", cancellable=True, request_id=4),
        ),
        (
            "progressUpdate",
            {"progressId": "p", "percentage": 50},
            b.ProgressUpdateBody(progress_id="p", percentage=50.0),
        ),
        ("progressEnd", {"progressId": "p", "message": "done"}, b.ProgressEndBody(progress_id="p", message="done")),
    ],
)
def test_a_known_event_has_a_typed_body(name: str, body: dict[str, Any], typed: object) -> None:
    assert typed_body(event(name, body)) == typed


def test_every_event_we_look_into_is_tested_above() -> None:
    marks = test_a_known_event_has_a_typed_body.pytestmark
    assert {case[0] for case in marks[0].args[1]} | {"capabilities"} == set(b.EVENT_BODIES)


@pytest.mark.parametrize("body", [msgspec.UNSET, msgspec.Raw(b"null"), msgspec.Raw(b"{}")])
def test_a_missing_body_and_a_null_one_are_empty_ones(body: msgspec.Raw | msgspec.UnsetType) -> None:
    assert typed_body(Event(event="terminated", body=body)) == b.TerminatedBody()


def test_an_event_that_nobody_knows_has_no_typed_body() -> None:
    assert typed_body(event("vendor/thing", {"a": 1})) is None


@pytest.mark.parametrize("body", ['{"threadId":"x"}', "[]", "{}", '{"reason":3}', "[" * 100_000 + "]" * 100_000])
def test_a_body_of_the_wrong_shape_is_the_peers_fault_and_no_other_error(body: str) -> None:
    with pytest.raises(RemoteProtocolError) as caught:
        typed_body(Event(event="stopped", body=msgspec.Raw(body.encode())))
    assert caught.value.code == "bad_body"


def test_the_arguments_of_reverse_requests_and_of_cancel_are_typed() -> None:
    client, adapter = Connection(), Connection()
    client.receive_data(adapter.send_request("runInTerminal", {"cwd": "/w", "args": ["a", "b"], "env": {"X": None}}))
    client.receive_data(adapter.send_request("startDebugging", {"request": "attach", "configuration": {"port": 1}}))
    client.receive_data(adapter.send_cancel(request_id=1))
    run, start, cancel = (received.message for received in client.events() if isinstance(received, RequestReceived))
    assert read_arguments(run, b.RunInTerminalArguments) == b.RunInTerminalArguments(
        cwd="/w", args=("a", "b"), env={"X": None}
    )
    assert read_arguments(start, b.StartDebuggingArguments).configuration == {"port": 1}
    assert read_arguments(cancel, b.CancelArguments) == b.CancelArguments(request_id=1)


def test_a_program_to_run_may_come_without_the_folder_that_the_protocol_requires() -> None:
    client, adapter = Connection(), Connection()
    client.receive_data(adapter.send_request("runInTerminal", {"args": ["a"]}))
    (run,) = (received.message for received in client.events() if isinstance(received, RequestReceived))
    assert read_arguments(run, b.RunInTerminalArguments).cwd is None


def test_progress_events_arrive_typed_in_their_order() -> None:
    client, adapter = Connection(), Connection()
    for name in ("progressStart", "progressUpdate", "progressEnd"):
        client.receive_data(adapter.send_event(name, {"progressId": "p", "title": "t"}))
    received = [typed_body(got.message) for got in client.events() if isinstance(got, EventReceived)]
    assert [type(body) for body in received] == [b.ProgressStartBody, b.ProgressUpdateBody, b.ProgressEndBody]
