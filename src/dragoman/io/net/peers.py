"""Who owns the other end of a local TCP connection, and who listens on a port, according to the kernel.

Only Linux reports the owner of a TCP socket: by `sock_diag` (`man 7 sock_diag`), or by `/proc/net/tcp` where that is
not available. A sock_diag lookup by both ends costs the same with ten sockets as with a hundred thousand, and it finds
a dual-stack socket by its IPv4 address; `/proc/net/tcp` has to be printed and read as a whole. macOS has no such table
for an ordinary user: there every caller counts as this user's, and SECURITY.md says so.
"""

from __future__ import annotations

import contextlib
import errno
import ipaddress
import logging
import os
import pwd
import socket
import struct
import sys
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

LISTEN = 0x0A
TIME_WAIT = 0x06  # no process owns it any more
_NETLINK_SOCK_DIAG = 4
_SOCK_DIAG_BY_FAMILY = 20
_NLM_F_REQUEST = 1
_NLMSG_ERROR = 2
_ANY_STATE = 0xFFFFFFFF
_NO_COOKIE = b"\xff" * 8
_ANSWERED_WITHIN_S = 1.0
log = logging.getLogger(__name__)

Address = ipaddress.IPv4Address | ipaddress.IPv6Address
End = tuple[Address, int]
_HEADER = struct.Struct("=IHHII")
_REQUEST = struct.Struct("=BBBBI")
_PORTS = struct.Struct("!HH")
_MESSAGE = struct.Struct("=BBBB48sIIIII")


class NoSockDiagError(OSError):
    """The kernel does not serve lookups here: it is old, or a sandbox forbids netlink."""


@dataclass(frozen=True, slots=True)
class KernelSocket:
    state: int
    uid: int
    inode: int
    """0 if no process holds it: in a listener's queue, or closed by its process and not yet gone."""


def find_socket(local: End, remote: End, *, interface: int = 0) -> KernelSocket | None:
    """The socket whose own end is `local`; None if the kernel has none between these ends."""
    answer = _ask_kernel(_request(local, remote, interface))
    kind = _HEADER.unpack_from(answer)[1]
    if kind == _NLMSG_ERROR:
        code = -struct.unpack_from("=i", answer, _HEADER.size)[0]
        if code == 2:  # ENOENT: the one error that is an answer
            return None
        raise NoSockDiagError(code, os.strerror(code))
    _, state, _, _, ends, _, _, _, uid, inode = _MESSAGE.unpack_from(answer, _HEADER.size)
    # If no socket has these two ends, the kernel falls back to a listener at the first.
    is_between = _PORTS.unpack_from(ends) == (local[1], remote[1])
    return KernelSocket(state, uid, inode) if is_between and state != LISTEN else None


def _request(local: End, remote: End, interface: int) -> bytes:
    family = socket.AF_INET if local[0].version == 4 else socket.AF_INET6
    ends = _PORTS.pack(local[1], remote[1]) + _padded(local[0]) + _padded(remote[0])
    body = _REQUEST.pack(family, socket.IPPROTO_TCP, 0, 0, _ANY_STATE) + ends + struct.pack("=I", interface)
    body += _NO_COOKIE
    return _HEADER.pack(_HEADER.size + len(body), _SOCK_DIAG_BY_FAMILY, _NLM_F_REQUEST, 1, 0) + body


def _padded(address: Address) -> bytes:
    return address.packed.ljust(16, b"\0")


def _ask_kernel(request: bytes) -> bytes:
    try:
        with socket.socket(socket.AF_NETLINK, socket.SOCK_RAW, _NETLINK_SOCK_DIAG) as link:
            link.settimeout(_ANSWERED_WITHIN_S)
            link.sendto(request, (0, 0))
            answer, (sender, _) = link.recvfrom(8192)
    except OSError as error:
        raise NoSockDiagError(error.errno, error.strerror) from error
    if sender != 0 or len(answer) < _HEADER.size + 4:  # any process may send to a netlink socket: the kernel is port 0
        raise NoSockDiagError(0, "an answer that is not the kernel's")
    return answer


