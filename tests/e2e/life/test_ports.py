"""A port that a person names: passed over by a running daemon, which says so, and kept by a restart."""

from __future__ import annotations

import socket

from tests.daemons import Cli
from tests.e2e.life.process_watch import pid_in, require_success


def free_port() -> int:
    with socket.create_server(("127.0.0.1", 0)) as free:
        port: int = free.getsockname()[1]
        return port


def test_another_port_than_the_running_daemons_is_passed_over_and_it_says_how_to_change(cli: Cli) -> None:
    first, wanted = pid_in(cli("up", "--json")), free_port()
    again = cli("up", "--port", str(wanted))
    require_success(again)
    assert f"ignoring --port {wanted}" in again.stderr
    assert f"`dragoman up --take-over --port {wanted}`" in again.stderr
    assert cli.status()["pid"] == first
    same = cli("up", "--port", str(cli.status()["port"]))
    assert same.stderr == ""


def test_a_restart_keeps_the_port_that_was_named(cli: Cli) -> None:
    port = free_port()
    first = pid_in(cli("up", "--port", str(port), "--json"))
    require_success(cli("restart"))
    status = cli.status()
    assert (status["port"], status["pid"] != first) == (port, True)
    require_success(cli("restart"))
    assert cli.status()["port"] == port
