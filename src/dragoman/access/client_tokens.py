"""Tokens of single clients: each has a name, and is taken back without the others noticing.

A client over HTTP cannot verify that it speaks to us, so a token of its own limits what an impostor on our port learns
to that one client. One file per token, `clients/PURPOSE/NAME`, 0600: what stands on disk counts.
"""

from __future__ import annotations

import re
import secrets
import time
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Literal, NamedTuple, get_args

import msgspec

from dragoman.errors import DragomanError
from dragoman.phrases import say
from dragoman.transport.private_files import ensure_private_folder, read_private, replace_private
from dragoman.transport.system import REAL_SYSTEM, System

Purpose = Literal["mcp", "page", "gateway", "omnish", "editor"]
PURPOSES: tuple[Purpose, ...] = get_args(Purpose)
CLIENT_PURPOSES: tuple[Purpose, ...] = ("mcp", "gateway")
"""What programs of others use; the rest is used by parts of ours alone."""
DEFAULT = "default"
_NAME = re.compile(r"[a-z0-9][a-z0-9._-]{0,59}")
_AT_MOST = 64  # per purpose: each is compared with what a client presents


class Holder(NamedTuple):
    """Whose a token is."""

    purpose: Purpose
    name: str = DEFAULT


class ClientTokens:
    def __init__(self, folder: Path, *, system: System = REAL_SYSTEM, now_ns: Callable[[], int] = time.time_ns) -> None:
        self._folder = folder
        self._system = system
        self._now_ns = now_ns
        self._on_revocation: list[Callable[[Holder], None]] = []
        self.tokens: Mapping[Holder, str] = self._load()
        self._uses = _read_uses(self._uses_file)
        self._has_unsaved_uses = False

    def create(self, holder: Holder) -> str:
        if holder.purpose not in CLIENT_PURPOSES or not _NAME.fullmatch(holder.name) or holder.name == DEFAULT:
            raise _bad_name(holder)
        if holder in self.tokens:
            raise _exists(holder.purpose, holder.name)
        if sum(it.purpose == holder.purpose for it in self.tokens) >= _AT_MOST:
            raise DragomanError(
                "too_many_tokens",
                say("Limit reached: {count} {purpose} tokens.", count=_AT_MOST, purpose=holder.purpose),
                hint=say("Revoke one that is not used: `dragoman token list` shows them."),
            )
        token = secrets.token_urlsafe(32)
        ensure_private_folder(self._file(holder).parent)
        try:
            replace_private(self._file(holder), f"{token}\n".encode(), system=self._system)
        finally:
            self.tokens = self._load()
        return token

    def revoke(self, holder: Holder) -> None:
        """Whatever stands on it ends now."""
        self.require(holder)
        try:
            self._file(holder).unlink(missing_ok=True)
        finally:
            self.tokens = self._load()
        if holder not in self.tokens:
            self._uses.pop(_key(holder), None)
            for tell in self._on_revocation:
                tell(holder)

    def require(self, holder: Holder) -> str:
        if holder not in self.tokens:
            raise DragomanError(
                "unknown_token",
                say("There is no {purpose} token named {name}.", purpose=holder.purpose, name=ascii(holder.name[:60])),
                hint=say("`dragoman token list` shows them."),
            )
        return self.tokens[holder]

    def on_revocation(self, tell: Callable[[Holder], None]) -> None:
        self._on_revocation.append(tell)

    def note_use(self, holder: Holder) -> None:
        self._uses[_key(holder)] = self._now_ns()
        self._has_unsaved_uses = True

    def last_used_ns(self, holder: Holder) -> int | None:
        return self._uses.get(_key(holder))

    def created_ns(self, holder: Holder) -> int:
        return self._file(holder).stat().st_mtime_ns

    def save_uses(self) -> None:
        """In a thread, now and then: of no weight for who gets in."""
        if self._has_unsaved_uses:
            self._has_unsaved_uses = False
            replace_private(self._uses_file, msgspec.json.encode(dict(self._uses)), system=self._system)

    @property
    def _uses_file(self) -> Path:
        return self._folder / "last-used.json"

    def _file(self, holder: Holder) -> Path:
        folder = self._folder / "clients" / holder.purpose
        return self._folder / holder.purpose if holder.name == DEFAULT else folder / holder.name

    def _load(self) -> dict[Holder, str]:
        found = {}
        for purpose in CLIENT_PURPOSES:
            for file in sorted((self._folder / "clients" / purpose).glob("[!.]*")):
                if _NAME.fullmatch(file.name):
                    found[Holder(purpose, file.name)] = read_token(file)
        return {holder: token for holder, token in found.items() if token}


def read_token(path: Path) -> str:
    """Empty where there is no file."""
    try:
        token = read_private(path).decode(errors="replace").strip()
    except FileNotFoundError:
        return ""
    if not re.fullmatch("[!-~]+", token):
        raise unreadable(path)
    return token


def unreadable(path: Path) -> DragomanError:
    return DragomanError(
        "bad_tokens",
        say("The tokens in {path} cannot be read.", path=path),
        hint=say("Remove the file: new tokens are made, and clients that used HTTP need the new one."),
    )


def _key(holder: Holder) -> str:
    return f"{holder.purpose}/{holder.name}"


def _read_uses(path: Path) -> dict[str, int]:
    try:
        return msgspec.json.decode(read_private(path), type=dict[str, int])
    except (FileNotFoundError, msgspec.MsgspecError):
        return {}


def _exists(purpose: Purpose, name: str) -> DragomanError:
    return DragomanError(
        "token_exists",
        say("There is a {purpose} token named {name} already.", purpose=purpose, name=name),
        hint=say(
            "Show it with `dragoman token show {purpose} {name}`, or revoke it first.", purpose=purpose, name=name
        ),
    )


def _bad_name(holder: Holder) -> DragomanError:
    return DragomanError(
        "bad_token_name",
        say("A client token cannot be named {name}.", name=ascii(holder.name[:60])),
        hint=say(
            "Use lower-case letters, digits, `.`, `_` and `-`, at most 60; the purposes are: {purposes}.",
            purposes=", ".join(CLIENT_PURPOSES),
        ),
    )
