"""Where a program broke down: its own frames from there up, what they hold, and the values in the line that failed."""

from __future__ import annotations

import re
from collections.abc import Awaitable, Callable, Mapping, Sequence
from dataclasses import dataclass, replace

import msgspec

from dragoman.debug.evidence import python_rows
from dragoman.debug.evidence.failing_line import parts_of
from dragoman.debug.evidence.javascript_rows import thrown_below_own_code
from dragoman.debug.evidence.languages import language_of
from dragoman.debug.evidence.own_locals import is_own
from dragoman.debug.evidence.printed_chain import chain_printed
from dragoman.debug.evidence.printed_crash import Cause, printed_crash, python_crash
from dragoman.debug.evidence.probing import EVALUATED_WITHIN_S, Probing, said
from dragoman.debug.evidence.run import OUTPUT_CHARACTERS, End, Evidence, Run, Subject
from dragoman.debug.evidence.sheet import Cell, Limits, Sheet
from dragoman.debug.model import Frame, Raised, Stop, Variable
from dragoman.debug.service import Client
from dragoman.debug.states import State
from dragoman.errors import DragomanError
from dragoman.visible import without_colours

FRAMES = 8
_CAUSES = 8
_OPENED = 5
_MEMBERS = 20
_LEVELS = 3
_NULL = re.compile(r"0x0+")
_PAGES = 12
_IS_MEMBER = re.compile(r"[^\W\d]\w*|\[\d+\]")
_INNER = re.compile(r"\bArray\(\d+\)|\{…\}|: (?:Map|Set)\(\d+\)")  # as js-debug shows what is within
_ADDRESS = re.compile(r"^<[\w.<>]+ object at 0x[0-9a-f]+>$|^0x[0-9a-f]+$|^\w[\w:<>, *&]* ?@ ?0x[0-9a-f]+$|^\{\.\.\.\}$")
_ENDS_BY_ITSELF_WITHIN_S = 2.0
_PRINTED = 20_000
_REPORT = 100_000
_CAUGHT = 40
# A value that is code was not computed by the line; each adapter shows it in such words.
_IS_CODE = ("<function", "<built-in", "<module", "<class", "<bound method", "ƒ ", "class ")
# Such a name is bound by the line itself, inside a comprehension; or it is the failure, and told as that.
_NO_SUCH_NAME = re.compile(r"(?:Uncaught )?(?:NameError|ReferenceError)\b")

Lines = Callable[[str], Awaitable[Sequence[str] | None]]

# What is caught and ends the program all the same.
_CAUGHT_BY_ADAPTER = {"pwa-node": thrown_below_own_code(modules_alone=True)}
# The text of a worker's traceback, which its exception carries from one process to another.
_REMOTE = frozenset({"_RemoteTraceback", "RemoteTraceback"})


@dataclass(frozen=True, slots=True)
class SeenFrame:
    frame: Frame
    source: str = ""
    variables: tuple[Variable, ...] = ()
    values: tuple[tuple[str, Cell], ...] = ()
    """Of the parts of the line that failed."""


@dataclass(frozen=True, slots=True)
class Crash:
    end: End
    frames: tuple[SeenFrame, ...] = ()
    causes: tuple[Cause, ...] = ()
    printed: Raised | None = None
    """What it was, where the debugger did not stop and the program has said it."""
    session_id: str = ""
    """Of a session that is left to go on with."""
    state: str = ""

    @property
    def is_one(self) -> bool:
        """Whether it broke down at all."""
        ended = self.end.ended
        return self.end.how == "exception" or bool(ended and (ended.signal or ended.exit_code))


async def crashed(evidence: Evidence, client: Client, subject: Subject, lines: Lines, seconds: float) -> Crash:
    """A session that stands at an exception is explained as it stands; any other goes on to its end."""
    probing = Probing((), Sheet(Limits(seconds=seconds)), by_stops=True, caught=_CAUGHT_BY_ADAPTER)
    async with evidence.run(client, subject, probing) as run:
        crash = await _broken_down(run, lines)
        if crash.end.how == "exception" and run.is_own and crash.end.ended is None:
            crash = await _with_its_end(run, crash)
        if not crash.frames and crash.is_one:
            crash = await _as_printed(run, crash, lines)
        is_left = run.session.ended is None and not run.is_own
    return replace(crash, session_id=run.session.id, state=run.session.state.value) if is_left else crash


