"""The tokens, one a purpose, each in a 0600 file of its own that survives restarts.

A page never holds its purpose's token: it gets a session derived from it (HMAC), which a restart keeps and a rotation
ends, without a list of sessions to store.
"""

from __future__ import annotations

import hmac
import json
import re
import secrets
from collections.abc import Callable
from hashlib import sha256
from pathlib import Path
from typing import Literal, get_args

from dragoman.errors import DragomanError
from dragoman.phrases import say
from dragoman.transport.private_files import ensure_private_folder, read_private, replace_private
from dragoman.transport.system import REAL_SYSTEM, System

Purpose = Literal["mcp", "page", "gateway", "omnish", "editor"]
PURPOSES: tuple[Purpose, ...] = get_args(Purpose)

_NONCE_LENGTH = 22  # 16 random bytes in base64url


class Tokens:
    """Owns the folder. Comparisons take the same time whatever was presented."""

    def __init__(self, folder: Path, *, system: System = REAL_SYSTEM) -> None:
        self._folder = folder
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
            self._save(purpose, _new_token())
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
        """Where there is no file, the token of the one file that held all of them once, else a new one."""
        ensure_private_folder(self._folder)
        of_before = self._folder.with_suffix(".json")
        stored = {purpose: _read(self._folder / purpose) for purpose in PURPOSES}
        kept = _all_in_one(of_before) if not all(stored.values()) else {}
        for purpose in PURPOSES:
            if not stored[purpose]:
                stored[purpose] = kept.get(purpose) or _new_token()
                self._save(purpose, stored[purpose])
        of_before.unlink(missing_ok=True)
        return stored

    def _save(self, purpose: Purpose, token: str) -> None:
        replace_private(self._folder / purpose, f"{token}\n".encode(), system=self._system)


def _read(path: Path) -> str:
    """Empty where there is no file."""
    try:
        token = read_private(path).decode(errors="replace").strip()
    except FileNotFoundError:
        return ""
    if not re.fullmatch("[!-~]+", token):
        raise _unreadable(path)
    return token


def _all_in_one(path: Path) -> dict[Purpose, str]:
    try:
        stored = json.loads(read_private(path))
        return {purpose: str(stored[purpose]) for purpose in PURPOSES if purpose in stored}
    except FileNotFoundError:
        return {}
    except (ValueError, TypeError) as error:
        raise _unreadable(path) from error


def _unreadable(path: Path) -> DragomanError:
    return DragomanError(
        "bad_tokens",
        say("The tokens in {path} cannot be read.", path=path),
        hint=say("Remove the file: new tokens are made, and clients that used HTTP need the new one."),
    )


def _new_token() -> str:
    return secrets.token_urlsafe(32)


def _proof(token: str, nonce: str) -> str:
    return hmac.new(token.encode(), nonce.encode(errors="surrogateescape"), sha256).hexdigest()


def _digest(text: str) -> bytes:
    """Equal length for any input, so that a comparison does not tell how long the secret is."""
    return sha256(text.encode(errors="surrogateescape")).digest()
