"""Records one call of one function inside the running program: by `sys.monitoring` from Python 3.12, by `sys.settrace`
before.

It lives with debugpy. From 3.12 all tracers share one tool, and code that is not traced costs one event in all.
Before, pydevd owns `sys.settrace`, so a composite calls pydevd's function first and then this one.

Nothing in here may end the program: every event is handled within `except`, because an exception that leaves a trace
function switches tracing off, and one that leaves a monitoring callback is raised in the program. Only what the handler
of a signal raises goes on, because it is the program's own.
"""

from __future__ import annotations

import atexit
import linecache
import os
import sys
from collections import deque
from itertools import islice
from typing import Any

from .call_monitor import MonitoringEngine
from .call_recording import CalledRow, CallRecording, argument_copies
from .call_settrace import SettraceEngine
from .call_target import CallTarget, UnpatchedFunctions, last_line_of, nearest_own, own_name
from .call_values import ValueCopier, error_text, is_of_program, render

MAX_LINES = 300_000
MAX_SECONDS = 20.0
_LISTED = 12
_MOST_ACTIVE = 2000
_MOST_RECORDED = 40
_MOST_CALLEES = 2000
_WRITE_INTERVAL_S = 0.25
_CHECKPOINT_S = 1.0  # of a call that may never return
_EXPENSIVE = 20_000  # of what copies cost: some milliseconds
_SOURCE_LINES = 400
_OPEN = ("open",)
_CYCLE_DEPTH = 50
_COROUTINE = 0x80  # CO_COROUTINE: what it yields while it waits is not a value of the program


