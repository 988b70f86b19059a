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
import secrets
import struct
from collections.abc import Callable, Container
from dataclasses import dataclass
from hashlib import sha256
from typing import NamedTuple, TypeVar

import msgspec

from dragoman.access.tokens import Purpose, Tokens
from dragoman.core.clock import Clock

MESSAGE_CAP = 1024
PROVED = '{"proved":true}'
_PROTOCOL = "dragoman proof 1"
CODE_LIFETIME_S = 120.0
EDITOR_KEY_ID = "editor"
_MAX_CODES = 32  # open at once; the oldest is closed first
_MAX_SESSIONS = 256

_NONCE = re.compile("[0-9a-f]{64}")


class ProofRequest(msgspec.Struct, forbid_unknown_fields=True):
    """The client's first message."""

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
    """The values on which both sides must agree."""

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


class ProofSession(NamedTuple):
    id: str
    secret: str


def derive_session(transcript: Transcript, secret: str) -> ProofSession:
    """Derive the session key from a login. Neither half is sent before the daemon has proved itself."""
    return ProofSession(transcript.mac(secret, "session id")[:32], transcript.mac(secret, "session key"))


class UnprovedError(Exception):
    """The peer did not prove itself. The reason is for logs and tests and is never sent to the peer."""


@dataclass(frozen=True, slots=True)
class ProofKey:
    secret: str
    purpose: Purpose
    """The purpose of the sockets that this key opens; rotating that purpose's token closes them."""
    is_code: bool = False
    """Whether this is the key of a login link, which opens one session and is then used up."""


class ProofHandshake:
    """The daemon's side of the handshake for one socket: `open` answers the first message, `close` checks the
    second.
    """

    def __init__(
        self,
        find: Callable[[str], ProofKey | None],
        *,
        path: str,
        instance: str,
        addresses: Container[str],
        nonce: str,
    ) -> None:
        self._find = find
        self._path = path
        self._instance = instance
        self._addresses = addresses
        self._nonce = nonce
        self._transcript: Transcript | None = None
        self._key: ProofKey | None = None

    def open(self, message: str) -> str:
        """Answer the first message.

        The address is checked before anything is proved, so that a relay gets no answer.
        """
        opening = _decoded(message, ProofRequest)
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

    def close(self, message: str) -> tuple[ProofKey, Transcript]:
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


@dataclass(frozen=True, slots=True)
class _LoginCode:
    secret: str
    expires_s: float


class Keyring:
    def __init__(self, tokens: Tokens, clock: Clock) -> None:
        self._tokens = tokens
        self._clock = clock
        self._codes: dict[str, _LoginCode] = {}
        self._sessions: dict[str, str] = {}
        tokens.on_rotation(self._end)

    def issue_code(self) -> str:
        """Issue `ID.SECRET` for the fragment of a login link."""
        while len(self._codes) >= _MAX_CODES:
            del self._codes[next(iter(self._codes))]
        key_id, secret = f"code-{secrets.token_hex(16)}", secrets.token_urlsafe(32)
        self._codes[key_id] = _LoginCode(secret, self._clock.monotonic_s() + CODE_LIFETIME_S)
        return f"{key_id}.{secret}"

    def find(self, key_id: str) -> ProofKey | None:
        if key_id == EDITOR_KEY_ID:
            return ProofKey(self._tokens.of("editor"), "editor")
        if key_id in self._sessions:
            return ProofKey(self._sessions[key_id], "page")
        code = self._codes.get(key_id)
        if code is None or self._clock.monotonic_s() >= code.expires_s:
            return None
        return ProofKey(code.secret, "page", is_code=True)

    def spend(self, transcript: Transcript) -> ProofSession | None:
        """Exchange a proved code for a session; None if the code was used already or has expired."""
        key = self.find(transcript.key_id)
        if key is None or not key.is_code:
            return None
        del self._codes[transcript.key_id]
        session = derive_session(transcript, key.secret)
        while len(self._sessions) >= _MAX_SESSIONS:
            del self._sessions[next(iter(self._sessions))]
        self._sessions[session.id] = session.secret
        return session

    def _end(self, purpose: Purpose) -> None:
        if purpose == "page":
            self._codes.clear()
            self._sessions.clear()
