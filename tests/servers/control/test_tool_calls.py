"""The role `tools` of the daemon's socket: operations of the toolbox for who has only a shell."""

from __future__ import annotations

import contextlib
import json
import socket
from collections.abc import AsyncIterator, Callable
from pathlib import Path
from typing import Any

import anyio
import anyio.to_thread
import pytest

from dragoman.core.errors import DragomanError
from dragoman.core.localization import localize
from dragoman.core.paths import find_paths
from dragoman.io.drivers.control_client import ControlClient
from dragoman.protocols.control import LINE_CAP
from dragoman.servers.control.shell_text import shell_lines
from dragoman.servers.control.tool_calls import MAX_OPEN_CALLS
from dragoman.tools import ToolOutcome
from dragoman.tools.debug.results import DebugFailure
from dragoman.tools.debug.sessions import OutputResult
from dragoman.tools.debug.wait_results import CONTINUING, WaitRequest
from tests.daemons import daemon_here

pytestmark = pytest.mark.anyio


@pytest.fixture
async def shell(tmp_path: Path) -> AsyncIterator[Callable[[str, dict[str, Any]], Any]]:
    """Calls like the command line: blocking, from another thread than the daemon's."""
    async with daemon_here():
        about = {"workspace": str(tmp_path), "cwd": str(tmp_path), "environment": {}}
        link = await anyio.to_thread.run_sync(lambda: ControlClient.open(find_paths(), role="tools", about=about))

        async def ask(method: str, params: dict[str, Any]) -> Any:
            return await anyio.to_thread.run_sync(lambda: link.call(method, params))

        with link:
            yield ask


async def test_a_tool_answers_with_its_structure_and_its_lines(shell: Any, tmp_path: Path) -> None:
    (tmp_path / "a.py").write_text("x = 1\n")
    answer = await shell("call", {"tool": "set_breakpoint", "arguments": {"file_path": "a.py", "line_number": 1}})
    assert (answer["is_error"], answer["data"]["status"]) == (False, "success")
    assert answer["data"]["breakpoint"]["source"]["path"] == f"{tmp_path}/a.py"
    assert "a.py:1" in answer["lines"][0]


async def test_what_a_tool_refuses_is_an_answer_and_not_a_failure_of_the_call(shell: Any) -> None:
    answer = await shell("call", {"tool": "step_execution", "arguments": {"step_type": "over"}})
    assert (answer["is_error"], answer["data"]["status"], answer["data"]["code"]) == (True, "error", "no_session")
    assert "`dragoman debug`" in "\n".join(answer["lines"])
    assert "start_debugging" in answer["data"]["hint"]


@pytest.mark.parametrize(
    ("method", "params", "code"),
    [
        ("nope", {}, "unknown_method"),
        ("call", {}, "bad_request"),
        ("call", {"tool": 3}, "bad_request"),
        ("call", {"tool": "get_breakpoints", "arguments": []}, "bad_request"),
        ("call", {"tool": "nope"}, "unknown_tool"),
        ("run", {"breakpoints": {}}, "bad_request"),
        ("run", {"breakpoints": [3]}, "bad_request"),
        ("run", {"start": []}, "bad_request"),
    ],
)
async def test_a_bad_call_fails_alone_and_the_connection_stays_open(
    shell: Any, method: str, params: dict[str, Any], code: str
) -> None:
    with pytest.raises(DragomanError) as failed:
        await shell(method, params)
    assert failed.value.code == code
    assert (await shell("stop_waiting", {}))["count"] == 0


async def test_breakpoints_of_a_run_that_came_to_nothing_are_gone(shell: Any, tmp_path: Path) -> None:
    (tmp_path / "a.py").write_text("x = 1\n")
    wanted = {"breakpoints": [{"file_path": "a.py", "line_number": 1}], "start": {"program": "none.py"}}
    failed = await shell("run", wanted)
    assert failed["is_error"]
    with anyio.fail_after(5):
        while (await shell("call", {"tool": "get_breakpoints"}))["data"]["breakpoints"]:  # noqa: ASYNC110
            await anyio.sleep(0.01)


async def test_a_refused_breakpoint_starts_nothing(shell: Any, tmp_path: Path) -> None:
    (tmp_path / "a.py").write_text("open('ran', 'w')\n")
    wanted = {"breakpoints": [{"file_path": "a.py", "line_number": 99}], "start": {"program": "a.py"}}
    refused = await shell("run", wanted)
    assert refused["data"]["code"] == "line_past_end"
    assert (await shell("call", {"tool": "list_sessions"}))["data"]["sessions"] == []
    assert not (tmp_path / "ran").exists()


