"""Clients of protocol 25: they authenticate with a token, and requests that Dragoman has no use for get a reply that
changes nothing.
"""

from __future__ import annotations

import secrets
from collections.abc import Callable
from typing import Any

from dragoman.core.localization import localize, preferred_language
from dragoman.protocols.omnish import messages_v25 as m
from dragoman.protocols.omnish.messages import Ack

PROTOCOL_VERSION = 25

TokenCheck = Callable[[str], bool]
"""Whether a token is the one for wrappers."""


class TokenGate:
    """Admits a client whose first message is `Auth` with the right token. A client of another protocol version may
    stay and ask for updates.
    """

    def __init__(self, admits: TokenCheck, version: str) -> None:
        self.is_open = False
        self._admits = admits
        self._version = version

    def authenticate(self, auth: m.Auth) -> m.AuthResult:
        self.is_open = self._admits(auth.token) and auth.protocol_version == PROTOCOL_VERSION
        return self._result()

    def is_known_token(self, auth: m.Auth) -> bool:
        return self._admits(auth.token)

    def refusal(self, message: object) -> object:
        """The reply to a client of another version: the normal one about updates, to anything else the same error as
        before."""
        return default_reply(message) if type(message) in _UPDATE_REQUESTS else self._result()

    def _result(self) -> m.AuthResult:
        return m.AuthResult(self.is_open, PROTOCOL_VERSION, self._version)


def default_reply(message: object) -> object:
    """A reply of the type that the sender waits for, which changes nothing; `Ack` if any type will do."""
    return _DEFAULT_REPLIES.get(type(message), lambda _: Ack())(message)


def new_thread(start: m.ChatStart) -> m.ChatReady:
    """Dragoman needs no thread for a question, but the client needs one to ask in."""
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


def _no_update(_: object) -> m.UpdateChunk:
    words = localize("Dragoman does not distribute other programs.").in_language(preferred_language())
    return m.UpdateChunk(seq=0, total_size=0, checksum="", data=b"", done=True, error=words)


def _no_config_change(_: object) -> m.ConfigUpdateResult:
    words = localize("Change Dragoman's settings with `dragoman config`.").in_language(preferred_language())
    return m.ConfigUpdateResult(ok=False, error=words)


_DEFAULT_REPLIES: dict[type, Callable[[Any], object]] = {
    m.ChatStart: new_thread,
    m.ConfigQuery: lambda _: m.ConfigResponse(items=[], handlers=[]),
    m.ConfigUpdate: _no_config_change,
    m.UpdateCheck: lambda check: m.UpdateInfo(latest_version=check.current_version, checksum="", available=False),
    m.UpdateRequest: _no_update,
    m.PluginSyncCheck: lambda check: m.PluginSyncInfo(checksum=check.current_checksum, available=False, total_size=0),
    m.PluginSyncRequest: _no_update,
}
_UPDATE_REQUESTS = {m.UpdateCheck, m.UpdateRequest, m.PluginSyncCheck, m.PluginSyncRequest}
