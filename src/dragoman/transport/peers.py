"""Who is at the other end of a TCP connection on this machine, and who listens where: asked of the kernel.

Only Linux tells (`/proc/net/tcp`); elsewhere nothing is known, and the callers say so.
"""

from __future__ import annotations

import contextlib
import ipaddress
import os
import socket
import sys
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from pathlib import Path

_LISTEN = "0A"
_TIME_WAIT = "06"  # belongs to nobody any more
_PROC = Path("/proc")

Address = ipaddress.IPv4Address | ipaddress.IPv6Address


@dataclass(frozen=True, slots=True)
class Peer:
    """`uid` is None where the peer is not of this machine, or the system does not tell."""

    uid: int | None
    is_unaccepted: bool = False  # in the listener's queue the kernel calls every connection root's


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
    local: tuple[Address, int]
    remote: tuple[Address, int]
    state: str
    uid: int
    inode: int


_NOBODY = Peer(None)


def peer_of(connection: socket.socket) -> Peer:
    """The owner of the other end of an established connection."""
    if sys.platform != "linux" or connection.family not in {socket.AF_INET, socket.AF_INET6}:
        return _NOBODY
    ours, theirs = _end(connection.getsockname()), _end(connection.getpeername())
    for row in _rows(_PROC / "net", between=(theirs[1], ours[1])):
        if (row.local, row.remote) == (theirs, ours) and row.state not in {_LISTEN, _TIME_WAIT}:
            return Peer(None, is_unaccepted=True) if row.inode == 0 else Peer(row.uid)
    return _NOBODY


def is_held_by(connection: socket.socket, pids: Iterable[int]) -> bool:
    """Whether the other end of an established connection is one of these processes'; only Linux tells, else True."""
    if sys.platform != "linux":
        return True
    ours, theirs = _end(connection.getsockname()), _end(connection.getpeername())
    rows = _rows(_PROC / "net", between=(theirs[1], ours[1]))
    inodes = {row.inode for row in rows if (row.local, row.remote) == (theirs, ours)}
    return any(not inodes.isdisjoint(socket_inodes(pid).values()) for pid in pids)


def listeners(pids: Iterable[int]) -> list[Listener]:
    """The listening TCP sockets that processes hold. None of an adapter's may be reachable from elsewhere."""
    return [
        Listener(pid, str(row.local[0]), row.local[1])
        for pid in pids
        for inodes in [set(socket_inodes(pid).values())]
        for row in _rows(_PROC / str(pid) / "net")  # its own network namespace
        if row.state == _LISTEN and row.inode in inodes
    ]


def processes_at(port: int) -> list[int]:
    """Who listens on a port of this machine, and who is connected with them: an adapter and what it debugs."""
    inodes_by_pid = {int(it): set(socket_inodes(int(it)).values()) for it in os.listdir(_PROC) if it.isdecimal()}  # noqa: PTH208
    rows = list(_rows(_PROC / "net"))
    listening = {row.inode for row in rows if row.state == _LISTEN and row.local[1] == port}
    held = {inode for inodes in inodes_by_pid.values() if inodes & listening for inode in inodes}
    ends = {row.local for row in rows if row.inode in held and row.state != _LISTEN}
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


def _rows(folder: Path, between: tuple[int, int] | None = None) -> Iterator[_Row]:
    """Reading a row costs a hundred times what passing it over does: of many, only those with the ports are read."""
    ports = [f":{port:04X} " for port in between or ()]
    for name in ("tcp", "tcp6"):
        with contextlib.suppress(OSError):
            for line in (folder / name).read_text().splitlines()[1:]:
                if not all(port in line for port in ports):
                    continue
                fields = line.split()
                yield _Row(_hex_end(fields[1]), _hex_end(fields[2]), fields[3], int(fields[7]), int(fields[9]))


def _hex_end(text: str) -> tuple[Address, int]:
    """`0100007F:1F90`: the address as 32-bit words in the machine's own order, then the port."""
    address, port = text.split(":")
    raw = bytes.fromhex(address)
    ordered = b"".join(raw[at : at + 4][:: -1 if sys.byteorder == "little" else 1] for at in range(0, len(raw), 4))
    return _plain(ipaddress.ip_address(ordered)), int(port, 16)


def _end(name: tuple[str, int]) -> tuple[Address, int]:
    return _plain(ipaddress.ip_address(name[0].partition("%")[0])), name[1]


def _plain(address: Address) -> Address:
    """A dual-stack socket shows an IPv4 address as a mapped one; both ends must look the same."""
    mapped = address.ipv4_mapped if isinstance(address, ipaddress.IPv6Address) else None
    return mapped or address
