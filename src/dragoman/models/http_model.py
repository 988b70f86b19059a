"""A model behind HTTP, as all providers have in common: address check, API key, request, server-sent events."""

from __future__ import annotations

import contextlib
import re
from collections.abc import AsyncGenerator, Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, Protocol

import anyio
import msgspec

from dragoman.core.localization import localize
from dragoman.io.net.http_client import HttpPost, HttpRequestError, HttpResponse, is_loopback, send_post
from dragoman.io.processes.command import CommandOutputError, command_output
from dragoman.models.errors import (
    cut_off,
    insecure_address,
    invalid_response,
    key_command_failed,
    key_variable_missing,
    no_key,
    no_model_name,
    provider_refused,
    stream_broke_off,
)
from dragoman.models.interface import Delta, ModelFinished, ModelRequest

_COMMAND_S = 15.0  # a password manager may ask its user
_MAX_EVENT_BYTES = 1 << 20


@dataclass(slots=True)
class ApiKey:
    variable: str = ""
    command: Sequence[str] = field(default=(), repr=False)
    environment: Mapping[str, str] = field(default_factory=dict, repr=False)
    needed: bool = True
    """False for a local model, which may have no key."""
    _printed: str = field(default="", repr=False)
    _one_at_a_time: anyio.Lock = field(default_factory=anyio.Lock, repr=False)

    async def read(self) -> str:
        if self.command:
            return await self._by_command()
        text = self.environment.get(self.variable, "").strip() if self.variable else ""
        if not text and self.needed:
            raise key_variable_missing(variable=self.variable) if self.variable else no_key()
        return text

    def invalidate(self) -> None:
        """Run the command again: keys from a manager expire."""
        self._printed = ""

    async def _by_command(self) -> str:
        async with self._one_at_a_time:
            if not self._printed:
                self._printed = await _first_line(self.command, self.environment)
            return self._printed


async def _first_line(command: Sequence[str], environment: Mapping[str, str]) -> str:
    try:
        printed = await command_output(command, environment, within_s=_COMMAND_S)
    except CommandOutputError as error:
        raise key_command_failed(reason=error.reason) from None
    lines = printed.decode(errors="replace").strip().splitlines()
    if not lines or not lines[0].isascii() or not lines[0].isprintable():
        raise key_command_failed(reason=localize("it printed no key"))
    return lines[0].strip()


_BETWEEN_EVENTS = re.compile(rb"\r\n\r\n|\n\n|\r\r")


class OversizedEventError(Exception):
    pass


class ServerSentEventReader:
    def __init__(self) -> None:
        self._held = b""

    def feed(self, data: bytes) -> Iterator[bytes]:
        """The data of each complete event. Event names and comments add nothing to the data."""
        looked = max(0, len(self._held) - 3)  # a separator has at most four bytes
        self._held += data
        while match := _BETWEEN_EVENTS.search(self._held, looked):
            event, self._held, looked = self._held[: match.start()], self._held[match.end() :], 0
            if content := _data(event):
                yield content
        if len(self._held) > _MAX_EVENT_BYTES:
            raise OversizedEventError


def _data(event: bytes) -> bytes:
    lines = (line.partition(b":") for line in event.splitlines())
    return b"\n".join(value.removeprefix(b" ") for name, _, value in lines if name == b"data")


class ReplyDecoder(Protocol):
    """Decodes one reply of a provider, event by event. An invalid event raises `ModelError`."""

    def decode_event(self, event: bytes) -> Iterable[Delta]: ...

    def end(self) -> ModelFinished | None:
        """The end that was received before the stream ended; None if it broke off."""
        ...


@dataclass(frozen=True, slots=True)
class ProviderDialect:
    """What providers differ in."""

    path: str
    headers: Callable[[str], Mapping[str, str]]
    body: Callable[[str, ModelRequest], Mapping[str, Any]]
    decoder: Callable[[], ReplyDecoder]


@dataclass(frozen=True, slots=True)
class HttpModel:
    name: str
    address: str
    key: ApiKey
    dialect: ProviderDialect
    trusted_servers: Sequence[str] = ()
    """Servers of other users of this machine that may receive the key."""

    async def stream(self, request: ModelRequest) -> AsyncGenerator[Delta, None]:
        post = await self._post(request)
        decoder = self.dialect.decoder()
        failure = cut_off()
        try:
            async with send_post(post) as answer:
                await self._require_accepted(answer)
                async with contextlib.aclosing(_deltas(answer, decoder)) as deltas:
                    async for delta in deltas:
                        yield delta
                        if isinstance(delta, ModelFinished):
                            return
        except HttpRequestError as error:
            failure = stream_broke_off(error.reason)
        finished = decoder.end()  # Many servers omit the last line: a reply with a finish reason is complete.
        if finished is None:
            raise failure
        yield finished

    async def _post(self, request: ModelRequest) -> HttpPost:
        if not self.address.startswith("https://") and not is_loopback(self.address):
            raise insecure_address()
        if not self.name:
            raise no_model_name()
        key = await self.key.read()
        headers = {"content-type": "application/json", "accept": "text/event-stream", **self.dialect.headers(key)}
        body = msgspec.json.encode(self.dialect.body(self.name, request))
        judged = (lambda: self.trusted_servers) if key and is_loopback(self.address) else None
        return HttpPost(self.address.rstrip("/") + self.dialect.path, body, headers, request.silence_s, judged)

    async def _require_accepted(self, answer: HttpResponse) -> None:
        if answer.status == 200:
            return
        if answer.status in {401, 403}:
            self.key.invalidate()
        raise provider_refused(answer.status, await answer.refusal(), answer.retry_after_s)


async def _deltas(answer: HttpResponse, decoder: ReplyDecoder) -> AsyncGenerator[Delta, None]:
    """Decode the deltas.

    Anything but an event of the provider is an error; the caller handles a stream that breaks off.
    """
    reader, has_event = ServerSentEventReader(), False
    async for piece in answer.pieces:
        try:
            deltas = [delta for event in reader.feed(piece) for delta in decoder.decode_event(event)]
        except (OversizedEventError, msgspec.MsgspecError, UnicodeDecodeError, RecursionError):
            raise invalid_response() from None
        for delta in deltas:
            has_event = True
            yield delta
    if not has_event and decoder.end() is None:
        raise invalid_response()
