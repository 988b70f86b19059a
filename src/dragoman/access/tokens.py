"""Tokens: one per purpose, and one per named client, each in its own 0600 file that survives restarts.

An HTTP client cannot verify that it is talking to Dragoman. With one token per client, an impostor on the port learns
only that client's token. A client's token (`clients/PURPOSE/NAME`) can be revoked without affecting the others; the
files on disk are authoritative. A gateway device receives a session derived from its client's token (HMAC): it survives
a restart, ends with a rotation, and needs no stored list. Page sessions do not use tokens: see `proof`.
"""

from __future__ import annotations

import hmac
import json
import re
import secrets
import time
from collections import Counter
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from hashlib import sha256
from pathlib import Path
from typing import Any, Literal, NamedTuple, get_args

import anyio
import msgspec

from dragoman.core.errors import DragomanError, ErrorSpec, quoted
from dragoman.core.localization import localize
from dragoman.io.files.private_files import ensure_private_folder, read_private, replace_private
from dragoman.io.files.system_calls import REAL_SYSTEM, SystemCalls

unreadable_tokens = ErrorSpec(
    "bad_tokens",
    "Cannot read the tokens in {path}.",
    "Delete the file to create new tokens. HTTP clients then need the new token.",
)
token_exists = ErrorSpec(
    "token_exists",
    "A {purpose} token named {name} already exists.",
    "Run `dragoman token show {purpose} {name}` to see it, or revoke it first.",
)

CLIENT_PURPOSES: tuple[Purpose, ...] = ("mcp", "gateway")
"""The purposes for other programs. Only parts of Dragoman use the rest."""
DEFAULT = "default"
_MAX_CLIENT_TOKENS = 64  # per purpose, because each is compared with what a client presents
_NONCE_LENGTH = 22  # 16 random bytes in base64url

Purpose = Literal["mcp", "page", "gateway", "omnish", "editor"]
PURPOSES: tuple[Purpose, ...] = get_args(Purpose)
_NAME = re.compile(r"[a-z0-9][a-z0-9._-]{0,59}")


class TokenHolder(NamedTuple):
    """The client that a token belongs to."""

    purpose: Purpose
    name: str = DEFAULT


class ClientTokens:
    def __init__(
        self, folder: Path, *, system: SystemCalls = REAL_SYSTEM, now_ns: Callable[[], int] = time.time_ns
    ) -> None:
        self._folder = folder
        self._system = system
        self._now_ns = now_ns
        self._on_revocation: list[Callable[[TokenHolder], None]] = []
        self.tokens: Mapping[TokenHolder, str] = self._load()
        self._uses = _read_uses(self._uses_file)
        self._has_unsaved_uses = False

    def create(self, holder: TokenHolder) -> str:
        if holder.purpose not in CLIENT_PURPOSES or not _NAME.fullmatch(holder.name) or holder.name == DEFAULT:
            raise _bad_name(name=holder.name, purposes=CLIENT_PURPOSES)
        if holder in self.tokens:
            raise token_exists(purpose=holder.purpose, name=holder.name)
        if sum(it.purpose == holder.purpose for it in self.tokens) >= _MAX_CLIENT_TOKENS:
            raise DragomanError(
                "too_many_tokens",
                localize("Limit reached: {count} {purpose} tokens.", count=_MAX_CLIENT_TOKENS, purpose=holder.purpose),
                hint=localize("Revoke an unused token. `dragoman token list` lists them."),
            )
        token = secrets.token_urlsafe(32)
        ensure_private_folder(self._file(holder).parent)
        try:
            replace_private(self._file(holder), f"{token}\n".encode(), system=self._system)
        finally:
            self.tokens = self._load()
        return token

    def revoke(self, holder: TokenHolder) -> None:
        """Revoke a token. Connections that use it end now."""
        self.require(holder)
        try:
            self._file(holder).unlink(missing_ok=True)
        finally:
            self.tokens = self._load()
        if holder not in self.tokens:
            self._uses.pop(_key(holder), None)
            for callback in self._on_revocation:
                callback(holder)

    def require(self, holder: TokenHolder) -> str:
        if holder not in self.tokens:
            raise DragomanError(
                "unknown_token",
                localize("No {purpose} token is named {name}.", purpose=holder.purpose, name=ascii(holder.name[:60])),
                hint=localize("`dragoman token list` lists them."),
            )
        return self.tokens[holder]

    def on_revocation(self, callback: Callable[[TokenHolder], None]) -> None:
        self._on_revocation.append(callback)

    def note_use(self, holder: TokenHolder) -> None:
        self._uses[_key(holder)] = self._now_ns()
        self._has_unsaved_uses = True

    def last_used_ns(self, holder: TokenHolder) -> int | None:
        return self._uses.get(_key(holder))

    def created_ns(self, holder: TokenHolder) -> int:
        return self._file(holder).stat().st_mtime_ns

    def save_uses(self) -> None:
        """Save the times of use, in a worker thread and rarely. They do not affect access."""
        if self._has_unsaved_uses:
            self._has_unsaved_uses = False
            replace_private(self._uses_file, msgspec.json.encode(dict(self._uses)), system=self._system)

    @property
    def _uses_file(self) -> Path:
        return self._folder / "last-used.json"

    def _file(self, holder: TokenHolder) -> Path:
        folder = self._folder / "clients" / holder.purpose
        return self._folder / holder.purpose if holder.name == DEFAULT else folder / holder.name

    def _load(self) -> dict[TokenHolder, str]:
        found = {}
        for purpose in CLIENT_PURPOSES:
            for file in sorted((self._folder / "clients" / purpose).glob("[!.]*")):
                if _NAME.fullmatch(file.name):
                    found[TokenHolder(purpose, file.name)] = read_token(file)
        return {holder: token for holder, token in found.items() if token}


