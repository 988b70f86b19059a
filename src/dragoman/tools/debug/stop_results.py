"""A stop as `stop_event_data`, and as the few lines that an agent reads."""

from __future__ import annotations

import math
import os
from collections.abc import Iterable, Sequence, Set
from dataclasses import dataclass
from pathlib import Path

from dragoman.core.labels import comma_list, label_of, with_label
from dragoman.core.localization import LocalizedText, join_texts, localize, text_in_language
from dragoman.debug import model
from dragoman.debug.model import FrameInfo, RaisedException, Stop, VariableChange, VariableInfo
from dragoman.debug.session.session import DebugSession
from dragoman.tools.agent_text import one_line, path, source_line
from dragoman.tools.debug import results
from dragoman.tools.debug.breakpoint_validation import watched_name
from dragoman.tools.debug.session_lookup import ThreadReader, other_threads
from dragoman.tools.debug.shown_stops import MAX_LOCALS, StopChanges, change_lines
from dragoman.tools.debug.source_locations import SourceReader
from dragoman.tools.debug.values import ValueFormatter, name, variable_lines
from dragoman.tools.debug.values import timestamp as stamp
from dragoman.workspace.caller import Caller

LOCAL_CHARACTERS = 400
_BEFORE_CHARACTERS = 120
FRAMES = 20
_FRAMES_IN_TEXT = 8
_AROUND = 2
_LINE_CHARACTERS = 200
_OUTPUT_CHARACTERS = 2000
_OUTPUT_LINES_IN_TEXT = 10
_MESSAGE_CHARACTERS = 1000
_UNBOUND = 20
_REASON_CHARACTERS = 400  # it says what would bind it, perhaps with a line to copy
_EXCEPTION_IN_TEXT = 300
_THREADS_IN_TEXT = 5

# The reasons that DAP defines; others are an adapter's own text and stay out of Dragoman's sentences.
_REASONS = frozenset(
    {"step", "breakpoint", "exception", "pause", "entry", "goto", "function breakpoint", "data breakpoint"}
)


