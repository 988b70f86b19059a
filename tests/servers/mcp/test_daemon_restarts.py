"""The daemon dies, restarts, hangs or may not start, while a client continues to call."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import time
from collections.abc import Iterator
from functools import partial
from itertools import product
from pathlib import Path
from typing import Any

import psutil
import pytest

from dragoman import __version__
from dragoman.core.errors import DragomanError
from tests.daemons import PATIENCE, Cli, call, cli_with_home, daemons_of, eventually
from tests.servers.mcp.conftest import ANY_PORT
from tests.servers.mcp.http_clients import modern_request, wire_of
from tests.servers.mcp.mcp_fixture import closing_at_once, serving
from tests.servers.mcp.raw_client import RawClient, introduction, raw_client
from tests.sizes import sized


@pytest.fixture(scope="module")
def house(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Cli]:
    with cli_with_home(tmp_path_factory.mktemp("h"), ANY_PORT) as cli:
        yield cli


@pytest.fixture
def cli(house: Cli) -> Iterator[Cli]:
    """One home for all who neither count its events nor change its settings; whether a daemon is up is left open."""
    yield house
    eventually(lambda: nobody_is_linked(house))


def nobody_is_linked(cli: Cli) -> bool:
    try:
        return not call(cli.paths, "status")["links"]["mcp"]
    except DragomanError:
        return not daemons_of(cli.home)


@pytest.fixture
def fresh(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Cli]:
    with cli_with_home(tmp_path_factory.mktemp("h"), dict(ANY_PORT)) as cli:
        yield cli


def pid_of(client: RawClient) -> int:
    return int(client.call("dragoman_status")["structuredContent"]["pid"])


def code_of(answer: dict[str, Any]) -> str:
    return str(answer["error"]["data"]["code"])


def test_killed_during_an_open_call_it_is_reported_and_the_next_call_works(cli: Cli) -> None:
    with raw_client(cli) as client:
        client.initialize()
        first = pid_of(client)
        os.kill(first, signal.SIGSTOP)
        open_call = client.begin_call("dragoman_status")
        eventually(client.is_idle)
        kill(first)
        result = client.answer(open_call)
        assert (result["error"]["code"], code_of(result)) == (-32010, "daemon_restarted")
        assert "may or may not have taken effect" in result["error"]["message"]
        assert pid_of(client) != first
        assert client.silent(0.05)
        assert client.leave() == 0


def kill(pid: int) -> None:
    """And wait until it is dead to its last thread: before that its socket still takes what it will never answer."""
    os.kill(pid, signal.SIGKILL)
    eventually(lambda: is_dead(pid))


def is_dead(pid: int) -> bool:
    try:
        process = psutil.Process(pid)
        return process.status() == psutil.STATUS_ZOMBIE and len(list(Path(f"/proc/{pid}/task").iterdir())) == 1
    except (psutil.NoSuchProcess, FileNotFoundError):
        return True


def test_killed_again_and_again_every_next_call_works(cli: Cli) -> None:
    with raw_client(cli) as client:
        client.initialize()
        seen = set()
        for _ in range(2):
            seen.add(pid := pid_of(client))
            kill(pid)
        assert len(seen | {pid_of(client)}) == 3


def test_killed_before_it_answered_the_handshake_the_next_one_answers(cli: Cli) -> None:
    cli("up")
    pid = cli.status()["pid"]
    with raw_client(cli) as client:
        eventually(lambda: call(cli.paths, "status")["links"]["mcp"])
        os.kill(pid, signal.SIGSTOP)
        asked = client.request("initialize", introduction("2025-06-18"))
        eventually(client.is_idle)
        kill(pid)
        assert client.answer(asked)["result"]["protocolVersion"] == "2025-06-18"
        client.send({"jsonrpc": "2.0", "method": "notifications/initialized"})
        assert pid_of(client) != pid


def test_a_restart_under_a_live_client_is_not_noticed_by_its_next_call(cli: Cli) -> None:
    with raw_client(cli) as client:
        client.initialize()
        first = pid_of(client)
        assert cli("restart").returncode == 0
        eventually(lambda: call(cli.paths, "status")["links"]["mcp"] == 1)
        assert pid_of(client) == cli.status()["pid"] != first
        assert client.silent(0.05)


def test_a_call_in_the_middle_of_a_restart_goes_to_the_daemon_that_was_started(cli: Cli) -> None:
    with raw_client(cli) as client:
        client.initialize()
        first = pid_of(client)
        restart = cli.begin("restart")
        eventually(lambda: is_dead(first) or not cli.paths.socket.exists())
        assert pid_of(client) != first
        assert restart.wait(20 * PATIENCE) == 0
        restart.communicate()
        assert len(daemons_of(cli.home)) == 1


def test_after_an_end_on_purpose_no_daemon_is_started_until_the_client_speaks(cli: Cli) -> None:
    with raw_client(cli) as client:
        client.initialize()
        assert cli("down").returncode == 0
        assert client.silent(1.0)
        assert daemons_of(cli.home) == []
        assert pid_of(client) == cli.status()["pid"]


GOES, ERAS = ("killed", "restarted"), ("with a handshake", "without")


@pytest.mark.parametrize(("goes", "era"), sized(brief=[*zip(GOES, ERAS, strict=True)], soak=[*product(GOES, ERAS)]))
def test_a_debug_session_ends_with_its_daemon_and_the_agent_learns_it(
    cli: Cli, tmp_path: Path, goes: str, era: str
) -> None:
    (tmp_path / "app.py").write_text("x = 1\nprint(x)\n")
    with raw_client(cli, "--workspace", str(tmp_path)) as client:
        if era == "with a handshake":
            client.initialize()
        tool = partial(called, client, era)
        tool("set_breakpoint", file_path="app.py", line_number=2)
        session_id = tool("start_debugging", program="app.py")["session_id"]
        kill(cli.status()["pid"]) if goes == "killed" else cli("restart", "--yes")
        for arguments in ({"session_id": session_id}, {}):
            refused = tool("continue_debugging", **arguments)
            assert refused["code"] in {"unknown_session", "no_session"}
            assert refused["hint"].startswith("The daemon restarted after you connected")
        assert [it["line"] for it in tool("get_breakpoints")["breakpoints"]] == [2]
        again = tool("start_debugging", program="app.py")
        assert again["status"] == "stopped"
        assert "restarted" not in tool("evaluate_expression", expression="(")["message"]
        assert tool("continue_debugging")["status"] == "completed"


def called(client: RawClient, era: str, tool: str, **arguments: Any) -> dict[str, Any]:
    meta = {} if era == "with a handshake" else modern_request("tools/call")[0]["params"]
    answer = client.ask("tools/call", {**meta, "name": tool, "arguments": arguments})
    content: dict[str, Any] = answer["result"]["structuredContent"]
    return content


def test_without_a_restart_nobody_speaks_of_one(cli: Cli) -> None:
    with raw_client(cli) as client:
        client.initialize()
        assert called(client, "with a handshake", "continue_debugging")["hint"] == "Start one with start_debugging."


@pytest.mark.parametrize("goes", ["killed", "restarted"])
def test_over_http_an_old_session_is_unknown_and_sessionless_requests_work(house: Cli, goes: str) -> None:
    """The home itself: who asks without a session counts as linked for a while, and nobody waits for that."""
    assert house("up").returncode == 0
    client = wire_of(house)
    client.initialize()
    first = house.status()["pid"]
    if goes == "killed":
        kill(first)
        assert house("up").returncode == 0
    else:
        assert house("restart").returncode == 0
    # Clients have the address in their files.
    assert (house.status()["port"], house.status()["pid"] != first) == (client.port, True)
    gone = client.call("dragoman_status")
    assert (gone.status, gone.code) == (404, "unknown_mcp_session")
    assert client.modern("tools/call", "dragoman_status", arguments={}).status == 200
    client.session = ""
    assert client.initialize().status == 200
    assert client.call("dragoman_status").status == 200


def test_an_end_in_order_waits_for_no_open_stream_and_records_that_the_client_was_left(cli: Cli) -> None:
    with raw_client(cli) as client:
        client.ask("initialize", introduction("2025-11-25", "left-behind"))
        client.send({"jsonrpc": "2.0", "method": "notifications/initialized"})
        over_http = wire_of(cli)
        over_http.initialize()
        with over_http.open("GET") as stream:
            assert stream.status == 200
            began = time.monotonic()
            assert cli("down").returncode == 0
            assert time.monotonic() - began < 2 * PATIENCE
            stream.read()
        events = client.call("search_journal", words="left-behind")["structuredContent"]["events"]
    came, *_ = [event for event in reversed(events) if event["kind"] == "mcp.connected"]
    assert [event["session"] for event in events if event["kind"] == "mcp.disconnected"] == [came["session"]]


def test_stopped_it_makes_calls_wait_and_continued_it_answers_them(cli: Cli) -> None:
    with raw_client(cli) as client:
        client.initialize()
        pid = pid_of(client)
        os.kill(pid, signal.SIGSTOP)
        calls = [client.begin_call("dragoman_status") for _ in range(3)]
        assert client.silent(0.3)
        assert client.process.poll() is None
        os.kill(pid, signal.SIGCONT)
        assert [client.answer(call)["result"]["structuredContent"]["pid"] for call in calls] == [pid] * 3


def test_a_client_leaves_a_stopped_daemon_at_once(cli: Cli) -> None:
    with raw_client(cli) as client:
        client.initialize()
        pid = pid_of(client)
        os.kill(pid, signal.SIGSTOP)
        client.begin_call("dragoman_status")
        assert client.leave() == 0
        os.kill(pid, signal.SIGCONT)


def forbid_starting(cli: Cli) -> None:
    write_settings(cli, "mcp_starts_daemon = false\n")


def write_settings(cli: Cli, text: str) -> None:
    cli.paths.settings_file.parent.mkdir(parents=True, exist_ok=True)
    cli.paths.settings_file.write_text(text)


def test_where_clients_may_not_start_it_the_client_learns_what_to_do_and_a_restart_is_waited_for(fresh: Cli) -> None:
    forbid_starting(fresh)
    with raw_client(fresh) as client:
        answer = client.answer(client.request("initialize", introduction("2025-11-25")))
        assert code_of(answer) == "not_running"
        assert "mcp_starts_daemon" in answer["error"]["message"]
        assert "`dragoman up`" in answer["error"]["message"]
        assert daemons_of(fresh.home) == []
        assert fresh("up").returncode == 0
        assert "result" in client.initialize()
        first = pid_of(client)
        assert first == fresh.status()["pid"]
        restart = fresh.begin("restart")
        eventually(lambda: is_dead(first) or not fresh.paths.socket.exists())
        assert pid_of(client) != first
        assert restart.wait(20 * PATIENCE) == 0
        restart.communicate()
        client.leave()
        assert "dragoman: No daemon is running, and the setting mcp_starts_daemon is false." in client.errors()


def test_a_client_that_never_reads_or_closes_our_standard_error_is_answered_all_the_same(
    fresh: Cli, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.delenv("PYTHONUNBUFFERED", raising=False)  # with it nothing is left to be flushed at the end
    forbid_starting(fresh)
    with raw_client(fresh) as client:
        for _ in range(20):
            assert code_of(client.ask("ping")) == "not_running"
        client.leave()
        assert client.errors().count("No daemon is running") == 1
    with raw_client(fresh) as client:
        assert client.process.stderr is not None
        client.process.stderr.close()
        assert [code_of(client.ask("ping")) for _ in range(2)] == ["not_running"] * 2
        assert client.leave() == 0


def test_settings_that_cannot_be_read_are_reported_to_the_client(fresh: Cli) -> None:
    write_settings(fresh, "port = maybe\n")
    with raw_client(fresh) as client:
        answer = client.answer(client.request("initialize", introduction("2025-11-25")))
        assert code_of(answer) == "bad_settings"
        assert "line 1" in answer["error"]["message"]
        write_settings(fresh, "")
        with serving(fresh.paths):
            assert "result" in client.initialize()


def test_one_that_ends_every_conversation_is_retried_less_and_less_and_then_reported(fresh: Cli) -> None:
    with raw_client(fresh) as client:
        with closing_at_once(fresh.paths) as met:
            answer = client.answer(client.request("initialize", introduction("2025-11-25")))
            assert code_of(answer) == "daemon_gone"
            assert 4 < len(met) < 9
            assert psutil.Process(client.process.pid).cpu_times().user < 2
        with serving(fresh.paths):
            assert "result" in client.initialize()


OTHER_VERSION = """
import signal, sys, dragoman
dragoman.__version__ = "0.0.1"
from contextlib import ExitStack
from pathlib import Path
import anyio
from dragoman.daemon.app import DaemonOptions, run
from dragoman.servers.control.status import LiveSession, LiveSessions
from dragoman.core.paths import find_paths
lives = LiveSessions()
with ExitStack() as stack:
    stack.enter_context(lives.track(LiveSession("d-1", "debug", "a session")))
    signal.signal(signal.SIGUSR1, lambda *_: print(stack.close(), flush=True))
    options = DaemonOptions(workspace=Path.cwd())
    anyio.run(lambda: run(options, find_paths(), lambda _: print("up", flush=True), live_sessions=lives))