def read_token(path: Path) -> str:
    """Empty if there is no file."""
    try:
        token = read_private(path).decode(errors="replace").strip()
    except FileNotFoundError:
        return ""
    if not re.fullmatch("[!-~]+", token):
        raise unreadable_tokens(path=path)
    return token


def _key(holder: TokenHolder) -> str:
    return f"{holder.purpose}/{holder.name}"


def _read_uses(path: Path) -> dict[str, int]:
    try:
        return msgspec.json.decode(read_private(path), type=dict[str, int])
    except (FileNotFoundError, msgspec.MsgspecError):
        return {}


_bad_name = ErrorSpec(
    "bad_token_name",
    "Invalid token name: {name}.",
    "Use up to 60 lowercase letters, digits, `.`, `_` and `-`. Purposes: {purposes}.",
    name=quoted(60),
    purposes=", ".join,
)


__all__ = ["DEFAULT", "PURPOSES", "Purpose", "TokenHolder", "Tokens"]


class Tokens:
    """Owns the folder of tokens. Every comparison takes the same time, whatever was presented."""

    def __init__(self, folder: Path, *, system: SystemCalls = REAL_SYSTEM) -> None:
        self._folder = folder
        self._system = system
        self._on_rotation: list[Callable[[Purpose], None]] = []
        self._tokens = self._load()
        self.clients = ClientTokens(folder, system=system)

    def of(self, purpose: Purpose, name: str = DEFAULT) -> str:
        return self._tokens[purpose] if name == DEFAULT else self.clients.require(TokenHolder(purpose, name))

    def accepts(self, purpose: Purpose, presented: str) -> bool:
        return self.holder(purpose, presented) is not None

    def holder(self, purpose: Purpose, presented: str) -> TokenHolder | None:
        """The holder of the presented token or session.

        Every token is compared, even after a match, so that timing reveals nothing.
        """
        held = [holder for holder, token in self._all(purpose).items() if _is_of(token, presented)]
        if not held:
            return None
        self.clients.note_use(held[0])
        return held[0]

    def knows(self, holder: TokenHolder) -> bool:
        return holder.name == DEFAULT or holder in self.clients.tokens

    def new_session(self, purpose: Purpose, name: str = DEFAULT) -> str:
        nonce = secrets.token_urlsafe(16)
        return f"{nonce}.{_proof(self.of(purpose, name), nonce)}"

    def values(self) -> list[str]:
        return [*self._tokens.values(), *self.clients.tokens.values()]

    def listed(self) -> list[dict[str, Any]]:
        """The clients' tokens without their values."""
        holders = [TokenHolder(purpose) for purpose in CLIENT_PURPOSES] + sorted(self.clients.tokens)
        return [
            {
                **holder._asdict(),
                "created_ns": self.clients.created_ns(holder),
                "last_used_ns": self.clients.last_used_ns(holder),
            }
            for holder in sorted(holders, key=lambda it: (it.purpose, it.name != DEFAULT, it.name))
        ]

    def rotate(self, purpose: Purpose) -> None:
        """Rotate a token. If the write failed half-way, the file still decides, so that a restart does not change who
        is admitted.
        """
        try:
            self._save(purpose, _new_token())
        finally:
            self._adopt(self._load())

    def on_rotation(self, callback: Callable[[Purpose], None]) -> None:
        self._on_rotation.append(callback)

    def _adopt(self, tokens: dict[Purpose, str]) -> None:
        changed = [purpose for purpose in PURPOSES if tokens[purpose] != self._tokens[purpose]]
        self._tokens = tokens
        for purpose in changed:
            for callback in self._on_rotation:
                callback(purpose)

    def _load(self) -> dict[Purpose, str]:
        """Read the token. Without a file, migrate it from the single file of earlier versions, or create one."""
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

    def _all(self, purpose: Purpose) -> dict[TokenHolder, str]:
        clients = {holder: token for holder, token in self.clients.tokens.items() if holder.purpose == purpose}
        return {TokenHolder(purpose): self._tokens[purpose], **clients}

    def _save(self, purpose: Purpose, token: str) -> None:
        replace_private(self._folder / purpose, f"{token}\n".encode(), system=self._system)


