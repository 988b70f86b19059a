"""The guard's judgement: Host, then Origin, then token. Pure, so that every combination can be tried.

Exact strings only. A list "to be nice" is how rebinding guards were passed elsewhere: `localhost6`, any port, any
loopback Origin.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from dragoman.access.tokens import Purpose, Tokens

BEARER_SUBPROTOCOL = "bearer."
HOLDER = "dragoman.holder"
"""Where a request says whose token it bears, once that has been judged."""


@dataclass(frozen=True, slots=True)
class Refusal:
    status: int
    code: str


@dataclass(frozen=True, slots=True)
class Presented:
    """What a request shows of itself, as it arrived: repeated headers stay repeated."""

    hosts: Sequence[str]
    origins: Sequence[str]
    authorizations: Sequence[str]
    subprotocols: Sequence[str]


@dataclass(frozen=True, slots=True)
class OwnNames:
    """The names under which this very port may be called."""

    hosts: frozenset[str]
    origins: frozenset[str]

    @classmethod
    def of(cls, bind: str, port: int) -> OwnNames:
        literal = f"[{bind}]" if ":" in bind else bind
        names = {literal, "localhost"} if bind in {"127.0.0.1", "::1"} else {literal}
        hosts = frozenset(f"{name}:{port}" for name in names)
        return cls(hosts, frozenset(f"http://{host}" for host in hosts))


def judge(presented: Presented, names: OwnNames, tokens: Tokens, purpose: Purpose | None) -> Refusal | None:
    """None lets the request in. `purpose` None is a public route: Host and Origin still count."""
    if len(presented.hosts) != 1 or presented.hosts[0].lower() not in names.hosts:
        return Refusal(421, "wrong_host")
    if len(presented.origins) > 1 or any(origin not in names.origins for origin in presented.origins):
        return Refusal(403, "wrong_origin")
    if purpose is not None and not _bears_token(presented, tokens, purpose):
        return Refusal(401, "token_needed")
    return None


def _bears_token(presented: Presented, tokens: Tokens, purpose: Purpose) -> bool:
    bearer = bearer_of(presented)
    return bearer is not None and tokens.accepts(purpose, bearer)


def bearer_of(presented: Presented) -> str | None:
    """A browser's WebSocket cannot send Authorization: it offers the token as a subprotocol, never in the address."""
    bearers = [text[7:] for text in presented.authorizations if text[:7].lower() == "bearer "]
    bearers += [
        text[len(BEARER_SUBPROTOCOL) :] for text in presented.subprotocols if text.startswith(BEARER_SUBPROTOCOL)
    ]
    return bearers[0] if len(bearers) == 1 else None
