"""One MCP client, several targets: a state machine of lines, without I/O and without a clock of its own.

Every request to a target has an id that no other request has, to any target. An answer counts once, and only from the
target that was asked: a wrong id, a second answer and an answer to another target's request are dropped. What a target
asks of the client is renamed in the same way.

Bounds: a client has at most `MAX_CALLS` open calls. A target that does not take what it is sent gets no more of it, and
calls of it are refused with `target_busy`. A target whose lines the client does not take is not read.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, Protocol

from dragoman.cli.output import render
from dragoman.cli.router.handshakes import Handshakes
from dragoman.cli.router.routes import Routes
from dragoman.cli.router.server_requests import ServerRequests
from dragoman.cli.router.target_requests import Answer, Reply, RequestBatch, Script, TargetRequest, error_reply
from dragoman.core.localization import localize
from dragoman.protocols.jsonrpc import (
    INVALID_REQUEST,
    MESSAGE_CAP,
    PARSE_ERROR,
    SERVER_ERROR,
    CappedLines,
    Id,
    OverlongLine,
    as_id,
    error_line,
    has_too_many_parts,
    is_too_deep,
    objects_in,
    refuse_overlong,
    refuse_parts,
)
from dragoman.protocols.jsonrpc.relay import FULL, FairOutbox

MAX_CALLS = 256
_MAX_LATE = 64
_CANCELLED = "notifications/cancelled"
_PROGRESS = "notifications/progress"


class TargetLink(Protocol):
    """The way to one target. What is sent while it is not connected waits for the connection, or gets an error."""

    @property
    def is_connected(self) -> bool: ...

    @property
    def is_full(self) -> bool: ...

    @property
    def failure(self) -> tuple[str, str] | None:
        """The code and the text of the last error, while no daemon is found."""

    def send(self, line: bytes) -> None: ...

    def search(self) -> None:
        """Look for the daemon again, in the background and not too often."""


@dataclass(eq=False)
class OpenCall:
    """A request of the client, and what its script waits for."""

    request_id: Id
    method: str
    script: Script
    token: Any = None
    batch: RequestBatch = field(default_factory=lambda: RequestBatch(()))
    pending: dict[int, TargetRequest] = field(default_factory=dict)
    answers: list[Answer] = field(default_factory=list)
    deadline_s: float | None = None
    progress: float = -1.0


class Router:
    def __init__(self, names: Sequence[str], links: Sequence[TargetLink], clock: Callable[[], float]) -> None:
        self.names = tuple(names)
        self.to_client = FairOutbox(len(links) + 1)
        self._links = links
        self._own = len(links)
        self._clock = clock
        self._lines = CappedLines(MESSAGE_CAP)
        self._routes = Routes(self)
        self._handshakes = Handshakes(len(links))
        self._server_requests = ServerRequests(len(links))
        self._last_id = 0
        self._calls: dict[Id, OpenCall] = {}
        self._open: dict[int, tuple[int, OpenCall]] = {}
        self._late: dict[int, int] = {}
        """Waits that were cancelled, with their targets: an answer that is already on its way is kept."""

    # For the pump.

    @property
    def reads_client(self) -> bool:
        return self.to_client.size < FULL

    def reads_target(self, target: int) -> bool:
        return not self.to_client.is_full(target)

    @property
    def needs_daemon(self) -> bool:
        return bool(self._calls)

    @property
    def is_only_handshake(self) -> bool:
        return all(call.method == "initialize" for call in self._calls.values())

    @property
    def left_s(self) -> float | None:
        """Until `expire` has to be called."""
        deadlines = [call.deadline_s for call in self._calls.values() if call.deadline_s is not None]
        return max(0.0, min(deadlines) - self._clock()) if deadlines else None

    # For the routes.

    def is_connected(self, target: int) -> bool:
        return self._links[target].is_connected

    def unreached(self, target: int) -> Reply | None:
        failure = self._links[target].failure
        if failure is not None:
            self._links[target].search()
        return error_reply(SERVER_ERROR, failure[1], failure[0]) if failure else None

    # From the client.

    def receive_from_client(self, data: bytes) -> None:
        for line in self._lines.feed(data):
            if isinstance(line, OverlongLine):
                self._to_client(refuse_overlong(line, MESSAGE_CAP))
            elif has_too_many_parts(line):
                self._to_client(refuse_parts(line))
            elif line.strip():
                self._handle_line(line)

    def _handle_line(self, line: bytes) -> None:
        """One message, or those of a batch, which are answered one by one."""
        try:
            value = json.loads(line)
        except (ValueError, RecursionError):
            self._to_client(error_line(None, PARSE_ERROR, "the line is not JSON"))
            return
        for item in value if isinstance(value, list) and value else [value]:
            if not self._handle_message(item):
                request_id = as_id(item.get("id")) if isinstance(item, dict) else None
                self._to_client(error_line(request_id, INVALID_REQUEST, "this is no JSON-RPC 2.0 message"))

    def _handle_message(self, item: Any) -> bool:
        if not isinstance(item, dict) or item.get("jsonrpc") != "2.0":
            return False
        method, request_id = item.get("method"), as_id(item.get("id"))
        given = item.get("params")
        params = given if isinstance(given, dict) else {}
        if method is None and request_id is not None:
            self._answer_server_request(request_id, item)
        elif isinstance(method, str) and request_id is not None:
            self._begin(request_id, method, params)
        elif isinstance(method, str) and "id" not in item:
            self._notify(method, params, item)
        else:
            return False
        return True

    def _begin(self, request_id: Id, method: str, params: Mapping[str, Any]) -> None:
        if request_id in self._calls:
            self._to_client(error_line(request_id, INVALID_REQUEST, "a request with this id is still open"))
            return
        if len(self._calls) >= MAX_CALLS:
            text = f"more than {MAX_CALLS} calls are open"
            self._to_client(error_line(request_id, SERVER_ERROR, text, {"code": "too_many_calls"}))
            return
        if method == "initialize":
            self._handshakes.begin(params)
        meta = params.get("_meta")
        token = meta.get("progressToken") if isinstance(meta, dict) else None
        call = OpenCall(request_id, method, self._routes.script(method, params), token)
        self._calls[request_id] = call
        self._advance(call, None)

    def _notify(self, method: str, params: Mapping[str, Any], item: dict[str, Any]) -> None:
        if method == _CANCELLED:
            self._cancel(as_id(params.get("requestId")))
        elif method == _PROGRESS:
            for target, progress in self._server_requests.progress(params):
                self._links[target].send(_line(item | {"params": progress}))
        else:
            if method == "notifications/initialized":
                self._handshakes.complete(item)
            for target in self._handshakes.targets():
                if not self._links[target].is_full:
                    self._links[target].send(_line(item))

    def _cancel(self, request_id: Id | None) -> None:
        call = self._calls.get(request_id) if request_id is not None else None
        if call is not None and call.method != "initialize":
            self._cancel_pending(call)
            del self._calls[call.request_id]
            call.script.close()

    def _answer_server_request(self, request_id: Id, item: dict[str, Any]) -> None:
        request = self._server_requests.close(request_id)
        if request is not None:
            self._links[request[0]].send(_line(item | {"id": request[1]}))

    # To the targets.

    def _advance(self, call: OpenCall, answers: list[Answer] | None) -> None:
        """The next step of its script: another batch of requests, or the reply."""
        try:
            batch = next(call.script) if answers is None else call.script.send(answers)
        except StopIteration as end:
            del self._calls[call.request_id]
            source = call.answers[-1].target if len(call.answers) == 1 else self._own
            self._reply(source, call.request_id, end.value)
            return
        call.batch, call.answers, call.pending = batch, [], {}
        call.deadline_s = None if batch.within_s is None else self._clock() + batch.within_s
        busy = [request.target for request in batch.requests if not self._send(call, request)]
        for target in busy:
            call.answers.append(Answer(target, self._busy(target)))
        if not call.pending:
            self._advance(call, call.answers)

    def _send(self, call: OpenCall, request: TargetRequest) -> bool:
        link = self._links[request.target]
        if link.is_full:
            return False
        if request.method == "initialize":
            self._handshakes.begin_for(request.target)
        else:
            for line in self._handshakes.missing(request.target, self._new_id):
                link.send(line)
        number = self._new_id()
        call.pending[number] = request
        self._open[number] = (request.target, call)
        params = dict(request.params)
        meta = params.get("_meta")
        if isinstance(meta, dict) and "progressToken" in meta:
            params["_meta"] = meta | {"progressToken": number}
        link.send(_line({"jsonrpc": "2.0", "id": number, "method": request.method, "params": params}))
        return True

    def _busy(self, target: int) -> Reply:
        text = localize("{target} is not reading requests. Try again later.", target=self.names[target])
        return error_reply(SERVER_ERROR, render(text), "target_busy")

    def _cancel_pending(self, call: OpenCall) -> None:
        for number, part in call.pending.items():
            del self._open[number]
            if part.params.get("name") == "wait_for_stop":
                self._late[number] = part.target
            params = {"requestId": number, "reason": "no longer needed"}
            self._links[part.target].send(_line({"jsonrpc": "2.0", "method": _CANCELLED, "params": params}))
        call.pending.clear()
        while len(self._late) > _MAX_LATE:
            del self._late[next(iter(self._late))]

    def _new_id(self) -> int:
        self._last_id += 1
        return self._last_id

    # From the targets.

    def receive_from_target(self, target: int, line: bytes) -> None:
        if has_too_many_parts(line) or is_too_deep(line):
            line = refuse_parts(line)
        for message in objects_in(line):
            if isinstance(message.get("method"), str):
                self._from_target(target, message)
            else:
                self._answered(target, message)

    def _answered(self, target: int, message: dict[str, Any]) -> None:
        number = as_id(message.get("id"))
        if not isinstance(number, int):
            return
        reply: Reply = {name: message[name] for name in ("result", "error") if name in message}
        failure = self._links[target].failure
        if failure is not None and "result" not in reply and _code(reply) == failure[0]:
            reply = error_reply(SERVER_ERROR, failure[1], failure[0])  # with what helps
        answer = Answer(target, reply)
        if self._handshakes.answered(target, number, is_error="result" not in reply):
            return
        if self._late.get(number) == target:
            del self._late[number]
            self._routes.sessions.keep_unsent(answer)
        target_asked, call = self._open.get(number, (None, None))
        if call is None or target_asked != target:
            return
        del self._open[number]
        request = call.pending.pop(number)
        if request.method == "tools/call":
            self._routes.record_answer(answer)
        elif request.method == "initialize" and "result" not in reply:
            self._handshakes.failed(target)
        self._deliver(call, answer)

    def _deliver(self, call: OpenCall, answer: Answer) -> None:
        call.answers.append(answer)
        is_enough = call.batch.enough is not None and call.batch.enough(answer)
        if is_enough and call.batch.cancels_rest:
            self._cancel_pending(call)
        if is_enough:
            for number in call.pending:  # their answers are dropped, except for what they say about the handshake
                target = self._open.pop(number)[0]
                self._handshakes.follow(target, number)
            call.pending = {}
        if not call.pending:
            self._advance(call, call.answers)

    def _from_target(self, target: int, message: dict[str, Any]) -> None:
        given = message.get("params")
        params = given if isinstance(given, dict) else {}
        if "id" in message:
            forwarded = self._server_requests.forward(target, message, self._new_id)
            if forwarded is None:
                text = "too many questions are open"
                self._links[target].send(error_line(as_id(message["id"]), SERVER_ERROR, text))
            else:
                self.to_client.put(target, _line(forwarded))
        elif message["method"] == _PROGRESS:
            self._progress(target, message, params)
        elif message["method"] == _CANCELLED:
            number = self._server_requests.withdraw(target, as_id(params.get("requestId")))
            if number is not None:
                self.to_client.put(target, _line(message | {"params": {**params, "requestId": number}}))
        else:
            self.to_client.put(target, _line(message))

    def _progress(self, target: int, message: dict[str, Any], params: Mapping[str, Any]) -> None:
        """Of several targets that wait for one call, whichever is ahead: progress must increase."""
        number, done = params.get("progressToken"), params.get("progress")
        target_asked, call = self._open.get(number, (None, None)) if isinstance(number, int) else (None, None)
        if call is None or target_asked != target or not isinstance(done, int | float) or done <= call.progress:
            return
        call.progress = done
        self.to_client.put(target, _line(message | {"params": {**params, "progressToken": call.token}}))

    # Time.

    def expire(self) -> None:
        """Parts of a call that took too long are cancelled; the others are its answer."""
        now = self._clock()
        for call in [it for it in self._calls.values() if it.deadline_s is not None and it.deadline_s <= now]:
            missing = [part.target for part in call.pending.values()]
            self._cancel_pending(call)
            call.answers += [Answer(it, self._silent(it, call.batch.within_s or 0)) for it in missing]
            self._advance(call, call.answers)

    def _silent(self, target: int, within_s: float) -> Reply:
        text = localize(
            "{target} did not answer within {seconds} seconds.", target=self.names[target], seconds=round(within_s)
        )
        return error_reply(SERVER_ERROR, render(text), "far_side_silent")

    # To the client.

    def _reply(self, source: int, request_id: Id, reply: Reply) -> None:
        self.to_client.put(source, _line({"jsonrpc": "2.0", "id": request_id, **reply}))

    def _to_client(self, line: bytes) -> None:
        self.to_client.put(self._own, line)


def _code(reply: Reply) -> object:
    error = reply.get("error")
    data = error.get("data") if isinstance(error, dict) else None
    return data.get("code") if isinstance(data, dict) else None


def _line(message: Mapping[str, Any]) -> bytes:
    return json.dumps(message, separators=(",", ":")).encode()