async def _broken_down(run: Run, lines: Lines) -> Crash:
    """Of what is caught on the way, the last that the program speaks of when it ends."""
    end, caught = await _end_of(run), list[tuple[int, Crash]]()
    while run.is_own and end.raised is not None and not end.raised.uncaught and run.left_s:
        if len(caught) < _CAUGHT:
            caught.append((run.session.output.end, await explained(run, end, lines)))
        elif run.probing.watched is not None:
            run.probing.watched = None
            await run.session.probe(run.probing)
        end = await run.went_on()
    if end.ended is None or not end.ended.exit_code:
        return await explained(run, end, lines)
    for position, crash in reversed(caught):
        printed = run.session.output.since(position, most=_PRINTED)[0]
        if crash.end.raised is not None and _first_line(crash.end.raised) in printed:
            ended = replace(crash.end, ended=end.ended, output=_before(end.output, printed))
            return _with_chain(run, replace(crash, end=ended), printed)
    return Crash(end)


def _first_line(raised: Raised) -> str:
    return next(iter(raised.message.strip().splitlines()), raised.type)


def _before(output: str, printed: str) -> str:
    """What it prints of its end is what is told here."""
    return output.removesuffix(printed)


async def _with_its_end(run: Run, crash: Crash) -> Crash:
    """What a language prints of it then is read, and not shown: it is what is told here."""
    printed = run.session.output.end
    crash = replace(crash, end=replace(crash.end, ended=await run.let_end(_ENDS_BY_ITSELF_WITHIN_S)))
    return _with_chain(run, crash, run.session.output.since(printed, most=_PRINTED)[0])


def _with_chain(run: Run, crash: Crash, printed: str) -> Crash:
    end, adapter_id = crash.end, run.session.launch.adapter_id
    if end.stop is None or end.raised is None or crash.causes:
        return crash
    raised, *causes = chain_printed(adapter_id, end.raised, printed)
    stop = msgspec.structs.replace(end.stop, raised=raised)
    # A sanitizer has reported by the time it stops.
    text = run.session.output.since(0, most=_REPORT)[0] if "Sanitizer" in raised.type else printed
    found = printed_crash(adapter_id, without_colours(text))
    told = tuple(Cause(it.type, it.message) for it in causes) or (found.causes if found else ())
    return replace(crash, end=replace(end, stop=stop), causes=told)


async def _as_printed(run: Run, crash: Crash, lines: Lines) -> Crash:
    """Where no debugger stopped: what the program said when it ended."""
    text = without_colours(run.session.output.since(0, most=_REPORT)[0])
    found = printed_crash(run.session.launch.adapter_id, text)
    if found is None:
        return crash
    frames = [SeenFrame(it, await _source(it, lines)) for it in found.frames]
    end = replace(crash.end, output=text[: found.start][-OUTPUT_CHARACTERS:])
    return replace(crash, end=end, frames=tuple(frames), causes=found.causes, printed=found.raised)


async def _source(frame: Frame, lines: Lines) -> str:
    text = await lines(frame.path) if frame.path else None
    return text[frame.line - 1].strip() if text and 0 < frame.line <= len(text) else ""


async def _end_of(run: Run) -> End:
    stop = run.session.stop
    if not run.is_own and stop is not None and stop.reason == "exception":
        return End("exception", stop=stop)
    return await run.finished()


async def explained(run: Run, end: End, lines: Lines) -> Crash:
    stop = end.stop
    if stop is None or run.session.state is not State.STOPPED:
        return Crash(end)
    own = [it for it in stop.frames if not it.is_library][:FRAMES] or list(stop.frames[:1])
    seen = [await _seen(run, frame, lines) for frame in own]
    if seen and end.how == "exception":
        seen[0] = await _with_values(run, seen[0], lines)
    return Crash(end, tuple(seen), await _causes(run, stop))


async def _seen(run: Run, frame: Frame, lines: Lines) -> SeenFrame:
    source = await _source(frame, lines)
    try:
        found = await run.session.looks.locals(frame.id)
    except DragomanError:
        found = None
    raised = run.session.launch.dialect.raised_local
    own = [it for it in (found.variables if found else ()) if it.name != raised and is_own(it)]
    return SeenFrame(frame, source, await _opened(run, frame, own))


async def _opened(run: Run, frame: Frame, variables: Sequence[Variable]) -> tuple[Variable, ...]:
    """Where a debugger shows an address alone, or containers in a container by their length, what stands there."""
    chosen = [it for it in variables if it.reference and (_ADDRESS.search(it.value) or _INNER.search(it.value))]
    shown = await _shown_whole(run, frame, chosen[:_OPENED])
    return tuple(shown.get(it.name, it) for it in variables)


