"""An editor scripted by the test, at a real socket."""

from __future__ import annotations

import contextlib
import json
import socket
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Any

from tests.daemons import eventually
from tests.page.page_fixture import DebugWorkspace
from tests.proving import as_editor
from tests.raw_http import WebSocket

Json = dict[str, Any]
Answers = dict[str, Callable[[Json], Any]]


class Refusal(Exception):  # noqa: N818
    """What an editor answers instead."""


class Silence(Exception):  # noqa: N818
    """It does not answer at all."""


def proved(place: DebugWorkspace, *, receive_buffer: int = 0) -> WebSocket:
    """The socket of an editor that has said nothing yet."""
    return as_editor(place.daemon.paths).open("/link/editor", receive_buffer=receive_buffer)


class FakeEditor:
    def __init__(self, place: DebugWorkspace, answers: Answers, **about: Any) -> None:
        self.wire = proved(place)
        self.wire.socket.settimeout(30)
        self.answers = answers
        self.asked: list[Json] = []
        self.notified: list[Json] = []
        self.replies: list[Json] = []
        features = [*answers, "debug.request", "debug.breakpoints"]
        hello = {"name": "Fake Code", "folders": [str(place.folder)], "features": features, **about}
        self.notify("hello", hello)
        assert self.wire.receive_json()["method"] == "welcome"
        self._thread = threading.Thread(target=self._serve, daemon=True)
        self._thread.start()

    def notify(self, method: str, params: Json, **more: Any) -> None:
        self.wire.send(json.dumps({"method": method, "params": params, **more}).encode())

    def call(self, method: str, params: Json) -> Json:
        """And the daemon's answer."""
        number = len(self.replies) + 1000
        self.notify(method, params, id=number)
        found: Json = eventually(lambda: next((it for it in self.replies if it["id"] == number), None), every_s=0.02)
        return found

    def leave(self) -> None:
        """At once: a close alone waits for the thread that reads."""
        with contextlib.suppress(OSError):
            self.wire.socket.shutdown(socket.SHUT_RDWR)
        self.wire.socket.close()

    def _serve(self) -> None:
        while True:
            try:
                opcode, payload = self.wire.receive()
            except OSError:
                return
            if opcode == 1:
                self._receive(json.loads(payload))
            elif opcode in (8, -1):
                return

    def _receive(self, message: Json) -> None:
        if "method" not in message:
            self.replies.append(message)
        elif "id" not in message:
            self.notified.append(message)
        else:
            self.asked.append(message)
            self._answer(message)

    def _answer(self, message: Json) -> None:
        try:
            answer = {"result": self.answers[message["method"]](message["params"])}
        except Silence:
            return
        except Refusal as refusal:
            answer = {"error": {"code": str(refusal), "message": "no"}}
        self.wire.send(json.dumps({"id": message["id"], **answer}).encode())


@contextmanager
def fake_editor(place: DebugWorkspace, answers: Answers, **about: Any) -> Iterator[FakeEditor]:
    editor = FakeEditor(place, answers, **about)
    try:
        yield editor
    finally:
        editor.leave()
        eventually(lambda: place.tool("ide_notify", message="there?").get("code") == "no_editor", every_s=0.02)