_PROC = Path("/proc")
_LOOPBACKS = {ipaddress.ip_address("127.0.0.1"), ipaddress.ip_address("::1")}


@dataclass(frozen=True, slots=True)
class TcpPeer:
    """`uid` is None if no process holds the other end, if it is not on this machine, or if the system does not
    report it."""

    uid: int | None
    is_unaccepted: bool = False
    """No process holds it: it waits in a listener's queue, or was closed. The kernel reports root for all of those."""
    is_here: bool = True
    """Whether the peer's address belongs to this machine, so that its owner can be known."""


@dataclass(frozen=True, slots=True)
class ListeningSocket:
    pid: int
    host: str
    port: int

    @property
    def is_loopback(self) -> bool:
        return _plain(ipaddress.ip_address(self.host)).is_loopback


@dataclass(frozen=True, slots=True)
class _ProcTcpRow:
    local: End
    remote: End
    state: int
    uid: int
    inode: int


_NOBODY = TcpPeer(None)


def peer_of(connection: socket.socket) -> TcpPeer:
    """The owner of the other end of an established connection."""
    if sys.platform != "linux" or connection.family not in {socket.AF_INET, socket.AF_INET6}:
        return _NOBODY
    found = _other_end(connection)
    if found is None:
        return TcpPeer(None, is_here=_is_here(connection))
    return TcpPeer(None, is_unaccepted=True) if found.inode == 0 else TcpPeer(found.uid)


def is_caller_allowed(ours: tuple[str, int], theirs: tuple[str, int], users: frozenset[int]) -> bool:
    """Like `is_from_allowed_user`, for a connection that another process holds, by the addresses of its ends."""
    if sys.platform != "linux" or not _is_of_this_machine(theirs):
        return True
    found = _between(theirs, ours)
    return found is not None and found.inode != 0 and found.uid in {os.getuid(), *users}


def is_from_allowed_user(connection: socket.socket, users: frozenset[int] = frozenset()) -> bool:
    """Whether the caller is this user, one of `users`, or on another machine, if a port is open to those at all.

    A caller on this machine with an unknown owner is refused: it has closed its end already, or hides. Only Linux knows
    owners; elsewhere every caller is admitted.
    """
    if sys.platform != "linux":
        return True
    peer = peer_of(connection)
    return not peer.is_here if peer.uid is None else peer.uid in {os.getuid(), *users}


def known_uids(users: Iterable[str]) -> frozenset[int]:
    """The uids of names and numbers. An unknown name matches no user, and is logged."""
    found = set()
    for user in users:
        try:
            found.add(int(user) if user.isdecimal() else pwd.getpwnam(user).pw_uid)
        except KeyError:
            log.warning("the settings name a user that this machine does not know: %s", ascii(user))
    return frozenset(found)


def user_name(uid: int) -> str:
    """The user's name, or the number if it has none."""
    try:
        return pwd.getpwuid(uid).pw_name
    except KeyError:
        return str(uid)


def is_held_by(connection: socket.socket, pids: Iterable[int]) -> bool:
    """Whether one of these processes holds the other end of an established connection. Only Linux reports that;
    elsewhere True."""
    if sys.platform != "linux":
        return True
    found = _other_end(connection)
    return found is not None and any(found.inode in socket_inodes(pid).values() for pid in pids)


def listeners(pids: Iterable[int]) -> list[ListeningSocket]:
    """The listening TCP sockets of these processes. Those of an adapter must not be reachable from elsewhere."""
    return [
        ListeningSocket(pid, str(row.local[0]), row.local[1])
        for pid in pids
        for inodes in [set(socket_inodes(pid).values())]
        for row in _rows(_PROC / str(pid) / "net")  # each process may have its own network namespace
        if row.state == LISTEN and row.inode in inodes
    ]