async def test_more_open_calls_than_allowed_end_the_connection(shell: Any, tmp_path: Path) -> None:
    """Waits of this connection would be broken off, and there are none: each of these calls stays open."""
    hello = {"dragoman": 1, "role": "tools", "version": "test", "about": {"workspace": str(tmp_path)}}
    calls = [{"id": n, "method": "stop_waiting", "params": {"own": True}} for n in range(1, MAX_OPEN_CALLS + 3)]
    data = b"".join(json.dumps(line).encode() + b"\n" for line in (hello, *calls))
    last = await anyio.to_thread.run_sync(_last_line, data)
    assert (last["id"], last["error"]["code"]) == (0, "too_many_calls")


@pytest.mark.parametrize(
    ("garbage", "code"),
    [
        (b"nonsense\n", "not_json"),
        (b"[]\n", "not_an_object"),
        (b'{"id": "x", "method": "call"}\n', "bad_field"),
        (b'{"id": 1, "method": "call", "params": []}\n', "bad_field"),
        (b"x" * (LINE_CAP + 2), "line_too_long"),
    ],
)
async def test_a_caller_that_breaks_the_protocol_gets_an_error_and_is_disconnected(
    shell: Any, garbage: bytes, code: str
) -> None:
    hello = json.dumps({"dragoman": 1, "role": "tools", "version": "test"}).encode() + b"\n"
    last = await anyio.to_thread.run_sync(_last_line, hello + garbage)
    assert (last["id"], last["error"]["code"]) == (0, code)
    assert (await shell("stop_waiting", {}))["count"] == 0, "others are not disturbed"


async def test_nothing_of_the_environment_reaches_the_log_or_the_record(tmp_path: Path) -> None:
    """Also not where a call fails: what a caller sends with its hello is for its programs alone."""
    secret = "hunter2-of-the-caller"
    async with daemon_here():
        about = {"workspace": str(tmp_path), "cwd": str(tmp_path), "environment": {"SECRET": secret}}

        def ask() -> None:
            with ControlClient.open(find_paths(), role="tools", about=about) as link:
                for params in ({"tool": "start_debugging", "arguments": {"program": "none.py"}}, {"tool": 3}):
                    with contextlib.suppress(DragomanError):
                        link.call("call", params)

        await anyio.to_thread.run_sync(ask)
    files = [path for path in find_paths().state.rglob("*") if path.is_file()]
    assert files
    assert not [path for path in files if secret.encode() in path.read_bytes()]


def _last_line(data: bytes) -> dict[str, Any]:
    with socket.socket(socket.AF_UNIX) as sock:
        sock.settimeout(10)
        sock.connect(str(find_paths().socket))
        sock.sendall(data)
        lines = list(sock.makefile())
    value: dict[str, Any] = json.loads(lines[-1])
    return value


# In the words of a shell.


def _shown(*lines: Any, language: Any = "en") -> list[str]:
    data = OutputResult(session_id="", state="", output="", cursor=0, missed=0, left=0)
    return shell_lines(ToolOutcome(lines, data), language)


def test_tools_that_our_sentences_name_become_commands() -> None:
    sentence = localize(
        "The program is running: wait_for_stop waits again, pause_debugging pauses it, stop_debugging ends it."
    )
    (line,) = _shown(sentence)
    assert line.startswith(
        "The program is running: `dragoman debug wait` waits again, `dragoman debug pause` pauses it"
    )
    assert "`dragoman debug wait`" in _shown(sentence, language="zh")[0]


def test_advice_for_impatient_clients_is_left_out() -> None:
    hint = WaitRequest(CONTINUING, timeout_s=600).hint
    assert hint is not None
    assert _shown(localize("State: {state}", state="Running"), hint) == ["State: Running"]


def test_what_a_program_says_keeps_its_words_and_its_braces() -> None:
    sentence = "  | call stop_debugging {now} {0}"
    assert _shown(localize("{text}", text=sentence)) == [sentence]


def test_an_error_names_commands_and_keeps_the_debuggers_words_apart() -> None:
    failure = DebugFailure(
        status="error",
        code="no_session",
        message="None.",
        hint="Call start_debugging.",
        debugger_says="a\nstop_debugging",
    )
    assert shell_lines(ToolOutcome([], failure, is_error=True), "en") == [
        "no_session: None.",
        "  Call `dragoman debug`.",
        "  debugger says: stop_debugging",
    ]


def test_the_output_of_a_compiler_is_reported_whole_line_by_line() -> None:
    entries = ["drops.c:19:13: error: " + "x" * 500, "   19 | \tint broken"]
    details = {"exit_code": 1, "last_lines": entries}
    failure = DebugFailure(status="error", code="task_failed", message="It failed.", details=details)
    assert shell_lines(ToolOutcome([], failure, is_error=True), "en") == [
        "task_failed: It failed.",
        "  exit_code: 1",
        "  last_lines:",
        f"    {entries[0]}",
        f"    {entries[1].expandtabs(4)}",
    ]
