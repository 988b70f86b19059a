"""Which target a call goes to, line by line of the table in `routes`."""

from __future__ import annotations

import json
from typing import Any

import pytest
from mcp_types import ListToolsResult

from dragoman.servers.mcp.server import listed_tool
from tests.cli.router.routed import INITIALIZE, NAMES, Routed, sessions, stopped, tool_result
from tests.servers.mcp.tool_names import LIST_BYTES, LISTED, weight
from tests.tools.test_schemas import TOOLS_BY_NAME


def text_of(result: dict[str, Any]) -> str:
    return str(result["content"][-1]["text"])


def test_the_target_that_is_named_gets_the_call_without_the_name() -> None:
    routed = Routed()
    routed.call("start_debugging", program="a.py", target="ssh:b")
    request = routed.sent_to(1)
    assert request["params"]["arguments"] == {"program": "a.py"}
    routed.answer(1, request, {"session_id": "s-1", "state": "Running"})
    assert routed.result()["structuredContent"] == {"session_id": "s-1", "state": "Running"}
    assert not routed.targets[0].taken() + routed.targets[2].taken()


def test_a_target_that_is_not_one_of_them_is_an_error_that_lists_them() -> None:
    routed = Routed()
    routed.call("start_debugging", program="a.py", target="ssh:elsewhere")
    result = routed.result()
    assert result["isError"]
    assert text_of(result) == "unknown_target: Unknown target: ssh:elsewhere. Available: ssh:a, ssh:b, local."


def test_a_session_is_asked_where_it_is() -> None:
    routed = Routed()
    routed.start(1, "s-b")
    routed.start(2, "s-l")
    routed.call("step_execution", session_id="s-b", step_type="over")
    assert routed.sent_to(1)["params"]["arguments"]["session_id"] == "s-b"


def test_the_first_target_that_names_a_session_keeps_it() -> None:
    routed = Routed()
    routed.start(1, "s-b")
    routed.start(0, "s-b")  # it lies, or it is a collision
    routed.call("evaluate_expression", session_id="s-b", expression="1")
    assert routed.sent_to(1)["params"]["name"] == "evaluate_expression"
    routed.call("evaluate_expression", session_id="s-b", expression="1", target="ssh:a")
    assert routed.sent_to(0)["params"]["name"] == "evaluate_expression"


def test_a_flood_of_session_ids_displaces_those_of_no_other_target() -> None:
    routed = Routed()
    routed.start(1, "s-b")
    for start in range(0, 2000, 200):
        routed.call("list_sessions", target="ssh:a")
        routed.answer(
            0, routed.sent_to(0), sessions(*[(f"s-{number}", "Running", 0) for number in range(start, start + 200)])
        )
    routed.received()
    routed.call("get_scopes", session_id="s-b")
    assert routed.sent_to(1)["params"]["name"] == "get_scopes"


def test_a_session_of_an_earlier_connection_is_looked_for_everywhere() -> None:
    routed = Routed()
    routed.call("get_scopes", session_id="s-old")
    routed.answer(0, routed.sent_to(0), sessions())
    routed.answer(2, routed.sent_to(2), sessions())
    routed.answer(1, routed.sent_to(1), sessions(("s-old", "Stopped", 3)))
    assert routed.sent_to(1)["params"] == {"name": "get_scopes", "arguments": {"session_id": "s-old"}}


def test_without_a_session_the_target_that_was_used_last_gets_the_call() -> None:
    routed = Routed()
    routed.call("get_output")
    assert routed.sent_to(0)
    routed.start(1, "s-b")
    routed.call("get_output")
    request = routed.sent_to(1)
    routed.answer(1, request, {"session_id": "s-b"}, "output")
    result = routed.received()[-1]["result"]
    assert [it["text"] for it in result["content"]] == ["output", "target: ssh:b"]
    assert result["structuredContent"]["target"] == "ssh:b"


def test_a_target_that_could_not_be_reached_is_not_the_last_used() -> None:
    routed = Routed()
    routed.start(1, "s-b")
    routed.call("start_debugging", program="", target="ssh:a")
    routed.fail(0, routed.sent_to(0), "link_lost")
    routed.call("get_output")
    assert routed.sent_to(1)


