"""Listen on the daemon's TCP port, or on any free one, and name the process that holds a port in use."""

from __future__ import annotations

import errno
import socket
from collections.abc import Sequence
from contextlib import ExitStack, suppress
from dataclasses import dataclass

from dragoman.core.errors import DragomanError
from dragoman.core.localization import LocalizedText, localize

_BACKLOG = 128
_ATTEMPTS = 16  # a port that is free at one address may be in use at the other
_OTHER_LOOPBACK = {"127.0.0.1": "::1", "::1": "127.0.0.1"}
_NO_SUCH_ADDRESS = frozenset({errno.EADDRNOTAVAIL, errno.EAFNOSUPPORT, errno.EPROTONOSUPPORT})


def bind_tcp(host: str, port: int) -> socket.socket:
    family = socket.AF_INET6 if ":" in host else socket.AF_INET
    try:
        listener = socket.socket(family, socket.SOCK_STREAM)
    except OSError as error:  # the kernel lacks this address family
        raise _refused(host, port, error) from error
    try:
        listener.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        if family == socket.AF_INET6:
            listener.setsockopt(socket.IPPROTO_IPV6, socket.IPV6_V6ONLY, 1)
        listener.bind((host, port))
        # SO_REUSEADDR lets two sockets bind one port until one of them listens: only then is it ours.
        listener.listen(_BACKLOG)
        listener.setblocking(False)
    except OSError as error:
        listener.close()
        raise _refused(host, port, error) from error
    return listener


@dataclass(frozen=True, slots=True)
class TcpListeners:
    """One port, at every address by which clients may reach it."""

    port: int
    sockets: tuple[socket.socket, ...]

    def __enter__(self) -> TcpListeners:
        return self

    def __exit__(self, *_: object) -> None:
        for listener in self.sockets:
            listener.close()


def listen_tcp(host: str, port: int) -> TcpListeners:
    """Listen on this port; 0 means any."""
    return _listen(host, port) if port else listen_tcp_or_any(host)


def listen_tcp_or_any(host: str, *wanted: int) -> TcpListeners:
    """Listen on the first free port. An automatic start never fails because of a port: it then takes any free one,
    and reports it."""
    for port in filter(None, wanted):
        try:
            return _listen(host, port)
        except DragomanError as error:
            if error.code not in {"port_taken", "port_forbidden"}:
                raise
    for _ in range(_ATTEMPTS):
        with suppress(DragomanError):
            return _listen(host, 0)
    return _listen(host, 0)


def _listen(host: str, port: int) -> TcpListeners:
    """Listen on both loopback addresses: browsers resolve `localhost` and its subdomains to either, and another
    program could take the other half."""
    with ExitStack() as stack:
        first = stack.enter_context(bind_tcp(host, port))
        number: int = first.getsockname()[1]
        sockets = [first]
        if host in _OTHER_LOOPBACK and (other := _bind_if_there(_OTHER_LOOPBACK[host], number)) is not None:
            sockets.append(other)
        stack.pop_all()
    return TcpListeners(number, tuple(sockets))


def _bind_if_there(host: str, port: int) -> socket.socket | None:
    """None if this machine has no such address; a port in use there is an error."""
    try:
        return bind_tcp(host, port)
    except DragomanError as error:
        cause = error.__cause__
        if isinstance(cause, OSError) and cause.errno in _NO_SUCH_ADDRESS:
            return None
        raise


def _refused(host: str, port: int, error: OSError) -> DragomanError:
    if error.errno == errno.EADDRINUSE:
        return DragomanError(
            "port_taken",
            localize("Port {port} is in use by {holder}.", port=port, holder=port_holder(port)),
            hint=localize("Stop it, or choose another port with --port N (0: any free port)."),
        )
    if error.errno == errno.EACCES:
        return DragomanError(
            "port_forbidden",
            localize("Permission denied on port {port}: ports below 1024 need root.", port=port),
            hint=localize("Choose a port above 1023 with --port N."),
        )
    return DragomanError(
        "bind_failed",
        localize("Cannot listen on {host}:{port}: {reason}.", host=host, port=port, reason=error.strerror),
        hint=localize("Check `bind` in the settings: it must be an address of this machine."),
    )


def port_holder(port: int) -> LocalizedText:
    """The process that listens on a port, by name and pid; another user's process may not be seen."""
    import psutil  # noqa: PLC0415  only needed for an error message

    try:
        pid = _listening_pid(psutil.net_connections(kind="tcp"), port)
    except psutil.Error:  # macOS shows other users' connections to root alone
        pid = None
    if pid is None:
        return localize("another user's process")
    try:
        return localize("{name} (pid {pid})", name=psutil.Process(pid).name(), pid=pid)
    except psutil.Error:
        return localize("pid {pid}", pid=pid)


def _listening_pid(connections: Sequence[object], port: int) -> int | None:
    for connection in connections:
        address = getattr(connection, "laddr", ())
        if getattr(connection, "status", "") == "LISTEN" and address and address[1] == port:
            pid: int | None = getattr(connection, "pid", None)
            return pid
    return None
