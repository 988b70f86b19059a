"""One DAP connection to one debuggee, with the adapter's quirks corrected.

A program without children is debugged over one such connection; a debuggee tree has one per child. So a quirk of a
single debuggee is corrected here, and neither the tree nor the session knows about it.
"""

from __future__ import annotations

import contextlib
import logging
import re
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from typing import Any

import anyio
import msgspec
from anyio.abc import ByteStream
from msgspec import UNSET

from dragoman.core.errors import DragomanError, RemoteProtocolError
from dragoman.debug.backends.event_queue import AdapterEventQueue
from dragoman.debug.backends.port import (
    LIBRARY_ARGUMENT,
    RUN_COMMANDS,
    STEP_COMMANDS,
    AdapterRefusedError,
    decode_event,
    make_response,
)
from dragoman.debug.backends.quirks import AdapterQuirks
from dragoman.debug.session.threads import MAX_LIVE_THREADS
from dragoman.io.drivers.dap_adapter_driver import DapAdapterDriver, OnRequest
from dragoman.protocols.dap import Event, Response, read_body
from dragoman.protocols.dap.bodies import ContinuedBody, EventBody, InitializedBody, StoppedBody, ThreadBody

log = logging.getLogger(__name__)

_EVALUATE_TIMEOUT_S = 2.0
_CONTINUE_GRACE_S = 0.5


@dataclass(slots=True)
class RequestedBreakpointList:
    """A breakpoint list as it was requested, and the response of the first debuggee once there is one."""

    command: str
    arguments: dict[str, Any]
    response: Response | None = None

    @property
    def key(self) -> str:
        """A later list with the same key replaces it."""
        source = self.arguments.get("source") or {}
        return f"{self.command} {source.get('path') or source.get('sourceReference') or ''}"

    @property
    def count(self) -> int:
        return len(self.arguments.get("breakpoints") or ())


@dataclass(slots=True)
class DebuggeeSetup:
    """What was sent to set up the program's debugger. Later child sessions are sent the same."""

    initialize_arguments: dict[str, Any] = field(default_factory=dict)
    configured: anyio.Event = field(default_factory=anyio.Event)
    lists: dict[str, RequestedBreakpointList] = field(default_factory=dict)
    setting: anyio.Lock = field(default_factory=anyio.Lock)
    """Held while a list is set and while a child gets all lists: a list that is set at that time waits, so the child
    gets it exactly once."""


