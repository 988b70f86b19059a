"""Explains a crash: the program's own frames, their variables, and the values in the line that failed."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace

import msgspec

from dragoman.core.errors import DragomanError
from dragoman.core.safe_text import strip_colors
from dragoman.debug.evidence import python_evaluation
from dragoman.debug.evidence.evaluation import language_of
from dragoman.debug.evidence.evidence_probe import EVALUATION_TIMEOUT_S, EvidenceProbe, error_line
from dragoman.debug.evidence.expressions import line_parts
from dragoman.debug.evidence.javascript_evaluation import own_code_throw_condition
from dragoman.debug.evidence.printed_crash import (
    CrashCause,
    PrintedCrash,
    read_printed_chain,
    read_printed_crash,
    read_python_traceback,
)
from dragoman.debug.evidence.run import OUTPUT_CHARACTERS, EvidenceRun, EvidenceService, EvidenceSource, RunOutcome
from dragoman.debug.evidence.tracepoints import Cell, ReadLines, TraceLimits, TraceTable, is_user_variable
from dragoman.debug.model import FrameInfo, RaisedException, SessionState, Stop, VariableInfo
from dragoman.workspace.caller import Caller

_LONG_NULL = re.compile(r"0x0{8,}(?=[0-9a-f])")
MAX_FRAMES = 8
_MOST_CAUSES = 8
_MOST_THREADS = 16
_THREAD_FRAMES = 20
_MOST_EXPANDED = 5
_MOST_MEMBERS = 20
_MOST_LEVELS = 3
_MOST_PAGES = 12
_OWN_EXIT_TIMEOUT_S = 2.0
_PRINTED_CHARACTERS = 20_000
_REPORT_CHARACTERS = 100_000
_MOST_CAUGHT = 40
# A value that is a function or class was not computed by the line. This is how the adapters show such values.
_IS_CODE = ("<function", "<built-in", "<module", "<class", "<bound method", "ƒ ", "class ")


_NULL = re.compile(r"0x0+")
_IS_MEMBER = re.compile(r"[^\W\d]\w*|\[\d+\]")
_INNER = re.compile(r"\bArray\(\d+\)|\{…\}|: (?:Map|Set)\(\d+\)")  # js-debug shows the content this way
_ADDRESS = re.compile(r"^<[\w.<>]+ object at 0x[0-9a-f]+>$|^0x[0-9a-f]+$|^\w[\w:<>, *&]* ?@ ?0x[0-9a-f]+$|^\{\.\.\.\}$")
# A name that is not defined is bound inside a comprehension of the line itself, or it is the failure and is reported
# as such.
_NO_SUCH_NAME = re.compile(r"(?:Uncaught )?(?:NameError|ReferenceError)\b")


_CHAINED = re.compile(r"(?s)\[Chained Exc: (?P<message>.*)\] (?P<name>\S+)$")
# Exceptions that end the program although something catches them.
_CAUGHT_BY_ADAPTER = {"pwa-node": own_code_throw_condition(modules_alone=True)}
# The text of a worker process's traceback, which its exception brings along.
_REMOTE_TRACEBACKS = frozenset({"_RemoteTraceback", "RemoteTraceback"})


@dataclass(frozen=True, slots=True)
class ExplainedFrame:
    frame: FrameInfo
    source: str = ""
    variables: tuple[VariableInfo, ...] = ()
    values: tuple[tuple[str, Cell], ...] = ()
    """Of the parts of the line that failed."""


@dataclass(frozen=True, slots=True)
class CrashReport:
    """What a crash explanation found. It may also describe a run that did not crash."""

    end: RunOutcome
    frames: tuple[ExplainedFrame, ...] = ()
    causes: tuple[CrashCause, ...] = ()
    more_frames: int = 0
    """How many of the user's frames are beyond those, and of any code beyond those that were read."""
    printed: RaisedException | None = None
    """What it was, where the debugger did not stop and the program has said it."""
    session_id: str = ""
    """Of a session that is left to go on with."""
    state: str = ""

    @property
    def has_crashed(self) -> bool:
        """Whether it broke down at all."""
        ended = self.end.ended
        return self.end.how == "exception" or bool(ended and (ended.signal or ended.exit_code))


