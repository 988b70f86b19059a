"""The keys that open the sockets of the page and of editors: login codes, sessions made of them, and the editors' file.

Codes and sessions live in memory and belong to this instance of the daemon: a restart ends them, so nothing that a
listener on our old port could have learnt opens the next one.
"""

from __future__ import annotations

import secrets
from dataclasses import dataclass

from dragoman.access.proof import Key, Session, Transcript, session_of
from dragoman.access.tokens import Purpose, Tokens
from dragoman.clock import Clock

CODE_LIFETIME_S = 120.0
EDITOR_KEY_ID = "editor"
_CODES_AT_MOST = 32  # open at once; the oldest goes first
_SESSIONS_AT_MOST = 256


@dataclass(frozen=True, slots=True)
class _Code:
    secret: str
    expires_s: float


class Keyring:
    def __init__(self, tokens: Tokens, clock: Clock) -> None:
        self._tokens = tokens
        self._clock = clock
        self._codes: dict[str, _Code] = {}
        self._sessions: dict[str, str] = {}
        tokens.on_rotation(self._end)

    def issue_code(self) -> str:
        """`ID.SECRET`, for the fragment of a login link."""
        while len(self._codes) >= _CODES_AT_MOST:
            del self._codes[next(iter(self._codes))]
        key_id, secret = f"code-{secrets.token_hex(16)}", secrets.token_urlsafe(32)
        self._codes[key_id] = _Code(secret, self._clock.monotonic_s() + CODE_LIFETIME_S)
        return f"{key_id}.{secret}"

    def find(self, key_id: str) -> Key | None:
        if key_id == EDITOR_KEY_ID:
            return Key(self._tokens.of("editor"), "editor")
        if key_id in self._sessions:
            return Key(self._sessions[key_id], "page")
        code = self._codes.get(key_id)
        if code is None or self._clock.monotonic_s() >= code.expires_s:
            return None
        return Key(code.secret, "page", is_code=True)

    def spend(self, transcript: Transcript) -> Session | None:
        """The session of a code that was proved; nothing where another was faster, or the time is over."""
        key = self.find(transcript.key_id)
        if key is None or not key.is_code:
            return None
        del self._codes[transcript.key_id]
        session = session_of(transcript, key.secret)
        while len(self._sessions) >= _SESSIONS_AT_MOST:
            del self._sessions[next(iter(self._sessions))]
        self._sessions[session.id] = session.secret
        return session

    def _end(self, purpose: Purpose) -> None:
        if purpose == "page":
            self._codes.clear()
            self._sessions.clear()