class DebuggeeConnection:
    """A DAP connection to one debuggee. It puts each event into `events` and remembers what a tree needs to know when
    the debuggee gets its first child: whether it is stopped or stepping, and which threads it has reported.

    debugpy resumes all threads and reports it once, when the first has left. A thread that leaves only after another
    has stopped again makes it report a second time, though all are stopped by then: such a `continued` is dropped. And
    since debugpy has reported that they left this stop, it leaves the `continue` from it unanswered. The same happens
    when that thread leaves while our `continue` is on its way: the `continued` or the stop after it is then the answer.
    """

    def __init__(self, quirks: AdapterQuirks) -> None:
        self.events = AdapterEventQueue()
        self.is_initialized = False
        self.is_stopped = False
        self.is_stepping = False
        self.thread_ids: set[int] = set()
        self._quirks = quirks
        self._is_next_continue_unanswered = False
        self._continuing: anyio.CancelScope | None = None
        self._changed_values = ChangedValues()

    async def request(self, command: str, arguments: dict[str, Any] | None = None, *, timeout_s: float) -> Response:
        """Returns a successful response. Raises `AdapterRefusedError`, or another error if the adapter is gone or
        silent."""
        if command in RUN_COMMANDS:
            return await self._resume(command, arguments, timeout_s)
        if arguments is not None and LIBRARY_ARGUMENT in arguments:
            return await self._set_in_library_code(command, arguments, timeout_s)
        response = await self._send(command, arguments, timeout_s)
        if not self._quirks.shows_stale_values:
            return response
        return self._changed_values.correct(command, arguments or {}, response)

    async def end(self) -> None:
        self.events.close()

    def receive(self, body: EventBody, size: int = 0, *, may_omit: bool = True) -> None:
        """Take an event that the adapter sent. js-debug sends `initialized` twice."""
        is_repeated = isinstance(body, InitializedBody) and self.is_initialized
        if not is_repeated and not self._is_late_continue(body):
            self._track_state(body)
            if self._continuing is not None and isinstance(body, ContinuedBody | StoppedBody):
                self._continuing.deadline = min(self._continuing.deadline, anyio.current_time() + _CONTINUE_GRACE_S)
            self.events.put(body, size, may_omit=may_omit)

    async def _send(self, command: str, arguments: dict[str, Any] | None, timeout_s: float) -> Response:
        raise NotImplementedError

    def _track_state(self, body: EventBody) -> None:
        match body:
            case StoppedBody():
                self.is_stopped, self.is_stepping, self._is_next_continue_unanswered = True, False, False
                if body.thread_id is not None:
                    self._add_thread(body.thread_id)
            case ContinuedBody():
                self.is_stopped = False
            case ThreadBody() if body.reason == "exited":
                self.thread_ids.discard(body.thread_id)
            case ThreadBody():
                self._add_thread(body.thread_id)
            case InitializedBody():
                self.is_initialized = True

    def _add_thread(self, thread_id: int) -> None:
        if len(self.thread_ids) < MAX_LIVE_THREADS:
            self.thread_ids.add(thread_id)

    def _is_late_continue(self, body: EventBody) -> bool:
        is_late = isinstance(body, ContinuedBody) and self.is_stopped and self._quirks.continues_only_on_request
        self._is_next_continue_unanswered |= is_late
        return is_late

    async def _resume(self, command: str, arguments: dict[str, Any] | None, timeout_s: float) -> Response:
        """State is noted before the request is sent: the next stop may come before the response."""
        self._changed_values.clear()
        was_stopped, self.is_stopped, self.is_stepping = self.is_stopped, False, command in STEP_COMMANDS
        if command == "continue" and self._is_next_continue_unanswered:
            with contextlib.suppress(DragomanError, RemoteProtocolError):
                await self._send(command, arguments, 0)  # the bytes are sent without waiting for a response
            return make_response(command, {})
        try:
            if command == "continue" and self._quirks.continues_only_on_request:
                return await self._continue(arguments, timeout_s)
            return await self._send(command, arguments, timeout_s)
        except DragomanError as error:
            if error.code == "adapter_gone":  # the program ended, which is reported separately
                return make_response(command, {})
            self.is_stopped, self.is_stepping = self.is_stopped or was_stopped, False
            raise

    async def _continue(self, arguments: dict[str, Any] | None, timeout_s: float) -> Response:
        """debugpy 1.8.22 answers when it reports that the threads go on, right behind that report. Where a thread that
        left late took the report, no answer comes, although the program goes on.
        """
        self._continuing = anyio.CancelScope()
        try:
            with self._continuing:
                return await self._send("continue", arguments, timeout_s)
        finally:
            self._continuing = None
        return make_response("continue", {})

    async def _set_in_library_code(self, command: str, arguments: dict[str, Any], timeout_s: float) -> Response:
        """A breakpoint list with expressions to evaluate before it. What they return is why it cannot bind."""
        plain = {name: value for name, value in arguments.items() if name != LIBRARY_ARGUMENT}
        reason = await self._refusal(arguments[LIBRARY_ARGUMENT])
        response = await self._send(command, plain, timeout_s)
        if not reason:
            return response
        refused = {"verified": False, "message": reason}
        reported = read_body(response, _BreakpointList).breakpoints or ()
        return make_response(command, {"breakpoints": [{**it, **refused} for it in reported]})

    async def _refusal(self, expressions: Iterable[str]) -> str:
        """Empty for a process that cannot evaluate: it gets its breakpoints all the same and reports which ones it
        binds."""
        for expression in expressions:
            try:
                arguments = {"expression": expression, "context": "watch"}
                response = await self._send("evaluate", arguments, _EVALUATE_TIMEOUT_S)
            except (DragomanError, RemoteProtocolError) as error:
                log.info("breakpoints in a library may not bind: %s", error)
                return ""
            if reason := read_body(response, _EvaluateResult).result.strip("'\""):
                return reason
        return ""


