"""What may be at the socket's path: a foreign file is refused with the reason, a dead socket of ours is replaced."""

from __future__ import annotations

import os
import socket
import stat
from collections.abc import Callable
from pathlib import Path

import pytest

from dragoman.core.errors import DragomanError
from dragoman.io.net.unix_socket import bind_private_socket, is_own_peer, peer_uid
from tests.daemons import Cli, cli_with_home

only_root = pytest.mark.skipif(os.getuid() != 0, reason="not run: only root can give files away")


def refused(path: Path) -> str:
    with pytest.raises(DragomanError) as caught:
        bind_private_socket(path)
    return caught.value.code


def dead_socket(path: Path) -> None:
    with socket.socket(socket.AF_UNIX) as left:
        left.bind(str(path))


def link_to_a_socket(path: Path) -> None:
    dead_socket(path.parent / "other")
    path.symlink_to("other")


STRANGERS: dict[str, Callable[[Path], object]] = {
    "a file": lambda path: path.write_text("mine"),
    "a folder": lambda path: path.mkdir(),
    "a pipe": os.mkfifo,
    "a link to a file": lambda path: path.symlink_to(path.parent / "target"),
    "a link to nothing": lambda path: path.symlink_to("/nowhere"),
    "a link to a socket": link_to_a_socket,
}


@pytest.mark.parametrize("plant", STRANGERS.values(), ids=STRANGERS)
def test_what_is_not_a_socket_of_ours_is_left_alone(tmp_path: Path, plant: Callable[[Path], object]) -> None:
    (tmp_path / "target").write_text("precious")
    path = tmp_path / "run" / "s"
    path.parent.mkdir(mode=0o700)
    plant(path)
    before = path.lstat()
    assert refused(path) == "unsafe_file"
    assert path.lstat() == before


@only_root
def test_a_socket_of_another_user_is_left_alone(tmp_path: Path) -> None:
    path = tmp_path / "run" / "s"
    path.parent.mkdir(mode=0o700)
    dead_socket(path)
    os.chown(path, 65534, 65534)
    assert refused(path) == "unsafe_file"
    assert path.exists()


@only_root
def test_a_folder_of_another_user_is_not_used(tmp_path: Path) -> None:
    path = tmp_path / "run" / "s"
    path.parent.mkdir(mode=0o700)
    os.chown(path.parent, 65534, 65534)
    assert refused(path) == "unsafe_file"
    assert not path.exists()


def test_a_folder_behind_a_link_is_not_used(tmp_path: Path) -> None:
    (tmp_path / "elsewhere").mkdir(mode=0o700)
    (tmp_path / "run").symlink_to("elsewhere")
    assert refused(tmp_path / "run" / "s") == "unsafe_file"


def test_a_dead_socket_of_ours_is_replaced_and_the_modes_are_ours_under_any_umask(tmp_path: Path) -> None:
    path = tmp_path / "run" / "s"
    path.parent.mkdir(mode=0o777)
    dead_socket(path)
    before = os.umask(0)
    try:
        with bind_private_socket(path):
            modes = [stat.S_IMODE(it.stat().st_mode) for it in (path.parent, path)]
    finally:
        os.umask(before)
    assert modes == [0o700, 0o600]


def test_a_path_too_long_for_the_kernel_says_what_to_do(tmp_path: Path) -> None:
    path = tmp_path / ("x" * 120) / "s"
    assert refused(path) == "socket_path_too_long"
    assert not path.parent.exists()


def test_a_peer_is_identified_by_the_kernel(tmp_path: Path) -> None:
    path = tmp_path / "run" / "s"
    with bind_private_socket(path) as listener, socket.socket(socket.AF_UNIX) as caller:
        caller.connect(str(path))
        with listener.accept()[0] as connection:
            assert peer_uid(connection) == os.getuid()
            assert is_own_peer(connection)


def test_the_command_says_what_is_in_the_way(tmp_path: Path) -> None:
    with cli_with_home(tmp_path / "home") as cli:
        plant(cli)
        started = cli("up", "--port", "0")
        assert started.returncode != 0
        assert str(cli.paths.socket) in started.stderr
        assert "already exists" in started.stderr
        assert cli.paths.socket.read_text() == "mine"


def plant(cli: Cli) -> None:
    cli.paths.socket.parent.mkdir(parents=True, mode=0o700)
    cli.paths.socket.write_text("mine")
