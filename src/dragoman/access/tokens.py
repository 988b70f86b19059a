"""The tokens, one a purpose, in a 0600 file of their own that survives restarts.

A page never holds its purpose's token: it gets a session derived from it (HMAC), which a restart keeps and a rotation
ends, without a list of sessions to store.
"""

from __future__ import annotations

import hmac
import json
import secrets
from collections.abc import Callable
from hashlib import sha256
from pathlib import Path
from typing import Literal, get_args

from dragoman.errors import DragomanError
from dragoman.phrases import say
from dragoman.transport.private_files import ensure_private_folder, read_private, replace_private
from dragoman.transport.system import REAL_SYSTEM, System

Purpose = Literal["mcp", "page", "gateway", "omnish"]
PURPOSES: tuple[Purpose, ...] = get_args(Purpose)

_NONCE_LENGTH = 22  # 16 random bytes in base64url


class Tokens:
    """Owns the file. Comparisons take the same time whatever was presented."""

    def __init__(self, path: Path, *, system: System = REAL_SYSTEM) -> None:
        self._path = path
        self._system = system
        self._on_rotation: list[Callable[[Purpose], None]] = []
        self._tokens = self._load()

    def of(self, purpose: Purpose) -> str:
        return self._tokens[purpose]

    def accepts(self, purpose: Purpose, presented: str) -> bool:
        token = self._tokens[purpose]
        as_token = hmac.compare_digest(_digest(token), _digest(presented))
        nonce, _, proof = presented.partition(".")
        as_session = hmac.compare_digest(_digest(_proof(token, nonce)), _digest(proof)) and len(nonce) == _NONCE_LENGTH
        return as_token or as_session

    def new_session(self, purpose: Purpose) -> str:
        nonce = secrets.token_urlsafe(16)
        return f"{nonce}.{_proof(self._tokens[purpose], nonce)}"

    def rotate(self, purpose: Purpose) -> None:
        """What stands on disk counts, also when the write failed half-way: a restart must not change who gets in."""
        try:
            self._save({**self._tokens, purpose: _new_token()})
        finally:
            self._adopt(self._load())

    def on_rotation(self, tell: Callable[[Purpose], None]) -> None:
        self._on_rotation.append(tell)

    def _adopt(self, tokens: dict[Purpose, str]) -> None:
        changed = [purpose for purpose in PURPOSES if tokens[purpose] != self._tokens[purpose]]
        self._tokens = tokens
        for purpose in changed:
            for tell in self._on_rotation:
                tell(purpose)

    def _load(self) -> dict[Purpose, str]:
        ensure_private_folder(self._path.parent)
        try:
            stored = _decode(self._path, read_private(self._path))
        except FileNotFoundError:
            stored = {}
        tokens: dict[Purpose, str] = {purpose: stored.get(purpose) or _new_token() for purpose in PURPOSES}
        if tokens != stored:
            self._save(tokens)
        return tokens

    def _save(self, tokens: dict[Purpose, str]) -> None:
        replace_private(self._path, json.dumps(tokens, indent=2).encode() + b"\n", system=self._system)


def _decode(path: Path, data: bytes) -> dict[Purpose, str]:
    try:
        stored = json.loads(data)
        return {purpose: str(stored[purpose]) for purpose in PURPOSES if purpose in stored}
    except (ValueError, TypeError) as error:
        raise DragomanError(
            "bad_tokens",
            say("The tokens in {path} cannot be read.", path=path),
            hint=say("Remove the file: new tokens are made, and clients that used HTTP need the new one."),
        ) from error


def _new_token() -> str:
    return secrets.token_urlsafe(32)


def _proof(token: str, nonce: str) -> str:
    return hmac.new(token.encode(), nonce.encode(errors="surrogateescape"), sha256).hexdigest()


def _digest(text: str) -> bytes:
    """Equal length for any input, so that a comparison does not tell how long the secret is."""
    return sha256(text.encode(errors="surrogateescape")).digest()
