"""A client that proves itself to the daemon and makes the daemon prove itself, as the page and the editor do."""

from __future__ import annotations

import json
import secrets
import threading
from collections.abc import Generator, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from typing import Any
from urllib.parse import urlsplit

from dragoman.access.proof import ProofSession, Transcript, derive_session
from dragoman.core.paths import Paths
from tests.daemons import call
from tests.raw_http import Answer, WebSocket


class ForeignServerError(Exception):
    """Whoever listens did not prove that it is the daemon, or does not know the key."""


@dataclass(frozen=True)
class Proof:
    """A key, and where to prove that one has it."""

    key: ProofSession
    dialled: str

    def open(self, path: str, *, receive_buffer: int = 0) -> WebSocket:
        """A proved socket: what it says next is its own protocol's."""
        return self._prove(path, receive_buffer)[0]

    def log_in(self) -> Proof:
        """With a login code: the proof of the session that it becomes."""
        socket, transcript = self._prove("/link/calls", 0)
        socket.socket.close()
        return Proof(derive_session(transcript, self.key.secret), self.dialled)

    def _prove(self, path: str, receive_buffer: int) -> tuple[WebSocket, Transcript]:
        port = int(self.dialled.rpartition(":")[2])
        socket = WebSocket(port, path, [("Host", self.dialled)], receive_buffer=receive_buffer)
        if socket.status != 101:
            socket.socket.close()
            raise ForeignServerError(socket.status)
        try:
            return socket, self._converse(socket, path)
        except BaseException:
            socket.socket.close()
            raise

    def _converse(self, socket: WebSocket, path: str) -> Transcript:
        nonce = secrets.token_hex(32)
        socket.send(self._hello(nonce).encode())
        transcript = self._checked(path, nonce, _received(socket))
        socket.send(json.dumps({"mac": transcript.mac(self.key.secret, "client")}).encode())
        assert _received(socket) == {"proved": True}
        return transcript

    def opening(self, path: str) -> Generator[str, str, None]:
        """What to say, and after the daemon's answer was sent in, what to say then: for sockets of other libraries."""
        nonce = secrets.token_hex(32)
        transcript = self._checked(path, nonce, json.loads((yield self._hello(nonce))))
        yield json.dumps({"mac": transcript.mac(self.key.secret, "client")})

    def _hello(self, nonce: str) -> str:
        return json.dumps({"key": self.key.id, "nonce": nonce, "dialled": self.dialled})

    def _checked(self, path: str, nonce: str, result: Any) -> Transcript:
        transcript = Transcript(self.key.id, path, nonce, result["nonce"], result["instance"], self.dialled)
        if result["mac"] != transcript.mac(self.key.secret, "daemon"):
            raise ForeignServerError(result)
        return transcript


def _received(socket: WebSocket) -> Any:
    opcode, payload = socket.receive()
    if opcode != 1:
        raise ForeignServerError(opcode, payload)
    return json.loads(payload)


def from_link(link: str) -> Proof:
    """What a login link lets its holder prove."""
    parts = urlsplit(link)
    key_id, _, secret = parts.fragment.removeprefix("code=").partition(".")
    return Proof(ProofSession(key_id, secret), parts.netloc)


def log_in(paths: Paths) -> Proof:
    return from_link(str(call(paths, "login_link")["link"])).log_in()


def as_editor(paths: Paths) -> Proof:
    state = call(paths, "state")
    secret = paths.token_file("editor").read_text().strip()
    return Proof(ProofSession("editor", secret), f"127.0.0.1:{state['port']}")


class Calls:
    """The page's requests, over its one proved socket. Threads may share it."""

    def __init__(self, proof: Proof) -> None:
        self._socket = proof.open("/link/calls")
        self._lock = threading.Lock()
        self._next = 0

    def ask(self, path: str, method: str = "GET", body: Any = None, *, language: str = "en") -> Answer:
        with self._lock:
            number = self.begin(path, method, body, language=language)
            return self.answer_to(number)

    def begin(self, path: str, method: str = "GET", body: Any = None, *, language: str = "en") -> int:
        self._next += 1
        asked = {"id": self._next, "method": method, "path": path, "language": language}
        self.send({**asked, "body": body} if body is not None else asked)
        return self._next

    def send(self, message: Any) -> None:
        self._socket.send(json.dumps(message).encode())

    def piece(self) -> Any:
        return self._socket.receive_json()

    def answer_to(self, number: int) -> Answer:
        status, text, more = 0, "", True
        while more:
            piece = self.piece()
            if piece["id"] == number:
                status, text, more = piece.get("status", status), text + piece["text"], piece["more"]
        return Answer(status, {}, text.encode(errors="surrogatepass"))

    def close_code(self) -> int:
        return self._socket.close_code()

    def close(self) -> None:
        self._socket.socket.close()


@contextmanager
def calls(proof: Proof) -> Iterator[Calls]:
    opened = Calls(proof)
    try:
        yield opened
    finally:
        opened.close()
