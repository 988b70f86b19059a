"""Recognizes exceptions in stops that an adapter reports as something else, or without saying what was raised."""

from __future__ import annotations

import re
from dataclasses import replace

import msgspec

from dragoman.debug.backends.quirks import AdapterQuirks
from dragoman.debug.model import FrameInfo, RaisedException
from dragoman.debug.stops.snapshot import StopSnapshot
from dragoman.protocols.dap import bodies


def as_data_breakpoint(quirks: AdapterQuirks, body: bodies.StoppedBody) -> bodies.StoppedBody:
    if not quirks.data_stop_pattern or not re.fullmatch(quirks.data_stop_pattern, body.description or ""):
        return body
    return msgspec.structs.replace(body, reason="data breakpoint", hit_breakpoint_ids=None)


def as_pause(body: bodies.StoppedBody, command: str) -> bodies.StoppedBody:
    """Recognises a pause: lldb reports the signal by which it paused the program, js-debug a step."""
    by_signal = body.reason == "exception" and "SIGSTOP" in f"{body.description} {body.text}"
    if command != "pause" or not (by_signal or body.reason == "step"):
        return body
    return msgspec.structs.replace(body, reason="pause", description=None, text=None)


def as_exception(
    quirks: AdapterQuirks, body: bodies.StoppedBody, snapshot: StopSnapshot, printed: str
) -> tuple[bodies.StoppedBody, StopSnapshot]:
    """`printed`: what the program printed since the last stop."""
    raised = (
        _raised_by_local(quirks, body, snapshot)
        or _raised_by_function(quirks, body, snapshot, printed)
        or _raised_by_sanitizer(body, snapshot, printed)
        or _raised_by_description(body, snapshot)
    )
    if raised is None:
        return body, snapshot
    return msgspec.structs.replace(body, reason="exception", hit_breakpoint_ids=None), replace(snapshot, raised=raised)


def _raised_by_function(
    quirks: AdapterQuirks, body: bodies.StoppedBody, snapshot: StopSnapshot, printed: str
) -> RaisedException | None:
    """If an adapter has no filter for what a language raises, it stops in the function that raises it."""
    if body.reason != "breakpoint" or not snapshot.frames:
        return None
    name = snapshot.frames[0].name
    function = next((type for pattern, type in quirks.raise_functions.items() if re.fullmatch(pattern, name)), None)
    return RaisedException(type=function, message=_printed_message(quirks, printed)) if function else None


_SANITIZERS = {
    "asan": "AddressSanitizer",
    "hwasan": "HWAddressSanitizer",
    "lsan": "LeakSanitizer",
    "msan": "MemorySanitizer",
    "tsan": "ThreadSanitizer",
    "ubsan": "UndefinedBehaviorSanitizer",
}
_IN_SANITIZER = re.compile(r"_+(asan|hwasan|lsan|msan|tsan|ubsan)(?:::|_)")
_REPORT = re.compile(r"(?:ERROR|WARNING): \w+Sanitizer: (?P<address>[^\n]+)|runtime error: (?P<behaviour>[^\n]+)")
_COLOURS = re.compile(r"\x1b\[[\d;]*m")
_FRAMES_OF_A_REPORT = 12
_HALTED_FOR_A_REPORT = frozenset({"breakpoint", "unknown"})  # the names used by lldb-dap and CodeLLDB


def _raised_by_sanitizer(body: bodies.StoppedBody, snapshot: StopSnapshot, printed: str) -> RaisedException | None:
    """A sanitizer report. LLDB stops while it is being written, in library frames; for undefined behaviour nothing is
    printed yet, and the headline is the stop's description.
    """
    names = [frame.name for frame in snapshot.frames[:_FRAMES_OF_A_REPORT] if frame.is_library]
    found = next((match for name in names if (match := _IN_SANITIZER.match(name))), None)
    if body.reason not in _HALTED_FOR_A_REPORT or body.hit_breakpoint_ids or found is None:
        return None
    reports = list(_REPORT.finditer(_COLOURS.sub("", printed)))
    headline = (reports[-1]["address"] or reports[-1]["behaviour"]) if reports else ""
    return RaisedException(type=_SANITIZERS[found[1]], message=headline.strip() or body.description or "")


def _printed_message(quirks: AdapterQuirks, printed: str) -> str:
    """Reads the newest exception. Empty if the program's output is not ours, or it printed nothing."""
    matches = list(re.finditer(quirks.raised_output_pattern, printed)) if quirks.raised_output_pattern else []
    return matches[-1]["message"] if matches else ""


def _raised_by_description(body: bodies.StoppedBody, snapshot: StopSnapshot) -> RaisedException | None:
    """Uses the stop's own text if the adapter has no more details, as Delve for a deadlock."""
    if body.reason != "exception" or snapshot.raised is not None or not (body.description or body.text):
        return None
    return RaisedException(type=body.description or body.reason, message=(body.text or "").strip('"'))


def _raised_by_local(quirks: AdapterQuirks, body: bodies.StoppedBody, snapshot: StopSnapshot) -> RaisedException | None:
    """Among the locals of the frame that raised it. One that no filter stopped at is one that nothing catches."""
    if not quirks.raised_local or not snapshot.top_locals:
        return None
    held = next((it for it in snapshot.top_locals.variables if it.name == quirks.raised_local), None)
    if held is None:
        return None
    shown = re.fullmatch(quirks.raised_local_pattern, held.value) if quirks.raised_local_pattern else None
    message = shown["message"] if shown else held.value
    return RaisedException(type=held.type or held.value, message=message, uncaught=body.reason != "exception")


class ExceptionPropagation:
    """An exception on its way up the stack: the same one, seen again in a caller at the line of the call."""

    def __init__(self) -> None:
        self._thread = 0
        self._last_snapshot = StopSnapshot()

    def is_continuation(self, thread_id: int, snapshot: StopSnapshot) -> bool:
        """Whether this is the exception that was seen last; also records it. Nothing catches an exception at its last
        stop."""
        if snapshot.raised is None or snapshot.raised.uncaught or not snapshot.frames:
            return False
        before, was_of = self._last_snapshot, self._thread
        self._last_snapshot, self._thread = snapshot, thread_id
        up = before.total_frames - snapshot.total_frames
        if was_of != thread_id or not _is_same_exception(before, snapshot) or not 0 < up < len(before.frames):
            return False
        return _place(before.frames[up]) == _place(snapshot.frames[0])


def _is_same_exception(before: StopSnapshot, after: StopSnapshot) -> bool:
    """Compares type and message only: the traceback grows on the way up."""
    pairs = [(it.raised.type, it.raised.message) for it in (before, after) if it.raised is not None]
    return len(pairs) == len((before, after)) and pairs[0] == pairs[1]


def _place(frame: FrameInfo) -> tuple[object, ...]:
    return (frame.name, frame.path, frame.line)
