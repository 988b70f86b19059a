"""Who is at the other end of a TCP connection on this machine, and who listens where: asked of the kernel.

Only Linux says whose a TCP socket is (`sock_diag`, and `/proc/net/tcp` where that is not served). macOS has no such
table for an ordinary user: there every caller counts as this user's, and SECURITY.md says so.
"""

from __future__ import annotations

import contextlib
import errno
import ipaddress
import logging
import os
import pwd
import socket
import sys
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from dragoman.transport.sock_diag import LISTEN, TIME_WAIT, Address, End, KernelSocket, NoSockDiagError, find_socket

log = logging.getLogger(__name__)

_PROC = Path("/proc")
_LOOPBACKS = {ipaddress.ip_address("127.0.0.1"), ipaddress.ip_address("::1")}


@dataclass(frozen=True, slots=True)
class Peer:
    """`uid` is None where no process holds the other end, it is not of this machine, or the system does not tell."""

    uid: int | None
    is_unaccepted: bool = False
    """No process holds it: it waits in a listener's queue, or was closed. The kernel calls all of those root's."""
    is_here: bool = True
    """Whether the peer's address is one of this machine's, so that its owner can be known."""


@dataclass(frozen=True, slots=True)
class Listener:
    pid: int
    host: str
    port: int

    @property
    def is_loopback(self) -> bool:
        return _plain(ipaddress.ip_address(self.host)).is_loopback


@dataclass(frozen=True, slots=True)
class _Row:
    local: End
    remote: End
    state: int
    uid: int
    inode: int


_NOBODY = Peer(None)


def peer_of(connection: socket.socket) -> Peer:
    """The owner of the other end of an established connection."""
    if sys.platform != "linux" or connection.family not in {socket.AF_INET, socket.AF_INET6}:
        return _NOBODY
    found = _other_end(connection)
    if found is None:
        return Peer(None, is_here=_is_here(connection))
    return Peer(None, is_unaccepted=True) if found.inode == 0 else Peer(found.uid)


def is_caller_admitted(ours: tuple[str, int], theirs: tuple[str, int], users: frozenset[int]) -> bool:
    """As `is_admitted`, of a connection that somebody else holds, by the names of its ends."""
    if sys.platform != "linux" or not _is_of_this_machine(theirs):
        return True
    found = _between(theirs, ours)
    return found is not None and found.inode != 0 and found.uid in {os.getuid(), *users}


def is_admitted(connection: socket.socket, users: frozenset[int] = frozenset()) -> bool:
    """Whether who called is this user, one of `users`, or on another machine, where a port is open to those at all.

    A caller of this machine whose owner is not known is refused: it has closed its end already, or hides. Only Linux
    knows owners; elsewhere everybody is admitted.
    """
    if sys.platform != "linux":
        return True
    peer = peer_of(connection)
    return not peer.is_here if peer.uid is None else peer.uid in {os.getuid(), *users}


def known_uids(users: Iterable[str]) -> frozenset[int]:
    """Of names and numbers; a name that this machine does not know is nobody, and the log says so."""
    found = set()
    for user in users:
        try:
            found.add(int(user) if user.isdecimal() else pwd.getpwnam(user).pw_uid)
        except KeyError:
            log.warning("the settings name a user that this machine does not know: %s", ascii(user))
    return frozenset(found)


def user_name(uid: int) -> str:
    """The number where it has no name."""
    try:
        return pwd.getpwuid(uid).pw_name
    except KeyError:
        return str(uid)


def is_held_by(connection: socket.socket, pids: Iterable[int]) -> bool:
    """Whether the other end of an established connection is one of these processes'; only Linux tells, else True."""
    if sys.platform != "linux":
        return True
    found = _other_end(connection)
    return found is not None and any(found.inode in socket_inodes(pid).values() for pid in pids)


def listeners(pids: Iterable[int]) -> list[Listener]:
    """The listening TCP sockets that processes hold. None of an adapter's may be reachable from elsewhere."""
    return [
        Listener(pid, str(row.local[0]), row.local[1])
        for pid in pids
        for inodes in [set(socket_inodes(pid).values())]
        for row in _rows(_PROC / str(pid) / "net")  # its own network namespace
        if row.state == LISTEN and row.inode in inodes
    ]


def has_foreign_listener(host: str, port: int, users: frozenset[int] = frozenset()) -> bool:
    """Whether somebody besides this user, root and `users` listens where `host:port` leads, if that is this machine.

    Judged by address: who holds the port on ::1 says nothing about who answers on 127.0.0.1. A name may lead to either,
    and is looked up here: this machine has many.
    """
    if sys.platform != "linux" or not (dialled := _addresses_here(host)):
        return False
    trusted = {0, os.getuid(), *users}
    return any(
        row.uid not in trusted
        for row in _rows(_PROC / "net", between=(port,))
        if row.state == LISTEN and row.local[1] == port and (row.local[0] in dialled or row.local[0].is_unspecified)
    )


