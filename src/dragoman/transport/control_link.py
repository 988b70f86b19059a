"""The command line's way to the daemon: blocking, standard library alone, and never without a deadline."""

from __future__ import annotations

import os
import socket
import time
from collections.abc import Iterator, Mapping
from types import TracebackType
from typing import Any, Self

from dragoman import __version__
from dragoman.errors import DragomanError, RemoteProtocolError
from dragoman.phrases import Phrase, preferred_language, say
from dragoman.places import Places
from dragoman.transport.unix_socket import is_own_peer
from dragoman.wire.control import Answer, ClientConnection, Failure, Hello, Item, Welcome

ANSWER_WITHIN_S = 10.0
WELCOME_WITHIN_S = 3.0
"""The daemon greets before it does anything else: one that is silent for so long is stopped, or as good as."""
_TRY_AGAIN_S = 0.01


class ControlLink:
    """One connection, one call at a time. Use as a context manager."""

    def __init__(self, sock: socket.socket) -> None:
        self._sock = sock
        self._connection = ClientConnection()
        self._backlog: list[object] = []
        self._is_sending = False
        self._postponed = b""

    @classmethod
    def open(
        cls,
        places: Places,
        *,
        within_s: float = WELCOME_WITHIN_S,
        role: str = "control",
        about: Mapping[str, Any] | None = None,
    ) -> Self:
        link = cls(_connect(places, within_s))
        try:
            hello = Hello(role=role, version=__version__, language=preferred_language(), about=about or {})
            link._send(link._connection.send_hello(hello))
            link.welcome = link._first(within_s)
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

    def close(self) -> None:
        self._sock.close()

    def hand_over(self) -> socket.socket:
        """For a role that speaks its own protocol after the welcome; the daemon says nothing before it is spoken to."""
        return self._sock

    def call(self, method: str, params: Mapping[str, Any] | None = None, *, within_s: float = ANSWER_WITHIN_S) -> Any:
        for value in self.stream(method, params, idle_s=within_s):
            if isinstance(value, Answer):
                return value.result
        raise daemon_gone()

    def stream(
        self, method: str, params: Mapping[str, Any] | None = None, *, idle_s: float | None = ANSWER_WITHIN_S
    ) -> Iterator[Item | Answer]:
        """Items, then the answer; `idle_s` bounds the silence between two of them (None: a person watches)."""
        call_id, data = self._connection.send_call(method, params or {})
        self._send(data)
        while True:
            reply = self._next(idle_s)
            if isinstance(reply, Failure) and reply.id in {0, call_id}:
                raise DragomanError(reply.code, _verbatim(reply.message), hint=_verbatim(reply.hint))
            if isinstance(reply, Item | Answer) and reply.id == call_id:
                yield reply
                if isinstance(reply, Answer):
                    return

    def post(self, method: str, params: Mapping[str, Any] | None = None) -> None:
        """A call whose answer nobody waits for, made while `stream` waits for another's; a signal handler may."""
        data = self._connection.send_call(method, params or {})[1]
        if self._is_sending:  # what the signal came into is sent whole before
            self._postponed += data
        else:
            self._send(data)

    def _first(self, within_s: float) -> Welcome:
        reply = self._next(within_s)
        if isinstance(reply, Failure):
            raise DragomanError(reply.code, _verbatim(reply.message), hint=_verbatim(reply.hint))
        if not isinstance(reply, Welcome):
            raise daemon_gone()
        return reply

    def _send(self, data: bytes) -> None:
        self._is_sending = True
        try:
            while data:
                self._sock.settimeout(ANSWER_WITHIN_S)
                self._sock.sendall(data)
                data, self._postponed = self._postponed, b""
        except TimeoutError as error:
            raise not_answering() from error
        except OSError as error:
            raise daemon_gone() from error
        finally:
            self._is_sending = False

    def _next(self, within_s: float | None) -> object:
        deadline = None if within_s is None else time.monotonic() + within_s
        while not self._backlog:
            self._sock.settimeout(None if deadline is None else max(0.001, deadline - time.monotonic()))
            try:
                data = self._sock.recv(65536)
            except TimeoutError as error:
                raise not_answering() from error
            except OSError as error:
                raise daemon_gone() from error
            if not data:
                raise daemon_gone()
            self._backlog.extend(self._understood(data))
        return self._backlog.pop(0)

    def _understood(self, data: bytes) -> list[object]:
        try:
            return list(self._connection.receive_data(data))
        except RemoteProtocolError as error:
            raise DragomanError(
                "not_dragoman",
                say("What answers at the daemon's socket does not speak as Dragoman does: {reason}.", reason=error),
                hint=say("It may be another version: `dragoman up --take-over` replaces it."),
            ) from error


def _connect(places: Places, within_s: float) -> socket.socket:
    sock = socket.socket(socket.AF_UNIX, socket.SOCK_STREAM)
    sock.settimeout(within_s)
    try:
        _reach(sock, os.fspath(places.socket), time.monotonic() + within_s)
        if not is_own_peer(sock):
            raise _foreign(places)
    except TimeoutError as error:
        sock.close()
        raise not_answering() from error
    except OSError as error:
        sock.close()
        raise not_running() from error
    except BaseException:
        sock.close()
        raise
    return sock


def _reach(sock: socket.socket, path: str, deadline: float) -> None:
    """A Unix socket whose queue is full refuses at once instead of waiting: a crowd before us is not an absence."""
    while True:
        try:
            return sock.connect(path)
        except BlockingIOError as error:
            if time.monotonic() >= deadline:
                raise TimeoutError from error
            time.sleep(_TRY_AGAIN_S)


def not_running() -> DragomanError:
    return DragomanError("not_running", say("No daemon is running."), hint=say("Start one with `dragoman up`."))


def not_answering() -> DragomanError:
    return DragomanError(
        "not_answering",
        say("The daemon does not answer."),
        hint=say("It may be stopped or overloaded: see `dragoman logs`, or replace it with `dragoman up --take-over`."),
    )


def daemon_gone() -> DragomanError:
    return DragomanError(
        "daemon_gone",
        say("The daemon ended the connection before it answered."),
        hint=say("See `dragoman logs`, then try again."),
    )


def _foreign(places: Places) -> DragomanError:
    return DragomanError(
        "foreign_socket",
        say("The socket {path} is served by another user.", path=places.socket),
        hint=say("Nothing was sent. Remove it, or point DRAGOMAN_HOME at a folder of your own."),
    )


def _verbatim(text: str) -> Phrase:
    """The daemon has put it into our language already."""
    return say("{text}", text=text)
