"""One HTTP request with a streamed response; leaving the block closes the connection, whatever is left of it."""

from __future__ import annotations

import contextlib
import ipaddress
from collections.abc import AsyncIterator, Callable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any
from urllib.parse import urlsplit

from dragoman.io.net.trusted_servers import require_trusted_server

_CONNECT_S = 10.0
_MAX_REFUSAL_BYTES = 16_384
_MAX_ANSWER_BYTES = 16 << 20


class HttpRequestError(Exception):
    """There is no response, or an incomplete one. The reason is our own word, never the library's text."""

    def __init__(self, reason: str) -> None:
        super().__init__(reason)
        self.reason = reason


@dataclass(frozen=True, slots=True)
class HttpPost:
    url: str
    body: bytes = field(repr=False)
    headers: Mapping[str, str] = field(repr=False)
    silence_s: float
    """How long the server may be silent."""
    trusted: Callable[[], Sequence[str]] | None = None
    """If the headers carry a key to a server on this machine: whose it may be, see `trusted_servers`."""


@dataclass(frozen=True, slots=True)
class HttpResponse:
    status: int
    pieces: AsyncIterator[bytes]
    retry_after_s: float | None = None

    async def refusal(self) -> bytes:
        """The start of the body of an error response."""
        held = b""
        async for piece in self.pieces:
            held += piece
            if len(held) >= _MAX_REFUSAL_BYTES:
                break
        return held[:_MAX_REFUSAL_BYTES]


def is_loopback(url: str) -> bool:
    """By address, or by the name `localhost`: other names depend on the resolver."""
    host = urlsplit(url).hostname or ""
    with contextlib.suppress(ValueError):
        return ipaddress.ip_address(host).is_loopback
    return host == "localhost"


@contextlib.asynccontextmanager
async def send_post(post: HttpPost) -> AsyncIterator[HttpResponse]:
    """Redirects are not followed, because the headers carry a key. A proxy is never used for this machine."""
    import httpx2  # noqa: PLC0415  takes 70 ms, and most daemons never use a model

    timeouts = httpx2.Timeout(post.silence_s, connect=min(_CONNECT_S, post.silence_s))
    try:
        asking = httpx2.AsyncClient(timeout=timeouts, trust_env=not is_loopback(post.url))
    except (ValueError, ImportError, OSError):  # a proxy or certificates in the environment are invalid
        raise HttpRequestError("unreachable") from None
    try:
        async with (
            asking as client,
            client.stream(
                "POST", post.url, content=post.body, headers=dict(post.headers), extensions=_check_owner(post)
            ) as response,
        ):
            yield HttpResponse(response.status_code, _bounded(response.aiter_bytes()), _seconds(response.headers))
    except httpx2.TimeoutException:
        raise HttpRequestError("silent") from None
    except (httpx2.ConnectError, ConnectionError):
        raise HttpRequestError("unreachable") from None
    except (httpx2.HTTPError, httpx2.StreamError, httpx2.InvalidURL):
        raise HttpRequestError("broken") from None


def _check_owner(post: HttpPost) -> dict[str, Any]:
    """Check the owner once the connection is established, before the request is sent."""
    trusted = post.trusted
    if trusted is None:
        return {}

    async def trace(step: str, info: Mapping[str, Any]) -> None:
        if step != "connection.connect_tcp.complete":
            return
        stream = info["return_value"]
        try:
            await require_trusted_server(stream.get_extra_info("socket"), post.url, trusted)
        except BaseException:
            await stream.aclose()  # httpx2 2.x does not close it yet
            raise

    return {"trace": trace}


async def _bounded(pieces: AsyncIterator[bytes]) -> AsyncIterator[bytes]:
    size = 0
    async for piece in pieces:
        size += len(piece)
        if size > _MAX_ANSWER_BYTES:
            raise HttpRequestError("broken")
        yield piece


def _seconds(headers: Mapping[str, str]) -> float | None:
    text = headers.get("retry-after", "")
    return float(text) if text.isdigit() and len(text) < 7 else None
