"""The daemon's TCP port: taken exactly, or any free one, and who holds it when it is taken."""

from __future__ import annotations

import errno
import socket
from collections.abc import Sequence
from contextlib import ExitStack, suppress
from dataclasses import dataclass

from dragoman.errors import DragomanError
from dragoman.phrases import Phrase, say

_BACKLOG = 128
_ATTEMPTS = 16  # a port that is free at one address may be taken at the other
_OTHER_LOOPBACK = {"127.0.0.1": "::1", "::1": "127.0.0.1"}
_NO_SUCH_ADDRESS = frozenset({errno.EADDRNOTAVAIL, errno.EAFNOSUPPORT, errno.EPROTONOSUPPORT})


def bind_tcp(host: str, port: int) -> socket.socket:
    family = socket.AF_INET6 if ":" in host else socket.AF_INET
    try:
        listener = socket.socket(family, socket.SOCK_STREAM)
    except OSError as error:  # a kernel without this family
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
class Listeners:
    """One port, at every address that clients may take for it."""

    port: int
    sockets: tuple[socket.socket, ...]

    def __enter__(self) -> Listeners:
        return self

    def __exit__(self, *_: object) -> None:
        for listener in self.sockets:
            listener.close()


def listen(host: str, port: int) -> Listeners:
    """This very port; 0 is any."""
    return _listen(host, port) if port else listen_or_any(host)


def listen_or_any(host: str, *wanted: int) -> Listeners:
    """The first that is free. An automatic start never fails for a port: it takes any free one then, and says so."""
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


def _listen(host: str, port: int) -> Listeners:
    """On loopback at both of its addresses: browsers take `localhost` and what ends in it for either of them, so half a
    port would leave the other half to whoever wants it."""
    with ExitStack() as stack:
        first = stack.enter_context(bind_tcp(host, port))
        number: int = first.getsockname()[1]
        sockets = [first]
        if host in _OTHER_LOOPBACK and (other := _bind_if_there(_OTHER_LOOPBACK[host], number)) is not None:
            sockets.append(other)
        stack.pop_all()
    return Listeners(number, tuple(sockets))


def _bind_if_there(host: str, port: int) -> socket.socket | None:
    """None where this machine has no such address; a port that somebody has there is refused."""
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
            say("Port {port} is taken by {holder}.", port=port, holder=holder_of(port)),
            hint=say("Choose another with --port N, or --port 0 for any free one."),
        )
    if error.errno == errno.EACCES:
        return DragomanError(
            "port_forbidden",
            say("Port {port} may not be opened by this user.", port=port),
            hint=say("Choose one above 1023 with --port N."),
        )
    return DragomanError(
        "bind_failed",
        say("{host}:{port} could not be opened: {reason}.", host=host, port=port, reason=error.strerror),
        hint=say("Check `bind` in the settings: it must be an address of this machine."),
    )


def holder_of(port: int) -> Phrase:
    """The process that listens on a port, by name and pid; another user's process may not be seen."""
    import psutil  # noqa: PLC0415  only needed for an error's sentence

    try:
        pid = _listening_pid(psutil.net_connections(kind="tcp"), port)
    except psutil.Error:  # macOS shows the connections of others to root alone
        pid = None
    if pid is None:
        return say("a process of another user")
    try:
        return say("{name} (pid {pid})", name=psutil.Process(pid).name(), pid=pid)
    except psutil.Error:
        return say("pid {pid}", pid=pid)


def _listening_pid(connections: Sequence[object], port: int) -> int | None:
    for connection in connections:
        address = getattr(connection, "laddr", ())
        if getattr(connection, "status", "") == "LISTEN" and address and address[1] == port:
            pid: int | None = getattr(connection, "pid", None)
            return pid
    return None
