"""Who may what: decided by the token that was presented, never by what a client says of itself."""

from __future__ import annotations

import re
from collections.abc import Container

import msgspec

from dragoman.access.tokens import Holder, Tokens
from dragoman.wire.gateway import ConnectParams, Grant
from dragoman.wire.gateway.refusals import (
    DEVICE_IDENTITY_REQUIRED,
    DEVICE_TOKEN_MISMATCH,
    TOKEN_MISMATCH,
    Refusal,
    token_missing,
)

READ, WRITE, APPROVE, PAIR, ADMIN = (f"operator.{name}" for name in ("read", "write", "approvals", "pairing", "admin"))
SCOPES = frozenset({READ, WRITE, APPROVE, PAIR, ADMIN})
_IMPLIED_BY_ADMIN = frozenset({READ, WRITE})
_OURS = re.compile(
    r"(the )?page|you|shell|chat|dragoman|terminal|gateway(-canvas)?|(person|evidence|run|mcp)-.*",
    re.IGNORECASE | re.DOTALL,
)
"""Under these names a person, one of our own parts or an agent of another face is told of."""


def called(name: str) -> str:
    """As a client calls itself, but never as who it is not."""
    return f"client {name}" if _OURS.fullmatch(name.strip()) else name


def allows(granted: Container[str], wanted: str) -> bool:
    """An administrator reads and writes without asking for it: the protocol document's clients never do."""
    return wanted in granted or (wanted in _IMPLIED_BY_ADMIN and ADMIN in granted)


def granted_to(params: ConnectParams) -> Grant:
    """The scopes that were asked for and exist."""
    is_node = params.asked_role == "node"
    scopes = () if is_node else tuple(scope for scope in params.scopes or () if scope in SCOPES)
    return Grant(role=params.asked_role, scopes=scopes)


def judge(params: ConnectParams, tokens: Tokens, now_ms: int) -> tuple[Grant, Holder] | Refusal:
    """A device token is a session of the token it came by: it survives a restart, and ends when that is taken back."""
    auth = params.auth
    presented = auth.signed if auth else ""
    if not presented:
        return token_missing("dragoman token show gateway") if params.follows_document else DEVICE_IDENTITY_REQUIRED
    holder = tokens.holder("gateway", presented)
    if holder is None:
        return DEVICE_TOKEN_MISMATCH if auth and auth.device_token and not auth.token else TOKEN_MISMATCH
    granted = granted_to(params)
    if params.device is None:
        return granted, holder
    token = tokens.new_session(*holder)
    return msgspec.structs.replace(granted, device_token=token, issued_at_ms=now_ms), holder
