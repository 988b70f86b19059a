"""One TCP socket of this machine, looked up by its two ends in the kernel's own table (`man 7 sock_diag`).

A lookup by both ends costs the same with ten sockets as with a hundred thousand, and it knows a dual-stack socket by
its IPv4 address. `/proc/net/tcp` has to be printed by the kernel and read by us as a whole.
"""

from __future__ import annotations

import ipaddress
import os
import socket
import struct
from dataclasses import dataclass

Address = ipaddress.IPv4Address | ipaddress.IPv6Address
End = tuple[Address, int]

LISTEN = 0x0A
TIME_WAIT = 0x06  # belongs to nobody any more

_NETLINK_SOCK_DIAG = 4
_SOCK_DIAG_BY_FAMILY = 20
_NLM_F_REQUEST = 1
_NLMSG_ERROR = 2
_ANY_STATE = 0xFFFFFFFF
_NO_COOKIE = b"\xff" * 8
_HEADER = struct.Struct("=IHHII")
_REQUEST = struct.Struct("=BBBBI")
_PORTS = struct.Struct("!HH")
_MESSAGE = struct.Struct("=BBBB48sIIIII")
_ANSWERED_WITHIN_S = 1.0


class NoSockDiagError(OSError):
    """The kernel does not serve lookups here: an old one, or a sandbox that forbids netlink."""


@dataclass(frozen=True, slots=True)
class KernelSocket:
    state: int
    uid: int
    inode: int
    """0 where no process holds it: in a listener's queue, or closed by its process and not yet gone."""


def find_socket(local: End, remote: End, *, interface: int = 0) -> KernelSocket | None:
    """The socket whose own end is `local`; None where the kernel has none between these ends."""
    answer = _asked(_request(local, remote, interface))
    kind = _HEADER.unpack_from(answer)[1]
    if kind == _NLMSG_ERROR:
        code = -struct.unpack_from("=i", answer, _HEADER.size)[0]
        if code == 2:  # ENOENT: the one error that is an answer
            return None
        raise NoSockDiagError(code, os.strerror(code))
    _, state, _, _, ends, _, _, _, uid, inode = _MESSAGE.unpack_from(answer, _HEADER.size)
    # Where no socket has these two ends, the kernel falls back to a listener at the first.
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


def _asked(request: bytes) -> bytes:
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
