"""What every provider does alike: the address is judged, the key read, the request sent, the events taken apart."""

from __future__ import annotations

import contextlib
from collections.abc import AsyncGenerator, Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Protocol

import msgspec

from dragoman.models.faults import broke_off, cut_off, insecure_address, no_model_name, nonsense, refused
from dragoman.models.key import Key
from dragoman.models.port import Asked, Delta, Finished
from dragoman.models.sse import EventReader, OversizedEventError
from dragoman.transport.http_stream import Answer, HttpFailedError, Post, is_loopback, posted


class Hearing(Protocol):
    """One answer of a provider, event by event; what it may not say raises `ModelError`."""

    def hear(self, event: bytes) -> Iterable[Delta]: ...

    def end(self) -> Finished | None:
        """The end that was told before the stream ended; None where it broke off in the middle."""
        ...


@dataclass(frozen=True, slots=True)
class Dialect:
    """What providers differ in."""

    path: str
    headers: Callable[[str], Mapping[str, str]]
    body: Callable[[str, Asked], Mapping[str, Any]]
    hearing: Callable[[], Hearing]


@dataclass(frozen=True, slots=True)
class HttpModel:
    name: str
    address: str
    key: Key
    dialect: Dialect
    trusted_servers: Sequence[str] = ()
    """Of other users of this machine, which may be sent the key."""

    async def stream(self, asked: Asked) -> AsyncGenerator[Delta, None]:
        post = await self._post(asked)
        hearing = self.dialect.hearing()
        failure = cut_off()
        try:
            async with posted(post) as answer:
                await self._require_accepted(answer)
                async with contextlib.aclosing(_deltas(answer, hearing)) as deltas:
                    async for delta in deltas:
                        yield delta
                        if isinstance(delta, Finished):
                            return
        except HttpFailedError as error:
            failure = broke_off(error.reason)
        finished = hearing.end()  # many servers leave the last line out: an answer that told its reason is complete
        if finished is None:
            raise failure
        yield finished

    async def _post(self, asked: Asked) -> Post:
        if not self.address.startswith("https://") and not is_loopback(self.address):
            raise insecure_address()
        if not self.name:
            raise no_model_name()
        key = await self.key.read()
        headers = {"content-type": "application/json", "accept": "text/event-stream", **self.dialect.headers(key)}
        body = msgspec.json.encode(self.dialect.body(self.name, asked))
        judged = (lambda: self.trusted_servers) if key and is_loopback(self.address) else None
        return Post(self.address.rstrip("/") + self.dialect.path, body, headers, asked.silence_s, judged)

    async def _require_accepted(self, answer: Answer) -> None:
        if answer.status == 200:
            return
        if answer.status in {401, 403}:
            self.key.was_refused()
        raise refused(answer.status, await answer.refusal(), answer.retry_after_s)


async def _deltas(answer: Answer, hearing: Hearing) -> AsyncGenerator[Delta, None]:
    """What is no event of the provider's is nonsense; what stops in the middle is told by the caller."""
    reader, heard = EventReader(), False
    async for piece in answer.pieces:
        try:
            deltas = [delta for event in reader.feed(piece) for delta in hearing.hear(event)]
        except (OversizedEventError, msgspec.MsgspecError, UnicodeDecodeError, RecursionError):
            raise nonsense() from None
        for delta in deltas:
            heard = True
            yield delta
    if not heard and hearing.end() is None:
        raise nonsense()