async def explain_crash(
    evidence: EvidenceService, caller: Caller, subject: EvidenceSource, lines: ReadLines, seconds: float
) -> CrashReport:
    """A session that stands at an exception is explained as it stands; any other goes on to its end."""
    probe = EvidenceProbe((), TraceTable(TraceLimits(seconds=seconds)), by_stops=True, caught=_CAUGHT_BY_ADAPTER)
    async with evidence.run(caller, subject, probe) as run:
        crash = await _run_to_crash(run, lines)
        if crash.end.how == "exception" and run.owns_session and crash.end.ended is None:
            crash = await _with_exit(run, crash)
        if not crash.frames and crash.has_crashed:
            crash = await _from_output(run, crash, lines)
        is_left = run.session.ended is None and not run.owns_session
    return replace(crash, session_id=run.session.id, state=run.session.state.value) if is_left else crash


async def _run_to_crash(run: EvidenceRun, lines: ReadLines) -> CrashReport:
    """Of what is caught on the way, the last that the program speaks of when it ends."""
    end, caught = await _end_of(run), list[tuple[int, CrashReport]]()
    while run.owns_session and end.raised is not None and not end.raised.uncaught and run.remaining_s:
        if len(caught) < _MOST_CAUGHT:
            caught.append((run.session.output.end, await describe_end(run, end, lines)))
        elif run.probe.watched is not None:
            run.probe.watched = None
            await run.session.probe(run.probe)
        end = await run.run_on()
    if end.ended is None or not end.ended.exit_code:
        return await describe_end(run, end, lines)
    for position, crash in reversed(caught):
        printed = run.session.output.since(position, most=_PRINTED_CHARACTERS)[0]
        if crash.end.raised is not None and _first_line(crash.end.raised) in printed:
            ended = replace(crash.end, ended=end.ended, output=_before(end.output, printed))
            return _with_chain(run, replace(crash, end=ended), printed)
    return CrashReport(end)


def _first_line(raised: RaisedException) -> str:
    return next(iter(raised.message.strip().splitlines()), raised.type)


def _before(output: str, printed: str) -> str:
    """What it prints of its end is what is shown here."""
    return output.removesuffix(printed)


async def _with_exit(run: EvidenceRun, crash: CrashReport) -> CrashReport:
    """What a language prints of it then is read, and not shown: it is what is explained here."""
    printed = run.session.output.end
    crash = replace(crash, end=replace(crash.end, ended=await run.wait_for_exit(_OWN_EXIT_TIMEOUT_S)))
    return _with_chain(run, crash, run.session.output.since(printed, most=_PRINTED_CHARACTERS)[0])


def _with_chain(run: EvidenceRun, crash: CrashReport, printed: str) -> CrashReport:
    end, adapter_id = crash.end, run.session.launch.adapter_id
    if end.stop is None or end.raised is None or crash.causes:
        return crash
    raised, *causes = read_printed_chain(adapter_id, end.raised, printed)
    stop = msgspec.structs.replace(end.stop, raised=raised)
    # At this stop, the sanitizer has already printed its report.
    text = run.session.output.since(0, most=_REPORT_CHARACTERS)[0] if "Sanitizer" in raised.type else printed
    found = read_printed_crash(adapter_id, strip_colors(text))
    led_to_it = tuple(CrashCause(it.type, it.message) for it in causes) or (found.causes if found else ())
    return replace(crash, end=replace(end, stop=stop), causes=led_to_it)


async def _from_output(run: EvidenceRun, crash: CrashReport, lines: ReadLines) -> CrashReport:
    """Where no debugger stopped: what the program said when it ended."""
    text = strip_colors(run.session.output.since(0, most=_REPORT_CHARACTERS)[0])
    found = read_printed_crash(run.session.launch.adapter_id, text)
    if found is None:
        return crash
    frames = [ExplainedFrame(it, await _source(it, lines)) for it in found.frames]
    end = replace(crash.end, output=text[: found.start][-OUTPUT_CHARACTERS:])
    return replace(crash, end=end, frames=tuple(frames), causes=found.causes, printed=found.raised)


async def describe_printed(end: RunOutcome, found: PrintedCrash, lines: ReadLines) -> CrashReport:
    frames = [ExplainedFrame(it, await _source(it, lines)) for it in found.frames]
    return CrashReport(replace(end, stop=None), tuple(frames), found.causes, printed=found.raised)


