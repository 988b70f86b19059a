"""`dragoman mcp` as a process: what it loads, what it sends the daemon, how it ends."""

from __future__ import annotations

import json
import os
import signal
import socket
import subprocess
import sys
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from dragoman.protocols.control import LINE_CAP
from tests.daemons import PATIENCE, Cli, daemons_of, eventually
from tests.servers.mcp.mcp_fixture import Serving, serving
from tests.servers.mcp.raw_client import RawClient, introduction, raw_client

MODULES = """
import sys
before = set(sys.modules)  # an interpreter may come with some of its own
from dragoman.cli.dispatch import run
code = run(["mcp"])
loaded = {name.partition(".")[0] for name in set(sys.modules) - before}
strangers = loaded - set(sys.stdlib_module_names) - {"dragoman"}
print(code, sorted(strangers), "asyncio" in sys.modules, file=sys.stderr)
"""


@pytest.fixture
def served(cli: Cli) -> Iterator[Serving]:
    with serving(cli.paths) as served:
        yield served


def test_it_loads_the_standard_library_alone(running: Cli) -> None:
    asked = b'{"jsonrpc":"2.0","id":1,"method":"ping","params":{}}\n'
    pump = subprocess.Popen(
        [sys.executable, "-P", "-c", MODULES], env=running.variables(), stdin=subprocess.PIPE, stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
    )  # fmt: skip
    with pump:
        assert pump.stdin is not None
        assert pump.stdout is not None
        assert pump.stderr is not None
        pump.stdin.write(asked)
        pump.stdin.flush()
        assert b'"result":{}' in pump.stdout.readline()
        pump.stdin.close()
        assert pump.stderr.read() == b"0 [] False\n"


def test_input_that_ends_at_once_gets_its_answers(running: Cli) -> None:
    """As of `printf … | dragoman mcp`."""
    introduced = {"jsonrpc": "2.0", "id": 1, "method": "initialize", "params": introduction("2025-11-25")}
    asked = [introduced, {"jsonrpc": "2.0", "method": "notifications/initialized"}]
    asked += [{"jsonrpc": "2.0", "id": 2, "method": "tools/list"}]
    ended = subprocess.run(
        running.command("mcp"),
        env=running.variables(),
        input=b"".join(json.dumps(message).encode() + b"\n" for message in asked),
        capture_output=True,
        timeout=30,
        check=True,
    )
    assert [json.loads(line)["id"] for line in ended.stdout.splitlines()] == [1, 2]


def test_a_daemon_without_clients_does_not_pay_for_the_sdk() -> None:
    """Its start imports the door and the table of operations, and neither of them the SDK."""
    program = "import sys, dragoman.daemon.__main__; print({'mcp', 'mcp_types'} & set(sys.modules))"
    ended = subprocess.run([sys.executable, "-P", "-c", program], capture_output=True, text=True, check=True)
    assert ended.stdout == "set()\n"


def test_it_is_up_within_a_moment(running: Cli) -> None:
    """The published goal is measured by the bench; here it only must not be of another order."""
    took = []
    for _ in range(3):
        began = time.perf_counter()
        with raw_client(running) as client:
            client.ask("initialize", introduction("2025-11-25"))
            took.append(time.perf_counter() - began)
    assert min(took) < 1.0 * PATIENCE


def test_the_daemon_learns_workspace_folder_and_environment(cli: Cli, served: Serving, tmp_path: Path) -> None:
    (tmp_path / "w").mkdir()
    there = Cli(cli.home, {**cli.environment, "MY_VARIABLE": "a\nb", "ODD": os.fsdecode(b"\xff")})
    with raw_client(there, "--workspace", str(tmp_path / "w"), cwd=tmp_path) as client:
        client.initialize()
        client.call("large")
    (caller,) = served.callers
    assert (caller.workspace, caller.cwd) == (tmp_path / "w", tmp_path)
    assert caller.environment["MY_VARIABLE"] == "a\nb"
    assert os.fsencode(caller.environment["ODD"]) == b"\xff"
    assert "MY_VARIABLE" not in repr(caller)


