"""The tokens: one per purpose, and those of single clients, each in a 0600 file of its own that survives restarts.

A device of the gateway is given a session derived from its client's token (HMAC), which a restart keeps and a rotation
ends, without a list of sessions to store. The sessions of pages are not made of tokens: see `keys`.
"""

from __future__ import annotations

import hmac
import json
import secrets
from collections.abc import Callable
from hashlib import sha256
from pathlib import Path
from typing import Any

from dragoman.access.client_tokens import (
    CLIENT_PURPOSES,
    DEFAULT,
    PURPOSES,
    ClientTokens,
    Holder,
    Purpose,
    read_token,
    unreadable,
)
from dragoman.transport.private_files import ensure_private_folder, read_private, replace_private
from dragoman.transport.system import REAL_SYSTEM, System

__all__ = ["DEFAULT", "PURPOSES", "Holder", "Purpose", "Tokens"]

_NONCE_LENGTH = 22  # 16 random bytes in base64url


class Tokens:
    """Owns the folder. Comparisons take the same time whatever was presented."""

    def __init__(self, folder: Path, *, system: System = REAL_SYSTEM) -> None:
        self._folder = folder
        self._system = system
        self._on_rotation: list[Callable[[Purpose], None]] = []
        self._tokens = self._load()
        self.clients = ClientTokens(folder, system=system)

    def of(self, purpose: Purpose, name: str = DEFAULT) -> str:
        return self._tokens[purpose] if name == DEFAULT else self.clients.require(Holder(purpose, name))

    def accepts(self, purpose: Purpose, presented: str) -> bool:
        return self.holder(purpose, presented) is not None

    def holder(self, purpose: Purpose, presented: str) -> Holder | None:
        """Whose token was presented, or whose session; every one is compared, whatever the first says."""
        held = [holder for holder, token in self._all(purpose).items() if _is_of(token, presented)]
        if not held:
            return None
        self.clients.note_use(held[0])
        return held[0]

    def knows(self, holder: Holder) -> bool:
        return holder.name == DEFAULT or holder in self.clients.tokens

    def new_session(self, purpose: Purpose, name: str = DEFAULT) -> str:
        nonce = secrets.token_urlsafe(16)
        return f"{nonce}.{_proof(self.of(purpose, name), nonce)}"

    def values(self) -> list[str]:
        return [*self._tokens.values(), *self.clients.tokens.values()]

    def listed(self) -> list[dict[str, Any]]:
        """Of clients' purposes, without the values."""
        holders = [Holder(purpose) for purpose in CLIENT_PURPOSES] + sorted(self.clients.tokens)
        return [
            {
                **holder._asdict(),
                "created_ns": self.clients.created_ns(holder),
                "last_used_ns": self.clients.last_used_ns(holder),
            }
            for holder in sorted(holders, key=lambda it: (it.purpose, it.name != DEFAULT, it.name))
        ]

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
        stored = {purpose: read_token(self._folder / purpose) for purpose in PURPOSES}
        kept = _all_in_one(of_before) if not all(stored.values()) else {}
        for purpose in PURPOSES:
            if not stored[purpose]:
                stored[purpose] = kept.get(purpose) or _new_token()
                self._save(purpose, stored[purpose])
        of_before.unlink(missing_ok=True)
        return stored

    def _all(self, purpose: Purpose) -> dict[Holder, str]:
        clients = {holder: token for holder, token in self.clients.tokens.items() if holder.purpose == purpose}
        return {Holder(purpose): self._tokens[purpose], **clients}

    def _save(self, purpose: Purpose, token: str) -> None:
        replace_private(self._folder / purpose, f"{token}\n".encode(), system=self._system)


def _all_in_one(path: Path) -> dict[Purpose, str]:
    try:
        stored = json.loads(read_private(path))
        return {purpose: str(stored[purpose]) for purpose in PURPOSES if purpose in stored}
    except FileNotFoundError:
        return {}
    except (ValueError, TypeError) as error:
        raise unreadable(path) from error


def _new_token() -> str:
    return secrets.token_urlsafe(32)


def _is_of(token: str, presented: str) -> bool:
    as_token = hmac.compare_digest(_digest(token), _digest(presented))
    nonce, _, proof = presented.partition(".")
    as_session = hmac.compare_digest(_digest(_proof(token, nonce)), _digest(proof)) and len(nonce) == _NONCE_LENGTH
    return as_token or as_session


def _proof(token: str, nonce: str) -> str:
    return hmac.new(token.encode(), nonce.encode(errors="surrogateescape"), sha256).hexdigest()


def _digest(text: str) -> bytes:
    """Equal length for any input, so that a comparison does not tell how long the secret is."""
    return sha256(text.encode(errors="surrogateescape")).digest()