async def _source(frame: FrameInfo, lines: ReadLines) -> str:
    text = await lines(frame.path) if frame.path else None
    return text[frame.line - 1].strip() if text and 0 < frame.line <= len(text) else ""


async def _end_of(run: EvidenceRun) -> RunOutcome:
    stop = run.session.stop
    if not run.owns_session and stop is not None and stop.reason == "exception":
        return RunOutcome("exception", stop=stop)
    return await run.run_to_end()


async def describe_end(run: EvidenceRun, end: RunOutcome, lines: ReadLines) -> CrashReport:
    stop = end.stop
    if stop is None or run.session.state is not SessionState.STOPPED:
        return CrashReport(end)
    chained = [it for it in stop.frames if _CHAINED.match(it.name)]
    all_own = [it for it in stop.frames if not it.is_library and it not in chained]
    own = all_own[:MAX_FRAMES] or await _waiting_frames(run, stop) or list(stop.frames[:1])
    more = len(all_own[MAX_FRAMES:]) + (max(0, stop.total_frames - len(stop.frames)) if all_own[MAX_FRAMES:] else 0)
    seen = [await _describe_frame(run, frame, lines) for frame in own]
    if seen and end.how == "exception":
        seen[0] = await _with_values(run, seen[0], lines)
    return CrashReport(end, tuple(seen), await _causes(run, stop) or await _chained_causes(run, chained), more)


async def _waiting_frames(run: EvidenceRun, stop: Stop) -> list[FrameInfo]:
    """Of the first thread that stands in the user's code, where all wait and the one that is reported does not."""
    if stop.reason != "exception":
        return []
    try:
        for thread in (await run.session.inspection.threads(placed=False))[:_MOST_THREADS]:
            frames, _ = await run.session.inspection.stack(thread.id, 0, _THREAD_FRAMES)
            if own := [it for it in frames if not it.is_library]:
                return own[:MAX_FRAMES]
    except DragomanError:
        pass
    return []


async def _describe_frame(run: EvidenceRun, frame: FrameInfo, lines: ReadLines) -> ExplainedFrame:
    source = await _source(frame, lines)
    try:
        found = await run.session.inspection.locals(frame.id)
    except DragomanError:
        found = None
    raised = run.session.launch.quirks.raised_local
    own = [it for it in (found.variables if found else ()) if it.name != raised and is_user_variable(it)]
    return ExplainedFrame(frame, source, await _expand_variables(run, frame, own))


async def _expand_variables(
    run: EvidenceRun, frame: FrameInfo, variables: Sequence[VariableInfo]
) -> tuple[VariableInfo, ...]:
    """Where a debugger shows an address alone, or containers in a container by their length, what stands there."""
    chosen = [it for it in variables if it.reference and (_ADDRESS.search(it.value) or _INNER.search(it.value))]
    shown = await _expanded_values(run, frame, chosen[:_MOST_EXPANDED])
    return tuple(shown.get(it.name, it) for it in variables)


async def _expanded_values(
    run: EvidenceRun, frame: FrameInfo, chosen: Sequence[VariableInfo]
) -> dict[str, VariableInfo]:
    """By one question where the language has one that changes nothing; else by opening them, level by level."""
    cells: list[Cell] = []
    if run.session.launch.adapter_id == "pwa-node":
        cells = await _evaluate_all(run, [it.evaluate_name or it.name for it in chosen], frame)
    left = [_MOST_PAGES]
    found: dict[str, VariableInfo] = {}
    for at, variable in enumerate(chosen):
        cell = cells[at] if at < len(cells) else Cell("", failed=True)
        value = await _members(run, variable, _MOST_LEVELS, left) if cell.failed else cell.text
        found[variable.name] = msgspec.structs.replace(variable, value=value)
    return found


async def _members(run: EvidenceRun, variable: VariableInfo, levels: int, left: list[int]) -> str:
    """`left`: how many may still be opened."""
    left[0] -= 1
    try:
        page = await run.session.inspection.page(variable.reference, start=0, count=_MOST_MEMBERS)
    except DragomanError:
        return variable.value
    shown = []
    for it in page.variables:
        if not _IS_MEMBER.fullmatch(it.name) or it.name.startswith("__"):
            continue
        is_cut = bool(it.reference) and bool(_ADDRESS.search(it.value)) and not _NULL.fullmatch(it.value)
        is_opened = is_cut and levels > 1 and left[0] > 0
        shown.append(
            f"{it.name}={await _members(run, it, levels - 1, left) if is_opened else _LONG_NULL.sub('0x', it.value)}"
        )
    return f"{variable.type or ''}({', '.join(shown)})" if shown else variable.value


