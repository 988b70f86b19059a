"""What each client has been shown of a stopped program, so that the text of its next stop says only what is new to it.

The structured content of a stop is always complete. This is about the text, which a model keeps in its context: the
locals, the stack and the source lines of the last stop in the same frame are there already.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence, Set
from dataclasses import dataclass, field
from typing import TypeVar

from dragoman.core.localization import LocalizedText, join_texts, localize
from dragoman.debug.model import Stop
from dragoman.tools.agent_text import one_line
from dragoman.tools.debug.results import StopEventData, VariableAnswer
from dragoman.tools.debug.values import reference_text, variable_lines
from dragoman.workspace.caller import Caller

# The least recent is forgotten, and that client is shown everything again.
MAX_SESSIONS = 256
MAX_FRAMES = 16
_MAX_LINES = 2000
MAX_CHANGES = 20
_WHOLE = 60
"""Values up to this long are shown whole; of longer ones, the part that differs."""
_NOW_CHARACTERS = 60
_BEFORE_CHARACTERS = 40
_SAME_BEFORE = 8

_FrameKey = tuple[object, ...]
_Key = TypeVar("_Key")
_Value = TypeVar("_Value")


@dataclass(frozen=True, slots=True)
class ShownValue:
    text: str
    digest: int
    """Of the whole value, of which `text` may be the beginning."""


@dataclass(frozen=True, slots=True)
class ShownFrame:
    values: Mapping[str, ShownValue]
    stack: Sequence[object]
    lines: Set[int]


@dataclass(slots=True)
class ShownSession:
    frames: dict[_FrameKey, ShownFrame] = field(default_factory=dict)
    threads: object = None
    unbound: object = None


@dataclass(frozen=True, slots=True)
class ValueChange:
    variable: VariableAnswer
    before: str | None
    """None if it is new."""


@dataclass(frozen=True, slots=True)
class StopChanges:
    """What is new to a client at a stop in a frame that it has been shown before."""

    values: Sequence[ValueChange]
    unchanged: int
    gone: Sequence[str]
    known_lines: Set[int]
    is_same_stack: bool
    has_same_threads: bool
    has_same_unbound: bool
    is_same_session: bool
    """Whether the client's last stop was in this session too."""


class ShownStops:
    """Remembers what the text of each client's stops has said. It is bounded, and no client can see another's."""

    def __init__(self) -> None:
        self._sessions: dict[tuple[str, str], ShownSession] = {}
        self._last: dict[str, str] = {}

    def note(self, caller: Caller, data: StopEventData, seen: Stop, *, is_whole: bool) -> StopChanges | None:
        """Record a stop, and return what is new to this client; None if it is to be shown everything."""
        key = (caller.link, data.session_id)
        session = self._sessions.pop(key, None) or ShownSession()
        self._sessions[key] = session
        _drop_oldest(self._sessions, MAX_SESSIONS)
        is_same_session = self._last.pop(caller.link, "") == data.session_id
        self._last[caller.link] = data.session_id
        _drop_oldest(self._last, MAX_SESSIONS)
        before = session.frames.pop(frame, None) if (frame := _frame_key(seen)) else None
        now = _shown_frame(data, seen)
        changes = None
        if before is not None and not is_whole:
            changes = _changes(session, before, now, data, is_same_session=is_same_session)
            now = ShownFrame(now.values, now.stack, _united(before.lines, now.lines))
        if frame:
            session.frames[frame] = now
            _drop_oldest(session.frames, MAX_FRAMES)
        session.threads, session.unbound = _threads(data), _unbound(data)
        return changes


def _frame_key(seen: Stop) -> _FrameKey:
    """By thread, function and depth: where a loop calls a function again, its values are compared with the last ones
    that were shown.
    """
    frame = seen.frame
    return (seen.thread_id, frame.path, frame.name, seen.total_frames - seen.at) if frame else ()


def _shown_frame(data: StopEventData, seen: Stop) -> ShownFrame:
    raw = {it.name: hash(it.value) for it in seen.top_locals.variables} if seen.top_locals else {}
    variables = data.top_frame_variables.variables if data.top_frame_variables else []
    window = data.source_lines
    return ShownFrame(
        {it.name: ShownValue(it.value, raw.get(it.name, hash(it.value))) for it in variables},
        [(it.path, it.line, it.name) for at, it in enumerate(seen.frames) if at != seen.at],
        frozenset(range(window.start, window.start + len(window.lines))) if window else frozenset(),
    )


def _changes(
    session: ShownSession, before: ShownFrame, now: ShownFrame, data: StopEventData, *, is_same_session: bool
) -> StopChanges:
    variables = data.top_frame_variables.variables if data.top_frame_variables else []
    changed = [it for it in variables if before.values.get(it.name) != now.values[it.name]]
    known = before.values
    return StopChanges(
        values=[ValueChange(it, known[it.name].text if it.name in known else None) for it in changed],
        unchanged=len(variables) - len(changed),
        gone=[name for name in known if name not in now.values],
        known_lines=before.lines,
        is_same_stack=before.stack == now.stack,
        has_same_threads=session.threads == _threads(data),
        has_same_unbound=session.unbound == _unbound(data),
        is_same_session=is_same_session,
    )


def _threads(data: StopEventData) -> object:
    return data.total_threads, [(it.thread_id, it.name, it.state) for it in data.other_threads or ()]


def _unbound(data: StopEventData) -> object:
    return [(it.id, it.reason) for it in data.unbound_breakpoints or ()]


def _united(before: Set[int], now: Set[int]) -> Set[int]:
    return frozenset(now) if len(before) > _MAX_LINES else frozenset(before) | now


def _drop_oldest(table: dict[_Key, _Value], most: int) -> None:
    while len(table) > most:
        del table[next(iter(table))]


# The lines.


def change_lines(changes: StopChanges) -> list[LocalizedText]:
    """Each changed value with what it was, then how many are as they were."""
    lines = [_change_line(it) for it in changes.values[:MAX_CHANGES]]
    rest = len(changes.values) - len(lines)
    if rest > 0:
        lines.append(localize("  and {count} more changed: get_scopes, then get_variables", count=rest))
    if changes.gone:
        lines.append(localize("  gone: {names}", names=one_line(", ".join(changes.gone), 2 * _WHOLE)))
    if not changes.unchanged:
        return lines
    unchanged = localize("{count} unchanged", count=changes.unchanged)
    if not lines:
        return [join_texts("", ("  ", unchanged))]
    return [*lines[:-1], join_texts("; ", (lines[-1], unchanged))]


def _change_line(change: ValueChange) -> LocalizedText:
    variable = change.variable
    if change.before is None:
        (line,) = variable_lines([variable])
        return line
    now, before = contrasted(one_line(variable.value), one_line(change.before))
    was = localize("(was {before})", before=before) if now != before else localize("(changed further on)")
    return join_texts("", (f"  {variable.name} = {now} ", was, reference_text(variable)))


def contrasted(now: str, before: str) -> tuple[str, str]:
    """Two values; of long ones, what comes just before the first difference and after it."""
    if max(len(now), len(before)) <= _WHOLE:
        return now, before
    pairs = enumerate(zip(now, before, strict=False))
    same = next((at for at, (one, other) in pairs if one != other), min(len(now), len(before)))
    start = same - _SAME_BEFORE if same > 2 * _SAME_BEFORE else 0
    return _part(now, start, _NOW_CHARACTERS), _part(before, start, _BEFORE_CHARACTERS)


def _part(text: str, start: int, most: int) -> str:
    return f"{'…' if start else ''}{text[start : start + most]}{'…' if len(text) > start + most else ''}"
