"""What each client has been shown of a stopped program, so that the text of its next stop says only what is new to it.

The structured content of a stop is always complete. This is about the text, which a model keeps in its context: the
locals, the stack and the source lines of the last stop in the same frame are there already. A client may have dropped
old text from that context without a word, so now and then a stop is shown whole again.
"""

from __future__ import annotations

import weakref
from collections.abc import Mapping, Sequence, Set
from dataclasses import dataclass, field
from typing import TypeVar

from dragoman.core.labels import comma_list
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
MAX_LOCALS = 20
"""In the text of a whole stop."""
MAX_CHANGES = 20
MAX_CHANGED_STOPS = 10
"""So many stops in a frame say only what changed, then one is whole."""
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
    """The digest of the whole value; `text` may be only its beginning."""


@dataclass(frozen=True, slots=True)
class ShownFrame:
    values: Mapping[str, ShownValue]
    """Variables whose text was sent, as it was sent last."""
    unsent: Mapping[str, int | None]
    """The others: the digest of what a whole stop had no room for; None of a variable that came later."""
    stack: Sequence[object]
    lines: Set[int]
    changed_stops: int = 0
    """Since the last whole one."""

    def is_unseen(self, name: str, value: ShownValue) -> bool:
        if name in self.values:
            return self.values[name] != value
        return self.unsent.get(name) != value.digest


@dataclass(slots=True)
class ShownSession:
    run: weakref.ref[object]
    """The run of the program: after a restart it is another one, perhaps of edited source, under the same id."""
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
    """What is new to a client at a stop in a frame that it was shown before."""

    values: Sequence[ValueChange]
    unchanged: int
    not_shown: int
    """Variables whose value the client does not know, because there was no room for it."""
    gone: Sequence[str]
    known_lines: Set[int]
    is_same_stack: bool
    has_same_threads: bool
    has_same_unbound: bool
    is_same_session: bool
    """Whether the client's last stop was in this session too."""


class ShownStops:
    """Remembers what the text of each client's stops has shown. It is bounded, and no client sees another's."""

    def __init__(self) -> None:
        self._sessions: dict[tuple[str, str], ShownSession] = {}
        self._last: dict[str, str] = {}

    def forget(self, session_id: str) -> None:
        """The program begins again: no client has been shown anything of it."""
        for key in [it for it in self._sessions if it[1] == session_id]:
            del self._sessions[key]

    def note(
        self, caller: Caller, data: StopEventData, seen: Stop, run: object, *, is_whole: bool
    ) -> StopChanges | None:
        """Record a stop, and return what is new to this client; None if it is to be shown everything."""
        session = self._session(caller, data, run)
        is_same_session = self._last.pop(caller.link, "") == data.session_id
        self._last[caller.link] = data.session_id
        _drop_oldest(self._last, MAX_SESSIONS)
        before = session.frames.pop(frame, None) if (frame := _frame_key(seen)) else None
        now = _whole_frame(data, seen)
        changes = None
        if before is not None and not is_whole and before.changed_stops < MAX_CHANGED_STOPS:
            values = _values(data, seen)
            changes = _changes(session, before, now, values, data, is_same_session=is_same_session)
            now = _changed_frame(before, now, values, changes)
        if frame:
            session.frames[frame] = now
            _drop_oldest(session.frames, MAX_FRAMES)
        session.threads, session.unbound = _threads(data), _unbound(data)
        return changes

    def _session(self, caller: Caller, data: StopEventData, run: object) -> ShownSession:
        key = (caller.link, data.session_id)
        session = self._sessions.pop(key, None)
        if session is None or session.run() is not run:
            session = ShownSession(weakref.ref(run))
        self._sessions[key] = session
        _drop_oldest(self._sessions, MAX_SESSIONS)
        return session


def _frame_key(seen: Stop) -> _FrameKey:
    """By thread, function and depth: if a loop calls a function again, its values are compared with those shown
    last."""
    frame = seen.frame
    return (seen.thread_id, frame.path, frame.name, seen.total_frames - seen.at) if frame else ()


def _variables(data: StopEventData) -> Sequence[VariableAnswer]:
    return data.top_frame_variables.variables if data.top_frame_variables else []


def _values(data: StopEventData, seen: Stop) -> dict[str, ShownValue]:
    raw = {it.name: hash(it.value) for it in seen.top_locals.variables} if seen.top_locals else {}
    return {it.name: ShownValue(it.value, raw.get(it.name, hash(it.value))) for it in _variables(data)}


def _whole_frame(data: StopEventData, seen: Stop) -> ShownFrame:
    values, window = _values(data, seen), data.source_lines
    sent = {it.name for it in _variables(data)[:MAX_LOCALS]}
    return ShownFrame(
        {name: it for name, it in values.items() if name in sent},
        {name: it.digest for name, it in values.items() if name not in sent},
        [(it.path, it.line, it.name) for at, it in enumerate(seen.frames) if at != seen.at],
        frozenset(range(window.start, window.start + len(window.lines))) if window else frozenset(),
    )


def _changed_frame(
    before: ShownFrame, whole: ShownFrame, values: Mapping[str, ShownValue], changes: StopChanges
) -> ShownFrame:
    """Values that there was no room for keep their old text here, and are new at the next stop too."""
    sent = {it.variable.name for it in changes.values}
    known = {**before.values, **{name: values[name] for name in sent}}
    return ShownFrame(
        {name: known[name] for name in values if name in known},
        {name: before.unsent.get(name) for name in values if name not in known},
        whole.stack,
        _united(before.lines, whole.lines),
        before.changed_stops + 1,
    )


def _changes(
    session: ShownSession,
    before: ShownFrame,
    now: ShownFrame,
    values: Mapping[str, ShownValue],
    data: StopEventData,
    *,
    is_same_session: bool,
) -> StopChanges:
    variables, known = _variables(data), before.values
    sent = [it for it in variables if before.is_unseen(it.name, values[it.name])][:MAX_CHANGES]
    unchanged = sum(known.get(it.name) == values[it.name] for it in variables)
    return StopChanges(
        values=[ValueChange(it, known[it.name].text if it.name in known else None) for it in sent],
        unchanged=unchanged,
        not_shown=len(variables) - len(sent) - unchanged,
        gone=[name for name in known if name not in values],
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
    """Each changed value with what it was, then how many are as they were, and what shows those."""
    lines = [_change_line(it) for it in changes.values]
    if changes.gone:
        lines.append(localize("  gone: {names}", names=one_line(", ".join(changes.gone), 2 * _WHOLE)))
    counts = [localize("{count} unchanged", count=changes.unchanged)] if changes.unchanged else []
    counts += [localize("{count} not shown", count=changes.not_shown)] if changes.not_shown else []
    if not counts:
        return lines
    rest = localize("{counts}: get_scopes, then get_variables", counts=comma_list(counts))
    if not lines:
        return [join_texts("", ("  ", rest))]
    return [*lines[:-1], join_texts("; ", (lines[-1], rest))]


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