async def _with_values(run: EvidenceRun, seen: ExplainedFrame, lines: ReadLines) -> ExplainedFrame:
    frame = seen.frame
    text = await lines(frame.path) if frame.path else None
    parts = line_parts(text or (), frame.line, frame.path)
    cells = await _evaluate_all(run, parts, frame)
    informative = [(part, cell) for part, cell in zip(parts, cells, strict=False) if _is_informative(cell)]
    failed = [part for part, cell in informative if cell.failed]
    shown = [(part, cell) for part, cell in informative if not (cell.failed and _contains_failed_part(part, failed))]
    return replace(seen, values=tuple(shown))


def _is_informative(cell: Cell) -> bool:
    return not (_NO_SUCH_NAME.match(cell.text) if cell.failed else cell.text.startswith(_IS_CODE))


def _contains_failed_part(part: str, failed: Sequence[str]) -> bool:
    """Of a chain that fails, the first link that does."""
    return any(part != it and part.startswith(it) and not part[len(it)].isalnum() for it in failed)


async def _causes(run: EvidenceRun, stop: Stop) -> tuple[CrashCause, ...]:
    if run.session.launch.adapter_id != "debugpy" or stop.raised is None:
        return ()
    cell = await _evaluate_cell(run, python_evaluation.build_causes_query(_MOST_CAUSES), stop.frames[0], "watch")
    try:
        found = python_evaluation.parse_causes(cell.text) if not cell.failed else []
    except (ValueError, SyntaxError, TypeError):
        return ()
    return tuple(_cause(*it) for it in found)


async def _chained_causes(run: EvidenceRun, frames: Sequence[FrameInfo]) -> tuple[CrashCause, ...]:
    """As debugpy names the frames of what led to an exception: each chain from the outside in, and without a type."""
    found: dict[str, FrameInfo] = {}
    for frame in frames:
        named = _CHAINED.match(frame.name)
        if named and not frame.is_library:
            found[named["message"]] = msgspec.structs.replace(frame, name=named["name"])
    seen = [(message, await _describe_frame(run, it, _no_lines)) for message, it in found.items()]
    return tuple(CrashCause("", message, it.frame, it.variables) for message, it in seen[:_MOST_CAUSES])


async def _no_lines(_path: str) -> None:
    return None


def _cause(type: str, text: str, place: tuple[str, int, str] | None, values: Mapping[str, str]) -> CrashCause:
    """Of a worker in another process the text of its traceback says all."""
    remote = read_python_traceback(text.strip().strip('"').lstrip()) if type in _REMOTE_TRACEBACKS else None
    if remote is not None:
        return CrashCause(remote.raised.type, remote.raised.message, next(iter(remote.frames), None))
    frame = FrameInfo(id=0, path=place[0], line=place[1], name=place[2]) if place else None
    variables = tuple(VariableInfo(name=name, value=value) for name, value in values.items())
    return CrashCause(type, text, frame, tuple(it for it in variables if is_user_variable(it)))


async def _evaluate_all(run: EvidenceRun, expressions: Sequence[str], frame: FrameInfo) -> list[Cell]:
    """Together where the language can say that; one by one where not, and none after one that did not end."""
    combination = language_of(run.session.launch.adapter_id).combination
    if not expressions:
        return []
    if combination is None:
        return [await _evaluate_cell(run, it, frame, "watch") for it in expressions]
    together = await _evaluate_cell(run, combination.build_query(expressions), frame, combination.context)
    try:
        return [] if together.failed else combination.parse_result(together.text)
    except (ValueError, SyntaxError):
        return []


async def _evaluate_cell(run: EvidenceRun, expression: str, frame: FrameInfo, context: str) -> Cell:
    inspection = run.session.inspection
    try:
        found = await inspection.evaluate(expression, frame.id, context, timeout_s=EVALUATION_TIMEOUT_S, thread_id=None)
    except DragomanError as error:
        return Cell(error_line(error), failed=True)
    return Cell(found.result)
