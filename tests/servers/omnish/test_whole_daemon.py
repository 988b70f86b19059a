"""A wrapper at the whole daemon: what it sends is recorded, answers and completions use it, and it may stay."""

from __future__ import annotations

import json
from collections.abc import Iterator
from pathlib import Path

import pytest

from dragoman.protocols.omnish import messages as m
from tests.daemons import Cli, call, cli_with_home
from tests.e2e.life.process_watch import require_success
from tests.e2e.terminal_kills.reading import read_back
from tests.servers.omnish.client import Client, began, ended, shown


@pytest.fixture(scope="module")
def cli(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Cli]:
    with cli_with_home(tmp_path_factory.mktemp("w") / "h", {"DRAGOMAN_PORT": "0"}) as cli:
        require_success(cli("up"))
        yield cli


@pytest.fixture
def client(cli: Cli) -> Iterator[Client]:
    with Client(cli.paths.omnish_socket) as client:
        yield client


def run(client: Client, session: str, number: int, line: str, output: bytes, exit_code: int) -> None:
    """A command as our wrapper tells it."""
    entries = [
        m.Event(session, 2_000 + number, m.CommandBoundary(line)),
        shown(session, output, 2_000 + number),
        ended(session, number, line, exit_code=exit_code),
    ]
    assert [client.ask(message) for message in entries] == [m.Ack()] * 3


@pytest.mark.requirement("omnish:daemon:answers-requests", "omnish:daemon:honours-scope")
def test_a_question_is_answered_from_the_terminals_that_its_scope_names(client: Client) -> None:
    client.ask(began("mine", dragoman__verifies="1"))
    client.ask(began("other", dragoman__verifies="1"))
    run(client, "mine", 1, "make -C alpha", b"alpha.c:3: error: unknown type name 'foo'\r\n", 2)
    run(client, "other", 1, "pytest beta", b"E   AssertionError: beta is wrong\r\n", 1)
    scopes: dict[str, m.CurrentSession | m.AllSessions | m.Sessions] = {
        "own": m.CurrentSession(),
        "other": m.Sessions(["other"]),
        "all": m.AllSessions(),
    }
    query = "why did the last command fail?"
    answers = {name: client.ask(m.Request("r", "mine", query, scope)) for name, scope in scopes.items()}
    assert all((it.request_id, it.is_final, it.is_streaming) == ("r", True, False) for it in answers.values())
    assert "alpha" in answers["own"].content
    assert "beta" not in answers["own"].content
    assert "beta" in answers["other"].content
    assert "alpha" not in answers["other"].content
    assert "alpha" in answers["all"].content or "beta" in answers["all"].content


@pytest.mark.requirement("omnish:daemon:answers-completions")
def test_completions_come_from_what_ran_in_the_session_of_a_client_that_knows_nothing_of_us(client: Client) -> None:
    client.ask(began("types"))
    for number in range(3):
        run(client, "types", number, "docker compose up --build", b"ok\r\n", 0)
    got = client.ask(m.CompletionRequest("types", "dock", 4, 77))
    assert got.sequence_id == 77
    assert "docker compose up --build" in [it.text for it in got.suggestions]
    assert all(0 <= it.confidence <= 1 for it in got.suggestions)
    client.ask(began("another"))
    assert client.ask(m.CompletionRequest("another", "dock", 4, 78)).suggestions == []


def test_a_client_that_knows_nothing_of_us_is_answered_about_its_commands_by_name(client: Client) -> None:
    client.ask(began("plain"))
    run(client, "plain", 1, "make -C gamma", b"gamma.c:3: error: unknown type name 'foo'\r\n", 2)
    got = client.ask(m.Request("r", "plain", "why did the last command fail?", m.CurrentSession()))
    assert got.content.startswith("`make -C gamma` failed with exit code 2")


def test_a_record_goes_out_as_it_came_in_after_redaction(cli: Cli, client: Client, tmp_path: Path) -> None:
    client.ask(began("as-told"))
    result = m.CommandRecord(
        "as-told:1", "as-told", None, None, 2_000, None, "first\nAWS_SECRET_KEY=hunter2hunter2", 0, 0, None
    )
    assert client.ask(m.CommandComplete("as-told", result)) == m.Ack()
    require_success(cli("terminals", "export", "as-told", "--format", "omnish", "--output", str(tmp_path / "out")))
    (record,) = json.loads(next((tmp_path / "out").rglob("commands.json")).read_text())
    assert (record["command_line"], record["ended_at"], record["exit_code"]) == (None, None, None)
    assert record["output_summary"].startswith("first\n")
    assert "hunter2" not in record["output_summary"]


def test_what_comes_after_the_end_of_a_session_is_kept_and_the_session_stays_ended(cli: Cli, client: Client) -> None:
    client.ask(began("late"))
    client.ask(m.SessionEnd("late", 3_000, 3))
    for message in (shown("late", b"late words", 4_000), ended("late", 1, "make")):
        assert client.ask(message) == m.Ack()
    client.socket.close()
    listed = json.loads(cli("terminals", "--ended", "--json").stdout)
    assert [it["state"] for it in listed["terminals"] if it["terminal"] == "late"] == ["ended"]
    assert "late words" in cli("terminals", "export", "late", "--format", "jsonl").stdout


def test_the_status_names_the_socket_and_counts_the_connections(cli: Cli, client: Client) -> None:
    client.ask(began("counted"))
    status = cli.status()
    assert status["omnish_socket"] == str(cli.paths.omnish_socket)
    assert status["terminals"]["connected"] >= 1
    assert status["links"]["omnish"] == status["terminals"]["connections"]
    assert f"Terminals: {status['terminals']['connected']} connected." in cli("status").stdout


def test_what_an_agent_runs_ends_with_the_daemon_and_what_a_person_runs_does_not(cli: Cli, client: Client) -> None:
    client.ask(began("of-an-agent", dragoman__agent="Claude"))
    client.ask(began("of-a-person"))
    for session in ("of-an-agent", "of-a-person"):
        client.ask(m.Event(session, 2_000, m.CommandBoundary("sleep 60")))
    live = {"id": "of-an-agent", "kind": "terminal", "title": "sleep 60", "ends": True}
    assert call(cli.paths, "status")["sessions"] == [live]
    client.ask(ended("of-an-agent", 1, "sleep 60"))
    assert call(cli.paths, "status")["sessions"] == []


def test_a_connected_wrapper_is_not_a_reason_to_ask_before_an_end_and_its_record_is_whole(cli: Cli) -> None:
    """Last in this file: the daemon ends."""
    with Client(cli.paths.omnish_socket) as client:
        client.ask(began("stays"))
        client.ask(shown("stays", b"before the end"))
        assert call(cli.paths, "status")["sessions"] == []
        require_success(cli("down"))
        assert client.is_closed()
    assert not cli.paths.omnish_socket.exists()
    assert read_back(cli.paths, "stays").output == b"before the end"
    require_success(cli("up"))
    with Client(cli.paths.omnish_socket) as again:
        assert again.ask(began("stays")) == m.Ack()
