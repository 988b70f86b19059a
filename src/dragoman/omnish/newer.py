"""Clients of protocol 25: they come in by a token, and what we have no use for is answered harmlessly."""

from __future__ import annotations

import secrets
from collections.abc import Callable
from typing import Any

from dragoman.phrases import preferred_language, say
from dragoman.wire.omnish import messages_v25 as m
from dragoman.wire.omnish.messages import Ack

PROTOCOL_VERSION = 25

Admits = Callable[[str], bool]
"""Whether a token is the one for wrappers."""


class Gate:
    """The first message must be `Auth`, with the token. A client of another version may stay and ask for updates."""

    def __init__(self, admits: Admits, version: str) -> None:
        self.is_open = False
        self._admits = admits
        self._version = version

    def judged(self, auth: m.Auth) -> m.AuthResult:
        self.is_open = self._admits(auth.token) and auth.protocol_version == PROTOCOL_VERSION
        return self._result()

    def lets_stay(self, auth: m.Auth) -> bool:
        return self._admits(auth.token)

    def refusal(self, message: object) -> object:
        """For whoever is of another version: about updates as to all, to everything else what it was told before."""
        return harmless(message) if type(message) in _ABOUT_UPDATES else self._result()

    def _result(self) -> m.AuthResult:
        return m.AuthResult(self.is_open, PROTOCOL_VERSION, self._version)


def harmless(message: object) -> object:
    """A reply of the kind that its sender waits for, which changes nothing; `Ack` where any will do."""
    return _HARMLESS.get(type(message), lambda _: Ack())(message)


def new_thread(start: m.ChatStart) -> m.ChatReady:
    """A question needs no thread here; its client needs one to ask in."""
    return m.ChatReady(
        request_id=start.request_id,
        thread_id=start.thread_id or secrets.token_hex(8),
        last_exchange=None,
        earlier_count=0,
        model_name=None,
        history=None,
        thread_host=None,
        thread_cwd=None,
        thread_summary=None,
        error=None,
        error_display=None,
        sandbox_disabled=None,
        thread_title_word=None,
    )


def _not_here(_: object) -> m.UpdateChunk:
    words = say("Dragoman gives out no programs of others.").in_language(preferred_language())
    return m.UpdateChunk(seq=0, total_size=0, checksum="", data=b"", done=True, error=words)


def _unchanged(_: object) -> m.ConfigUpdateResult:
    words = say("Dragoman's settings are changed with `dragoman config`.").in_language(preferred_language())
    return m.ConfigUpdateResult(ok=False, error=words)


_HARMLESS: dict[type, Callable[[Any], object]] = {
    m.ChatStart: new_thread,
    m.ConfigQuery: lambda _: m.ConfigResponse(items=[], handlers=[]),
    m.ConfigUpdate: _unchanged,
    m.UpdateCheck: lambda asked: m.UpdateInfo(latest_version=asked.current_version, checksum="", available=False),
    m.UpdateRequest: _not_here,
    m.PluginSyncCheck: lambda asked: m.PluginSyncInfo(checksum=asked.current_checksum, available=False, total_size=0),
    m.PluginSyncRequest: _not_here,
}
_ABOUT_UPDATES = {m.UpdateCheck, m.UpdateRequest, m.PluginSyncCheck, m.PluginSyncRequest}