class CallTracer:
    """Chooses the call, and hands the events of its frame to its recording. The engines below bring the events."""

    def __init__(
        self,
        target: CallTarget,
        call: str = "outermost",
        where: str = "",
        path: str = "",
        max_lines: int = MAX_LINES,
        max_seconds: float = MAX_SECONDS,
    ) -> None:
        self.target = target
        self.call = call
        self.where = compile(where.strip(), "<where>", "eval") if where else None
        self.where_error = ""
        self.max_lines = max_lines
        self.max_seconds = max_seconds
        self.values = ValueCopier()
        self.count = 0
        self.other_threads = 0
        self.chosen: CallRecording | None = None
        self.failing: CallRecording | None = None
        self.pinned: CallRecording | None = None
        self.is_marked = False
        self.code: Any = None
        self.thread = 0
        self.recordings: dict[int, CallRecording] = {}
        self.active: dict[int, list[Any]] = {}  # by frame: [frame, number, depth, args]
        self.waiting: dict[int, None] = {}
        """Frames of `active` that are suspended, in that order: they are not on the stack."""
        self.newest: CallRecording | None = None
        """The one that ended or was suspended last. A generator that is left may get no other event."""
        self.callees: dict[int, tuple[CallRecording, CalledRow]] = {}
        self.first_ended: list[list[Any]] = []
        self.last_ended: deque[list[Any]] = deque(maxlen=_LISTED)
        self.ended = 0
        self.deepest = 0
        self.cycle: list[str] = []
        self.is_done = False
        self.group = [self]
        """Those that are switched on together, and write into one file."""
        self._path = path
        self._pid = UnpatchedFunctions.getpid()
        self._written_s = 0.0
        self._raised: Any = None
        self.dropped = 0
        """Events that could not be recorded."""
        self.engine: Any = (MonitoringEngine if sys.version_info >= (3, 12) else SettraceEngine)(self)

    error_text = staticmethod(error_text)

    def start(self) -> None:
        try:
            self.engine.start()
        except RuntimeError:  # other tools hold all that `sys.monitoring` has
            self.engine = SettraceEngine(self)
            self.engine.start()

    def stop(self) -> None:
        self.engine.stop()

    def drop(self, error: Exception) -> None:
        """An event could not be recorded. What the program itself raised meanwhile goes on in the program."""
        if is_of_program(error):
            raise error
        self.dropped += 1

    def finish(self) -> None:
        """At the end of the program."""
        if not self.is_done:
            self.write()
        self.stop()

    @property
    def is_recording(self) -> bool:
        return bool(self.recordings)

    @property
    def keeps_newest(self) -> bool:
        return self.call in ("last", "failing")

    # Events of the function itself.

    def started(self, frame: Any) -> None:
        """A call of the function begins."""
        self.count += 1
        if self.is_done:
            return
        thread = UnpatchedFunctions.get_ident()
        if self.active and self.thread != thread:
            self.other_threads += 1
            return
        self.thread = thread
        depth = len(self.active) - len(self.waiting)
        self.deepest = max(self.deepest, depth + 1)
        if len(self.active) >= _MOST_ACTIVE and not self._forget_waiting():
            return
        if depth == _CYCLE_DEPTH:
            self.cycle = self._cycle(frame)
        if not depth or self.code is None:
            self.code = frame.f_code
        args = argument_copies(frame, self.values, 12)
        entry = [frame, self.count, depth, args]
        self.callee_started(frame, args)
        self.active[id(frame)] = entry
        if self._is_wanted(frame, depth):
            self.recordings[id(frame)] = CallRecording(frame, self.count, depth, self.values)
            self.engine.recording_began()
            if UnpatchedFunctions.monotonic() - self._written_s > _WRITE_INTERVAL_S:
                self.write()

    def _is_wanted(self, frame: Any, depth: int) -> bool:
        if self.where is not None:
            return self.chosen is None and not self.recordings and self._holds(frame)
        if self.call == "outermost":
            return depth == 0 and self.chosen is None and not self.recordings
        if self.keeps_newest:
            if len(self.recordings) >= _MOST_RECORDED:
                self._forget_recording()
            return True
        return str(self.count) == self.call

    def _forget_recording(self) -> None:
        """Make room for one: the oldest that is suspended may have been left. Of a deep recursion, the outermost call,
        which ends last, and the innermost ones, of which one raises, are kept.
        """
        oldest = next((it for it, held in self.recordings.items() if held.is_suspended), None)
        del self.recordings[next(islice(self.recordings, 1, None)) if oldest is None else oldest]

    def _forget_waiting(self) -> bool:
        """Only where a frame that is resumed is not taken for a new call."""
        if not self.waiting or not self.engine.counts_after:
            return False
        oldest = next(iter(self.waiting))
        del self.waiting[oldest], self.active[oldest]
        self.recordings.pop(oldest, None)
        return True

    def _holds(self, frame: Any) -> bool:
        try:
            return bool(eval(self.where, frame.f_globals, dict(frame.f_locals)))  # type: ignore[arg-type]
        except Exception as error:
            self.where_error = self.where_error or error_text(error)
            return False

    def line(self, frame: Any, number: int) -> None:
        recording = self.recordings.get(id(frame))
        if recording is None:
            return
        recording.line(number)
        if recording.lines & 63 and recording.lines < self.max_lines and self.values.spent < _EXPENSIVE:
            return
        self.values.spent = 0
        now_s = UnpatchedFunctions.monotonic()
        if recording.lines >= self.max_lines or now_s - recording.began_s > self.max_seconds:
            self._finish(recording, "limit")
        elif now_s - self._written_s > _CHECKPOINT_S:
            self.write()

    def raised(self, frame: Any, error: Any) -> None:
        recording = self.recordings.get(id(frame))
        if id(frame) in self.waiting:
            self.resumed(frame)  # by an exception that was thrown into it
        if recording is not None and error is not None:
            recording.raised(error_text(error))

    def suspended(self, frame: Any, value: Any) -> None:
        """A generator yields, or a coroutine waits: the call goes on when it is resumed."""
        recording = self.recordings.get(id(frame))
        if recording is not None:
            if not frame.f_code.co_flags & _COROUTINE:
                recording.yielded(value)
            recording.suspend()
            self.newest = recording
        if id(frame) in self.active:
            self.waiting[id(frame)] = None
        known = self.callees.get(id(frame))
        if known is not None and not frame.f_code.co_flags & _COROUTINE:
            known[1].yields += 1
            known[1].result = self.values.copy(value, 40)

    def resumed(self, frame: Any) -> None:
        self.waiting.pop(id(frame), None)
        recording = self.recordings.get(id(frame))
        if recording is not None:
            recording.is_suspended = False

    def returned(self, frame: Any, value: Any) -> None:
        self._ended(frame, "returned", self.values.copy(value), "")

    def unwound(self, frame: Any, error: Any) -> None:
        recording = self.recordings.get(id(frame))
        self._ended(frame, "raised", None, error_text(error) if error is not None else "")
        if recording is not None and error is not self._raised:
            self._raised = error
            self.failing = recording

    def _ended(self, frame: Any, how: str, value: Any, error: str) -> None:
        self.callee_ended(frame, value, error, is_copy=True)
        self.waiting.pop(id(frame), None)
        entry = self.active.pop(id(frame), None)
        if entry is None:
            return
        self.ended += 1
        listed = [entry[1], entry[2], entry[3], value if how == "returned" else None, error]
        if len(self.first_ended) < _LISTED:
            self.first_ended.append(listed)
        else:
            self.last_ended.append(listed)
        recording = self.recordings.get(id(frame))
        if recording is not None:
            recording.is_suspended = False
            self._finish(recording, how, value, error)

    def _finish(self, recording: CallRecording, how: str, value: Any = None, error: str = "") -> None:
        self.recordings.pop(id(recording.frame), None)
        recording.end(how, value, error)
        self.chosen = self.newest = recording
        if not self.keeps_newest or how == "limit":
            self.is_done = True
            self.engine.recording_done()
            self.active.clear()
            self.waiting.clear()
            self.callees.clear()
            self.write()
        elif UnpatchedFunctions.monotonic() - self._written_s > _WRITE_INTERVAL_S:
            self.write()

    def mark(self, error: Any, name: str = "") -> None:
        """The run fails here, by this exception: the call that is on the stack, or that it came out of, is kept."""
        if self.pinned is not None:
            return
        running = (it for it in self.recordings.values() if not it.is_suspended)
        on_stack = max(running, key=lambda it: it.number, default=None)
        if on_stack is None and self.failing is not None:
            is_same = _leads_to(self._raised, error) or self.failing.error.partition(":")[0] == name
            on_stack = self.failing if is_same else None
        self.pinned = on_stack
        self.is_marked = True

    # Events of what it calls.

    def callee_started(self, frame: Any, args: Any = None) -> None:
        if not self.recordings or len(self.callees) >= _MOST_CALLEES or id(frame) in self.callees:
            return
        caller = nearest_own(frame.f_back)
        recording = self.recordings.get(id(caller)) if caller is not None else None
        if recording is None:
            return
        copies = argument_copies(frame, self.values, 40) if args is None else args
        entry = CalledRow(frame, own_name(frame.f_code), copies)
        if recording.called(entry):
            self.callees[id(frame)] = (recording, entry)

    def callee_ended(self, frame: Any, value: Any, error: str, is_copy: bool = False) -> None:
        known = self.callees.pop(id(frame), None)
        if known is None:
            return
        entry = known[1]
        entry.frame = None
        entry.error = error
        if not error and not (entry.yields and value is None):
            entry.result = value if is_copy else self.values.copy(value, 60)

    # Reading it out.

    def record(self) -> dict[str, Any]:
        """All that is known by now, as plain data."""
        newest = max(self.recordings.values(), key=lambda it: it.number, default=None)
        oldest = min(self.recordings.values(), key=lambda it: it.number, default=None)
        running = newest if self.keeps_newest else oldest
        failing = self.pinned if self.is_marked else self.failing
        found = failing if self.call == "failing" else self.newest if self.call == "last" else self.chosen
        found = found or running or self.chosen
        data: dict[str, Any] = {"calls": self.count, "deepest": self.deepest, "done": self.is_done}
        if self.is_done and not self.engine.counts_after:
            data["uncounted"] = True
        if self.other_threads:
            data["other_threads"] = self.other_threads
        if self.where_error:
            data["where_error"] = self.where_error
        if self.engine.is_lost():
            data["lost"] = True
        if found is None:
            if self.engine.untraced_threads:
                data["untraced_threads"] = self.engine.untraced_threads
            return data
        code = found.code
        data.update(found.as_data(), function=own_name(code), file=code.co_filename, first=code.co_firstlineno)
        data["source"] = source_of(code)
        if sys.version_info < (3, 13) and "locals" in code.co_names:
            data["locals_changed"] = True  # reading a frame renews the dict that its `locals()` returned
        if self.call == "failing" and found is not failing:
            data["not_failing"] = True
        data.update(self._all_calls())
        return data

    def _all_calls(self) -> dict[str, Any]:
        """In the order in which they ended; and, of those that had not, the outermost and the innermost."""
        if self.deepest < 2:
            return {}
        data: dict[str, Any] = {
            "all": [_listed(it) for it in self.first_ended],
            "all_last": [_listed(it) for it in self.last_ended],
            "all_cut": self.ended - len(self.first_ended) - len(self.last_ended),
        }
        left = [[it[1], it[2], it[3], _OPEN, ""] for it in self.active.values()]
        if left:
            data["open"] = [_listed(it) for it in (left if len(left) <= 6 else left[:3] + left[-3:])]
            data["open_cut"] = max(0, len(left) - 6)
        if self.cycle:
            data["cycle"] = self.cycle
        return data

    def _cycle(self, frame: Any) -> list[str]:
        """The functions between two calls of this one: by which way it calls itself."""
        names = [own_name(frame.f_code)]
        at = nearest_own(frame.f_back)
        while at is not None and id(at) not in self.active and len(names) < 10:
            names.append(own_name(at.f_code))
            at = nearest_own(at.f_back)
        if at is None or id(at) not in self.active:
            return []
        return [names[0], *reversed(names)]

    def write(self) -> None:
        """Into a private file of Dragoman, which is read when the run is over. A forked child leaves it alone."""
        if not self._path or UnpatchedFunctions.getpid() != self._pid:
            return
        self._written_s = UnpatchedFunctions.monotonic()
        data = UnpatchedFunctions.dumps(records_of(self.group)).encode()
        try:
            file = UnpatchedFunctions.open(self._path, os.O_WRONLY | os.O_TRUNC)
        except OSError as error:
            if is_of_program(error):
                raise
            return
        try:
            while data:
                data = data[UnpatchedFunctions.write(file, data) :]
        finally:
            UnpatchedFunctions.close(file)


