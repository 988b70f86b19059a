"""The stop pipeline: turns an adapter's `stopped` event into a stop to report, or resumes the program where nobody
asked for one.

Order matters: the probe first (it may see thousands of hits), then the snapshot, exceptions, hit breakpoints and
their conditions, and last the decision to report or to resume.
"""

from __future__ import annotations

import re
from collections.abc import Awaitable, Callable
from dataclasses import dataclass, replace
from typing import NamedTuple

import msgspec

from dragoman.core.clock import Clock
from dragoman.core.errors import DragomanError, RemoteProtocolError
from dragoman.debug.backends.port import AdapterRefusedError, RequestPort
from dragoman.debug.breakpoints.sync import BreakpointSync
from dragoman.debug.model import FrameInfo, Stop
from dragoman.debug.session.handshake import AdapterLaunch
from dragoman.debug.session.output import SessionOutput
from dragoman.debug.session.stop_permissions import StopPermissions
from dragoman.debug.session.threads import ThreadStates
from dragoman.debug.stops.exceptions import ExceptionPropagation, as_data_breakpoint, as_exception, as_pause
from dragoman.debug.stops.handles import Handles
from dragoman.debug.stops.snapshot import EXCEPTION_CHARACTERS, SNAPSHOT_FRAMES, StopReader, StopSnapshot
from dragoman.debug.stops.unreported_stops import HitDeduplicator, StepTracker
from dragoman.protocols.dap import bodies

_RESUME_TIMEOUT_S = 10.0
_EVALUATE_TIMEOUT_S = 2.0
_MAX_CHECKED_THREADS = 64
_STOP_OUTPUT_CHARACTERS = 4000
_SANITIZER_REPORT_CHARACTERS = 32_000  # of a sanitizer's report; its first lines name the fault


class LogMessagePart(NamedTuple):
    text: str
    is_expression: bool = False


def log_message_parts(message: str) -> list[LogMessagePart]:
    """Braces nest, as in `{ {1: 2}[1] }`; one that is never closed is text."""
    parts: list[LogMessagePart] = []
    rest = message
    while (opened := rest.find("{")) >= 0 and (closed := _closing_brace(rest, opened)) > 0:
        parts += [LogMessagePart(rest[:opened]), LogMessagePart(rest[opened + 1 : closed].strip(), is_expression=True)]
        rest = rest[closed + 1 :]
    return [part for part in (*parts, LogMessagePart(rest)) if part.text]


def _closing_brace(text: str, opened: int) -> int:
    depth = 0
    for place in range(opened, len(text)):
        depth += {"{": 1, "}": -1}.get(text[place], 0)
        if depth == 0:
            return place
    return -1


async def render_log_message(message: str, evaluate: Callable[[str], Awaitable[str]]) -> str:
    return "".join(
        [await evaluate(part.text) if part.is_expression else part.text for part in log_message_parts(message)]
    )


_TRUE = frozenset({"true", "1"})
# How to resume after a stop that is not reported: the command that continues what the caller's last command started.
_RESUME_COMMANDS = {
    "continue": "continue",
    "pause": "continue",
    "next": "next",
    "stepIn": "stepIn",
    "stepOut": "stepOut",
}


@dataclass(frozen=True, slots=True)
class StopContext:
    """A stop, with the handles and the reader to inspect it for as long as it lasts."""

    stop: Stop
    handles: Handles
    reader: StopReader

    def is_same_stop(self, other: StopContext) -> bool:
        """If an adapter reports one stop twice, handles of the first report stay valid."""
        return _stop_location(self.stop) == _stop_location(other.stop)


def _stop_location(stop: Stop) -> tuple[object, ...]:
    top = stop.frames[0] if stop.frames else None
    return (stop.thread_id, stop.reason, stop.total_frames, top and (top.name, top.path, top.line, top.column))


