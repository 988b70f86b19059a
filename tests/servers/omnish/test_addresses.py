"""Where wrappers find the daemon: its own socket always, and the address in OMNISH_SOCKET where that can be had."""

from __future__ import annotations

import logging
import socket
import stat
from pathlib import Path

import pytest

from dragoman.core.paths import Paths, find_paths
from dragoman.daemon.listeners import wrapper_sockets
from dragoman.protocols.omnish import messages as m
from tests.daemons import call, cli_with_home
from tests.e2e.life.process_watch import require_success
from tests.servers.omnish.client import Client, began


@pytest.fixture
def paths(tmp_path: Path) -> Paths:
    return find_paths({"DRAGOMAN_HOME": str(tmp_path / "h")})


def answers(path: Path) -> bool:
    with socket.socket(socket.AF_UNIX) as caller:
        return caller.connect_ex(str(path)) == 0


def test_the_address_of_the_variable_is_served_beside_our_own_and_taken_away_again(
    paths: Paths, tmp_path: Path
) -> None:
    named = tmp_path / "named.sock"
    before = stat.S_IMODE(tmp_path.stat().st_mode)
    with wrapper_sockets(paths, {"OMNISH_SOCKET": str(named)}) as listeners:
        assert len(listeners) == 2
        assert answers(paths.omnish_socket)
        assert answers(named)
        assert stat.S_IMODE(named.stat().st_mode) == 0o600
        assert stat.S_IMODE(tmp_path.stat().st_mode) == before, "the folder is not ours to close"
    assert not named.exists()


def test_a_dead_socket_at_the_address_is_replaced(paths: Paths, tmp_path: Path) -> None:
    named = tmp_path / "named.sock"
    with socket.socket(socket.AF_UNIX) as dead:
        dead.bind(str(named))
    with wrapper_sockets(paths, {"OMNISH_SOCKET": str(named)}):
        assert answers(named)


def test_our_own_address_in_the_variable_is_bound_once(paths: Paths) -> None:
    with wrapper_sockets(paths, {"OMNISH_SOCKET": str(paths.omnish_socket)}) as listeners:
        assert len(listeners) == 1


def test_another_daemon_at_the_address_keeps_it(paths: Paths, tmp_path: Path, caplog: pytest.LogCaptureFixture) -> None:
    named = tmp_path / "named.sock"
    with socket.socket(socket.AF_UNIX) as other:
        other.bind(str(named))
        other.listen()
        with caplog.at_level(logging.WARNING), wrapper_sockets(paths, {"OMNISH_SOCKET": str(named)}) as listeners:
            assert len(listeners) == 1
        assert "Another program is listening" in caplog.text
        assert answers(named)


@pytest.mark.parametrize("address", ["tcp://127.0.0.1:9", "relative.sock", "/nowhere/at/all.sock", "/" + "x" * 200])
def test_an_address_that_cannot_be_served_is_logged_and_the_daemon_starts(
    paths: Paths, address: str, caplog: pytest.LogCaptureFixture
) -> None:
    with caplog.at_level(logging.WARNING), wrapper_sockets(paths, {"OMNISH_SOCKET": address}) as listeners:
        assert len(listeners) == 1
    assert "OMNISH_SOCKET is not served" in caplog.text


def test_what_took_our_place_at_the_address_is_left_alone(paths: Paths, tmp_path: Path) -> None:
    named = tmp_path / "named.sock"
    with wrapper_sockets(paths, {"OMNISH_SOCKET": str(named)}):
        named.unlink()
        named.write_text("another's")
    assert named.read_text() == "another's"


def test_a_daemon_started_with_the_variable_records_what_comes_there(tmp_path: Path) -> None:
    named = tmp_path / "named.sock"
    with cli_with_home(tmp_path / "h", {"DRAGOMAN_PORT": "0", "OMNISH_SOCKET": str(named)}) as cli:
        require_success(cli("up"))
        with Client(named) as client:
            assert client.ask(began("elsewhere")) == m.Ack()
            assert call(cli.paths, "status")["terminals"]["connected"] == 1
        require_success(cli("down"))
        assert not named.exists()