def _all_in_one(path: Path) -> dict[Purpose, str]:
    try:
        stored = json.loads(read_private(path))
        return {purpose: str(stored[purpose]) for purpose in PURPOSES if purpose in stored}
    except FileNotFoundError:
        return {}
    except (ValueError, TypeError) as error:
        raise unreadable_tokens(path=path) from error


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
    """Hash to a fixed length, so that the time of a comparison does not reveal the length of the secret."""
    return sha256(text.encode(errors="surrogateescape")).digest()


class AccessLinks:
    def __init__(self, tokens: Tokens) -> None:
        self.tokens = tokens
        self._open: dict[anyio.CancelScope, TokenHolder] = {}
        self._without_token: Counter[Purpose] = Counter()
        tokens.on_rotation(lambda purpose: self._end_all(TokenHolder(purpose)))
        tokens.clients.on_revocation(self._end_all)

    @contextmanager
    def hold(self, purpose: Purpose, name: str = DEFAULT) -> Iterator[anyio.CancelScope]:
        """Run the block until the token is rotated or revoked; `cancel_called` then tells that this cancelled it."""
        holder = TokenHolder(purpose, name)
        with anyio.CancelScope() as scope:
            if not self.tokens.knows(holder):  # revoked after the client presented it
                scope.cancel("the token was revoked")
            self._open[scope] = holder
            try:
                yield scope
            finally:
                del self._open[scope]

    @contextmanager
    def note(self, purpose: Purpose) -> Iterator[None]:
        """Count a connection that was authorised by the peer's uid. A token rotation does not end it."""
        self._without_token[purpose] += 1
        try:
            yield
        finally:
            self._without_token[purpose] -= 1

    def count(self, purpose: Purpose) -> int:
        return sum(1 for held in self._open.values() if held.purpose == purpose) + self._without_token[purpose]

    def held(self, holder: TokenHolder) -> int:
        return sum(1 for held in self._open.values() if held == holder)

    def _end_all(self, holder: TokenHolder) -> None:
        for scope, held in list(self._open.items()):
            if held == holder:
                scope.cancel("the token was rotated or revoked")
