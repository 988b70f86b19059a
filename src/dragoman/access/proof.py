"""Mutual proof between the daemon and a page or an editor: both show that they hold a key, and the key never travels.

Another user of this machine can listen where our daemon listened a moment ago. So nobody who dials the daemon says
anything worth stealing before the listener has proved that it is the daemon. A client does this on a new WebSocket:

1. It sends `{"key": KEY ID, "nonce": N, "dialled": "HOST:PORT"}`: which key it holds, 32 fresh random bytes in hex, and
   the address that it really dialled, in lower case.
2. The daemon refuses an address that it does not listen on, so that a relay on another port fails. Then it answers
   `{"nonce": M, "instance": ID, "mac": MAC("daemon")}`.
3. The client computes the same MAC with *its own* N, address and path. If it differs, or if the instance is not the
   one that the client expects, the listener is a stranger: the client closes and says nothing more. Otherwise it sends
   `{"mac": MAC("client")}`.
4. The daemon checks it and answers `{"proved": true}`. From then on the socket speaks its own protocol.

MAC(label) is HMAC-SHA256 in hex, keyed with the UTF-8 text of the secret, over these fields, each behind its length
as four bytes (big-endian): "dragoman proof 1", label, key id, path of the socket, N, M, instance, address dialled.
The label makes a reflected message worthless, the nonces a replayed one, the address a relayed one, the path one that
is moved to another socket of ours.

Keys: a login code (`#code=ID.SECRET`; it is spent by step 4), the session that both sides derive from it
(`session_of`), and for programs of the same user the text of `tokens/editor`, with the key id `editor`.
`web/src/link/proof.ts` is the client's half.
"""

from __future__ import annotations

import hmac
import re
import struct
from collections.abc import Callable, Collection
from dataclasses import dataclass
from hashlib import sha256
from typing import TYPE_CHECKING, NamedTuple, TypeVar

import msgspec

if TYPE_CHECKING:
    from dragoman.access.tokens import Purpose

MESSAGE_CAP = 1024
PROVED = '{"proved":true}'
_PROTOCOL = "dragoman proof 1"
_NONCE = re.compile("[0-9a-f]{64}")


class Opening(msgspec.Struct, forbid_unknown_fields=True):
    """What a client says first."""

    key: str
    nonce: str
    dialled: str


class DaemonProof(msgspec.Struct, forbid_unknown_fields=True):
    nonce: str
    instance: str
    mac: str


class ClientProof(msgspec.Struct, forbid_unknown_fields=True):
    mac: str


@dataclass(frozen=True, slots=True)
class Transcript:
    """What both sides must have seen alike."""

    key_id: str
    path: str
    client_nonce: str
    daemon_nonce: str
    instance: str
    dialled: str

    def mac(self, secret: str, label: str) -> str:
        fields = (
            _PROTOCOL, label, self.key_id, self.path, self.client_nonce, self.daemon_nonce, self.instance, self.dialled,
        )  # fmt: skip
        return hmac.new(secret.encode(), b"".join(map(_prefixed, fields)), sha256).hexdigest()


class Session(NamedTuple):
    id: str
    secret: str


def session_of(transcript: Transcript, secret: str) -> Session:
    """What a login leaves both sides with. Neither half of it is ever sent before the daemon has proved itself."""
    return Session(transcript.mac(secret, "session id")[:32], transcript.mac(secret, "session key"))


class UnprovedError(Exception):
    """The peer did not prove itself; the reason is for logs and tests, never for the peer."""


@dataclass(frozen=True, slots=True)
class Key:
    secret: str
    purpose: Purpose
    """Whose sockets it opens, and whose rotation ends them."""
    is_code: bool = False
    """Of a login link: it opens one session, and is spent by that."""


class Handshake:
    """The daemon's half, for one socket: `open` answers the first message, `close` judges the second."""

    def __init__(
        self, find: Callable[[str], Key | None], *, path: str, instance: str, addresses: Collection[str], nonce: str
    ) -> None:
        self._find = find
        self._path = path
        self._instance = instance
        self._addresses = addresses
        self._nonce = nonce
        self._transcript: Transcript | None = None
        self._key: Key | None = None

    def open(self, message: str) -> str:
        """The address is judged before anything is proved: what a relay asks for gets no answer."""
        opening = _decoded(message, Opening)
        if not _NONCE.fullmatch(opening.nonce):
            raise UnprovedError("a nonce that is none")
        if opening.dialled not in self._addresses:
            raise UnprovedError("an address that is not ours was dialled")
        self._key = self._find(opening.key)
        if self._key is None:
            raise UnprovedError("an unknown key")
        self._transcript = Transcript(
            opening.key, self._path, opening.nonce, self._nonce, self._instance, opening.dialled
        )
        mac = self._transcript.mac(self._key.secret, "daemon")
        return msgspec.json.encode(DaemonProof(self._nonce, self._instance, mac)).decode()

    def close(self, message: str) -> tuple[Key, Transcript]:
        if self._transcript is None or self._key is None:
            raise UnprovedError("nothing was opened")
        transcript, self._transcript = self._transcript, None
        expected = transcript.mac(self._key.secret, "client")
        if not _is_same(expected, _decoded(message, ClientProof).mac):
            raise UnprovedError("a wrong proof")
        return self._key, transcript


Message = TypeVar("Message")


def _decoded(message: str, kind: type[Message]) -> Message:
    if len(message) > MESSAGE_CAP:
        raise UnprovedError("a message that is too long")
    try:
        return msgspec.json.decode(message, type=kind)
    except (msgspec.DecodeError, UnicodeError, RecursionError) as error:
        raise UnprovedError("not a message of the handshake") from error


def _is_same(expected: str, presented: str) -> bool:
    return hmac.compare_digest(expected.encode(), presented.encode())


def _prefixed(text: str) -> bytes:
    data = text.encode()
    return struct.pack("!I", len(data)) + data
