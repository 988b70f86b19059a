"""`dragoman gateway` of one daemon at the gateway of another: connect, talk, lose it and have it back."""

from __future__ import annotations

import contextlib
import json
import os
import pty
import subprocess
import sys
from collections.abc import Iterator

import pytest

from tests.daemons import PATIENCE, Cli, call, cli_with_home, eventually
from tests.io.net.test_trusted_servers import NOBODY, served_by
from tests.proving import calls, log_in


@pytest.fixture(scope="module")
def server(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Cli]:
    with cli_with_home(tmp_path_factory.mktemp("server"), {"DRAGOMAN_PORT": "0"}) as made:
        assert made("up").returncode == 0
        yield made


@pytest.fixture(scope="module")
def client(server: Cli, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Cli]:
    home = tmp_path_factory.mktemp("client")
    token = home / "token"
    token.write_text(server.token("gateway") + "\n")
    token.chmod(0o600)
    address = f"ws://127.0.0.1:{server.status()['port']}/gateway"
    variables = {
        "DRAGOMAN_PORT": "0",
        "DRAGOMAN_GATEWAY_ADDRESS": address,
        "DRAGOMAN_GATEWAY_TOKEN_FILE": str(token),
        "DRAGOMAN_GATEWAY_UNLIMITED": "true",
    }
    with cli_with_home(home, variables) as made:
        assert made("up").returncode == 0
        yield made


@pytest.fixture
def connected(client: Cli) -> Cli:
    eventually(lambda: call(client.paths, "gateway_connect", {})["state"] == "connected")
    return client


def test_nothing_is_connected_before_somebody_asks_for_it(client: Cli) -> None:
    assert client.json("gateway", "status")["state"] == "disconnected"
    bare = client("gateway", "status").stdout
    assert "No connection has been requested yet." in bare
    assert "Connect with `dragoman gateway connect`." in bare
    refused = client("gateway", "chat", "hello")
    assert (refused.returncode, "dragoman gateway connect" in refused.stderr) == (1, True)


@pytest.mark.requirement("chat:session:list")
def test_it_connects_talks_and_lists(client: Cli, server: Cli) -> None:
    result = client("gateway", "connect")
    assert (result.returncode, "connected" in result.stdout) == (0, True), result.stderr
    assert client.json("gateway", "status")["protocol"] == 4
    assert server.status()["links"]["gateway"] == 1
    assert "/why" in client("gateway", "chat", "what can you do?", "--session", "acp:one").stdout
    answer = client.json("gateway", "chat", "/dragoman_status")
    assert (answer["outcome"], "Dragoman" in answer["text"]) == ("final", True)
    keys = {it["key"] for it in client.json("gateway", "sessions")}
    assert keys == {"agent:main:acp:one", "agent:main:main"}


@pytest.mark.skipif(os.getuid() != 0, reason="not run: only root can be another user")
@pytest.mark.skipif(sys.platform != "linux", reason="only Linux tells whose a connection is")
def test_a_gateway_of_another_user_is_asked_about_and_the_answer_is_kept(client: Cli) -> None:
    with served_by(NOBODY) as (port, sent):
        url = f"ws://127.0.0.1:{port}/"
        refused = client.json("gateway", "connect", url)
        assert (refused["state"], refused["code"]) == ("paused", "foreign_server")
        assert refused["untrusted_server"] == f"127.0.0.1:{port} nobody"
        assert sent() == (0, False)
        assert answered(client, "n", "gateway", "connect", url) == 1
        assert sent() == (0, False)
        assert not client.paths.settings_file.exists()
        with answering(client, "y", "gateway", "connect", url) as asked:
            assert sent() == (0, False)
            assert sent()[0] > 0
            assert client("gateway", "disconnect").returncode == 0  # that server says nothing more
            assert asked.wait(10 * PATIENCE) == 1
        assert f"127.0.0.1:{port} nobody" in client("config", "get", "trusted_servers").stdout


def answered(client: Cli, answer: str, *arguments: str) -> int:
    with answering(client, answer, *arguments) as process:
        return process.wait(60)


@contextlib.contextmanager
def answering(client: Cli, answer: str, *arguments: str) -> Iterator[subprocess.Popen[bytes]]:
    """In a terminal, where a person types."""
    ours, theirs = pty.openpty()
    with subprocess.Popen(
        client.command(*arguments), env=client.variables(), stdin=theirs, stderr=theirs, stdout=subprocess.DEVNULL
    ) as process:
        os.close(theirs)
        result = b""
        while b"[y/N]" not in result:
            result += os.read(ours, 1000)
        os.write(ours, f"{answer}\n".encode())
        yield process
    os.close(ours)


def test_a_run_that_fails_is_reported_with_its_reason(connected: Cli) -> None:
    failed = connected("gateway", "chat", "/nonsense")
    assert (failed.returncode, "Unknown command /nonsense" in failed.stderr) == (1, True)


def test_the_token_is_sent_to_no_other_gateway_than_that_of_the_settings(client: Cli, server: Cli) -> None:
    other = f"ws://localhost:{server.status()['port']}/gateway"
    refused = client.json("gateway", "connect", other)
    assert (refused["state"], refused["code"]) == ("paused", "DEVICE_IDENTITY_REQUIRED")
    assert refused["reason"].endswith(".")
    for command in (["chat", "hello"], ["sessions"]):
        result = client("gateway", *command)
        assert (result.returncode, refused["reason"] in result.stderr) == (1, True)
        assert "dragoman config set gateway_token_file" in result.stderr
    assert client("gateway", "connect", "http://localhost").returncode == 1
    assert call(client.paths, "gateway_connect", {})["state"] == "connected"


def test_a_missing_answer_is_reported_with_what_to_do(client: Cli) -> None:
    result = client("gateway", "connect", "ws://127.0.0.1:1")
    assert (result.returncode, "Start the gateway" in result.stdout) == (1, True)


def test_a_gateway_that_went_is_found_again(connected: Cli, server: Cli) -> None:
    port = server.status()["port"]
    assert server("down").returncode == 0
    assert server("up", "--port", str(port)).returncode == 0
    eventually(lambda: call(connected.paths, "gateway_status", {})["state"] == "connected", within_s=30)
    assert connected.json("gateway", "chat", "/help")["outcome"] == "final"


def test_what_a_person_does_on_the_other_side_is_seen_in_the_chat_there(connected: Cli, server: Cli) -> None:
    connected("gateway", "chat", "/dragoman_status", "--session", "seen")
    with calls(log_in(server.paths)) as page:
        events = page.ask("/api/events?after=0&limit=200").json()["events"]
    entries = [it["event"] for it in events if it["event"].get("session") == "agent:main:seen"]
    assert [it["body"]["by"] for it in entries if it["kind"] == "chat.said"] == ["client Dragoman", ""]
    assert json.dumps(entries).count("/dragoman_status") >= 1


def test_it_is_disconnected_for_good(connected: Cli, server: Cli) -> None:
    ended = connected("gateway", "disconnect")
    assert (ended.returncode, "disconnected" in ended.stdout) == (0, True), ended.stdout
    eventually(lambda: server.status()["links"]["gateway"] == 0)