def has_foreign_listener(host: str, port: int, users: frozenset[int] = frozenset()) -> bool:
    """Whether another user than this one, root and `users` listens at `host:port`, if that is this machine.

    The check is by address: the owner of the port on ::1 may differ from the one on 127.0.0.1. A name may lead to
    either, and is resolved here: this machine has many.
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
    """The processes that listen on a port of this machine, and those connected to them: an adapter and what it
    debugs."""
    inodes_by_pid = {int(it): set(socket_inodes(int(it)).values()) for it in os.listdir(_PROC) if it.isdecimal()}  # noqa: PTH208
    rows = list(_rows(_PROC / "net"))
    listening = {row.inode for row in rows if row.state == LISTEN and row.local[1] == port}
    held = {inode for inodes in inodes_by_pid.values() if inodes & listening for inode in inodes}
    ends = {row.local for row in rows if row.inode in held and row.state != LISTEN}
    connected = {row.inode for row in rows if row.remote in ends}
    return [pid for pid, inodes in inodes_by_pid.items() if inodes & (listening | connected) and pid != os.getpid()]


def socket_inodes(pid: int) -> dict[int, int]:
    """Descriptor to inode, for every socket of the process that we may see."""
    found = {}
    folder = f"/proc/{pid}/fd"
    with contextlib.suppress(OSError):
        for name in os.listdir(folder):  # noqa: PTH208  called often, and `os` takes half the time of pathlib
            with contextlib.suppress(OSError):
                target = os.readlink(f"{folder}/{name}")  # noqa: PTH115
                if target.startswith("socket:["):
                    found[int(name)] = int(target[8:-1])
    return found


def _rows(folder: Path, between: tuple[int, ...] = ()) -> Iterator[_ProcTcpRow]:
    """Parsing a row costs a hundred times more than skipping it: only rows with the ports are parsed."""
    ports = [f":{port:04X} " for port in between]
    for name in ("tcp", "tcp6"):
        with contextlib.suppress(OSError):
            for line in (folder / name).read_text().splitlines()[1:]:
                if not all(port in line for port in ports):
                    continue
                fields = line.split()
                state, uid, inode = int(fields[3], 16), int(fields[7]), int(fields[9])
                yield _ProcTcpRow(_hex_end(fields[1]), _hex_end(fields[2]), state, uid, inode)


def _hex_end(text: str) -> End:
    """`0100007F:1F90`: the address as 32-bit words in host byte order, then the port."""
    address, port = text.split(":")
    raw = bytes.fromhex(address)
    ordered = b"".join(raw[at : at + 4][:: -1 if sys.byteorder == "little" else 1] for at in range(0, len(raw), 4))
    return _plain(ipaddress.ip_address(ordered)), int(port, 16)


def _other_end(connection: socket.socket) -> KernelSocket | None:
    """None if the kernel knows no such socket, for example because the peer has closed it for good."""
    try:
        ours, theirs = connection.getsockname(), connection.getpeername()
    except OSError:  # reset before the lookup
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
    """Whether the peer is on this machine; unknown counts as yes."""
    try:
        theirs = connection.getpeername()
    except OSError:
        return True
    return _is_of_this_machine(theirs)


def _is_of_this_machine(name: tuple[Any, ...]) -> bool:
    """Whether a socket of this machine can have the address; unknown counts as yes."""
    if _end((name[0], 0))[0].is_loopback:
        return True
    try:
        with socket.socket(socket.AF_INET6 if ":" in name[0] else socket.AF_INET, socket.SOCK_DGRAM) as probe:
            probe.bind((name[0], 0, *name[2:]))
    except OSError as error:
        return error.errno != errno.EADDRNOTAVAIL
    return True


def _addresses_here(host: str) -> set[Address]:
    """The addresses of this machine that a host resolves to. Connecting to the unspecified address reaches loopback."""
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
    """A dual-stack socket shows an IPv4 address as a mapped one; both ends must have the same form."""
    mapped = address.ipv4_mapped if isinstance(address, ipaddress.IPv6Address) else None
    return mapped or address
