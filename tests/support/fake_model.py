"""A scripted language model behind real HTTP on loopback, with both providers' APIs.

Text, tool calls, refusals, silence, invalid responses and streams that are cut. It keeps what it was asked.
"""

from __future__ import annotations

import contextlib
import json
from collections.abc import AsyncIterator, Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, Literal, Protocol

import anyio
from anyio.abc import SocketAttribute, SocketStream

_MAX_HEAD = 65_536
_WAITS_S = 30.0


class FakeDialect(Protocol):
    def text_delta(self, text: str) -> bytes: ...

    def calls(self, id: str, name: str, arguments: Sequence[str]) -> Iterator[bytes]: ...

    def ends(self, reason: str, input_tokens: int, output_tokens: int) -> bytes: ...

    def fails(self, kind: str) -> bytes: ...


class FakeOpenai:
    _REASONS: Mapping[str, str] = {"end": "stop", "refused": "content_filter"}

    def __init__(self) -> None:
        self._calls = 0

    def text_delta(self, text: str) -> bytes:
        return self._chunk({"content": text})

    def calls(self, id: str, name: str, arguments: Sequence[str]) -> Iterator[bytes]:
        index, self._calls = self._calls, self._calls + 1
        first = {"index": index, "id": id, "type": "function", "function": {"name": name, "arguments": ""}}
        yield self._chunk({"tool_calls": [first]})
        for piece in arguments:
            yield self._chunk({"tool_calls": [{"index": index, "function": {"arguments": piece}}]})

    def ends(self, reason: str, input_tokens: int, output_tokens: int) -> bytes:
        usage = {"prompt_tokens": input_tokens, "completion_tokens": output_tokens}
        last = self._chunk({}, self._REASONS.get(reason, reason))
        return last + _event({"object": "chat.completion.chunk", "choices": [], "usage": usage}) + b"data: [DONE]\n\n"

    def fails(self, kind: str) -> bytes:
        return _event({"error": {"message": kind, "type": kind}})

    def _chunk(self, delta: Mapping[str, Any], reason: str | None = None) -> bytes:
        choice = {"index": 0, "delta": delta, "finish_reason": reason}
        return _event({"object": "chat.completion.chunk", "choices": [choice], "usage": None})


class FakeAnthropic:
    _REASONS: Mapping[str, str] = {
        "end": "end_turn",
        "length": "max_tokens",
        "tool_calls": "tool_use",
        "refused": "refusal",
    }

    def __init__(self) -> None:
        self._blocks = 0
        self._begun = b""

    def text_delta(self, text: str) -> bytes:
        block = self._begins({"type": "text", "text": ""}) if not self._begun else b""
        self._begun = b"text"
        return block + self._part({"type": "text_delta", "text": text})

    def calls(self, id: str, name: str, arguments: Sequence[str]) -> Iterator[bytes]:
        self._begun = b""
        yield self._begins({"type": "tool_use", "id": id, "name": name, "input": {}})
        for piece in arguments:
            yield self._part({"type": "input_json_delta", "partial_json": piece})

    def ends(self, reason: str, input_tokens: int, output_tokens: int) -> bytes:
        usage = {"input_tokens": input_tokens, "output_tokens": output_tokens}
        delta = {"stop_reason": self._REASONS[reason], "stop_sequence": None}
        return self._named({"type": "message_delta", "delta": delta, "usage": usage}) + self._named(
            {"type": "message_stop"}
        )

    def fails(self, kind: str) -> bytes:
        return self._named({"type": "error", "error": {"type": kind, "message": kind}})

    def _begins(self, block: Mapping[str, Any]) -> bytes:
        before = b"" if self._blocks else self._greeting()
        self._blocks += 1
        return before + self._named({"type": "content_block_start", "index": self._blocks - 1, "content_block": block})

    def _greeting(self) -> bytes:
        message = {"id": "msg_1", "role": "assistant", "content": [], "usage": {"input_tokens": 1, "output_tokens": 1}}
        return self._named({"type": "message_start", "message": message}) + self._named({"type": "ping"})

    def _part(self, delta: Mapping[str, Any]) -> bytes:
        return self._named({"type": "content_block_delta", "index": self._blocks - 1, "delta": delta})

    def _named(self, event: Mapping[str, Any]) -> bytes:
        return b"event: %s\n" % event["type"].encode() + _event(event)


DIALECTS: Mapping[str, Callable[[], FakeDialect]] = {"completions": FakeOpenai, "messages": FakeAnthropic}


def _event(body: Mapping[str, Any]) -> bytes:
    return b"data: " + json.dumps(body).encode() + b"\n\n"


@dataclass(frozen=True, slots=True)
class Says:
    """Each piece becomes an event of its own."""

    pieces: Sequence[str]


@dataclass(frozen=True, slots=True)
class Calls:
    name: str
    arguments: Sequence[str]
    """JSON, in the pieces in which it is streamed."""
    id: str = "call_1"


@dataclass(frozen=True, slots=True)
class Ends:
    reason: Literal["end", "length", "tool_calls", "refused"] = "end"
    input_tokens: int = 11
    output_tokens: int = 7


