"""The guard's judgement: Host, then Origin, then token. Pure, so that every combination can be tried.

Exact strings only. A list "to be nice" is how rebinding guards were passed elsewhere: `localhost6`, any port, any
loopback Origin.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Literal

from dragoman.access.tokens import Purpose, Tokens

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


Room = Literal["page", "link", "programs", "lobby"]
"""Who a route is for. `page`: a browser, at the page's own origin. `link`: who proves itself, the page or a program.
`programs`: clients with a token. `lobby`: the root, which is the page at its own origin and a notice elsewhere."""


@dataclass(frozen=True, slots=True)
class OwnNames:
    """The names under which this very port may be called: by browsers that show the page, and by programs."""

    page: str
    hosts: frozenset[str]
    origins: frozenset[str]

    @classmethod
    def of(cls, bind: str, port: int, *, page: str = "") -> OwnNames:
        """`page`: `HOST:PORT` of the page, where it has an origin of its own."""
        literal = f"[{bind}]" if ":" in bind else bind
        names = {"127.0.0.1", "[::1]", "localhost"} if bind in {"127.0.0.1", "::1"} else {literal}
        hosts = frozenset(f"{name}:{port}" for name in names)
        return cls(page or f"{literal}:{port}", hosts, frozenset(f"http://{host}" for host in hosts))

    @property
    def dialled(self) -> frozenset[str]:
        """What a client may say that it dialled."""
        return self.hosts | {self.page}

    def allows_host(self, host: str, room: Room) -> bool:
        return (room != "programs" and host == self.page) or (room != "page" and host in self.hosts)

    def allows_origin(self, origin: str, host: str, room: Room) -> bool:
        """A link is for the page and for programs, which have no Origin: no other script has any business there."""
        if host == self.page and origin == f"http://{self.page}":
            return True
        return room in {"programs", "lobby"} and host in self.hosts and origin in self.origins


def judge(
    presented: Presented, names: OwnNames, tokens: Tokens, purpose: Purpose | None, room: Room = "programs"
) -> Refusal | None:
    """None lets the request in. `purpose` None needs no token: Host and Origin still count."""
    host = presented.hosts[0].lower() if len(presented.hosts) == 1 else ""
    if not names.allows_host(host, room):
        return Refusal(421, "wrong_host")
    if len(presented.origins) > 1 or any(not names.allows_origin(it, host, room) for it in presented.origins):
        return Refusal(403, "wrong_origin")
    if purpose is not None and not _bears_token(presented, tokens, purpose):
        return Refusal(401, "token_needed")
    return None


def _bears_token(presented: Presented, tokens: Tokens, purpose: Purpose) -> bool:
    bearer = bearer_of(presented)
    return bearer is not None and tokens.accepts(purpose, bearer)


def bearer_of(presented: Presented) -> str | None:
    bearers = [text[7:] for text in presented.authorizations if text[:7].lower() == "bearer "]
    return bearers[0] if len(bearers) == 1 else None
