"""Stops at something that was raised, where an adapter tells them as others or has no request that says what it was."""

from __future__ import annotations

import re
from dataclasses import replace

import msgspec

from dragoman.debug.dialect import Dialect
from dragoman.debug.model import Frame, Raised
from dragoman.debug.snapshot import Snapshot
from dragoman.wire.dap import bodies


def as_watched(dialect: Dialect, body: bodies.StoppedBody) -> bodies.StoppedBody:
    if not dialect.says_watched or not re.fullmatch(dialect.says_watched, body.description or ""):
        return body
    return msgspec.structs.replace(body, reason="data breakpoint", hit_breakpoint_ids=None)


def as_paused(body: bodies.StoppedBody, command: str) -> bodies.StoppedBody:
    """What somebody paused: lldb tells of the signal by which it did that, js-debug of a step."""
    by_signal = body.reason == "exception" and "SIGSTOP" in f"{body.description} {body.text}"
    if command != "pause" or not (by_signal or body.reason == "step"):
        return body
    return msgspec.structs.replace(body, reason="pause", description=None, text=None)


def as_raised(
    dialect: Dialect, body: bodies.StoppedBody, seen: Snapshot, printed: str
) -> tuple[bodies.StoppedBody, Snapshot]:
    """`printed`: what the program said since it was last seen."""
    raised = (
        _by_local(dialect, body, seen)
        or _by_function(dialect, body, seen, printed)
        or _by_sanitizer(body, seen, printed)
        or _by_words(body, seen)
    )
    if raised is None:
        return body, seen
    return msgspec.structs.replace(body, reason="exception", hit_breakpoint_ids=None), replace(seen, raised=raised)


def _by_function(dialect: Dialect, body: bodies.StoppedBody, seen: Snapshot, printed: str) -> Raised | None:
    """Where it has no filter for what a language raises, and stops in the function that raises it."""
    if body.reason != "breakpoint" or not seen.frames:
        return None
    name = seen.frames[0].name
    found = next((type for pattern, type in dialect.raises_in.items() if re.fullmatch(pattern, name)), None)
    return Raised(type=found, message=_printed_message(dialect, printed)) if found else None


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
_HALTED_FOR_A_REPORT = frozenset({"breakpoint", "unknown"})  # lldb-dap's word, and CodeLLDB's


def _by_sanitizer(body: bodies.StoppedBody, seen: Snapshot, printed: str) -> Raised | None:
    """A report of what the compiler put into the program. LLDB halts in the middle of it, far below the own code; of
    undefined behaviour before a line of it is printed, and has the headline in its description."""
    names = [frame.name for frame in seen.frames[:_FRAMES_OF_A_REPORT] if frame.is_library]
    found = next((match for name in names if (match := _IN_SANITIZER.match(name))), None)
    if body.reason not in _HALTED_FOR_A_REPORT or body.hit_breakpoint_ids or found is None:
        return None
    said = list(_REPORT.finditer(_COLOURS.sub("", printed)))
    headline = (said[-1]["address"] or said[-1]["behaviour"]) if said else ""
    return Raised(type=_SANITIZERS[found[1]], message=headline.strip() or body.description or "")


def _printed_message(dialect: Dialect, printed: str) -> str:
    """Of the newest. A program whose output is not ours, or that prints nothing, leaves it empty."""
    said = list(re.finditer(dialect.prints_raised, printed)) if dialect.prints_raised else []
    return said[-1]["message"] if said else ""


def _by_words(body: bodies.StoppedBody, seen: Snapshot) -> Raised | None:
    """What the stop itself says, where the adapter has no more to say: of a deadlock Delve knows no details."""
    if body.reason != "exception" or seen.raised is not None or not (body.description or body.text):
        return None
    return Raised(type=body.description or body.reason, message=(body.text or "").strip('"'))


def _by_local(dialect: Dialect, body: bodies.StoppedBody, seen: Snapshot) -> Raised | None:
    """Among the locals of the frame that raised it. One that no filter stopped at is one that nothing catches."""
    if not dialect.raised_local or not seen.top_locals:
        return None
    held = next((it for it in seen.top_locals.variables if it.name == dialect.raised_local), None)
    if held is None:
        return None
    shown = re.fullmatch(dialect.shows_raised, held.value) if dialect.shows_raised else None
    message = shown["message"] if shown else held.value
    return Raised(type=held.type or held.value, message=message, uncaught=body.reason != "exception")


class Propagation:
    """An exception on its way up the stack: in a caller of where it was, at the line of the call."""

    def __init__(self) -> None:
        self._thread = 0
        self._seen = Snapshot()

    def goes_on(self, thread_id: int, seen: Snapshot) -> bool:
        """Whether this is the one that was seen last. Notes it either way; nothing catches the one at its end."""
        if seen.raised is None or seen.raised.uncaught or not seen.frames:
            return False
        before, was_of = self._seen, self._thread
        self._seen, self._thread = seen, thread_id
        up = before.total_frames - seen.total_frames
        if was_of != thread_id or not _is_alike(before, seen) or not 0 < up < len(before.frames):
            return False
        return _place(before.frames[up]) == _place(seen.frames[0])


def _is_alike(before: Snapshot, after: Snapshot) -> bool:
    """What it says of its way grows on the way."""
    told = [(it.raised.type, it.raised.message) for it in (before, after) if it.raised is not None]
    return len(told) == len((before, after)) and told[0] == told[1]


def _place(frame: Frame) -> tuple[object, ...]:
    return (frame.name, frame.path, frame.line)