def test_a_program_starts_where_its_file_is() -> None:
    routed = Routed()
    routed.call("start_debugging", program="app.py")
    for target in (0, 2):
        request = routed.sent_to(target)
        assert request["params"] == {"name": "get_source", "arguments": {"file_path": "app.py", "count": 1}}
        routed.refuse(target, request, "file_not_found")
    routed.answer(1, routed.sent_to(1), {"file_path": "app.py"})
    assert routed.sent_to(1)["params"] == {"name": "start_debugging", "arguments": {"program": "app.py"}}


def test_a_folder_is_debugged_where_it_is_and_a_file_is_preferred() -> None:
    routed = Routed()
    routed.call("start_debugging", program="./cmd/app")
    for target, code in enumerate(("file_not_found", "not_a_file", "file_not_found")):
        routed.refuse(target, routed.sent_to(target), code)
    assert routed.sent_to(1)["params"]["name"] == "start_debugging"
    routed = Routed()
    routed.call("start_debugging", program="app")
    routed.refuse(0, routed.sent_to(0), "not_a_file")
    routed.refuse(1, routed.sent_to(1), "file_not_found")
    routed.answer(2, routed.sent_to(2), {"lines": []})
    assert routed.sent_to(2)["params"]["name"] == "start_debugging"


def test_data_in_a_text_that_is_nested_too_deeply_is_not_read() -> None:
    routed = Routed()
    routed.call("list_sessions")
    deep = '{"a":' * 900 + "1" + "}" * 900
    for target in range(3):
        routed.emit(
            target, {"id": routed.sent_to(target)["id"], "result": {"content": [{"type": "text", "text": deep}]}}
        )
    assert json.loads(json.dumps(routed.result()))


def test_a_program_that_several_targets_have_starts_on_the_one_used_last() -> None:
    routed = Routed()
    routed.start(2, "s-l")
    routed.call("start_debugging", configuration={"program": "app"})
    for target in (0, 2):
        routed.answer(target, routed.sent_to(target), {})
    routed.refuse(1, routed.sent_to(1), "unreadable_file")  # it has it, but it is no text
    assert routed.sent_to(2)["params"]["name"] == "start_debugging"


def test_a_program_that_the_debugger_has_to_look_up_is_not_looked_for() -> None:
    routed = Routed()
    routed.call("start_debugging", program="${workspaceFolder}/app.py")
    assert routed.sent_to(0)["params"]["name"] == "start_debugging"


def test_a_breakpoint_goes_to_every_target_that_has_the_file() -> None:
    routed = Routed()
    routed.call("set_breakpoint", file_path="app.py", line_number=3)
    routed.answer(0, routed.sent_to(0), {"breakpoint": {"id": 1}}, "breakpoint 1")
    routed.refuse(1, routed.sent_to(1), "file_not_found")
    routed.answer(2, routed.sent_to(2), {"breakpoint": {"id": 4}}, "breakpoint 4")
    result = routed.result()
    assert text_of(result) == "On ssh:a:\nbreakpoint 1\nOn local:\nbreakpoint 4"
    assert result["structuredContent"] == {
        "breakpoint": {"id": 1},
        "target": "ssh:a",
        "also_on": [{"breakpoint": {"id": 4}, "target": "local"}],
    }


def test_a_breakpoint_in_a_file_that_no_target_has_is_an_error() -> None:
    routed = Routed()
    routed.call("set_breakpoint", file_path="app.py", line_number=3)
    for target in range(3):
        routed.refuse(target, routed.sent_to(target), "file_not_found")
    result = routed.result()
    assert result["isError"]
    assert result["structuredContent"]["code"] == "file_not_found"


def test_a_target_that_has_the_file_and_refuses_is_named() -> None:
    routed = Routed()
    routed.call("set_breakpoint", file_path="app.py", line_number=3)
    routed.answer(0, routed.sent_to(0), {"breakpoint": {"id": 1}}, "breakpoint 1")
    routed.refuse(1, routed.sent_to(1), "line_past_end")
    routed.refuse(2, routed.sent_to(2), "outside_workspace")
    result = routed.result()
    assert text_of(result) == "On ssh:a:\nbreakpoint 1\nOn ssh:b:\nline_past_end"
    assert [it["target"] for it in result["structuredContent"]["failed_targets"]] == ["ssh:b"]