def processes_at(port: int) -> list[int]:
    """Who listens on a port of this machine, and who is connected with them: an adapter and what it debugs."""
    inodes_by_pid = {int(it): set(socket_inodes(int(it)).values()) for it in os.listdir(_PROC) if it.isdecimal()}  # noqa: PTH208
    rows = list(_rows(_PROC / "net"))
    listening = {row.inode for row in rows if row.state == LISTEN and row.local[1] == port}
    held = {inode for inodes in inodes_by_pid.values() if inodes & listening for inode in inodes}
    ends = {row.local for row in rows if row.inode in held and row.state != LISTEN}
    connected = {row.inode for row in rows if row.remote in ends}
    return [pid for pid, inodes in inodes_by_pid.items() if inodes & (listening | connected) and pid != os.getpid()]


def loopback_only(pids: Iterable[int]) -> bool:
    return all(listener.is_loopback for listener in listeners(pids))


def socket_inodes(pid: int) -> dict[int, int]:
    """Descriptor to inode, for every socket that the process holds and we may see."""
    found = {}
    folder = f"/proc/{pid}/fd"
    with contextlib.suppress(OSError):
        for name in os.listdir(folder):  # noqa: PTH208  polled often, and many: paths cost twice the time
            with contextlib.suppress(OSError):
                target = os.readlink(f"{folder}/{name}")  # noqa: PTH115
                if target.startswith("socket:["):
                    found[int(name)] = int(target[8:-1])
    return found


def _rows(folder: Path, between: tuple[int, ...] = ()) -> Iterator[_Row]:
    """Reading a row costs a hundred times what passing it over does: of many, only those with the ports are read."""
    ports = [f":{port:04X} " for port in between]
    for name in ("tcp", "tcp6"):
        with contextlib.suppress(OSError):
            for line in (folder / name).read_text().splitlines()[1:]:
                if not all(port in line for port in ports):
                    continue
                fields = line.split()
                state, uid, inode = int(fields[3], 16), int(fields[7]), int(fields[9])
                yield _Row(_hex_end(fields[1]), _hex_end(fields[2]), state, uid, inode)


def _hex_end(text: str) -> End:
    """`0100007F:1F90`: the address as 32-bit words in the machine's own order, then the port."""
    address, port = text.split(":")
    raw = bytes.fromhex(address)
    ordered = b"".join(raw[at : at + 4][:: -1 if sys.byteorder == "little" else 1] for at in range(0, len(raw), 4))
    return _plain(ipaddress.ip_address(ordered)), int(port, 16)


def _other_end(connection: socket.socket) -> KernelSocket | None:
    """None where the kernel knows no such socket, also because the peer has gone for good."""
    try:
        ours, theirs = connection.getsockname(), connection.getpeername()
    except OSError:  # reset before it was looked at
        return None
    return _between(theirs, ours, interface=theirs[3] if len(theirs) > 3 else 0)


def _between(local: tuple[str, int], remote: tuple[str, int], *, interface: int = 0) -> KernelSocket | None:
    try:
        found = find_socket(_end(local), _end(remote), interface=interface)
    except NoSockDiagError:
        found = _in_proc(_end(local), _end(remote))
    return found if found is not None and found.state != TIME_WAIT else None


def _in_proc(local: End, remote: End) -> KernelSocket | None:
    for row in _rows(_PROC / "net", between=(local[1], remote[1])):
        if (row.local, row.remote) == (local, remote) and row.state != LISTEN:
            return KernelSocket(row.state, row.uid, row.inode)
    return None


def _is_here(connection: socket.socket) -> bool:
    """Whether the peer is on this machine; unknown counts as here."""
    try:
        theirs = connection.getpeername()
    except OSError:
        return True
    return _is_of_this_machine(theirs)


def _is_of_this_machine(name: tuple[Any, ...]) -> bool:
    """Whether it is an address that a socket of this machine can have; unknown counts as one."""
    if _end((name[0], 0))[0].is_loopback:
        return True
    try:
        with socket.socket(socket.AF_INET6 if ":" in name[0] else socket.AF_INET, socket.SOCK_DGRAM) as probe:
            probe.bind((name[0], 0, *name[2:]))
    except OSError as error:
        return error.errno != errno.EADDRNOTAVAIL
    return True


def _addresses_here(host: str) -> set[Address]:
    """Those of this machine that a host leads to; dialling the unspecified address reaches loopback."""
    if host in {"", "localhost"}:
        return _LOOPBACKS
    try:
        found = socket.getaddrinfo(host, None, type=socket.SOCK_STREAM)
    except (OSError, UnicodeError):
        return set()
    addresses = {_end((str(name[0]), 0))[0] for *_, name in found if _is_of_this_machine(name)}
    return addresses | _LOOPBACKS if any(it.is_unspecified for it in addresses) else addresses


def _end(name: tuple[str, int]) -> End:
    return _plain(ipaddress.ip_address(name[0].partition("%")[0])), name[1]


def _plain(address: Address) -> Address:
    """A dual-stack socket shows an IPv4 address as a mapped one; both ends must look the same."""
    mapped = address.ipv4_mapped if isinstance(address, ipaddress.IPv6Address) else None
    return mapped or address
