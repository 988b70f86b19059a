"""Who may what: decided by the token that was presented, never by what a client says of itself."""

from __future__ import annotations

from collections.abc import Sequence

from dragoman.access.tokens import Purpose, Tokens
from dragoman.wire.gateway import ConnectParams, Grant
from dragoman.wire.gateway.refusals import DEVICE_IDENTITY_REQUIRED, DEVICE_TOKEN_MISMATCH, TOKEN_MISMATCH, Refusal

READ, WRITE, APPROVE, PAIR, ADMIN = (f"operator.{name}" for name in ("read", "write", "approvals", "pairing", "admin"))
SCOPES = frozenset({READ, WRITE, APPROVE, PAIR, ADMIN})
_PURPOSES: Sequence[Purpose] = ("gateway", "page")


def judge(params: ConnectParams, tokens: Tokens) -> tuple[Grant, Purpose] | Refusal:
    """The scopes that were asked for and exist. A device token is a session of the gateway's token: it survives a
    restart and ends with a rotation."""
    auth = params.auth
    presented = auth.signed if auth else ""
    if not presented:
        return DEVICE_IDENTITY_REQUIRED
    purpose = next((it for it in _PURPOSES if tokens.accepts(it, presented)), None)
    if purpose is None:
        return DEVICE_TOKEN_MISMATCH if auth and auth.device_token and not auth.token else TOKEN_MISMATCH
    if params.asked_role == "node":
        return Grant(role="node", scopes=()), purpose
    asked = params.scopes or ()
    scopes = tuple(scope for scope in asked if scope in SCOPES)
    device_token = tokens.new_session(purpose) if params.device else None
    return _grant(scopes, device_token), purpose


def _grant(scopes: tuple[str, ...], device_token: str | None) -> Grant:
    if device_token is None:
        return Grant(role="operator", scopes=scopes)
    return Grant(role="operator", scopes=scopes, device_token=device_token)