def _leads_to(raised: Any, error: Any) -> bool:
    """Whether one exception is the other, or stands behind it."""
    seen = 0
    while error is not None and seen < 20:
        if raised is error:
            return True
        error = BaseException.__dict__["__cause__"].__get__(error) or BaseException.__dict__["__context__"].__get__(
            error
        )
        seen += 1
    return False


def _listed(entry: list[Any]) -> list[Any]:
    number, depth, args, value, error = entry
    shown = [[name, render(node, 40)] for name, node in args]
    return [number, depth, shown, None if error or value is _OPEN else render(value, 60), error]


def source_of(code: Any) -> list[list[Any]]:
    """Its lines with their numbers, up to the last one that has code."""
    last = last_line_of(code)
    lines = linecache.getlines(code.co_filename)
    numbers = range(code.co_firstlineno, min(last, code.co_firstlineno + _SOURCE_LINES) + 1)
    return [[it, lines[it - 1].rstrip()[:160]] for it in numbers if it <= len(lines)]


def records_of(group: list[CallTracer]) -> dict[str, Any]:
    """The record of one, or of several together."""
    if len(group) == 1:
        return group[0].record()
    return {"records": [it.record() for it in group], "done": all(it.is_done for it in group)}


_running: list[CallTracer] = []


def start(also: tuple[dict[str, Any], ...] = (), **options: Any) -> str:
    """Switch it on. Called at a stop of the program's debugger, or before a test.

    `also` has the options of further functions, each with a tracer of its own.
    """
    group: list[CallTracer] = []
    for wanted in (options, *also):
        target = CallTarget(wanted.pop("function", ""), wanted.pop("file", ""), wanted.pop("line", 0))
        tracer = CallTracer(target, **wanted)
        tracer.start()
        group.append(tracer)
        atexit.register(tracer.finish)
    for it in group:
        it.group = group
    _running.extend(group)
    return "ok"


def read() -> str:
    """What is known by now, at a stop."""
    return UnpatchedFunctions.dumps(records_of(_running[-1].group)) if _running else "{}"


def write() -> str:
    """The same into the file that was named at the start."""
    for it in _running:
        it.write()
    return "ok"


def mark(raised: Any, name: str = "") -> str:
    """The debugger stopped at an exception: `(type, exception, traceback)`, or the name of its type alone."""
    for it in _running:
        it.mark(raised[1] if type(raised) is tuple and len(raised) > 1 else None, name)
    return "ok"


def stop() -> str:
    """Switch it off again and say what was recorded."""
    data = read()
    while _running:
        _running.pop().stop()
    return data