@dataclass(frozen=True, slots=True)
class StopResults:
    """Makes the result of a stop: location, stack, locals, exception, output and threads."""

    sources: SourceReader
    values: ValueFormatter
    threads: ThreadReader

    async def data(self, caller: Caller, session: DebugSession, stop: Stop) -> results.StopEventData:
        frame = stop.frame
        threads = await self.threads.of(caller, session, placed=False)
        shown, left_out = _without_runtime_frames(stop.frames)
        return results.StopEventData(
            session_id=session.id,
            stop_number=stop.number,
            timestamp=stamp(stop.at_ns),
            reason=name(stop.reason),
            thread_id=stop.thread_id,
            description=self._optional(stop.description),
            text=self._optional(_text(stop)),
            all_threads_stopped=stop.all_threads_stopped,
            source=_source(frame),
            line=frame.line if frame and frame.path and frame.line else None,
            column=frame.column if frame and frame.path and frame.column else None,
            at_frame_id=frame.id if frame and stop.at else None,
            call_stack=[_frame(frame) for frame in shown[:FRAMES]],
            total_frames=max(stop.total_frames, len(stop.frames)),
            library_frames_left_out=left_out or None,
            top_frame_variables=self._locals(stop),
            changed=self._changed(stop),
            hit_breakpoint_ids=list(stop.hit_breakpoints) if stop.hit_breakpoints is not None else None,
            exception=self._exception(stop.raised, frame),
            output=self.values.tail(stop.output, _OUTPUT_CHARACTERS) or None,
            unbound_breakpoints=self.unbound(caller, session),
            source_lines=await self._around(caller, frame),
            other_threads=other_threads(threads, stop.thread_id) or None,
            total_threads=len(threads) if len(threads) > 1 else None,
            sent_on_by=by.in_language(caller.language) if (by := model.person_label(stop.by)) else None,
            resumes_in_s=resumes_in_s(session),
        )

    def unbound(
        self, caller: Caller, session: DebugSession, started_with: Sequence[DebugSession] = ()
    ) -> list[results.UnboundBreakpoint] | None:
        """Breakpoints that are not bound. At a start, also those that none of the sessions started together can
        bind.
        """
        elsewhere = [{it.id: (it, why) for it, why in one.breakpoint_sync.of_other_languages()} for one in started_with]
        nowhere = [
            pair for id, pair in (elsewhere[0].items() if elsewhere else ()) if all(id in it for it in elsewhere)
        ]
        return [
            results.UnboundBreakpoint(
                id=breakpoint.id,
                path=path(breakpoint.path) or None,
                line=breakpoint.line or None,
                what=name(watched_name(breakpoint)) or None,
                reason=self.values.text(text_in_language(binding.message, caller.language), _REASON_CHARACTERS),
            )
            for breakpoint, binding in [*session.breakpoint_sync.unbound(), *nowhere][:_UNBOUND]
        ] or None

    def _locals(self, stop: Stop) -> results.TopFrameVariables | None:
        if stop.top_locals is None:
            return None
        own = [it for it in stop.top_locals.variables if not _is_group(it)]
        if not own:
            return None
        variables = [self.values.variable(it, LOCAL_CHARACTERS) for it in own]
        return results.TopFrameVariables(scope_name=name(stop.top_locals.scope_name), variables=variables)

    def _changed(self, stop: Stop) -> dict[str, str | None] | None:
        return {name(it.name): self._before(it) for it in stop.changed} or None

    def _before(self, change: VariableChange) -> str | None:
        return None if change.before is None else self.values.value(change.name, change.before, _BEFORE_CHARACTERS).text

    def _exception(self, raised: RaisedException | None, top: FrameInfo | None) -> results.ExceptionAnswer | None:
        if raised is None:
            return None
        where = f"{top.path}:{top.line}" if top and top.path else raised.where
        return results.ExceptionAnswer(
            type=name(raised.type),
            message=self.values.text(raised.message, _MESSAGE_CHARACTERS),
            where=self.values.text(where, _MESSAGE_CHARACTERS),
            uncaught=raised.uncaught,
        )

    async def _around(self, caller: Caller, top: FrameInfo | None) -> results.SourceLines | None:
        lines = await self.sources.lines(top.path, caller.workspace, {top.path}) if top and top.path else None
        if top is None or lines is None or not 0 < top.line <= len(lines):
            return None
        start = max(1, top.line - _AROUND)
        near = lines[start - 1 : top.line + _AROUND]
        return results.SourceLines(start=start, lines=[self.values.text(it, _LINE_CHARACTERS) for it in near])

    def _optional(self, text: str | None) -> str | None:
        return None if text is None else self.values.text(text, _MESSAGE_CHARACTERS)


def _text(stop: Stop) -> str | None:
    """The exception's text: some adapters report only its type, others only its message, or nothing."""
    raised = stop.raised
    if raised is None or not raised.message or raised.message in (stop.text or ""):
        return stop.text
    return f"{raised.type}: {raised.message}" if stop.text else raised.message


def _is_group(variable: VariableInfo) -> bool:
    """Whether it is an adapter's own group (`special variables`) instead of a variable."""
    return not variable.value and not variable.type


def _without_runtime_frames(frames: Sequence[FrameInfo]) -> tuple[Sequence[FrameInfo], int]:
    """The frames without the runtime's own at the bottom, which are always the same, except the first; and how many
    were left out.
    """
    own = [place for place, frame in enumerate(frames, 1) if not frame.is_library]
    kept = own[-1] + 1 if own else len(frames)
    return frames[:kept], max(0, len(frames) - kept)


def _source(frame: FrameInfo | None) -> results.StopSource | None:
    return results.StopSource(path=path(frame.path), name=name(Path(frame.path).name)) if frame and frame.path else None


def _frame(frame: FrameInfo) -> results.CallFrame:
    return results.CallFrame(
        frame_id=frame.id,
        function_name=name(frame.name),
        file_path=path(frame.path),
        line_number=frame.line,
        column_number=frame.column or 1,
    )


