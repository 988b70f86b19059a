"""From an adapter's `stopped` to a stop that is told: looked at once, whole, or sent on where nobody asked for it."""

from __future__ import annotations

import re
from dataclasses import dataclass, replace

import msgspec

from dragoman.clock import Clock
from dragoman.debug.backend import AdapterRefusedError, Answering
from dragoman.debug.bindings import Bindings
from dragoman.debug.handles import Handles
from dragoman.debug.log_messages import filled
from dragoman.debug.model import Frame, Stop
from dragoman.debug.opening import Launch
from dragoman.debug.output import Output
from dragoman.debug.passes import Passes
from dragoman.debug.raising import Propagation, as_paused, as_raised, as_watched
from dragoman.debug.snapshot import FRAMES, KEPT, Looking, Snapshot
from dragoman.debug.steps import Steps
from dragoman.debug.threads import Threads
from dragoman.errors import DragomanError, RemoteProtocolError
from dragoman.wire.dap import bodies

_ANSWERED_WITHIN_S = 10.0
_LOGGED_WITHIN_S = 2.0
_THREADS_CHECKED = 64
_OUTPUT_AT_A_STOP = 4000
_REPORT = 32_000  # a sanitizer's, whose first lines say what it is about
_TRUE = frozenset({"true", "1"})
# What a program that stopped for nobody is sent on with, by what it was sent on with before.
_ON = {"continue": "continue", "pause": "continue", "next": "next", "stepIn": "stepIn", "stepOut": "stepOut"}


@dataclass(frozen=True, slots=True)
class Moment:
    """A stop, and the way to look further into the program as long as it lasts."""

    stop: Stop
    handles: Handles
    looking: Looking

    def is_the_same(self, other: Moment) -> bool:
        """Where an adapter says one stop twice, numbers that were handed out stay good."""
        return _where(self.stop) == _where(other.stop)


def _where(stop: Stop) -> tuple[object, ...]:
    top = stop.frames[0] if stop.frames else None
    return (stop.thread_id, stop.reason, stop.total_frames, top and (top.name, top.path, top.line, top.column))


