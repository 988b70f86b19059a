"""One request over HTTP whose answer comes in pieces; leaving the block closes the connection, whatever was left."""

from __future__ import annotations

import contextlib
import ipaddress
from collections.abc import AsyncIterator, Callable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any
from urllib.parse import urlsplit

from dragoman.transport.server_owner import require_own_server

_CONNECT_S = 10.0
_MAX_REFUSAL_BYTES = 16_384
_MAX_ANSWER_BYTES = 16 << 20


class HttpFailedError(Exception):
    """No answer, or one that broke off: the reason is a word of ours, never the library's text."""

    def __init__(self, reason: str) -> None:
        super().__init__(reason)
        self.reason = reason


@dataclass(frozen=True, slots=True)
class Post:
    url: str
    body: bytes = field(repr=False)
    headers: Mapping[str, str] = field(repr=False)
    silence_s: float
    """How long the other side may say nothing at all."""
    trusted: Callable[[], Sequence[str]] | None = None
    """Where the headers carry a key to a server of this machine: whose it may be, see `server_owner`."""


@dataclass(frozen=True, slots=True)
class Answer:
    status: int
    pieces: AsyncIterator[bytes]
    retry_after_s: float | None = None

    async def refusal(self) -> bytes:
        """The beginning of what an answer that is none says."""
        held = b""
        async for piece in self.pieces:
            held += piece
            if len(held) >= _MAX_REFUSAL_BYTES:
                break
        return held[:_MAX_REFUSAL_BYTES]


def is_loopback(url: str) -> bool:
    """By the address, or the one name `localhost`: other names mean whatever someone's resolver says."""
    host = urlsplit(url).hostname or ""
    with contextlib.suppress(ValueError):
        return ipaddress.ip_address(host).is_loopback
    return host == "localhost"


@contextlib.asynccontextmanager
async def posted(post: Post) -> AsyncIterator[Answer]:
    """Redirects are not followed, because the headers carry a key; a proxy is never asked for this machine."""
    import httpx2  # noqa: PLC0415  70 ms, and most daemons never ask a model

    patience = httpx2.Timeout(post.silence_s, connect=min(_CONNECT_S, post.silence_s))
    try:
        asking = httpx2.AsyncClient(timeout=patience, trust_env=not is_loopback(post.url))
    except (ValueError, ImportError, OSError):  # a proxy or certificates of the environment that cannot be used
        raise HttpFailedError("unreachable") from None
    try:
        async with (
            asking as client,
            client.stream(
                "POST", post.url, content=post.body, headers=dict(post.headers), extensions=_judged(post)
            ) as response,
        ):
            yield Answer(response.status_code, _bounded(response.aiter_bytes()), _seconds(response.headers))
    except httpx2.TimeoutException:
        raise HttpFailedError("silent") from None
    except (httpx2.ConnectError, ConnectionError):
        raise HttpFailedError("unreachable") from None
    except (httpx2.HTTPError, httpx2.StreamError, httpx2.InvalidURL):
        raise HttpFailedError("broken") from None


def _judged(post: Post) -> dict[str, Any]:
    """The connection is judged when it is there, before the request is sent on it."""
    trusted = post.trusted
    if trusted is None:
        return {}

    async def trace(step: str, info: Mapping[str, Any]) -> None:
        if step != "connection.connect_tcp.complete":
            return
        stream = info["return_value"]
        try:
            await require_own_server(stream.get_extra_info("socket"), post.url, trusted)
        except BaseException:
            await stream.aclose()  # httpx2 2.x does not know of it yet, and nobody else would
            raise

    return {"trace": trace}


async def _bounded(pieces: AsyncIterator[bytes]) -> AsyncIterator[bytes]:
    size = 0
    async for piece in pieces:
        size += len(piece)
        if size > _MAX_ANSWER_BYTES:
            raise HttpFailedError("broken")
        yield piece


def _seconds(headers: Mapping[str, str]) -> float | None:
    text = headers.get("retry-after", "")
    return float(text) if text.isdigit() and len(text) < 7 else None