async def _shown_whole(run: Run, frame: Frame, chosen: Sequence[Variable]) -> dict[str, Variable]:
    """By one question where the language has one that changes nothing; else by opening them, level by level."""
    cells: list[Cell] = []
    if run.session.launch.adapter_id == "pwa-node":
        cells = await _evaluated(run, [it.evaluate_name or it.name for it in chosen], frame)
    left = [_PAGES]
    found: dict[str, Variable] = {}
    for at, variable in enumerate(chosen):
        cell = cells[at] if at < len(cells) else Cell("", failed=True)
        value = await _members(run, variable, _LEVELS, left) if cell.failed else cell.text
        found[variable.name] = msgspec.structs.replace(variable, value=value)
    return found


async def _members(run: Run, variable: Variable, levels: int, left: list[int]) -> str:
    """`left`: how many may still be opened."""
    left[0] -= 1
    try:
        page = await run.session.looks.page(variable.reference, start=0, count=_MEMBERS)
    except DragomanError:
        return variable.value
    shown = []
    for it in page.variables:
        if not _IS_MEMBER.fullmatch(it.name) or it.name.startswith("__"):
            continue
        is_cut = bool(it.reference) and bool(_ADDRESS.search(it.value)) and not _NULL.fullmatch(it.value)
        is_opened = is_cut and levels > 1 and left[0] > 0
        shown.append(f"{it.name}={await _members(run, it, levels - 1, left) if is_opened else it.value}")
    return f"{variable.type or ''}({', '.join(shown)})" if shown else variable.value


async def _with_values(run: Run, seen: SeenFrame, lines: Lines) -> SeenFrame:
    frame = seen.frame
    text = await lines(frame.path) if frame.path else None
    parts = parts_of(text or (), frame.line, frame.path)
    cells = await _evaluated(run, parts, frame)
    told = [(part, cell) for part, cell in zip(parts, cells, strict=False) if _is_telling(cell)]
    failed = [part for part, cell in told if cell.failed]
    shown = [(part, cell) for part, cell in told if not (cell.failed and _holds_another(part, failed))]
    return replace(seen, values=tuple(shown))


def _is_telling(cell: Cell) -> bool:
    return not (_NO_SUCH_NAME.match(cell.text) if cell.failed else cell.text.startswith(_IS_CODE))


def _holds_another(part: str, failed: Sequence[str]) -> bool:
    """Of a chain that fails, the first link that does."""
    return any(part != it and part.startswith(it) and not part[len(it)].isalnum() for it in failed)


async def _causes(run: Run, stop: Stop) -> tuple[Cause, ...]:
    if run.session.launch.adapter_id != "debugpy" or stop.raised is None:
        return ()
    cell = await _cell(run, python_rows.asked_causes(_CAUSES), stop.frames[0], "watch")
    try:
        found = python_rows.answered_causes(cell.text) if not cell.failed else []
    except (ValueError, SyntaxError, TypeError):
        return ()
    return tuple(_cause(*it) for it in found)


def _cause(type: str, text: str, place: tuple[str, int, str] | None, values: Mapping[str, str]) -> Cause:
    """Of a worker in another process the text of its traceback says all."""
    remote = python_crash(text.strip().strip('"').lstrip()) if type in _REMOTE else None
    if remote is not None:
        return Cause(remote.raised.type, remote.raised.message, next(iter(remote.frames), None))
    frame = Frame(id=0, path=place[0], line=place[1], name=place[2]) if place else None
    variables = tuple(Variable(name=name, value=value) for name, value in values.items())
    return Cause(type, text, frame, tuple(it for it in variables if is_own(it)))


async def _evaluated(run: Run, expressions: Sequence[str], frame: Frame) -> list[Cell]:
    """Together where the language can say that; one by one where not, and none after one that did not end."""
    combination = language_of(run.session.launch.adapter_id).combination
    if not expressions:
        return []
    if combination is None:
        return [await _cell(run, it, frame, "watch") for it in expressions]
    together = await _cell(run, combination.asked(expressions), frame, combination.context)
    try:
        return [] if together.failed else combination.answered(together.text)
    except (ValueError, SyntaxError):
        return []


async def _cell(run: Run, expression: str, frame: Frame, context: str) -> Cell:
    looks = run.session.looks
    try:
        found = await looks.evaluate(expression, frame.id, context, timeout_s=EVALUATED_WITHIN_S, thread_id=None)
    except DragomanError as error:
        return Cell(said(error), failed=True)
    return Cell(found.result)