@dataclass(frozen=True, slots=True)
class Refuses:
    """Instead of an answer; only as the first step."""

    status: int
    message: str = "refused"
    headers: Mapping[str, str] = field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class Fails:
    """An error event in the middle of the stream."""

    kind: str = "overloaded_error"


@dataclass(frozen=True, slots=True)
class Sends:
    """Bytes as they are: nonsense, half an event, something that is no stream."""

    data: bytes


@dataclass(frozen=True, slots=True)
class Waits:
    """Until `FakeModel.go_on` is set or who asked has left."""


@dataclass(frozen=True, slots=True)
class Cuts:
    """The connection ends here, without the end of the stream."""


Step = Says | Calls | Ends | Refuses | Fails | Sends | Waits | Cuts


@dataclass(slots=True)
class ReceivedRequest:
    """One request as it came."""

    path: str
    headers: Mapping[str, str]
    body: Any
    left: anyio.Event = field(default_factory=anyio.Event)
    """Set when who asked closed the connection before the end."""


class FakeModel:
    """`async with FakeModel.running() as fake:` — `fake.address` is what `model_address` takes."""

    def __init__(self, port: int) -> None:
        self.address = f"http://127.0.0.1:{port}"
        self.requests: list[ReceivedRequest] = []
        self.replies: list[Sequence[Step]] = []
        """Taken one for each request; where there is none left it says "yes"."""
        self.asked = anyio.Event()
        self.go_on = anyio.Event()

    @classmethod
    @contextlib.asynccontextmanager
    async def running(cls, *replies: Sequence[Step]) -> AsyncIterator[FakeModel]:
        async with await anyio.create_tcp_listener(local_host="127.0.0.1") as listener:
            port: int = listener.extra(SocketAttribute.local_port)
            fake = cls(port)
            fake.replies.extend(replies)
            async with anyio.create_task_group() as group:
                group.start_soon(listener.serve, fake._serve)
                yield fake
                group.cancel_scope.cancel()

    async def _serve(self, stream: SocketStream) -> None:
        async with stream:
            with contextlib.suppress(anyio.BrokenResourceError, anyio.EndOfStream, anyio.ClosedResourceError):
                answer = await _receive_request(stream)
                self.requests.append(answer)
                self.asked.set()
                await self._reply(stream, answer, self.steps_for(answer))

    def steps_for(self, result: ReceivedRequest) -> Sequence[Step]:
        return self.replies.pop(0) if self.replies else (Says(["yes"]), Ends())

    async def _reply(self, stream: SocketStream, result: ReceivedRequest, steps: Sequence[Step]) -> None:
        if steps and isinstance(steps[0], Refuses):
            await stream.send(_refusal(steps[0]))
            return
        await stream.send(b"HTTP/1.1 200 OK\r\ncontent-type: text/event-stream\r\ntransfer-encoding: chunked\r\n\r\n")
        speaking = DIALECTS[result.path.rpartition("/")[2]]()
        for step in steps:
            if isinstance(step, Cuts):
                return
            if isinstance(step, Waits):
                await self._wait(stream, result)
            else:
                for data in _encode_step(speaking, step):
                    await stream.send(b"%x\r\n%s\r\n" % (len(data), data))
        await stream.send(b"0\r\n\r\n")

    async def _wait(self, stream: SocketStream, result: ReceivedRequest) -> None:
        async def notice_leaving() -> None:
            try:
                await stream.receive()
            except (anyio.EndOfStream, anyio.BrokenResourceError):
                result.left.set()
            group.cancel_scope.cancel()

        with anyio.move_on_after(_WAITS_S):
            async with anyio.create_task_group() as group:
                group.start_soon(notice_leaving)
                await self.go_on.wait()
                group.cancel_scope.cancel()


def _encode_step(speaking: FakeDialect, step: Step) -> Iterator[bytes]:
    if isinstance(step, Says):
        yield from map(speaking.text_delta, step.pieces)
    elif isinstance(step, Calls):
        yield from speaking.calls(step.id, step.name, step.arguments)
    elif isinstance(step, Ends):
        yield speaking.ends(step.reason, step.input_tokens, step.output_tokens)
    elif isinstance(step, Fails):
        yield speaking.fails(step.kind)
    elif isinstance(step, Sends):
        yield step.data


async def _receive_request(stream: SocketStream) -> ReceivedRequest:
    held = b""
    while b"\r\n\r\n" not in held and len(held) < _MAX_HEAD:
        held += await stream.receive()
    head, _, body = held.partition(b"\r\n\r\n")
    first, *lines = head.decode("latin-1").split("\r\n")
    headers = {name.lower(): value.strip() for name, _, value in (line.partition(":") for line in lines)}
    while len(body) < int(headers.get("content-length", 0)):
        body += await stream.receive()
    return ReceivedRequest(first.split(" ")[1], headers, json.loads(body or b"null"))


def _refusal(step: Refuses) -> bytes:
    body = json.dumps({"type": "error", "error": {"type": "error", "message": step.message}}).encode()
    headers = {"content-type": "application/json", "content-length": str(len(body)), **step.headers}
    head = "".join(f"{name}: {value}\r\n" for name, value in headers.items())
    return f"HTTP/1.1 {step.status} Refused\r\n{head}connection: close\r\n\r\n".encode() + body