def test_a_breakpoint_is_removed_by_its_number_where_it_is_alone() -> None:
    routed = Routed()
    for target, number in ((0, 1), (1, 1), (1, 2)):
        routed.call("set_breakpoint", file_path="app.py", line_number=3, target=NAMES[target])
        routed.answer(target, routed.sent_to(target), {"breakpoint": {"id": number}})
    routed.received()
    routed.call("remove_breakpoint", breakpoint_id=2)
    request = routed.sent_to(1)
    routed.answer(1, request, {"removed": [2]})
    routed.received()
    routed.call("remove_breakpoint", breakpoint_id=1)
    assert text_of(routed.result()).startswith("target_needed: Several targets may have breakpoint 1.")
    routed.call("remove_breakpoint", breakpoint_id=2)
    assert "target_needed" in text_of(routed.result())


def test_the_lists_of_all_targets_are_one() -> None:
    routed = Routed()
    routed.call("list_sessions")
    routed.answer(1, routed.sent_to(1), sessions(("s-b", "Running", 0)), "s-b runs")
    routed.answer(0, routed.sent_to(0), sessions(("s-a", "Stopped", 2)), "s-a stopped")
    routed.fail(2, routed.sent_to(2), "link_lost", "local is silent.")
    result = routed.result()
    assert text_of(result) == "On ssh:a:\ns-a stopped\nOn ssh:b:\ns-b runs\nOn local:\nlocal is silent."
    data = result["structuredContent"]
    assert [(it["session_id"], it["target"]) for it in data["sessions"]] == [("s-a", "ssh:a"), ("s-b", "ssh:b")]
    assert data["failed_targets"] == [{"target": "local", "code": "link_lost", "message": "local is silent."}]


def test_a_target_that_was_not_found_is_named_at_once_and_explained_once() -> None:
    routed = Routed()
    routed.targets[1].is_connected = False
    routed.targets[1].failure = ("login_refused", "ssh:b refused the login.")
    texts = []
    for _ in range(2):
        routed.call("list_sessions")
        for target in (0, 2):
            routed.answer(target, routed.sent_to(target), sessions(), "none")
        assert not routed.targets[1].taken()
        texts.append(text_of(routed.result()))
    assert texts[0] == "On ssh:a:\nnone\nOn ssh:b:\nssh:b refused the login.\nOn local:\nnone"
    assert texts[1] == "On ssh:a:\nnone\nOn ssh:b: not reached (login_refused).\nOn local:\nnone"
    assert routed.targets[1].searches == 2


def test_a_target_that_does_not_answer_is_named_after_ten_seconds() -> None:
    routed = Routed()
    routed.call("list_sessions")
    routed.answer(0, routed.sent_to(0), sessions(), "none")
    routed.answer(1, routed.sent_to(1), sessions(), "none")
    request = routed.sent_to(2)
    routed.now = 9.9
    routed.router.expire()
    assert not routed.received()
    routed.now = 10.0
    routed.router.expire()
    assert "local did not answer within 10 seconds." in text_of(routed.result())
    assert routed.sent_to(2)["params"]["requestId"] == request["id"]
    routed.answer(2, request, sessions())  # too late
    assert not routed.received()
    assert routed.router.left_s is None


def test_a_client_that_is_sent_text_alone_is_sent_nothing_else() -> None:
    routed = Routed()
    routed.call("list_sessions")
    for target in range(3):
        request = routed.sent_to(target)
        meta = {"dragoman/structured": sessions((f"s-{target}", "Running", 0))}
        routed.emit(target, {"id": request["id"], "result": {**text_result(f"s-{target}"), "_meta": meta}})
    assert routed.result() == text_result("On ssh:a:\ns-0\nOn ssh:b:\ns-1\nOn local:\ns-2")
    routed.call("get_scopes", session_id="s-1")
    request = routed.sent_to(1)
    routed.emit(1, {"id": request["id"], "result": {**text_result("x"), "_meta": {"dragoman/structured": {"a": 1}}}})
    assert routed.result() == text_result("x")


