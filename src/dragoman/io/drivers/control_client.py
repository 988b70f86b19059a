"""The command line's connection to the daemon: blocking, with the standard library alone, and always with a
deadline."""

from __future__ import annotations

import os
import socket
import time
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from types import TracebackType
from typing import Any, Self

from dragoman import __version__
from dragoman.core.errors import DragomanError, ErrorSpec, RemoteProtocolError
from dragoman.core.localization import LocalizedText, localize, preferred_language
from dragoman.core.paths import Paths
from dragoman.io.errors import daemon_gone, daemon_not_running, foreign_socket, not_answering
from dragoman.io.net.unix_socket import is_own_peer
from dragoman.protocols.control import (
    FAR_KEPT_CAP,
    ClientConnection,
    ControlAnswer,
    ControlFailure,
    ControlItem,
    Hello,
    Welcome,
)

ANSWER_WITHIN_S = 10.0
WELCOME_WITHIN_S = 3.0
"""The daemon greets before it does anything else: one that is silent for this long is stopped or stuck."""
_TRY_AGAIN_S = 0.01


_unreadable = ErrorSpec(
    "not_dragoman",
    "The program at the daemon's socket is not Dragoman: {reason}.",
    "It may be another version. Replace it with `dragoman up --take-over`.",
)


@dataclass(frozen=True, slots=True)
class DaemonPeer:
    """Whose daemon it is, and how to say what is wrong with it; the defaults are for this machine's."""

    fault: Callable[[], DragomanError | None] = lambda: None
    """Why the connection broke, if anyone knows. Asked after its end."""
    late: Callable[[], DragomanError] = not_answering
    unreadable: Callable[[RemoteProtocolError], DragomanError] = lambda error: _unreadable(reason=error)
    is_far: bool = False
    """The daemon of another machine: less is kept of what it sends."""


_OF_THIS_MACHINE = DaemonPeer()


