"""Hostile clients at the wrappers' socket: garbage, crowds, no file descriptors left, and processes of other users."""

from __future__ import annotations

import contextlib
import random
import stat
from collections.abc import Iterator
from contextlib import ExitStack
from pathlib import Path
from tempfile import gettempdir

import pytest

from dragoman.protocols.omnish import messages as m
from tests.daemons import call, eventually
from tests.servers.control.test_other_users import as_nobody, only_root
from tests.servers.omnish.client import Client, began, shown
from tests.servers.target_daemon import MB, TargetDaemon, many_descriptors, target_daemon

CROWD = 100


def connected(victim: TargetDaemon) -> int:
    return int(call(victim.paths, "status")["terminals"]["connections"])


def test_garbage_of_any_kind_costs_its_own_connection_at_most(victim: TargetDaemon) -> None:
    dice = random.Random(5)
    before = victim.resident()
    for size in (1, 3, 4, 5, 100, 10_000, 1_000_000):
        with Client(victim.paths.omnish_socket) as client, contextlib.suppress(OSError):
            client.socket.sendall(dice.randbytes(size))
    with Client(victim.paths.omnish_socket) as client:
        assert client.ask(began("after")) == m.Ack()
    victim.assert_serves()
    assert victim.resident() - before < 20 * MB


def test_attributes_without_end_cost_their_own_connection_and_nothing_is_kept(victim: TargetDaemon) -> None:
    before = victim.resident()
    for number in range(20):
        with Client(victim.paths.omnish_socket) as client, pytest.raises((OSError, EOFError)):
            client.ask(began("many", **{f"attribute{number}-{it}": "x" for it in range(50_000)}))
    with Client(victim.paths.omnish_socket) as client:
        assert client.ask(began("some", **{f"attribute{it}": "x" for it in range(200)})) == m.Ack()
    victim.assert_serves()
    assert victim.resident() - before < 40 * MB


def test_a_hundred_wrappers_at_once_are_served_each(victim: TargetDaemon) -> None:
    with ExitStack() as stack, many_descriptors():
        crowd = [stack.enter_context(Client(victim.paths.omnish_socket)) for _ in range(CROWD)]
        for number, client in enumerate(crowd):
            client.send(began(f"crowd{number}"))
            client.send(shown(f"crowd{number}", b"%d" % number))
        assert [client.reply_to(2) for client in crowd] == [m.Ack()] * CROWD
        assert connected(victim) == CROWD
        victim.assert_serves()
    eventually(lambda: connected(victim) == 0)


def test_a_table_of_descriptors_full_of_silent_callers_keeps_no_wrapper_out(
    tmp_path_factory: pytest.TempPathFactory,
) -> None:
    with (
        target_daemon(tmp_path_factory.mktemp("few"), descriptors=128) as victim,
        ExitStack() as stack,
        many_descriptors(),
    ):
        for _ in range(200):
            with contextlib.suppress(OSError):
                stack.enter_context(Client(victim.paths.omnish_socket))
        assert eventually(lambda: served(victim), within_s=20)
        victim.assert_serves()


def served(victim: TargetDaemon) -> bool:
    with contextlib.suppress(OSError, EOFError), Client(victim.paths.omnish_socket, within_s=2) as client:
        return bool(client.ask(began("late")) == m.Ack())
    return False


def test_a_changed_token_is_for_newer_clients_and_leaves_the_others(victim: TargetDaemon) -> None:
    with Client(victim.paths.omnish_socket) as client:
        client.ask(began("s"))
        call(victim.paths, "token_rotate", {"purpose": "omnish"})
        assert client.ask(began("s")) == m.Ack()


@pytest.fixture
def reachable(tmp_path_factory: pytest.TempPathFactory) -> Iterator[TargetDaemon]:
    """Its home can be reached by others on purpose."""
    home = tmp_path_factory.mktemp("home")
    for folder in (home, *home.parents):
        if folder.is_relative_to(gettempdir()) and folder != Path(gettempdir()):
            folder.chmod(0o711)
    with target_daemon(home) as daemon:
        yield daemon


def greet(path: Path) -> str:
    with Client(path) as client:
        try:
            return type(client.ask(began("foreign"))).__name__
        except (EOFError, ConnectionError):
            return ""


@only_root
def test_another_user_is_refused_by_folder_by_mode_and_by_uid(reachable: TargetDaemon) -> None:
    path = reachable.paths.omnish_socket
    assert (stat.S_IMODE(path.parent.stat().st_mode), stat.S_IMODE(path.stat().st_mode)) == (0o700, 0o600)
    assert as_nobody(lambda: greet(path)) == "PermissionError"
    path.parent.chmod(0o777)
    assert as_nobody(lambda: greet(path)) == "PermissionError"
    path.chmod(0o777)
    assert as_nobody(lambda: greet(path)) == ""
    assert greet(path) == "Ack"
    reachable.switch_off("dragoman.servers.omnish.server:is_own_peer", answer=True)
    assert as_nobody(lambda: greet(path)) == "Ack"


@pytest.mark.parametrize(
    "piece", [bytes(MB), bytes(4) * 100, b"\0\0\0\x0e" + bytes(14)], ids=["zeros", "few", "no magic"]
)
def test_thirty_megabytes_of_nothing_cost_neither_time_nor_room_in_the_log(victim: TargetDaemon, piece: bytes) -> None:
    before = victim.paths.log_file.stat().st_size
    with Client(victim.paths.omnish_socket) as client, contextlib.suppress(OSError):
        for _ in range(30):
            client.socket.sendall(piece * (MB // len(piece)))
            victim.assert_serves()
    assert victim.paths.log_file.stat().st_size - before < 5_000
    victim.assert_punctual()
