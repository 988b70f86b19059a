"""get_debugger_configurations, list_sessions, get_output."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path
from typing import Any

import anyio
import anyio.lowlevel
import pytest

from dragoman.core.errors import DragomanError
from dragoman.core.localization import localize
from dragoman.debug.launch import LaunchNote, list_configurations
from dragoman.debug.model import SessionState
from dragoman.tools.debug import ConfigurationReader
from dragoman.workspace.caller import Caller
from tests.tools.tool_fixture import Bench, opened, until

pytestmark = pytest.mark.anyio

OFFERED: list[dict[str, Any]] = [
    {
        "name": "Python: 当前文件",
        "type": "python",
        "request": "launch",
        "program": "${file}",
        "console": "integratedTerminal",
    },
    {
        "name": "Node: Attach by Process ID",
        "type": "node",
        "request": "attach",
        "processId": "${command:PickProcess}",
        "protocol": "inspector",
    },
]


@pytest.mark.requirement(
    "debug:configurations:sync",
    "debug:configurations:no-parameters",
    "debug:configurations:success",
    "debug:configurations:list",
    "debug:configurations:name",
    "debug:configurations:type",
    "debug:configurations:request",
    "debug:configurations:other-fields",
    "debug:configurations:example",
    "debug:configurations:workspace",
)
async def test_configurations_are_given_as_written_with_every_key(tmp_path: Path) -> None:
    async with opened(tmp_path) as bench:
        bench.listing.configurations = OFFERED
        answer = await bench.call("get_debugger_configurations")
        empty = bench.listing.configurations = []
        none = await bench.call("get_debugger_configurations")
    assert answer.data == {"status": "success", "configurations": OFFERED}
    assert answer.text.splitlines() == [
        "  Python: 当前文件 (python launch)",
        "  Node: Attach by Process ID (node attach)",
    ]
    assert none["configurations"] == empty
    assert none.text == "launch.json has no configurations."


async def test_compounds_and_entries_that_cannot_be_started_are_reported_besides(tmp_path: Path) -> None:
    async with opened(tmp_path) as bench:
        bench.listing.compounds = [{"name": "Both", "configurations": ["a", "b"]}]
        bench.listing.problems = [DragomanError("bad_launch_json", localize("{text}", text="line 3\x1b"))]
        answer = await bench.call("get_debugger_configurations")
    assert answer["compounds"] == bench.listing.compounds
    assert answer["problems"] == [{"code": "bad_launch_json", "message": r"line 3\x1b"}]
    assert answer.text.splitlines() == ["  Both (compound)", r"problem: line 3\x1b"]


@pytest.mark.requirement("debug:configurations:error")
async def test_a_launch_file_that_cannot_be_used_is_an_error_with_its_details(tmp_path: Path) -> None:
    async with opened(tmp_path) as bench:
        bench.listing.refuses = DragomanError(
            "no_launch_json", localize("{text}", text="none"), hint=localize("{text}", text="do")
        )
        answer = await bench.call("get_debugger_configurations")
    assert answer.data == {
        "status": "error",
        "message": "none",
        "code": "no_launch_json",
        "hint": "do",
        "state": "Idle",
    }


def test_what_reads_launch_files_fits_here() -> None:
    fitting: ConfigurationReader = list_configurations
    assert callable(fitting)


@pytest.mark.requirement(
    "debug:session-state:running",
    "debug:session-state:stopped",
    "debug:session-state:terminated",
    "debug:session-state:inferable",
)
async def test_sessions_are_listed_with_their_states_and_the_active_one_is_marked(tmp_path: Path) -> None:
    async with opened(tmp_path, adapters=3) as bench:
        first, second, _ = bench.adapters
        one = await bench.running()
        first.emit("exited", exitCode=4)
        first.die()
        await bench.call("wait_for_stop")
        second.when("configurationDone", second.stop)
        two = await bench.call("start_debugging", program="app.py")
        bench.clock.advance(1)
        three = await bench.running()
        answer = await bench.call("list_sessions")
        other = await bench.call("list_sessions", caller=Caller("x", tmp_path, tmp_path))
    shown = [(it["session_id"], it["state"], it["active"]) for it in answer["sessions"]]
    assert shown == [
        (one["session_id"], "Terminated", False),
        (two["session_id"], "Stopped", False),
        (three["session_id"], "Running", True),
    ]
    ended, halted, live = answer["sessions"]
    assert (ended["exit_code"], halted["stop_number"], halted["thread_id"]) == (4, 1, 1)
    assert live == {
        "session_id": three["session_id"],
        "name": "app.py",
        "state": "Running",
        "since": "2023-11-14T22:13:21.000Z",
        "active": True,
        "threads": [{"thread_id": 1, "name": "main", "state": "running"}],
        "total_threads": 1,
    }
    assert (
        answer.text.splitlines()[0] == f"  {one['session_id']} Terminated exit 4 since 2023-11-14T22:13:20.000Z: app.py"
    )
    assert other["sessions"] == []
    assert other.text == "No debug sessions in this workspace."


async def test_output_is_read_from_a_cursor_by_kind_and_says_what_is_missing(tmp_path: Path) -> None:
    async with opened(tmp_path) as bench:
        await bench.running()
        bench.adapter.emit("output", output="one\n", category="stdout")
        bench.adapter.emit("output", output="oops\n", category="stderr")
        bench.adapter.stop("pause")
        await bench.call("wait_for_stop")
        first = await bench.call("get_output")
        errors = await bench.call("get_output", category="stderr")
        short = await bench.call("get_output", max_chars=3)
        bench.adapter.emit("output", output="two\x1b[0m\n", category="stdout")
        bench.adapter.when("continue", bench.adapter.die)
        await bench.call("continue_debugging")
        rest = await bench.call("get_output", cursor=first["cursor"])
    assert (first["output"], first["cursor"], first["missed"]) == ("one\noops\n", 9, 0)
    assert errors["output"] == "oops\n"
    assert (short["output"], short["missed"]) == ("ps\n", 6)
    assert (rest["output"], rest["state"]) == ("two\\x1b[0m\n", "Terminated")
    assert rest.text.splitlines()[1:] == ["  | two\\x1b[0m"]


async def test_output_is_read_on_page_by_page_and_nothing_of_it_is_cut(tmp_path: Path) -> None:
    printed = "".join(f"line {number}\n" for number in range(200)) + "\x1b" * 50
    async with opened(tmp_path) as bench:
        bench.adapter.emit("output", output=printed, category="stdout")
        await bench.started()
        page = await bench.call("get_output", cursor=0, max_chars=100)
        assert page.text.splitlines()[-1] == f"{page['left']} more characters: read on with the cursor."
        read = page["output"]
        while page["left"]:
            page = await bench.call("get_output", cursor=page["cursor"], max_chars=100)
            assert len(page["output"]) <= 100
            read += page["output"]
    assert read == printed.replace("\x1b", "\\x1b")


async def test_output_of_nothing_is_an_error(tmp_path: Path) -> None:
    async with opened(tmp_path) as bench:
        answer = await bench.call("get_output")
    assert (answer["code"], answer["state"]) == ("no_session", "Idle")


@pytest.mark.requirement("debug:session-state:starting", "debug:session-state:terminating")
async def test_a_session_is_seen_starting_and_terminating(tmp_path: Path) -> None:
    async def states() -> list[str]:
        return [it["state"] for it in (await bench.call("list_sessions"))["sessions"]]

    async def reach(state: str) -> None:
        with anyio.fail_after(5):
            while await states() != [state]:
                await anyio.lowlevel.checkpoint()

    async with opened(tmp_path) as bench:
        go_on = anyio.Event()
        launch = bench.adapter.request

        async def slowly(command: str, arguments: Any = None, *, timeout_s: float) -> Any:
            if command in {"launch", "disconnect"}:
                await go_on.wait()
            return await launch(command, arguments, timeout_s=timeout_s)

        bench.adapter.request = slowly  # type: ignore[method-assign]
        async with anyio.create_task_group() as group:
            group.start_soon(bench.running)
            await reach("Starting")
            go_on.set()
        await reach("Running")
        go_on = anyio.Event()
        answer = await bench.call("stop_debugging")
        await reach("Terminating")
        go_on.set()
        await reach("Terminated")
    assert answer["status"] == "success"


async def test_the_first_answer_has_notes_on_how_the_configuration_was_taken(tmp_path: Path) -> None:
    async with opened(tmp_path, adapters=2) as bench:
        misspelt = localize("Not a variable; left unchanged. Did you mean {likely}?", likely="workspaceFolder")
        bench.starter.notes = (LaunchNote(misspelt, "${workspaceFoldr}"),)
        first = await bench.started()
        bench.adapters[1].when("configurationDone", lambda: bench.adapters[1].stop("breakpoint"))
        next_one = await bench.call("step_execution", step_type="over", wait=False)
        again = await bench.call("restart_debugging", language="zh")
    message = "Not a variable; left unchanged. Did you mean workspaceFolder?"
    assert first["notes"] == [{"message": message, "about": "${workspaceFoldr}"}]
    assert first.text.splitlines()[-2:] == [message, "  | ${workspaceFoldr}"]
    assert "notes" not in next_one.data
    assert again["notes"][0]["message"] == "这不是变量，按原样保留；是不是想写 workspaceFolder？"


async def test_of_sessions_that_have_ended_the_newest_are_listed(tmp_path: Path) -> None:
    async with opened(tmp_path, adapters=13) as bench:
        ids = []
        for adapter in bench.adapters[:12]:
            ids.append((await bench.running())["session_id"])
            adapter.emit("exited", exitCode=0)
            adapter.die()
            await bench.call("wait_for_stop", session_id=ids[-1])
            bench.clock.advance(1)
        live = await bench.running()
        answer = await bench.call("list_sessions")
        ended = await bench.call("get_output", session_id=ids[0])
    assert [it["session_id"] for it in answer["sessions"]] == [*ids[2:], live["session_id"]]
    assert (answer["ended_left_out"], ended["status"]) == (2, "success")
    assert answer.text.splitlines()[-1] == "2 older ended sessions are not listed."


async def test_a_call_without_a_session_means_the_one_shown_last(tmp_path: Path) -> None:
    async with opened(tmp_path, adapters=2) as bench:
        first, second = bench.adapters
        bench.starter.together = 2
        second.when("configurationDone", lambda: second.stop("breakpoint"))
        start = await bench.call("start_debugging", program="app.py")
        bench.clock.advance(1)
        first.stop("breakpoint")
        other = start["other_sessions"][0]["session_id"]
        await bench.call("wait_for_stop", session_id=other)
        bench.clock.advance(1)
        await bench.call("evaluate_expression", expression="1", session_id=start["session_id"])
        bench.clock.advance(1)
        first.emit("continued", threadId=1)  # by itself, later than the stop that was told
        await until_running(bench, other)
        second.when("continue", second.stop)
        went_on = await bench.call("continue_debugging")
    assert went_on["session_id"] == start["session_id"]


async def until_running(bench: Bench, id: str) -> None:
    (session,) = (it for it in bench.service.registry.sessions(bench.caller) if it.id == id)
    while session.state is not SessionState.RUNNING:
        await anyio.lowlevel.checkpoint()


async def test_ending_one_names_those_that_are_left_and_starting_one_those_that_are_there(tmp_path: Path) -> None:
    async with opened(tmp_path, adapters=2) as bench:
        older = await bench.started()
        bench.clock.advance(1)
        newer = await bench.running()
        refused = await bench.call("continue_debugging")
        ended = await bench.call("stop_debugging")
        bench.adapters[0].when("continue", bench.adapters[0].stop)
        went_on = await bench.call("continue_debugging")
    left = {"session_id": older["session_id"], "name": "app.py", "state": "Stopped"}
    assert newer["live_sessions"] == ended["live_sessions"] == [left]
    assert f"also active: {older['session_id']} Stopped app.py" in newer.text
    assert (ended["session_id"], ended["name"]) == (newer["session_id"], "app.py")
    assert f"session: {newer['session_id']} app.py" in ended.text
    assert refused.text.startswith("not_stopped: ")
    assert f"({newer['session_id']}, Running)" in refused.text
    assert went_on["session_id"] == older["session_id"]


async def test_a_stop_that_was_never_shown_is_not_acted_on(tmp_path: Path) -> None:
    async with opened(tmp_path, adapters=2) as bench:
        first, second = bench.adapters
        bench.starter.together = 2
        first.when("configurationDone", lambda: first.stop("breakpoint"))
        start = await bench.call("start_debugging", program="app.py")
        bench.clock.advance(1)
        second.stop("breakpoint")  # later, and this client does not know
        hidden = start["other_sessions"][0]["session_id"]
        await until_stopped(bench, hidden)
        ended = await bench.call("stop_debugging")
        await until(lambda: first.ended)
        left = await bench.call("wait_for_stop")
    assert ended["session_id"] == start["session_id"]
    assert left["session_id"] == hidden  # the only one


@pytest.mark.parametrize("other", [{"id": "agent-2"}, {"conversation": "another one of the same chat"}])
async def test_of_several_sessions_that_a_client_was_never_shown_it_must_name_one(
    tmp_path: Path, other: dict[str, Any]
) -> None:
    async with opened(tmp_path, adapters=2) as bench:
        first, second = bench.adapters
        stopped = await bench.started()
        running = await bench.running()
        stranger = replace(bench.caller, **other)
        calls: dict[str, dict[str, Any]] = {
            "continue_debugging": {},
            "step_execution": {"step_type": "over"},
            "stop_debugging": {},
            "pause_debugging": {},
            "restart_debugging": {},
            "wait_for_stop": {},
            "get_scopes": {},
            "get_output": {},
            "evaluate_expression": {"expression": "1"},
            "set_variable": {"name": "x", "value": "1"},
        }
        refused = [await bench.call(tool, caller=stranger, **more) for tool, more in calls.items()]
        listed = await bench.call("list_sessions", caller=stranger)
        named = await bench.call("get_output", caller=stranger, session_id=stopped["session_id"])
        meant = await bench.call("get_output", caller=stranger)
    assert {it["code"] for it in refused} == {"which_session"}
    assert all("state" not in it.data and "session_id" not in it.data for it in refused)
    assert refused[0]["details"]["sessions"] == [
        {
            "session_id": stopped["session_id"], "name": "app.py", "state": "Stopped", "stop_number": 1,
            "reason": "breakpoint", "at": f"{bench.file}:5", "function_name": "total",
        },
        {"session_id": running["session_id"], "name": "app.py", "state": "Running"},
    ]  # fmt: skip
    assert f"session_id: {stopped['session_id']}, name: app.py, state: Stopped, stop_number: 1" in refused[0].text
    assert [it["active"] for it in listed["sessions"]] == [False, False]
    assert named["session_id"] == meant["session_id"] == stopped["session_id"]
    assert first.sent("continue") == first.sent("next") == second.sent("pause") == []


async def until_stopped(bench: Bench, id: str) -> None:
    (session,) = (it for it in bench.service.registry.sessions(bench.caller) if it.id == id)
    await until(lambda: session.state is SessionState.STOPPED)


@pytest.mark.parametrize(("tool", "more"), [("step_execution", {"step_type": "over"}), ("continue_debugging", {})])
async def test_a_step_on_a_session_that_is_still_starting_is_answered_at_once(
    tmp_path: Path, tool: str, more: dict[str, Any]
) -> None:
    async with opened(tmp_path) as bench:
        bench.adapter.answers["launch"] = lambda _: None
        started = await bench.call("start_debugging", program="app.py", timeout_s=0.1)
        with anyio.fail_after(1):
            refused = await bench.call(tool, timeout_s=30, **more)
    assert (started["state"], refused["code"], refused["state"]) == ("Starting", "not_stopped", "Starting")
    assert refused["hint"] == "Still starting: wait_for_stop waits again, stop_debugging ends it."