# Lines: each is a sentence of Dragoman with numbers in it, or a label with the program's text.


def stop_lines(
    stop: results.StopEventData, seen: Stop, workspace: Path, changes: StopChanges | None = None
) -> list[LocalizedText]:
    """The stop in full, or what of it is new to the client."""
    if changes is not None:
        return _changed_stop_lines(stop, seen, workspace, changes)
    return [
        _head(stop),
        *_resumed_by_line(seen),
        *_place(seen, workspace),
        *countdown_line(stop.resumes_in_s),
        *_exception_line(stop.exception),
        *_data(_source_lines(stop)),
        *_locals_lines(stop.top_frame_variables),
        *_stack(seen, workspace),
        *_threads(stop),
        *output_lines(stop.output, seen.output_lines),
        *unbound_lines(stop.unbound_breakpoints, workspace),
    ]


def _changed_stop_lines(
    stop: results.StopEventData, seen: Stop, workspace: Path, changes: StopChanges
) -> list[LocalizedText]:
    return [
        _short_head(stop) if changes.is_same_session else _head(stop),
        *_resumed_by_line(seen),
        *_place(seen, workspace),
        *countdown_line(stop.resumes_in_s),
        *_exception_line(stop.exception),
        *_data(_source_lines(stop, changes.known_lines)),
        *change_lines(changes),
        *([] if changes.is_same_stack else _stack(seen, workspace)),
        *([] if changes.has_same_threads else _threads(stop)),
        *output_lines(stop.output, seen.output_lines),
        *([] if changes.has_same_unbound else unbound_lines(stop.unbound_breakpoints, workspace)),
    ]


def _reason(stop: results.StopEventData) -> LocalizedText:
    hit = "".join(f" {id}" for id in stop.hit_breakpoint_ids or ())
    reason = label_of(stop.reason) if stop.reason in _REASONS else localize("other")
    return join_texts("", (reason, hit))


def _short_head(stop: results.StopEventData) -> LocalizedText:
    return localize("stopped: {reason} (stop {number})", reason=_reason(stop), number=stop.stop_number)


def _head(stop: results.StopEventData) -> LocalizedText:
    return localize(
        "stopped: {reason} (stop {number}, thread {thread}, {session})",
        reason=_reason(stop),
        number=stop.stop_number,
        thread=stop.thread_id,
        session=stop.session_id,
    )


def _resumed_by_line(seen: Stop) -> list[LocalizedText]:
    """A line if a person resumed the program, because the agent's plan may be out of date."""
    who = model.person_label(seen.by)
    return [localize("Resumed by {who}.", who=who)] if who else []


def resumes_in_s(session: DebugSession) -> int | None:
    """Of a program that was attached to from another machine: when it runs on by itself."""
    left = session.countdown.remaining_s
    return None if left is None else math.ceil(left)


def countdown_line(seconds: int | None) -> list[LocalizedText]:
    if seconds is None:
        return []
    return [localize("resumes in {seconds} s; wait_for_stop with `hold_s` keeps it there", seconds=seconds)]


def _data(lines: Iterable[str]) -> list[LocalizedText]:
    return [localize("{text}", text=line) for line in lines]


def _place(seen: Stop, workspace: Path) -> list[LocalizedText]:
    """The location, with the frame id if it is not the top of the stack."""
    if seen.frame is None:
        return []
    place = _at(seen.frame, workspace)
    return [
        with_label(
            localize("at"), localize("{place} (frame {id})", place=place, id=seen.frame.id) if seen.at else place
        )
    ]


def _at(frame: FrameInfo, workspace: Path) -> str:
    return f"{short_path(frame.path, workspace)}:{frame.line} {name(frame.name)}"


def short_path(file: str, workspace: Path) -> str:
    """The path relative to the workspace, if it is inside."""
    inside = file.startswith(f"{workspace}{os.sep}")
    return one_line(os.path.relpath(file, workspace) if inside else file or "?")


