"""The request guard: checks Host, then Origin, then token. Pure, so that every combination can be tested.

It compares exact strings only. Lenient rules (`localhost6`, any port, any loopback Origin) are how DNS rebinding
attacks got past the guards of other programs.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from typing import Literal

from dragoman.access.tokens import Purpose, Tokens

HOLDER = "dragoman.holder"
"""The scope key under which an authorised request carries its token's holder."""


@dataclass(frozen=True, slots=True)
class GuardRefusal:
    status: int
    code: str


@dataclass(frozen=True, slots=True)
class PresentedHeaders:
    """The headers that identify a request, as they arrived: repeated headers stay repeated."""

    hosts: Sequence[str]
    origins: Sequence[str]
    authorizations: Sequence[str]


Audience = Literal["page", "link", "programs", "lobby"]
"""The audience of a route. `page`: a browser at the page's own origin. `link`: a page or a program that proves itself.
`programs`: clients with a token. `lobby`: the root, which is the page at its own origin and a notice elsewhere.
"""


@dataclass(frozen=True, slots=True)
class AllowedNames:
    """The host names that requests to this port may use: from browsers that show the page, and from programs."""

    page: str
    hosts: frozenset[str]
    origins: frozenset[str]
    _forwarded: Counter[str] = field(default_factory=Counter, init=False, compare=False)
    """Under which the page is open on other machines, as `HOST:PORT`."""

    @classmethod
    def of(cls, bind: str, port: int, *, page: str = "") -> AllowedNames:
        """Build the names. `page` is the page's `HOST:PORT` if it has its own origin."""
        literal = f"[{bind}]" if ":" in bind else bind
        names = {"127.0.0.1", "[::1]", "localhost"} if bind in {"127.0.0.1", "::1"} else {literal}
        hosts = frozenset(f"{name}:{port}" for name in names)
        return cls(page or f"{literal}:{port}", hosts, frozenset(f"http://{host}" for host in hosts))

    def __contains__(self, address: object) -> bool:
        """Whether a client may claim to have dialled that address."""
        return address in self.hosts or self.is_page(address)

    @contextmanager
    def forwarding(self, host: str) -> Iterator[None]:
        """Allow another name for the page. Only this user asks for one, over the daemon's socket."""
        self._forwarded[host] += 1
        try:
            yield
        finally:
            self._forwarded[host] -= 1
            if not self._forwarded[host]:
                del self._forwarded[host]

    def is_page(self, host: object) -> bool:
        return host == self.page or host in self._forwarded

    def allows_host(self, host: str, audience: Audience) -> bool:
        return (audience != "programs" and self.is_page(host)) or (audience != "page" and host in self.hosts)

    def allows_origin(self, origin: str, host: str, audience: Audience) -> bool:
        """Whether this Origin may use the route. Programs send no Origin; of the scripts, only the page may connect."""
        if self.is_page(host) and origin == f"http://{host}":
            return True
        return audience in {"programs", "lobby"} and host in self.hosts and origin in self.origins


def judge(
    presented: PresentedHeaders,
    names: AllowedNames,
    tokens: Tokens,
    purpose: Purpose | None,
    audience: Audience = "programs",
) -> GuardRefusal | None:
    """Return why the request is refused, or None. Without a `purpose`, only Host and Origin are checked."""
    host = presented.hosts[0].lower() if len(presented.hosts) == 1 else ""
    if not names.allows_host(host, audience):
        return GuardRefusal(421, "wrong_host")
    if len(presented.origins) > 1 or any(not names.allows_origin(it, host, audience) for it in presented.origins):
        return GuardRefusal(403, "wrong_origin")
    if purpose is not None and not _bears_token(presented, tokens, purpose):
        return GuardRefusal(401, "token_needed")
    return None


def _bears_token(presented: PresentedHeaders, tokens: Tokens, purpose: Purpose) -> bool:
    bearer = bearer_token(presented)
    return bearer is not None and tokens.accepts(purpose, bearer)


def bearer_token(presented: PresentedHeaders) -> str | None:
    bearers = [text[7:] for text in presented.authorizations if text[:7].lower() == "bearer "]
    return bearers[0] if len(bearers) == 1 else None