class Stopping:
    def __init__(
        self, backend: Answering, launch: Launch, bindings: Bindings, threads: Threads, output: Output, clock: Clock
    ) -> None:
        self._backend = backend
        self._launch = launch
        self._bindings = bindings
        self._threads = threads
        self._output = output
        self._clock = clock
        self._told_output, self._told_lines = output.end, output.lines
        self.thread_id = 0
        """Of the stop that was looked at last."""
        self._passes = Passes()
        self._stood: dict[int, int] = {}
        """By thread, the adapter's number of the frame in which it was probed last."""
        self._propagation = Propagation()
        self._steps = Steps(out_ends_inside=launch.dialect.out_ends_inside)

    async def look(self, body: bodies.StoppedBody, number: int, by: str, command: str) -> Moment | None:
        """None: it was no stop for anyone, and the program goes on. `command` is what it was sent on with."""
        handles = Handles(number)
        body = as_paused(as_watched(self._launch.dialect, body), command)
        looking = Looking(self._backend, handles, self._launch.dialect)
        thread_id = body.thread_id if body.thread_id is not None else await self._threads.any()
        self.thread_id = thread_id
        self._threads.stopped(thread_id, body)
        if "breakpoint" in body.reason and await self._is_probed(body, thread_id, looking, handles):
            return None
        asks = body.reason == "exception" and not self._launch.dialect.raised_local
        is_decided_by_place = "breakpoint" in body.reason and not self._launch.dialect.raised_local
        seen = await looking.snapshot(thread_id, exception=asks, with_locals=not is_decided_by_place)
        is_unevaluated = self._is_failed_condition(body, seen)
        if is_unevaluated:
            body = msgspec.structs.replace(body, reason="breakpoint", description=None, text=None)
            seen = replace(seen, raised=None)
        body, seen = as_raised(self._launch.dialect, body, seen, self._unseen_output(_REPORT))
        seen = replace(seen, raised=self._bindings.judged(seen.raised))
        found = self._bindings.hit(body.reason, body.hit_breakpoint_ids, _top(seen), seen.raised)
        hit = await self._decided(found, seen, looking)
        is_refuted = is_unevaluated or (self._launch.dialect.rechecks and bool(found) and not hit)
        if is_refuted and (other := await self._thread_that_holds(thread_id, seen, looking)):
            return await self.look(msgspec.structs.replace(body, thread_id=other), number, by, command)
        if self._is_same_pass(thread_id, seen, hit) and await self._goes_on(thread_id, command):
            return None
        if self._is_unasked(body, seen, command):
            on = "continue"
        elif self._is_on_its_way_up(thread_id, seen):
            on = self._steps.interrupted(command, thread_id, seen.total_frames)
        elif is_refuted or await self._is_passed_over(seen, hit, looking):
            on = self._steps.interrupted(command, thread_id, seen.total_frames) if self._can_go_on(command) else ""
            reason = "step" if self._can_go_on(command) else "pause"
            body, hit = (body, hit) if on else (msgspec.structs.replace(body, reason=reason), None)
        else:
            on = self._steps.taken_up(command, thread_id, *_depth_and_line(seen)) if body.reason == "step" else ""
        if on and await self._goes_on(thread_id, on):
            return None
        self._steps.told(thread_id, *_depth_and_line(seen))
        seen = await looking.with_locals(seen) if is_decided_by_place else seen
        seen = await looking.from_own_code(seen, body.reason)
        return Moment(self._made(body, number, thread_id, seen, hit, by), handles, looking)

    async def _is_probed(self, body: bodies.StoppedBody, thread_id: int, looking: Looking, handles: Handles) -> bool:
        """Whether it was asked there what there was to ask, and the program goes on. Quick: there may be thousands."""
        probe = self._bindings.probe
        if probe is None:
            return False
        if thread_id in self._stood:
            frame = Frame(id=handles.give_frame(self._stood[thread_id]), name="")
            is_passed = await probe.take_again(thread_id, frame, looking)
            if is_passed is not None:
                return is_passed and await self._goes_on(thread_id)
        try:
            frames, total = await looking.stack(thread_id, FRAMES if self._launch.dialect.several_places else 1)
        except DragomanError:
            return False
        seen = Snapshot(frames, total)
        hit = self._bindings.hit(body.reason, body.hit_breakpoint_ids, _top(seen), None)
        hit = await self._holding(hit, seen, looking)
        if hit == () and self._launch.dialect.holds:
            return await self._goes_on(thread_id)
        if not frames or not hit or not probe.owns(hit):
            return False
        self._stood[thread_id] = handles.take_frame(frames[0].id)
        is_passed = self._is_same_pass(thread_id, seen, hit) or await probe.take(hit, thread_id, frames[0], looking)
        return is_passed and await self._goes_on(thread_id)

    async def note(self, body: bodies.StoppedBody) -> None:
        """A thread that stopped beside the one that is told of: its hits count and its logpoints log, and it stands."""
        looking = Looking(self._backend, Handles(0), self._launch.dialect)
        seen = await looking.snapshot(body.thread_id or 0, exception=False, with_locals=False)
        hit = self._bindings.hit(body.reason, body.hit_breakpoint_ids, _top(seen), None)
        await self._is_passed_over(seen, await self._decided(hit, seen, looking), looking)

    def output_since(self) -> tuple[str, int]:
        """What was printed and not yet told: its end, and how many lines it has. What comes later than its stop is told
        with the next: a step is not held up for it, and while a stop is looked at its output has time to arrive."""
        text, lines = self._unseen_output(), self._output.lines - self._told_lines
        self._told_output, self._told_lines = self._output.end, self._output.lines
        return text, lines + (text[-1:] not in {"", "\n"})

    def _unseen_output(self, most: int = _OUTPUT_AT_A_STOP) -> str:
        return self._output.since(self._told_output, most=most)[0]

    def _can_go_on(self, command: str) -> bool:
        """rdbg loses a pause that reaches it while it stands: then it stands where it was asked to."""
        return command != "pause" or not self._launch.dialect.holds

    def _is_unasked(self, body: bodies.StoppedBody, seen: Snapshot, command: str) -> bool:
        """A stop that the adapter makes by itself, or an end on purpose that it takes for an exception."""
        if seen.raised is not None and seen.raised.type in self._launch.dialect.ways_to_end:
            return True
        asked = command == "pause" or bool(self._launch.arguments.get("stopOnEntry"))
        return body.reason in self._launch.dialect.stops_unasked and not asked

    def _is_failed_condition(self, body: bodies.StoppedBody, seen: Snapshot) -> bool:
        """Whether nothing but a condition went wrong, on a name that is out of scope here, say. Noted where it did."""
        pattern = self._launch.dialect.condition_stops
        found = re.search(pattern, body.text or body.description or "") if pattern else None
        if body.reason != "exception" or found is None:
            return False
        for id in self._bindings.hit("breakpoint", body.hit_breakpoint_ids, _top(seen)) or ():
            if condition := self._bindings.condition_of(id):
                self._bindings.failed(id, condition, found["error"].strip())
        return True

    def _is_on_its_way_up(self, thread_id: int, seen: Snapshot) -> bool:
        return self._launch.dialect.raises_in_each_frame and self._propagation.goes_on(thread_id, seen)

    async def _is_passed_over(self, seen: Snapshot, hit: tuple[int, ...] | None, looking: Looking) -> bool:
        """A hit that does not count yet, a logpoint, which is answered here, or a breakpoint that is none any more."""
        if hit == () and self._launch.dialect.holds:
            return True
        if hit and not await self._bindings.counts(hit):
            return True
        messages = self._bindings.messages_to_log(hit or ())
        for message in messages:
            self._output.append("stdout", await filled(message, lambda it: self._text_of(it, seen, looking)) + "\n")
        return bool(messages) and len(messages) == len(hit or ())

    async def _decided(self, hit: tuple[int, ...] | None, seen: Snapshot, looking: Looking) -> tuple[int, ...] | None:
        return await self._narrowed(await self._holding(hit, seen, looking), seen, looking)

    async def _holding(self, hit: tuple[int, ...] | None, seen: Snapshot, looking: Looking) -> tuple[int, ...] | None:
        """Those whose conditions hold, where the adapter was not told of them or is not to be believed."""
        dialect = self._launch.dialect
        if not hit or not (dialect.holds or dialect.rechecks):
            return hit
        held = []
        for id in hit:
            condition = self._bindings.condition_of(id)
            if not condition or await self._holds(id, condition, seen, looking):
                held.append(id)
        return tuple(held)

    async def _thread_that_holds(self, thread_id: int, seen: Snapshot, looking: Looking) -> int:
        """Another that stands at the same breakpoint, and whose condition is true: it is why the program stopped, and
        would be lost if all went on. Zero: there is none."""
        top = _top(seen)
        if not self._launch.dialect.rechecks or top is None:
            return 0
        try:
            others = [it.id for it in await self._threads.listed() if it.id != thread_id][:_THREADS_CHECKED]
            for other in others:
                frames, total = await looking.stack(other, 1)
                hit = self._bindings.hit("breakpoint", None, frames[0] if frames else None)
                is_there = bool(hit) and frames[0].address == top.address
                if is_there and await self._holding(hit, Snapshot(frames, total), looking):
                    return other
        except (DragomanError, RemoteProtocolError):
            return 0
        return 0

    async def _holds(self, id: int, condition: str, seen: Snapshot, looking: Looking) -> bool:
        if not self._launch.dialect.holds:
            return await self._is_not_false(id, condition, seen, looking)
        asked = self._launch.dialect.holds.format(condition=condition)
        answer = await self._logged(asked, seen, looking)
        if answer not in {"true", "false"}:
            self._bindings.failed(id, condition, answer.strip("<>"))
        return answer == "true"

    async def _is_not_false(self, id: int, condition: str, seen: Snapshot, looking: Looking) -> bool:
        """What cannot be evaluated here is false, and is noted; a debugger that does not answer is believed."""
        top = _top(seen)
        asked = self._launch.dialect.truth.format(condition=condition)
        try:
            answer = await looking.evaluate(asked, top.id if top else None, "watch", timeout_s=_LOGGED_WITHIN_S)
        except AdapterRefusedError as error:
            self._bindings.failed(id, condition, error.reason.strip().partition("\n")[0])
            return False
        except DragomanError:
            return True
        return answer.result.lower() in _TRUE

    async def _narrowed(self, hit: tuple[int, ...] | None, seen: Snapshot, looking: Looking) -> tuple[int, ...] | None:
        """Of several that share a line or a function's last name, those whose conditions hold; all, where not one
        can be told to."""
        conditions = {id: self._bindings.condition_of(id) for id in hit or ()}
        if self._launch.dialect.holds or len(set(conditions.values())) < 2:
            return hit
        held = [
            id for id, condition in conditions.items() if not condition or await self._is_true(condition, seen, looking)
        ]
        return tuple(held) or hit

    async def _is_true(self, condition: str, seen: Snapshot, looking: Looking) -> bool:
        answer = await self._logged(self._launch.dialect.truth.format(condition=condition), seen, looking)
        return answer.lower() in _TRUE

    async def _text_of(self, expression: str, seen: Snapshot, looking: Looking) -> str:
        dialect = self._launch.dialect
        return dialect.text_of(await self._logged(dialect.as_text.format(expression=expression), seen, looking))

    async def _logged(self, expression: str, seen: Snapshot, looking: Looking) -> str:
        """What cannot be evaluated says so in its place: a logpoint never stops."""
        top = _top(seen)
        try:
            answer = await looking.evaluate(expression, top.id if top else None, "watch", timeout_s=_LOGGED_WITHIN_S)
        except DragomanError as error:
            return f"<{getattr(error, 'reason', '') or error.code}>"
        return answer.result

    def _is_same_pass(self, thread_id: int, seen: Snapshot, hit: tuple[int, ...] | None) -> bool:
        if self._is_inside(seen, hit):
            return True
        if not self._launch.dialect.several_places or not hit:
            return False
        return self._passes.is_same(thread_id, seen.frames, seen.total_frames)

    async def goes_on(self, thread_id: int) -> bool:
        """For who halted it without anybody's wish."""
        return await self._goes_on(thread_id)

    def _is_inside(self, seen: Snapshot, hit: tuple[int, ...] | None) -> bool:
        """Of a comprehension, the line in whose statement it stands was a hit before."""
        inside, *outside = seen.frames[:2] or (None,)
        is_inner = inside is not None and inside.name in self._launch.dialect.inner_frames and bool(hit and outside)
        return is_inner and inside is not None and (inside.path, inside.line) == (outside[0].path, outside[0].line)

    async def _goes_on(self, thread_id: int, command: str = "continue") -> bool:
        """A program that cannot be sent on is stopped, and told so."""
        try:
            await self._backend.request(_ON[command], {"threadId": thread_id}, timeout_s=_ANSWERED_WITHIN_S)
        except DragomanError:
            return False
        self._threads.went_on(thread_id, everything=self._threads.go_together)
        return True

    def _made(
        self,
        body: bodies.StoppedBody,
        number: int,
        thread_id: int,
        seen: Snapshot,
        hit: tuple[int, ...] | None,
        by: str,
    ) -> Stop:
        return Stop(
            number=number,
            at_ns=self._clock.wall_ns(),
            reason=body.reason,
            thread_id=thread_id,
            description=_cut(body.description),
            text=_cut(body.text),
            all_threads_stopped=body.all_threads_stopped,
            frames=seen.frames,
            total_frames=seen.total_frames,
            at=seen.at,
            top_locals=seen.top_locals,
            hit_breakpoints=self._bindings.told(hit),
            raised=seen.raised,
            by=by,
        )


def _top(seen: Snapshot) -> Frame | None:
    return seen.frames[0] if seen.frames else None


def _depth_and_line(seen: Snapshot) -> tuple[int, int]:
    top = _top(seen)
    return seen.total_frames, top.line if top else 0


def _cut(text: str | None) -> str | None:
    return text if text is None else text[:KEPT]