def text_result(text: str) -> dict[str, Any]:
    return {"content": [{"type": "text", "text": text}]}


def test_a_client_of_an_old_revision_reads_the_data_in_the_text() -> None:
    routed = Routed(begins=False)
    routed.request("initialize", **{**INITIALIZE, "protocolVersion": "2024-11-05"})
    for target in range(3):
        request = routed.sent_to(target)
        routed.emit(target, {"id": request["id"], "result": {"protocolVersion": "2024-11-05"}})
    routed.received()
    routed.call("list_sessions")
    for target in range(3):
        text = json.dumps({"status": "success", "sessions": [{"session_id": f"s-{target}"}]})
        routed.emit(target, {"id": routed.sent_to(target)["id"], "result": text_result(text)})
    assert '{"session_id":"s-1","target":"ssh:b"}' in text_of(routed.result())


def test_only_the_first_tool_publishes_the_target_that_every_tool_takes() -> None:
    routed = Routed()
    routed.request("tools/list")
    tools: dict[str, dict[str, Any]] = {
        "start_debugging": {"program": {}},
        "trace": {"program": {}, "session_id": {}},
        "step_execution": {"session_id": {}},
        "list_sessions": {},
        "wait_for_stop": {"session_id": {}},
    }
    listed = [{"name": name, "inputSchema": {"properties": schema}} for name, schema in tools.items()]
    routed.emit(0, {"id": routed.sent_to(0)["id"], "result": {"tools": listed}})
    shown = {it["name"]: it["inputSchema"]["properties"].get("target") for it in routed.result()["tools"]}
    assert shown.pop("start_debugging")["enum"] == list(NAMES)
    assert set(shown.values()) == {None}
    for tool in (*shown, "get_breakpoints"):
        routed.call(tool, target="ssh:b")
        assert "target" not in routed.sent_to(1)["params"]["arguments"]


@pytest.mark.parametrize("machines", [2, 4])
def test_the_list_of_tools_stays_within_its_budget_with_several_machines(machines: int) -> None:
    names = tuple(f"ssh:build-{number}.example.net" for number in range(machines))
    routed = Routed(names)
    routed.request("tools/list")
    tools = [listed_tool(TOOLS_BY_NAME[name], "brief", has_output=False) for name in LISTED]
    result = ListToolsResult(tools=tools).model_dump(mode="json", by_alias=True, exclude_none=True)
    routed.emit(0, {"id": routed.sent_to(0)["id"], "result": result})
    merged = routed.result()
    assert len(merged["tools"]) == len(LISTED)
    assert weight(merged) <= LIST_BYTES
    assert weight(merged) - weight(result) <= 120 + machines * (len(names[0]) + 3)


def test_resources_of_sessions_are_read_where_the_session_is() -> None:
    routed = Routed()
    routed.request("resources/list")
    for target in range(3):
        uris = [f"dragoman://session/s-{target}/output", "dragoman://session/s-0/output", "dragoman://schema/check"]
        routed.emit(target, {"id": routed.sent_to(target)["id"], "result": {"resources": [{"uri": it} for it in uris]}})
    listed = [it["uri"] for it in routed.result()["resources"]]
    assert len(listed) == len(set(listed)) == 4
    routed.request("resources/read", uri="dragoman://session/s-1/output")
    assert routed.sent_to(1)["method"] == "resources/read"
    routed.request("resources/read", uri="dragoman://session/s-0/output")
    assert routed.sent_to(0)["method"] == "resources/read"


@pytest.mark.parametrize("data", [{"session_id": ["x"], "state": {}, "status": []}, {"sessions": [1, {"state": []}]}])
def test_data_of_any_type_is_passed_on(data: dict[str, Any]) -> None:
    routed = Routed()
    routed.call("wait_for_stop", target="ssh:a")
    routed.answer(0, routed.sent_to(0), data)
    assert routed.result() == tool_result(data)
    routed.start(0, "s-a")
    routed.call("wait_for_stop")
    for target in range(3):
        routed.answer(target, routed.sent_to(target), data)
    routed.answer(0, routed.sent_to(0), stopped("s-a"))
    assert routed.result()["structuredContent"]["session_id"] == "s-a"