class ControlClient:
    """One connection to the daemon, one call at a time. Use it as a context manager."""

    def __init__(self, sock: socket.socket, *, peer: DaemonPeer = _OF_THIS_MACHINE, least_s: float = 0.0) -> None:
        self._sock = sock
        self._peer = peer
        self._least_s = least_s
        self._connection = ClientConnection(is_far=peer.is_far)
        self._backlog: list[object] = []
        self._is_sending = False
        self._held_back = b""

    @classmethod
    def open(
        cls,
        paths: Paths,
        *,
        within_s: float = WELCOME_WITHIN_S,
        role: str = "control",
        about: Mapping[str, Any] | None = None,
    ) -> Self:
        return cls.over(connect_to_daemon(paths, within_s), within_s=within_s, role=role, about=about)

    @classmethod
    def over(
        cls,
        sock: socket.socket,
        *,
        peer: DaemonPeer = _OF_THIS_MACHINE,
        least_s: float = 0.0,
        within_s: float = WELCOME_WITHIN_S,
        role: str = "control",
        about: Mapping[str, Any] | None = None,
    ) -> Self:
        """Over a socket that is connected already. No deadline is shorter than `least_s`: a network may be slow, and
        whoever watches it knows more about a silence than that it was one.
        """
        link = cls(sock, peer=peer, least_s=least_s)
        try:
            hello = Hello(role=role, version=__version__, language=preferred_language(), about=about or {})
            link._send(link._connection.send_hello(hello))
            link.welcome = link._read_welcome(within_s)
        except BaseException:
            link.close()
            raise
        return link

    welcome: Welcome

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.close()

    def fault(self) -> DragomanError | None:
        return self._peer.fault()

    def close(self) -> None:
        self._sock.close()

    def detach_socket(self) -> socket.socket:
        """For a role that speaks its own protocol after the welcome. The daemon sends nothing before the client
        does."""
        return self._sock

    def call(self, method: str, params: Mapping[str, Any] | None = None, *, within_s: float = ANSWER_WITHIN_S) -> Any:
        """Items do not extend the time: a peer that sends them without end never answers."""
        call_id = self._begin(method, params)
        deadline = self._deadline(within_s)
        while not isinstance(reply := self._reply(call_id, deadline), ControlAnswer):
            pass
        return reply.result

    def stream(
        self,
        method: str,
        params: Mapping[str, Any] | None = None,
        *,
        idle_s: float | None = ANSWER_WITHIN_S,
        keeps: bool = False,
    ) -> Iterator[ControlItem | ControlAnswer]:
        """Yield items, then the answer. `idle_s` bounds the silence between two of them (None: a person watches).
        `keeps`: the caller keeps all items, so that those of another machine are bounded.
        """
        call_id = self._begin(method, params)
        while True:
            reply = self._reply(call_id, self._deadline(idle_s))
            if keeps and self._connection.cost > FAR_KEPT_CAP:
                raise self._peer.unreadable(RemoteProtocolError("too_much", "an answer without end"))
            yield reply
            if isinstance(reply, ControlAnswer):
                return

    def _begin(self, method: str, params: Mapping[str, Any] | None) -> int:
        call_id, data = self._connection.send_call(method, params or {})
        self._send(data)
        return call_id

    def _reply(self, call_id: int, deadline: float | None) -> ControlItem | ControlAnswer:
        """The next reply to this call; what belongs to none does not extend the time."""
        while True:
            reply = self._next(deadline)
            if isinstance(reply, ControlFailure) and reply.id in {0, call_id}:
                raise DragomanError(reply.code, _verbatim(reply.message), hint=_verbatim(reply.hint))
            if isinstance(reply, ControlItem | ControlAnswer) and reply.id == call_id:
                return reply

    def _deadline(self, within_s: float | None) -> float | None:
        return None if within_s is None else time.monotonic() + max(within_s, self._least_s)

    def post(self, method: str, params: Mapping[str, Any] | None = None) -> None:
        """Send a call without waiting for its answer, while `stream` waits for another. A signal handler may call
        it."""
        data = self._connection.send_call(method, params or {})[1]
        if self._is_sending:  # the message that the signal interrupted is sent whole first
            self._held_back += data
        else:
            self._send(data)

    def _read_welcome(self, within_s: float) -> Welcome:
        reply = self._next(self._deadline(within_s))
        if isinstance(reply, ControlFailure):
            raise DragomanError(reply.code, _verbatim(reply.message), hint=_verbatim(reply.hint))
        if not isinstance(reply, Welcome):
            raise self._gone()
        return reply

    def _gone(self) -> DragomanError:
        return self.fault() or daemon_gone()

    def _send(self, data: bytes) -> None:
        self._is_sending = True
        try:
            while data:
                self._sock.settimeout(ANSWER_WITHIN_S)
                self._sock.sendall(data)
                data, self._held_back = self._held_back, b""
        except TimeoutError as error:
            raise self._peer.late() from error
        except OSError as error:
            raise self._gone() from error
        finally:
            self._is_sending = False

    def _next(self, deadline: float | None) -> object:
        while not self._backlog:
            left_s = None if deadline is None else deadline - time.monotonic()
            if left_s is not None and left_s <= 0:  # also for a peer that never stops sending
                raise self._peer.late()
            self._sock.settimeout(left_s)
            try:
                data = self._sock.recv(65536)
            except TimeoutError as error:
                raise self._peer.late() from error
            except OSError as error:
                raise self._gone() from error
            if not data:
                raise self._gone()
            self._backlog.extend(self._decode(data))
        return self._backlog.pop(0)

    def _decode(self, data: bytes) -> list[object]:
        try:
            return list(self._connection.receive_data(data))
        except RemoteProtocolError as error:
            raise self._peer.unreadable(error) from error


def connect_to_daemon(paths: Paths, within_s: float) -> socket.socket:
    """The socket of this machine's daemon, before the hello."""
    sock = socket.socket(socket.AF_UNIX, socket.SOCK_STREAM)
    sock.settimeout(within_s)
    try:
        _reach(sock, os.fspath(paths.socket), time.monotonic() + within_s)
        if not is_own_peer(sock):
            raise foreign_socket(path=paths.socket)
    except TimeoutError as error:
        sock.close()
        raise not_answering() from error
    except OSError as error:
        sock.close()
        raise daemon_not_running() from error
    except BaseException:
        sock.close()
        raise
    return sock


def _reach(sock: socket.socket, path: str, deadline: float) -> None:
    """A Unix socket with a full queue refuses at once instead of waiting: a busy daemon is not an absent one."""
    while True:
        try:
            return sock.connect(path)
        except BlockingIOError as error:
            if time.monotonic() >= deadline:
                raise TimeoutError from error
            time.sleep(_TRY_AGAIN_S)


def _verbatim(text: str) -> LocalizedText:
    """The daemon has already translated it."""
    return localize("{text}", text=text)
