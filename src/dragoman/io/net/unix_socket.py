"""Unix sockets that only their owner can reach: private folder, mode 0600, and the peer's uid from the kernel."""

from __future__ import annotations

import contextlib
import os
import socket
import stat
import struct
import sys
from pathlib import Path

from dragoman.core.errors import DragomanError
from dragoman.core.localization import localize
from dragoman.core.paths import SOCKET_PATH_LIMIT
from dragoman.io.files.private_files import ensure_private_folder

_SOL_LOCAL = 0  # <sys/un.h> on macOS
_LOCAL_PEERCRED = 1
_LOCAL_PEERPID = 2


def bind_private_socket(path: Path, *, backlog: int = 128) -> socket.socket:
    """A listening socket at `path`. The caller holds the instance lock, so an existing socket is stale."""
    if len(os.fsencode(path)) > SOCKET_PATH_LIMIT:
        raise DragomanError(
            "socket_path_too_long",
            localize("The socket path {path} is longer than {limit} bytes.", path=path, limit=SOCKET_PATH_LIMIT),
            hint=localize("Set DRAGOMAN_HOME to a folder with a shorter path."),
        )
    ensure_private_folder(path.parent)
    return _bound(path, backlog)


def bind_named_socket(path: Path, *, backlog: int = 128) -> socket.socket:
    """A listening socket at a path that a person chose, in a folder that need not be ours: mode and uid still keep
    others out. No lock proves that an existing socket is stale, so one that answers is kept."""
    with socket.socket(socket.AF_UNIX, socket.SOCK_STREAM) as caller, contextlib.suppress(OSError):
        caller.setblocking(False)
        caller.connect(str(path))
        raise DragomanError(
            "address_in_use",
            localize("Another program is listening on {path}.", path=path),
            hint=localize("Stop it, or set OMNISH_SOCKET to another address."),
        )
    return _bound(path, backlog)


def _bound(path: Path, backlog: int) -> socket.socket:
    _remove_dead_socket(path)
    listener = socket.socket(socket.AF_UNIX, socket.SOCK_STREAM)
    try:
        listener.bind(str(path))
        path.chmod(0o600)
        listener.listen(backlog)
        listener.setblocking(False)
    except BaseException:
        listener.close()
        raise
    return listener


def peer_uid(connection: socket.socket) -> int:
    if sys.platform == "darwin":
        # struct xucred: version, uid, ngroups, groups[16]
        answer = connection.getsockopt(_SOL_LOCAL, _LOCAL_PEERCRED, 76)
        return int(struct.unpack_from("=II", answer)[1])
    answer = connection.getsockopt(socket.SOL_SOCKET, socket.SO_PEERCRED, struct.calcsize("3i"))
    return int(struct.unpack("3i", answer)[1])


def peer_pid(connection: socket.socket) -> int:
    """The pid of the peer; 0 if the kernel does not report it, as across containers."""
    if sys.platform == "darwin":
        return connection.getsockopt(_SOL_LOCAL, _LOCAL_PEERPID)
    answer = connection.getsockopt(socket.SOL_SOCKET, socket.SO_PEERCRED, struct.calcsize("3i"))
    return int(struct.unpack("3i", answer)[0])


def is_own_peer(connection: socket.socket) -> bool:
    return peer_uid(connection) == os.getuid()


def _remove_dead_socket(path: Path) -> None:
    try:
        status = path.lstat()
    except FileNotFoundError:
        return
    if not stat.S_ISSOCK(status.st_mode) or status.st_uid != os.getuid():
        raise DragomanError(
            "unsafe_file",
            localize("{path} already exists and is not your socket.", path=path),
            hint=localize("Remove it, or set DRAGOMAN_HOME to a folder you own."),
        )
    path.unlink()
