"""`dragoman page --on TARGET`: the page of another machine, in the browser here, as long as the command runs.

It listens on a free loopback port. Each connection of the browser gets a link of its own, over the target's command.
Only this user's connections are taken, where the system tells whose they are, and the page itself is opened by the
one-time code alone.
"""

from __future__ import annotations

import contextlib
import re
import select
import socket
import sys
import threading
from collections.abc import Sequence

from dragoman.cli.output import ExitCode, report_error, show_json_line, show_message, show_text, warn
from dragoman.cli.remote.connection import open_target
from dragoman.cli.remote.options import allows_stop
from dragoman.core.errors import DragomanError
from dragoman.core.localization import localize
from dragoman.io.net.descriptors import CHUNK_SIZE
from dragoman.io.net.peers import is_from_allowed_user
from dragoman.io.net.remote_errors import far_answer_not_understood
from dragoman.io.net.targets import Target
from dragoman.io.net.tcp_listener import listen_tcp_or_any

_LINK = re.compile(r"http://([0-9a-f]{32}\.localhost):\d{1,5}/(#code=[A-Za-z0-9._-]{1,200})")
"""Nothing else of what the far side says is opened in a browser."""
_MAX_CONNECTIONS = 16


def forward_page(target: Target, *, print_link: bool, as_json: bool) -> int:
    with listen_tcp_or_any("127.0.0.1") as listeners:
        link = _link_here(target, listeners.port)
        if as_json:
            show_json_line({"link": link})
        elif not print_link and sys.stdout.isatty() and _open_browser(link):
            show_message(localize("Opening the page of {target} in your browser.", target=target.name))
        else:
            show_text(link)
            warn(localize("The link works once and expires in two minutes."))
        warn(localize("The page works as long as this command runs. End it with Ctrl-C."))
        sys.stdout.flush()
        with contextlib.suppress(KeyboardInterrupt):
            PageListener(target, listeners.port).serve(listeners.sockets)
    return ExitCode.OK


def _open_browser(link: str) -> bool:
    from dragoman.cli.daemon.page import open_browser

    return open_browser(link)


def _link_here(target: Target, port: int) -> str:
    """The one-time link of the daemon there, with the port here."""
    with open_target(target) as client:
        answer = client.call("login_link")
    link = answer.get("link") if isinstance(answer, dict) else None
    found = _LINK.fullmatch(link) if isinstance(link, str) else None
    if found is None:
        raise far_answer_not_understood(target=target.name, reason=str(link))
    return f"http://{found[1]}:{port}/{found[2]}"


class PageListener:
    """Takes the browser's connections, each in a thread. Why one could not be made is said once."""

    def __init__(self, target: Target, port: int) -> None:
        self._target = target
        self._port = port
        self._slots = threading.BoundedSemaphore(_MAX_CONNECTIONS)
        self._reported = ""

    def serve(self, listeners: Sequence[socket.socket]) -> None:
        while True:
            ready, _, _ = select.select(listeners, (), ())
            for listener in ready:
                with contextlib.suppress(OSError):  # it has gone already
                    self._serve(listener.accept()[0])

    def _serve(self, browser: socket.socket) -> None:
        if not is_from_allowed_user(browser) or not self._slots.acquire(blocking=False):
            browser.close()
            return
        threading.Thread(target=self._forward, args=(browser,), daemon=True).start()

    def _about(self) -> dict[str, object]:
        return {"port": self._port, "target": self._target.name, "allow_stop": allows_stop()}

    def _forward(self, browser: socket.socket) -> None:
        try:
            with browser, open_target(self._target, role="page", about=self._about()) as link:
                _join(browser, link.detach_socket())
                error = link.fault()
        except DragomanError as failure:
            error = failure
        finally:
            self._slots.release()
        if error is not None and error.code != self._reported:
            self._reported = error.code
            report_error(error)


def _join(one: socket.socket, other: socket.socket) -> None:
    """Copy both ways until either ends."""
    one.settimeout(None)
    other.settimeout(None)
    copies = [threading.Thread(target=_copy, args=ends, daemon=True) for ends in ((one, other), (other, one))]
    for it in copies:
        it.start()
    for it in copies:
        it.join()


def _copy(source: socket.socket, sink: socket.socket) -> None:
    with contextlib.suppress(OSError):
        while data := source.recv(CHUNK_SIZE):
            sink.sendall(data)
    for it in (source, sink):  # the other thread waits for them
        with contextlib.suppress(OSError):
            it.shutdown(socket.SHUT_RDWR)