class StopPipeline:
    """Decides about each `stopped` event of an adapter: report it as a stop, or resume the program.

    It takes the snapshot, asks the breakpoints what was hit, checks conditions and hit counts that the adapter cannot
    check, and logs for logpoints that the adapter only stops at. It owns what is needed to
    recognise a hit, a step or an exception that was seen before. It never changes the session's state and never
    publishes: the event handler does both with the `StopContext` that it returns.
    """

    def __init__(
        self,
        backend: RequestPort,
        launch: AdapterLaunch,
        breakpoint_sync: BreakpointSync,
        threads: ThreadStates,
        output: SessionOutput,
        clock: Clock,
        permissions: StopPermissions | None = None,
    ) -> None:
        self._permissions = permissions or StopPermissions()
        self._backend = backend
        self._launch = launch
        self._breakpoint_sync = breakpoint_sync
        self._threads = threads
        self._output = output
        self._clock = clock
        self._reported_output, self._reported_lines = output.end, output.lines
        self.thread_id = 0
        """The stop that was processed last."""
        self._hit_deduplicator = HitDeduplicator()
        self._probed_frames: dict[int, int] = {}
        """By thread, the adapter's number of the frame in which the probe last read values."""
        self._propagation = ExceptionPropagation()
        self._step_tracker = StepTracker(step_out_ends_inside=launch.quirks.step_out_ends_inside)

    async def process(self, body: bodies.StoppedBody, number: int, by: str, command: str) -> StopContext | None:
        """None: the stop is not reported, and the program resumes. `command` is the command that resumed it before."""
        handles = Handles(number)
        body = as_pause(as_data_breakpoint(self._launch.quirks, body), command)
        reader = StopReader(self._backend, handles, self._launch.quirks)
        thread_id = body.thread_id if body.thread_id is not None else await self._threads.any()
        self.thread_id = thread_id
        self._threads.stopped(thread_id, body)
        if "breakpoint" in body.reason and await self._is_handled_by_probe(body, thread_id, reader, handles):
            return None
        if self._permissions.refuses_stops and await self._resume(thread_id):
            return None  # the program stopped itself, for example by calling `breakpoint()`
        asks = body.reason == "exception" and not self._launch.quirks.raised_local
        is_decided_by_place = "breakpoint" in body.reason and not self._launch.quirks.raised_local
        snapshot = await reader.snapshot(thread_id, exception=asks, with_locals=not is_decided_by_place)
        is_unevaluated = self._is_failed_condition(body, snapshot)
        if is_unevaluated:
            body = msgspec.structs.replace(body, reason="breakpoint", description=None, text=None)
            snapshot = replace(snapshot, raised=None)
        body, snapshot = as_exception(
            self._launch.quirks, body, snapshot, self._unseen_output(_SANITIZER_REPORT_CHARACTERS)
        )
        snapshot = replace(snapshot, raised=self._breakpoint_sync.with_uncaught(snapshot.raised))
        hits = self._breakpoint_sync.find_hits(
            body.reason, body.hit_breakpoint_ids, _top_frame(snapshot), snapshot.raised
        )
        hit = await self._decide_hits(hits, snapshot, reader)
        is_refuted = is_unevaluated or (self._launch.quirks.rechecks_conditions and bool(hits) and not hit)
        if is_refuted and (other := await self._thread_that_holds(thread_id, snapshot, reader)):
            return await self.process(msgspec.structs.replace(body, thread_id=other), number, by, command)
        if self._is_same_pass(thread_id, snapshot, hit) and await self._resume(thread_id, command):
            return None
        if self._is_unrequested(body, snapshot, command):
            on = "continue"
        elif self._is_propagating(thread_id, snapshot):
            on = self._step_tracker.command_after_interruption(command, thread_id, snapshot.total_frames)
        elif is_refuted or await self._is_skipped(snapshot, hit, reader):
            on = (
                self._step_tracker.command_after_interruption(command, thread_id, snapshot.total_frames)
                if self._can_go_on(command)
                else ""
            )
            reason = "step" if self._can_go_on(command) else "pause"
            body, hit = (body, hit) if on else (msgspec.structs.replace(body, reason=reason), None)
        else:
            on = (
                self._step_tracker.command_after_step(command, thread_id, *_depth_and_line(snapshot))
                if body.reason == "step"
                else ""
            )
        if on and await self._resume(thread_id, on):
            return None
        self._step_tracker.mark_reported(thread_id, *_depth_and_line(snapshot))
        snapshot = await reader.with_locals(snapshot) if is_decided_by_place else snapshot
        snapshot = await reader.with_own_frame(snapshot, body.reason)
        return StopContext(self._make_stop(body, number, thread_id, snapshot, hit, by), handles, reader)

    async def _is_handled_by_probe(
        self, body: bodies.StoppedBody, thread_id: int, reader: StopReader, handles: Handles
    ) -> bool:
        """Whether the probe handled this stop and the program was resumed. Must be fast: there may be thousands."""
        probe = self._breakpoint_sync.probe
        if probe is None:
            return False
        if thread_id in self._probed_frames:
            frame = FrameInfo(id=handles.assign_frame(self._probed_frames[thread_id]), name="")
            is_passed = await probe.handle_again(thread_id, frame, reader)
            if is_passed is not None:
                return is_passed and await self._resume(thread_id)
        try:
            frames, total = await reader.stack(
                thread_id, SNAPSHOT_FRAMES if self._launch.quirks.has_several_locations else 1
            )
        except DragomanError:
            return False
        snapshot = StopSnapshot(frames, total)
        hit = self._breakpoint_sync.find_hits(body.reason, body.hit_breakpoint_ids, _top_frame(snapshot), None)
        hit = await self._hits_that_hold(hit, snapshot, reader)
        if hit == () and self._launch.quirks.condition_expression:
            return await self._resume(thread_id)
        if not frames or not hit or not probe.owns(hit):
            return False
        self._probed_frames[thread_id] = handles.resolve_frame(frames[0].id)
        is_passed = self._is_same_pass(thread_id, snapshot, hit) or await probe.handle_hit(
            hit, thread_id, frames[0], reader
        )
        return is_passed and await self._resume(thread_id)

    async def count_hit(self, body: bodies.StoppedBody) -> None:
        """Another thread stopped beside the reported one: its hits are counted, its logpoints log, and it stays
        stopped."""
        reader = StopReader(self._backend, Handles(0), self._launch.quirks)
        snapshot = await reader.snapshot(body.thread_id or 0, exception=False, with_locals=False)
        hit = self._breakpoint_sync.find_hits(body.reason, body.hit_breakpoint_ids, _top_frame(snapshot), None)
        await self._is_skipped(snapshot, await self._decide_hits(hit, snapshot, reader), reader)

    def output_since(self) -> tuple[str, int]:
        """Output since the last report: its tail and its number of lines. Later output is reported with the next stop,
        so that a step does not wait for it.
        """
        text, lines = self._unseen_output(), self._output.lines - self._reported_lines
        self._reported_output, self._reported_lines = self._output.end, self._output.lines
        return text, lines + (text[-1:] not in {"", "\n"})

    def _unseen_output(self, most: int = _STOP_OUTPUT_CHARACTERS) -> str:
        return self._output.since(self._reported_output, most=most)[0]

    def _can_go_on(self, command: str) -> bool:
        """rdbg loses a pause that arrives while the program is stopped, so such a stop is reported as the pause."""
        return command != "pause" or not self._launch.quirks.condition_expression

    def _is_unrequested(self, body: bodies.StoppedBody, snapshot: StopSnapshot, command: str) -> bool:
        """A stop that the adapter makes by itself, or an end on purpose that it takes for an exception."""
        if snapshot.raised is not None and snapshot.raised.type in self._launch.quirks.ways_to_end:
            return True
        asked = command == "pause" or bool(self._launch.arguments.get("stopOnEntry"))
        return body.reason in self._launch.quirks.stops_unasked and not asked

    def _is_failed_condition(self, body: bodies.StoppedBody, snapshot: StopSnapshot) -> bool:
        """Whether nothing but a condition went wrong, on a name that is out of scope here, say. Noted where it did."""
        pattern = self._launch.quirks.condition_stop_pattern
        found = re.search(pattern, body.text or body.description or "") if pattern else None
        if body.reason != "exception" or found is None:
            return False
        for id in self._breakpoint_sync.find_hits("breakpoint", body.hit_breakpoint_ids, _top_frame(snapshot)) or ():
            if condition := self._breakpoint_sync.condition_of(id):
                self._breakpoint_sync.note_failed_condition(id, condition, found["error"].strip())
        return True

    def _is_propagating(self, thread_id: int, snapshot: StopSnapshot) -> bool:
        return self._launch.quirks.stops_in_each_frame and self._propagation.is_continuation(thread_id, snapshot)

    async def _is_skipped(self, snapshot: StopSnapshot, hit: tuple[int, ...] | None, reader: StopReader) -> bool:
        """A hit that does not count yet, a logpoint, which is logged here, or a breakpoint that has been removed."""
        if hit == () and self._launch.quirks.condition_expression:
            return True
        if hit and not await self._breakpoint_sync.record_hit(hit):
            return True
        messages = self._breakpoint_sync.messages_to_log(hit or ())
        for message in messages:
            self._output.append(
                "stdout", await render_log_message(message, lambda it: self._value_text(it, snapshot, reader)) + "\n"
            )
        return bool(messages) and len(messages) == len(hit or ())

    async def _decide_hits(
        self, hit: tuple[int, ...] | None, snapshot: StopSnapshot, reader: StopReader
    ) -> tuple[int, ...] | None:
        return await self._narrow_hits(await self._hits_that_hold(hit, snapshot, reader), snapshot, reader)

    async def _hits_that_hold(
        self, hit: tuple[int, ...] | None, snapshot: StopSnapshot, reader: StopReader
    ) -> tuple[int, ...] | None:
        """Hits whose conditions hold, for adapters that did not get the conditions or are not reliable."""
        quirks = self._launch.quirks
        if not hit or not (quirks.condition_expression or quirks.rechecks_conditions):
            return hit
        held = []
        for id in hit:
            condition = self._breakpoint_sync.condition_of(id)
            if not condition or await self._holds(id, condition, snapshot, reader):
                held.append(id)
        return tuple(held)

    async def _thread_that_holds(self, thread_id: int, snapshot: StopSnapshot, reader: StopReader) -> int:
        """Another thread at the same breakpoint whose condition is true. It is why the program stopped, and the hit
        would be lost if all threads resumed. Zero: there is none."""
        top = _top_frame(snapshot)
        if not self._launch.quirks.rechecks_conditions or top is None:
            return 0
        try:
            others = [it.id for it in await self._threads.listed() if it.id != thread_id][:_MAX_CHECKED_THREADS]
            for other in others:
                frames, total = await reader.stack(other, 1)
                hit = self._breakpoint_sync.find_hits("breakpoint", None, frames[0] if frames else None)
                is_there = bool(hit) and frames[0].address == top.address
                if is_there and await self._hits_that_hold(hit, StopSnapshot(frames, total), reader):
                    return other
        except (DragomanError, RemoteProtocolError):
            return 0
        return 0

    async def _holds(self, id: int, condition: str, snapshot: StopSnapshot, reader: StopReader) -> bool:
        if not self._launch.quirks.condition_expression:
            return await self._is_not_false(id, condition, snapshot, reader)
        asked = self._launch.quirks.condition_expression.format(condition=condition)
        answer = await self._evaluated_text(asked, snapshot, reader)
        if answer not in {"true", "false"}:
            self._breakpoint_sync.note_failed_condition(id, condition, answer.strip("<>"))
        return answer == "true"

    async def _is_not_false(self, id: int, condition: str, snapshot: StopSnapshot, reader: StopReader) -> bool:
        """A condition that cannot be evaluated here counts as false, and the fault is recorded. If the debugger does
        not answer, the hit counts."""
        top = _top_frame(snapshot)
        asked = self._launch.quirks.truth.format(condition=condition)
        try:
            answer = await reader.evaluate(asked, top.id if top else None, "watch", timeout_s=_EVALUATE_TIMEOUT_S)
        except AdapterRefusedError as error:
            self._breakpoint_sync.note_failed_condition(id, condition, error.reason.strip().partition("\n")[0])
            return False
        except DragomanError:
            return True
        return answer.result.lower() in _TRUE

    async def _narrow_hits(
        self, hit: tuple[int, ...] | None, snapshot: StopSnapshot, reader: StopReader
    ) -> tuple[int, ...] | None:
        """If several breakpoints share the place, those whose conditions are true; all of them if none can be shown to
        be true."""
        conditions = {id: self._breakpoint_sync.condition_of(id) for id in hit or ()}
        if self._launch.quirks.condition_expression or len(set(conditions.values())) < 2:
            return hit
        held = [
            id
            for id, condition in conditions.items()
            if not condition or await self._is_true(condition, snapshot, reader)
        ]
        return tuple(held) or hit

    async def _is_true(self, condition: str, snapshot: StopSnapshot, reader: StopReader) -> bool:
        answer = await self._evaluated_text(self._launch.quirks.truth.format(condition=condition), snapshot, reader)
        return answer.lower() in _TRUE

    async def _value_text(self, expression: str, snapshot: StopSnapshot, reader: StopReader) -> str:
        quirks = self._launch.quirks
        return quirks.parse_text(
            await self._evaluated_text(quirks.text_expression.format(expression=expression), snapshot, reader)
        )

    async def _evaluated_text(self, expression: str, snapshot: StopSnapshot, reader: StopReader) -> str:
        """A part that cannot be evaluated shows the error in its place: a logpoint never stops."""
        top = _top_frame(snapshot)
        try:
            answer = await reader.evaluate(expression, top.id if top else None, "watch", timeout_s=_EVALUATE_TIMEOUT_S)
        except DragomanError as error:
            return f"<{getattr(error, 'reason', '') or error.code}>"
        return answer.result

    def _is_same_pass(self, thread_id: int, snapshot: StopSnapshot, hit: tuple[int, ...] | None) -> bool:
        if self._is_inside(snapshot, hit):
            return True
        if not self._launch.quirks.has_several_locations or not hit:
            return False
        return self._hit_deduplicator.is_same_pass(thread_id, snapshot.frames, snapshot.total_frames)

    async def resume_program(self, thread_id: int) -> bool:
        """Resumes a program that halted without a request."""
        return await self._resume(thread_id)

    def _is_inside(self, snapshot: StopSnapshot, hit: tuple[int, ...] | None) -> bool:
        """Whether a comprehension hit the line of its own statement: that hit was already counted."""
        inside, *outside = snapshot.frames[:2] or (None,)
        is_inner = inside is not None and inside.name in self._launch.quirks.inner_frames and bool(hit and outside)
        return is_inner and inside is not None and (inside.path, inside.line) == (outside[0].path, outside[0].line)

    async def _resume(self, thread_id: int, command: str = "continue") -> bool:
        """A program that cannot be resumed is stopped, and is reported so."""
        try:
            await self._backend.request(_RESUME_COMMANDS[command], {"threadId": thread_id}, timeout_s=_RESUME_TIMEOUT_S)
        except DragomanError:
            return False
        self._threads.mark_resumed(thread_id, everything=self._threads.are_all_stopped)
        return True

    def _make_stop(
        self,
        body: bodies.StoppedBody,
        number: int,
        thread_id: int,
        snapshot: StopSnapshot,
        hit: tuple[int, ...] | None,
        by: str,
    ) -> Stop:
        return Stop(
            number=number,
            at_ns=self._clock.wall_ns(),
            reason=body.reason,
            thread_id=thread_id,
            description=_truncated(body.description),
            text=_truncated(body.text),
            all_threads_stopped=body.all_threads_stopped,
            frames=snapshot.frames,
            total_frames=snapshot.total_frames,
            at=snapshot.at,
            top_locals=snapshot.top_locals,
            hit_breakpoints=self._breakpoint_sync.without_temporary(hit),
            raised=snapshot.raised,
            by=by,
        )


def _top_frame(snapshot: StopSnapshot) -> FrameInfo | None:
    return snapshot.frames[0] if snapshot.frames else None


def _depth_and_line(snapshot: StopSnapshot) -> tuple[int, int]:
    top = _top_frame(snapshot)
    return snapshot.total_frames, top.line if top else 0


def _truncated(text: str | None) -> str | None:
    return text if text is None else text[:EXCEPTION_CHARACTERS]