def test_an_environment_that_is_too_large_loses_its_largest_part_and_says_so(cli: Cli, served: Serving) -> None:
    huge = {f"HUGE_{at}": "x" * 120_000 for at in range(LINE_CAP // 120_000 + 1)}
    there = Cli(cli.home, {**cli.environment, **huge, "SMALL": "kept"})
    with raw_client(there) as client:
        client.initialize()
        client.call("large")
        client.leave()
        errors = client.errors()
    (caller,) = served.callers
    left_out = [name for name in huge if name not in caller.environment]
    assert 0 < len(left_out) < len(huge)
    assert caller.environment["SMALL"] == "kept"
    assert all(f"The environment variable '{name}' is too long" in errors for name in left_out)


def test_the_environment_is_in_no_file_of_ours(cli: Cli) -> None:
    secret = "hunter2-in-the-environment"
    assert cli("config", "set", "log_level", "debug").returncode == 0
    there = Cli(cli.home, {**cli.environment, "API_KEY": secret})
    with raw_client(there) as client:
        client.initialize()
        client.call("search_journal", words="daemon")
        client.ask("tools/call", {"name": "no_such"})
        client.leave()
    cli("down")
    files = [path for folder in (cli.paths.state, cli.paths.config) for path in folder.rglob("*") if path.is_file()]
    assert any(path.suffix == ".log" for path in files)
    assert [path for path in files if secret.encode() in path.read_bytes()] == []


def test_an_invalid_workspace_is_an_error_before_anything_is_started(cli: Cli) -> None:
    ended = cli("mcp", "--workspace", "/no/such/folder")
    assert (ended.returncode, ended.stdout) == (1, "")
    assert "The workspace /no/such/folder is not a folder." in ended.stderr
    assert daemons_of(cli.home) == []


def test_a_working_folder_that_is_gone_is_not_a_reason_not_to_serve(running: Cli, tmp_path: Path) -> None:
    gone = tmp_path / "gone"
    gone.mkdir()
    wrapped = ["sh", "-c", f"cd {gone} && rmdir {gone} && exec {' '.join(running.command('mcp'))}"]
    pump = subprocess.Popen(
        wrapped, env=running.variables(), stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.PIPE,
        bufsize=0,
    )  # fmt: skip
    with pump:
        client = RawClient(pump)
        assert "result" in client.initialize()
        assert client.call("dragoman_status")["structuredContent"]["workspace"] == "/"
        assert client.leave() == 0


@pytest.mark.parametrize("number", [signal.SIGTERM, signal.SIGINT])
def test_a_signal_ends_it_in_order(client: RawClient, number: signal.Signals) -> None:
    client.process.send_signal(number)
    assert client.process.wait(5 * PATIENCE) == 0
    assert client.errors() == ""


def test_a_client_that_leaves_ends_it_also_while_a_daemon_is_starting(cli: Cli) -> None:
    with raw_client(cli) as client:
        client.request("initialize", introduction("2025-11-25"))
        eventually(lambda: daemons_of(cli.home))
        began = time.monotonic()
        assert client.leave() == 0
        assert time.monotonic() - began < 1.0 * PATIENCE


def test_a_client_that_closes_only_its_reading_end_ends_it(client: RawClient) -> None:
    assert client.process.stdout is not None
    client.process.stdout.close()
    assert client.process.wait(5 * PATIENCE) == 0
    assert client.errors() == ""


def test_it_serves_a_client_on_sockets_as_it_does_on_pipes(running: Cli) -> None:
    ours, theirs = socket.socketpair()
    with ours, on_socket(running, theirs) as pump:
        ours.settimeout(20 * PATIENCE)
        ours.sendall(b'{"jsonrpc":"2.0","id":1,"method":"ping","params":{}}\n')
        assert b'"result":{}' in ours.recv(65536)
        ours.shutdown(socket.SHUT_WR)
        assert pump.wait(5 * PATIENCE) == 0


def test_a_half_closed_socket_is_noticed_while_nothing_is_read_from_it(cli: Cli, served: Serving) -> None:
    """The client neither reads nor goes on writing: the pump is full in both directions when the end comes."""
    ours, theirs = socket.socketpair()
    with ours, on_socket(cli, theirs) as pump:
        ours.setblocking(False)
        ours.sendall(_line(0, "initialize", introduction("2025-11-25")))
        for at in range(1, 20):
            ours.sendall(_line(at, "tools/call", {"name": "large", "arguments": {"size": 1_000_000}}))
        eventually(lambda: len(served.callers) > 2)
        ours.shutdown(socket.SHUT_WR)
        assert pump.wait(5 * PATIENCE) == 0


def on_socket(cli: Cli, theirs: socket.socket) -> subprocess.Popen[bytes]:
    with theirs:
        fd = theirs.fileno()
        return subprocess.Popen(cli.command("mcp"), env=cli.variables(), stdin=fd, stdout=fd)


def _line(id: int, method: str, params: dict[str, Any]) -> bytes:
    return json.dumps({"jsonrpc": "2.0", "id": id, "method": method, "params": params}).encode() + b"\n"


def test_standard_output_carries_messages_and_nothing_else(cli: Cli) -> None:
    """With a daemon to start, warnings on, and a language to load: every line is read as a message."""
    noisy = Cli(cli.home, {**cli.environment, "PYTHONWARNINGS": "always", "PYTHONDEVMODE": "1", "DRAGOMAN_LANG": "zh"})
    with raw_client(noisy) as client:
        client.initialize()
        client.ask("tools/list")
        os.kill(daemons_of(cli.home)[0].pid, signal.SIGKILL)
        answers = [client.ask("ping") for _ in range(3)]
        assert "result" in answers[-1]
        assert client.leave() == 0


def test_a_rotated_token_does_not_end_connections_without_a_token(running: Cli, client: RawClient) -> None:
    assert running("token", "rotate").returncode == 0
    assert client.ask("ping")["result"] == {}
    assert running.status()["links"]["mcp"] >= 1


def test_help_names_the_command_and_what_starts_it(running: Cli) -> None:
    shown = " ".join(running("help", "--all").stdout.replace("│", " ").split())
    assert "mcp Serve one MCP client on standard input and output." in shown
    assert "--workspace" in running("mcp", "--help").stdout
