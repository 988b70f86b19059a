"""set_breakpoint, remove_breakpoint, get_breakpoints: every field, every form, every refusal."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path
from typing import Any

import anyio
import pytest

from dragoman.core.errors import DragomanError
from dragoman.core.localization import localize
from dragoman.debug.backends.port import AdapterRefusedError
from dragoman.debug.model import SessionState
from dragoman.workspace.caller import Caller
from tests.requirements import sentence
from tests.tools.tool_fixture import frame, opened, stack_of, until

pytestmark = pytest.mark.anyio


@pytest.mark.requirement(
    "debug:set-breakpoint:tool",
    "debug:set-breakpoint:regular",
    "debug:set-breakpoint:sync",
    "debug:set-breakpoint:success",
    "debug:set-breakpoint:returns-breakpoint",
    "debug:set-breakpoint:returns-id",
    "debug:set-breakpoint:returns-verified",
    "debug:set-breakpoint:returns-source",
    "debug:set-breakpoint:returns-line",
    "debug:set-breakpoint:returns-timestamp",
    "debug:set-breakpoint:example",
    "debug:timestamp:on-breakpoint",
    "debug:timestamp:iso-8601-utc",
    "debug:timestamp:moment",
)
async def test_a_breakpoint_is_set_without_a_session_in_the_documented_shape(tmp_path: Path) -> None:
    async with opened(tmp_path) as bench:
        bench.caller = replace(bench.caller, is_agent=True)
        bench.clock.advance(0.1234)
        answer = await bench.call("set_breakpoint", file_path="app.py", line_number=4)
    assert answer.data == {
        "status": "success",
        "breakpoint": {
            "id": 1,
            "kind": "line",
            "verified": False,
            "enabled": True,
            "source": {"path": str(bench.file)},
            "line": 4,
            "timestamp": "2023-11-14T22:13:20.123Z",
        },
    }
    assert answer.text == "breakpoint 1 set app.py:4; waits for a session"


@pytest.mark.requirement(
    "debug:set-breakpoint:conditional",
    "debug:set-breakpoint:hit-count",
    "debug:set-breakpoint:logpoint",
    "debug:set-breakpoint:param-condition",
    "debug:set-breakpoint:param-hit-condition",
    "debug:set-breakpoint:param-log-message",
    "debug:set-breakpoint:param-column-number",
    "debug:set-breakpoint:returns-column",
    "debug:get-breakpoints:item-column",
    "debug:get-breakpoints:item-condition",
    "debug:get-breakpoints:item-hit-condition",
    "debug:get-breakpoints:item-log-message",
)
@pytest.mark.parametrize(
    ("given", "kept", "sent"),
    [
        ({"column_number": 7}, {"column": 7}, {"column": 7}),
        ({"condition": "n > 1"}, {"condition": "n > 1"}, {"condition": "n > 1"}),
        ({"hit_condition": "> 5"}, {"hit_condition": "> 5"}, {"hitCondition": "> 5"}),
        ({"log_message": "n is {n}"}, {"log_message": "n is {n}"}, {"logMessage": "n is {n}"}),
        ({}, {}, {}),
    ],
)
async def test_what_is_asked_of_a_breakpoint_is_kept_shown_and_sent(
    tmp_path: Path, given: dict[str, Any], kept: dict[str, Any], sent: dict[str, Any]
) -> None:
    optional = {"column", "condition", "hit_condition", "log_message"}
    async with opened(tmp_path) as bench:
        await bench.running()
        made = (await bench.call("set_breakpoint", file_path="app.py", line_number=4, **given))["breakpoint"]
        (listed,) = (await bench.call("get_breakpoints"))["breakpoints"]
        assert {key: made[key] for key in optional & made.keys()} == kept
        assert {key: listed[key] for key in optional & listed.keys()} == kept
        assert bench.adapter.sent("setBreakpoints")[-1]["breakpoints"] == [{"line": 4, **sent}]


async def test_the_line_asked_for_and_the_line_it_bound_to_are_distinguished(tmp_path: Path) -> None:
    async with opened(tmp_path) as bench:
        bench.adapter.answers["setBreakpoints"] = lambda _: {"breakpoints": [{"id": 9, "verified": True, "line": 6}]}
        await bench.running()
        answer = await bench.call("set_breakpoint", file_path="app.py", line_number=4)
    made = answer["breakpoint"]
    assert (made["verified"], made["line"], made["actual_line"]) == (True, 4, 6)
    assert answer.text == "breakpoint 1 verified app.py:4; bound to line: 6"


@pytest.mark.requirement("debug:set-breakpoint:returns-message")
async def test_why_a_breakpoint_did_not_bind_is_reported_as_the_debuggers_words(tmp_path: Path) -> None:
    refused = {"breakpoints": [{"id": 9, "verified": False, "message": "no code\nhere"}]}
    async with opened(tmp_path) as bench:
        bench.adapter.answers["setBreakpoints"] = lambda _: refused
        await bench.running()
        answer = await bench.call("set_breakpoint", file_path="app.py", line_number=4)
    assert answer["breakpoint"]["message"] == "no code\nhere"
    assert answer["breakpoint"]["verified"] is False
    assert answer.text == r"breakpoint 1 unverified app.py:4; debugger says: no code\nhere"


async def test_what_to_do_about_a_breakpoint_is_not_cut_off(tmp_path: Path) -> None:
    advice = f"{'Not loaded yet. ' * 20}Evaluate `dragoman path a b`."
    async with opened(tmp_path) as bench:
        bench.adapter.answers["setBreakpoints"] = lambda _: {"breakpoints": [{"verified": False, "message": advice}]}
        await bench.running()
        made = await bench.call("set_breakpoint", file_path="app.py", line_number=4)
        waited = await bench.call("wait_for_stop", timeout_s=0.01)
    assert made.text.endswith(advice)
    assert waited.text.endswith(advice)


@pytest.mark.requirement("debug:set-breakpoint:verified-later", "debug:get-breakpoints:item-verified")
async def test_a_breakpoint_becomes_verified_when_a_session_binds_it(tmp_path: Path) -> None:
    async with opened(tmp_path) as bench:
        await bench.call("set_breakpoint", file_path="app.py", line_number=4)
        await bench.running()
        (listed,) = (await bench.call("get_breakpoints"))["breakpoints"]
    assert (listed["verified"], listed["actual_line"]) == (True, 4)


@pytest.mark.requirement(
    "debug:set-breakpoint:param-file-path",
    "debug:set-breakpoint:file-path-absolute",
    "debug:set-breakpoint:file-path-relative",
    "debug:set-breakpoint:param-line-number",
)
async def test_a_file_is_named_by_its_path_or_relative_to_the_workspace(tmp_path: Path) -> None:
    async with opened(tmp_path) as bench:
        by_path = await bench.call("set_breakpoint", file_path=str(bench.file), line_number=2)
        relative = await bench.call("set_breakpoint", file_path="./sub/../app.py", line_number=2)
        assert by_path["breakpoint"]["id"] == relative["breakpoint"]["id"]
        for line in (0, -1, "x", None):
            refused = await bench.call("set_breakpoint", file_path="app.py", line_number=line)
            assert refused["code"] == "bad_arguments"
        assert (await bench.call("set_breakpoint", line_number=1))["code"] == "bad_arguments"
        assert (await bench.call("set_breakpoint", file_path="", line_number=1))["code"] == "bad_arguments"


async def test_the_same_place_again_replaces_what_was_asked_and_can_be_disabled(tmp_path: Path) -> None:
    async with opened(tmp_path) as bench:
        await bench.call("set_breakpoint", file_path="app.py", line_number=2, condition="a")
        again = await bench.call("set_breakpoint", file_path="app.py", line_number=2, enabled=False)
        await bench.running()
        (listed,) = (await bench.call("get_breakpoints"))["breakpoints"]
        assert bench.adapter.sent("setBreakpoints") == []
    assert (listed["id"], listed["enabled"], "condition" in listed) == (1, False, False)
    assert again.text == "breakpoint 1 unverified app.py:2; disabled"


@pytest.mark.requirement("debug:set-breakpoint:error", "debug:set-breakpoint:error-path")
@pytest.mark.parametrize(
    ("path", "code", "nearest"),
    [
        ("src/app.py", "file_not_found", ["app.py"]),
        ("ap.py", "file_not_found", ["app.py"]),
    ],
)
async def test_a_missing_file_is_reported_with_the_nearest_name(
    tmp_path: Path, path: str, code: str, nearest: list[str]
) -> None:
    async with opened(tmp_path) as bench:
        answer = await bench.call("set_breakpoint", file_path=path, line_number=1)
        chinese = await bench.call("set_breakpoint", language="zh", file_path=path, line_number=1)
    assert (answer["status"], answer["code"]) == ("error", code)
    assert answer["details"]["nearest"] == nearest
    assert answer["message"] == "Invalid file path: no such file."
    assert sentence("debug:set-breakpoint:error-path") in chinese["message"]


@pytest.mark.parametrize("path", ["../other.py", "link.py", "/etc/hostname"])
async def test_a_file_outside_of_the_workspace_is_refused_also_behind_a_link(tmp_path: Path, path: str) -> None:
    (tmp_path / "other.py").write_text("x\n")
    async with opened(tmp_path) as bench:
        (bench.caller.workspace / "link.py").symlink_to(tmp_path / "other.py")
        answer = await bench.call("set_breakpoint", file_path=path, line_number=1)
    assert answer["code"] == "outside_workspace"


async def test_a_file_that_the_stack_of_a_stopped_program_names_may_have_breakpoints(tmp_path: Path) -> None:
    library = tmp_path / "library.py"
    library.write_text("a\nb\n")
    async with opened(tmp_path) as bench:
        bench.adapter.answers["stackTrace"] = lambda _: stack_of(frame(1, "f", str(library), 2))
        await bench.started()
        answer = await bench.call("set_breakpoint", file_path=str(library), line_number=1)
        past = await bench.call("set_breakpoint", file_path=str(library), line_number=3)
    assert answer["status"] == "success"
    assert (past["code"], past["details"]) == ("line_past_end", {"line_count": 2})


@pytest.mark.parametrize(
    ("given", "code", "details"),
    [
        ({"line_number": 11}, "line_past_end", {"line_count": 10}),
        (
            {"line_text": "line 1"},
            "ambiguous_line",
            {"lines": [{"line": 1, "text": "line 1"}, {"line": 10, "text": "line 10"}]},
        ),
        ({"line_text": "nowhere"}, "no_such_line", None),
        ({}, "bad_arguments", None),
        ({"line_number": 1, "line_text": "line 1"}, "bad_arguments", None),
        ({"line_number": 1, "hit_condition": "often"}, "bad_hit_condition", None),
        ({"line_number": 1, "hit": "often"}, "bad_arguments", None),
    ],
)
async def test_an_invalid_place_is_refused_and_nothing_is_set(
    tmp_path: Path, given: dict[str, Any], code: str, details: dict[str, Any] | None
) -> None:
    async with opened(tmp_path) as bench:
        answer = await bench.call("set_breakpoint", file_path="app.py", **given)
        listed = await bench.call("get_breakpoints")
    assert (answer["status"], answer["code"], answer.data.get("details")) == ("error", code, details)
    assert answer["message"]
    assert listed["breakpoints"] == []


async def test_a_line_is_found_by_text_that_it_alone_has(tmp_path: Path) -> None:
    async with opened(tmp_path) as bench:
        answer = await bench.call("set_breakpoint", file_path="app.py", line_text="line 7")
    assert answer["breakpoint"]["line"] == 7


@pytest.mark.requirement("debug:set-breakpoint:error-condition-unsupported")
async def test_a_condition_that_the_running_debugger_would_ignore_is_refused(tmp_path: Path) -> None:
    async with opened(tmp_path) as bench:
        bench.adapter.answers["initialize"] = lambda _: {}
        await bench.running()
        answer = await bench.call("set_breakpoint", file_path="app.py", line_number=1, condition="x")
        chinese = await bench.call("set_breakpoint", language="zh", file_path="app.py", line_number=1, condition="x")
        plain = await bench.call("set_breakpoint", file_path="app.py", line_number=1)
    assert answer["code"] == "condition_unsupported"
    assert chinese["message"] == sentence("debug:set-breakpoint:error-condition-unsupported")
    assert plain["status"] == "success"


# remove_breakpoint


@pytest.mark.requirement(
    "debug:remove-breakpoint:tool",
    "debug:remove-breakpoint:sync",
    "debug:remove-breakpoint:param-breakpoint-id",
    "debug:remove-breakpoint:success",
    "debug:remove-breakpoint:message",
    "debug:remove-breakpoint:message-removed",
    "debug:set-breakpoint:id-removes",
)
async def test_a_breakpoint_is_removed_by_its_id_also_from_the_running_debugger(tmp_path: Path) -> None:
    async with opened(tmp_path) as bench:
        await bench.running()
        for line in (1, 2, 3):
            await bench.call("set_breakpoint", file_path="app.py", line_number=line)
        answer = await bench.call("remove_breakpoint", language="zh", breakpoint_id=3)
        left = (await bench.call("get_breakpoints"))["breakpoints"]
        sent = bench.adapter.sent("setBreakpoints")[-1]["breakpoints"]
    assert answer.data == {
        "status": "success",
        "message": sentence("debug:remove-breakpoint:message-removed"),
        "removed": [3],
    }
    assert [it["id"] for it in left] == [1, 2]
    assert [it["line"] for it in sent] == [1, 2]


@pytest.mark.requirement(
    "debug:remove-breakpoint:param-location",
    "debug:remove-breakpoint:location-file-path",
    "debug:remove-breakpoint:location-line-number",
    "debug:remove-breakpoint:location-all-matching",
)
async def test_a_location_removes_the_breakpoints_of_all_clients_in_its_line(tmp_path: Path) -> None:
    async with opened(tmp_path) as bench:
        other = Caller("agent-2", bench.caller.workspace, bench.caller.workspace)
        await bench.call("set_breakpoint", file_path="app.py", line_number=2)
        await bench.call("set_breakpoint", file_path="app.py", line_number=2, column_number=5)
        await bench.call("set_breakpoint", caller=other, file_path="app.py", line_number=2)
        await bench.call("set_breakpoint", file_path="app.py", line_number=3)
        answer = await bench.call("remove_breakpoint", location={"file_path": str(bench.file), "line_number": 2})
        left = (await bench.call("get_breakpoints"))["breakpoints"]
    assert answer["removed"] == [1, 2, 3]
    assert [it["line"] for it in left] == [3]


@pytest.mark.requirement("debug:remove-breakpoint:param-clear-all", "debug:remove-breakpoint:message-cleared")
async def test_clear_all_means_this_workspace(tmp_path: Path) -> None:
    elsewhere = tmp_path / "elsewhere"
    elsewhere.mkdir()
    (elsewhere / "b.py").write_text("x\n")
    async with opened(tmp_path) as bench:
        other = Caller("agent-2", elsewhere, elsewhere)
        await bench.call("set_breakpoint", file_path="app.py", line_number=1)
        await bench.call("set_breakpoint", caller=other, file_path="b.py", line_number=1)
        answer = await bench.call("remove_breakpoint", language="zh", clear_all=True)
        again = await bench.call("remove_breakpoint", clear_all=True)
        kept = await bench.call("get_breakpoints", caller=other)
    assert answer["message"] == sentence("debug:remove-breakpoint:message-cleared")
    assert (answer["removed"], again["status"], again["removed"]) == ([1], "success", [])
    assert [it["id"] for it in kept["breakpoints"]] == [2]


@pytest.mark.requirement(
    "debug:remove-breakpoint:error",
    "debug:remove-breakpoint:exactly-one",
    "debug:remove-breakpoint:error-unknown-id",
    "debug:remove-breakpoint:error-no-breakpoint-there",
)
@pytest.mark.parametrize(
    ("arguments", "code", "words"),
    [
        ({"breakpoint_id": 99}, "unknown_breakpoint", "debug:remove-breakpoint:error-unknown-id"),
        (
            {"location": {"file_path": "app.py", "line_number": 9}},
            "no_breakpoint_there",
            "debug:remove-breakpoint:error-no-breakpoint-there",
        ),
        ({}, "bad_arguments", ""),
        ({"clear_all": False}, "bad_arguments", ""),
        ({"breakpoint_id": 1, "clear_all": True}, "bad_arguments", ""),
        ({"breakpoint_id": 1, "location": {"file_path": "app.py", "line_number": 1}}, "bad_arguments", ""),
        ({"location": {"file_path": "app.py"}}, "bad_arguments", ""),
        ({"location": {"line_number": 1}}, "bad_arguments", ""),
    ],
)
async def test_what_cannot_be_removed_is_an_error_and_removes_nothing(
    tmp_path: Path, arguments: dict[str, Any], code: str, words: str
) -> None:
    async with opened(tmp_path) as bench:
        await bench.call("set_breakpoint", file_path="app.py", line_number=1)
        answer = await bench.call("remove_breakpoint", language="zh", **arguments)
        left = await bench.call("get_breakpoints")
    assert (answer["status"], answer["code"]) == ("error", code)
    assert not words or answer["message"] == sentence(words)
    assert len(left["breakpoints"]) == 1


# get_breakpoints


@pytest.mark.requirement(
    "debug:get-breakpoints:tool",
    "debug:get-breakpoints:sync",
    "debug:get-breakpoints:no-parameters",
    "debug:get-breakpoints:success",
    "debug:get-breakpoints:timestamp",
    "debug:get-breakpoints:list",
    "debug:get-breakpoints:item-id",
    "debug:get-breakpoints:item-source",
    "debug:get-breakpoints:item-line",
    "debug:get-breakpoints:no-item-timestamp",
    "debug:get-breakpoints:example",
    "debug:timestamp:on-breakpoint-list",
)
async def test_the_list_has_the_documented_shape_and_one_timestamp(tmp_path: Path) -> None:
    async with opened(tmp_path) as bench:
        bench.caller = replace(bench.caller, is_agent=True)
        await bench.call("set_breakpoint", file_path="app.py", line_number=1)
        await bench.call("set_breakpoint", file_path="app.py", line_number=3, condition="count > 10")
        bench.clock.advance(1.5)
        answer = await bench.call("get_breakpoints")
    common = {"kind": "line", "verified": False, "enabled": True, "source": {"path": str(bench.file)}}
    assert answer.data == {
        "status": "success",
        "timestamp": "2023-11-14T22:13:21.500Z",
        "breakpoints": [{"id": 1, **common, "line": 1}, {"id": 2, **common, "line": 3, "condition": "count > 10"}],
    }
    assert answer.text.splitlines() == [
        "breakpoint 1 set app.py:1; waits for a session",
        "breakpoint 2 set app.py:3; waits for a session; if: count > 10",
    ]


async def test_only_people_see_by_its_id_who_set_a_breakpoint(tmp_path: Path) -> None:
    async with opened(tmp_path) as bench:
        await bench.call("set_breakpoint", file_path="app.py", line_number=1)
        person = replace(bench.caller, id="page", is_agent=False)
        for_person = await bench.call("get_breakpoints", caller=person)
        for_agent = await bench.call("get_breakpoints", caller=replace(person, is_agent=True))
    assert [it.get("owner") for it in for_person["breakpoints"]] == ["agent-1"]
    assert [it.get("owner") for it in for_agent["breakpoints"]] == [None]


@pytest.mark.requirement("debug:get-breakpoints:error")
async def test_a_list_asked_for_with_parameters_is_an_error_in_the_common_shape(tmp_path: Path) -> None:
    async with opened(tmp_path) as bench:
        answer = await bench.call("get_breakpoints", all=True)
        empty = await bench.call("get_breakpoints", language="zh")
    assert (answer["status"], answer["code"], answer["state"]) == ("error", "bad_arguments", "Idle")
    assert "all: Extra inputs are not permitted" in answer["message"]
    assert empty.text == "此工作区没有断点。"


@pytest.mark.requirement("debug:get-breakpoints:error-adapter")
async def test_what_an_adapter_out_of_reach_concerns_is_reported_in_the_documents_words(tmp_path: Path) -> None:
    async with opened(tmp_path) as bench:
        await bench.started()
        answer = bench.adapter.answers["setBreakpoints"]
        silent = DragomanError("adapter_silent", localize("{text}", text="no answer"))
        bench.adapter.answers["setBreakpoints"] = lambda _: silent
        set_ = await bench.call("set_breakpoint", language="zh", file_path="app.py", line_number=3)
        listed = await bench.call("get_breakpoints", language="zh")
        bench.adapter.answers["setBreakpoints"] = answer
        await bench.call("set_breakpoint", file_path="app.py", line_number=4)
        again = await bench.call("get_breakpoints")
    assert set_["breakpoint"]["message"] == sentence("debug:get-breakpoints:error-adapter")
    assert [it["message"] for it in listed["breakpoints"]] == [sentence("debug:get-breakpoints:error-adapter")]
    assert [(it["verified"], "message" in it) for it in again["breakpoints"]] == [(True, False)] * 2


async def test_the_lines_of_breakpoints_are_in_the_readers_language(tmp_path: Path) -> None:
    async with opened(tmp_path) as bench:
        first = await bench.call("set_breakpoint", language="zh", file_path="app.py", line_number=4, condition="n > 1")
        listed = await bench.call("get_breakpoints", language="zh")
        bench.adapter.answers["setBreakpoints"] = lambda _: {"breakpoints": [{"id": 9, "verified": False, "line": 0}]}
        await bench.started()
        unbound = await bench.call("get_breakpoints", language="zh")
    assert first.text == listed.text == "断点 1 已设置 app.py:4；等待会话；条件：n > 1"
    assert unbound.text == "断点 1 未验证 app.py:4；条件：n > 1；调试器：这一行没有代码。"


@pytest.mark.parametrize(
    "result",
    [
        DragomanError("adapter_gone", localize("{text}", text="it is ending")),
        AdapterRefusedError("setBreakpoints", "it is ending"),
        {"breakpoints": [{"id": 9, "verified": False, "message": "it is ending"}]},
        {"breakpoints": [{"id": 9, "verified": True, "line": 3}]},
    ],
)
async def test_a_breakpoint_set_right_after_an_end_carries_nothing_of_the_dying_session(
    tmp_path: Path, result: object
) -> None:
    """Its debugger takes its time over `disconnect`, and has a last word on breakpoints meanwhile."""
    left = anyio.Event()
    async with opened(tmp_path) as bench:
        await bench.started()
        bench.adapter.answers |= {"setBreakpoints": lambda _: result, "disconnect": lambda _: left}
        await bench.call("stop_debugging")
        await until(lambda: bench.adapter.sent("disconnect"))
        asked = len(bench.adapter.sent("setBreakpoints"))
        answer = await bench.call("set_breakpoint", file_path="app.py", line_number=3, condition="n > 1")
        listed = await bench.call("get_breakpoints")
        [session] = bench.service.registry.sessions(bench.caller)
        state = session.state
        left.set()
    assert state is SessionState.TERMINATING
    assert answer.text == listed.text == "breakpoint 1 set app.py:3; waits for a session; if: n > 1"
    for shown in (answer["breakpoint"], listed["breakpoints"][0]):
        assert (shown["verified"], "message" in shown) == (False, False)
    assert len(bench.adapter.sent("setBreakpoints")) == asked