def _source_lines(stop: results.StopEventData, known: Set[int] = frozenset()) -> list[str]:
    """The lines around the current one, without lines that the client knows and without isolated empty lines."""
    if stop.source_lines is None:
        return []
    numbered = enumerate(stop.source_lines.lines, stop.source_lines.start)
    new = [(number, line) for number, line in numbered if not known or (number not in known and line.strip())]
    return [f"{'>' if number == stop.line else ' '}{number:5}  {source_line(line)}" for number, line in new]


def _exception_line(exception: results.ExceptionAnswer | None) -> list[LocalizedText]:
    if exception is None:
        return []
    label = localize("uncaught exception") if exception.uncaught else label_of("exception")
    return [with_label(label, one_line(f"{exception.type}: {exception.message}", _EXCEPTION_IN_TEXT))]


def _locals_lines(found: results.TopFrameVariables | None) -> list[LocalizedText]:
    lines = variable_lines(found.variables) if found else []
    if not lines:
        return []
    rest = len(lines) - MAX_LOCALS
    more = [localize("  and {count} more: get_scopes, then get_variables", count=rest)] if rest > 0 else []
    return [localize("locals:"), *lines[:MAX_LOCALS], *more]


def _stack(seen: Stop, workspace: Path) -> list[LocalizedText]:
    """The stack, innermost frame first, with frame ids. Adjacent library frames are counted as one entry."""
    parts: list[str | LocalizedText] = []
    folded = 0
    for frame in seen.frames:
        if frame.is_library and parts:
            folded += 1
            continue
        parts += [localize("[{count} library]", count=folded)] if folded else []
        folded = 0
        parts.append(f"#{frame.id} {_at(frame, workspace)}")
    parts += [localize("[{count} library]", count=folded)] if folded else []
    hidden = max(0, len(parts) - _FRAMES_IN_TEXT) + max(0, seen.total_frames - len(seen.frames))
    shown = parts[:_FRAMES_IN_TEXT] + ([localize("[{count} more]", count=hidden)] if hidden else [])
    return [with_label(localize("stack"), join_texts(" < ", shown))] if len(shown) > 1 else []


def _threads(stop: results.StopEventData) -> list[LocalizedText]:
    shown = stop.other_threads or []
    rest = (stop.total_threads or 0) - 1 - len(shown)
    parts = [join_texts(" ", (it.thread_id, it.name, label_of(it.state))) for it in shown[:_THREADS_IN_TEXT]]
    hidden = rest + len(shown) - len(parts)
    parts += [localize("[{count} more: list_sessions]", count=hidden)] if hidden > 0 else []
    return [with_label(localize("other threads"), comma_list(parts))] if parts else []


def output_lines(output: str | None, printed: int = 0) -> list[LocalizedText]:
    """The end of the output, each line marked with a bar so that it cannot look like one of Dragoman's.

    `printed`: the number of lines before the text was cut.
    """
    lines = (output or "").splitlines()
    if not lines:
        return []
    left = max(printed, len(lines)) - min(len(lines), _OUTPUT_LINES_IN_TEXT)
    more = [localize("  ({count} earlier lines: get_output)", count=f"{left:,}")] if left > 0 else []
    tail = [f"  | {one_line(line, _LINE_CHARACTERS)}" for line in lines[-_OUTPUT_LINES_IN_TEXT:]]
    return [localize("output:"), *more, *_data(tail)]


def unbound_lines(unbound: Sequence[results.UnboundBreakpoint] | None, workspace: Path) -> list[LocalizedText]:
    return [
        line
        for it in unbound or ()
        for line in (
            localize("Breakpoint {id} is not bound:", id=it.id),
            *_data([f"  | {_unbound_at(it, workspace)} {one_line(it.reason)}"]),
        )
    ]


def _unbound_at(unbound: results.UnboundBreakpoint, workspace: Path) -> str:
    return f"{short_path(unbound.path, workspace)}:{unbound.line}" if unbound.path else f"{unbound.what}:"