class AdapterConnection(DebuggeeConnection):
    """A connection over a byte stream. `run` belongs in a task group; the other methods may be called while it runs.

    It decodes each event once, as it arrives.
    """

    def __init__(self, stream: ByteStream, on_request: OnRequest, quirks: AdapterQuirks) -> None:
        super().__init__(quirks)
        self._stream = stream
        self._driver = DapAdapterDriver(stream, events=self, on_request=on_request)

    async def run(self) -> None:
        try:
            await self._driver.run()
        finally:
            self.events.close()

    async def end(self) -> None:
        await super().end()
        await self._stream.aclose()

    async def _send(self, command: str, arguments: dict[str, Any] | None, timeout_s: float) -> Response:
        answer = await self._driver.request(command, UNSET if arguments is None else arguments, timeout_s=timeout_s)
        if not answer.success:
            raise AdapterRefusedError(command, _error_text(answer))
        return answer

    # The sink of its driver.

    @property
    def is_full(self) -> bool:
        return self.events.is_full

    def handle_event(self, event: Event, size: int, *, may_omit: bool) -> None:
        if (body := decode_event(event)) is not None:
            self.receive(body, size, may_omit=may_omit)

    async def wait_for_change(self) -> None:
        await self.events.wait_for_change()

    def wake(self) -> None:
        self.events.wake()


class ChangedValues:
    """Values that were set at this stop, by the reference of their container, for an adapter that lists old ones."""

    def __init__(self) -> None:
        self._by_container: dict[int, dict[str, dict[str, Any]]] = {}

    def clear(self) -> None:
        self._by_container.clear()

    def correct(self, command: str, arguments: Mapping[str, Any], response: Response) -> Response:
        """Return the response with the changed values in place of the old ones."""
        container = arguments.get("variablesReference", 0)
        if command == "setVariable" and response.body is not UNSET:
            changed = msgspec.json.decode(response.body, type=dict[str, Any])
            self._by_container.setdefault(container, {})[str(arguments.get("name"))] = changed
        if command == "variables" and container in self._by_container and response.body is not UNSET:
            return self._corrected(container, response)
        return response

    def _corrected(self, container: int, response: Response) -> Response:
        changed = self._by_container[container]
        body = msgspec.json.decode(response.body, type=dict[str, Any])  # type: ignore[arg-type]
        listed = [{**it, **changed.get(it.get("name", ""), {})} for it in body.get("variables", ())]
        return make_response("variables", {**body, "variables": listed})


def _error_text(answer: Response) -> str:
    """`message` is a short key in some adapters; the sentence for people stands in the body's `error`."""
    short = answer.message or ""
    with contextlib.suppress(RemoteProtocolError):
        error = read_body(answer, _ErrorBody).error
        return error.sentence() if error and error.format else short
    return short


class _ErrorMessage(msgspec.Struct):
    format: str = ""
    variables: dict[str, str] = msgspec.field(default_factory=dict)

    def sentence(self) -> str:
        return re.sub(r"\{(\w+)\}", lambda it: self.variables.get(it[1], it[0]), self.format)


class _ErrorBody(msgspec.Struct):
    error: _ErrorMessage | None = None


class _BreakpointList(msgspec.Struct):
    breakpoints: list[dict[str, Any]] | None = None


class _EvaluateResult(msgspec.Struct):
    result: str = ""