"""


def test_a_daemon_of_another_version_is_kept_when_busy_and_replaced_when_idle(fresh: Cli, tmp_path: Path) -> None:
    other = subprocess.Popen(
        [sys.executable, "-P", "-c", OTHER_VERSION, "dragoman.daemon"],
        env=fresh.variables(), stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, cwd=tmp_path,
    )  # fmt: skip
    with other:
        assert other.stdout is not None
        assert other.stdout.readline() == b"up\n"
        with raw_client(fresh) as client:
            assert client.initialize()["result"]["serverInfo"]["version"] == "0.0.1"
            assert pid_of(client) == other.pid
        other.send_signal(signal.SIGUSR1)
        assert other.stdout.readline() == b"None\n"
        with raw_client(fresh) as client:
            assert client.initialize()["result"]["serverInfo"]["version"] == __version__
            assert pid_of(client) != other.pid
        other.kill()


def test_an_unknown_set_of_tools_is_reported_to_the_client_and_on_standard_error(cli: Cli) -> None:
    with raw_client(cli, "--tools", "debug,telepathy") as client:
        answer = client.answer(client.request("initialize", introduction("2025-11-25")))
        assert code_of(answer) == "unknown_tool_set"
        assert answer["error"]["message"].startswith(
            "Unknown tool set: 'telepathy'. Available sets: default, all, general"
        )
        assert code_of(client.ask("tools/list")) == "unknown_tool_set"
        client.leave()
        assert client.errors().count("Unknown tool set: 'telepathy'.") == 1
