"""What to run and where to look: parameters that every evidence tool takes.

js-debug has no function breakpoints, so a JavaScript function is searched in its source.
"""

from __future__ import annotations

import contextlib
import re
from collections.abc import Collection, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Annotated, Any

import anyio
import anyio.to_thread
import msgspec
from pydantic import Field

from dragoman.core.errors import DragomanError, ErrorSpec
from dragoman.core.localization import localize
from dragoman.debug import source_files
from dragoman.debug.backends.adapters import PYTHON
from dragoman.debug.evidence.run import EvidenceSource
from dragoman.debug.evidence.stepping.function_search import FunctionSearch
from dragoman.debug.evidence.stepping.return_places import ReturnPlace, return_places
from dragoman.debug.evidence.stepping.source_languages import language_of_file
from dragoman.debug.evidence.tracepoints import RETURN_NAME, ReadLines, Tracepoint, names_return
from dragoman.debug.launch.commands.command_line import read_command_words
from dragoman.debug.launch.workspace_files import list_configurations
from dragoman.debug.model import LaunchRequest
from dragoman.debug.service import DebugService
from dragoman.tools.debug.breakpoint_validation import require_function
from dragoman.tools.debug.parameters import MAX_STDIN, MAX_VARIABLES, LineNumber, Text
from dragoman.tools.debug.session_lookup import stack_files
from dragoman.tools.debug.source_locations import SourceLocations
from dragoman.tools.evidence.commands import MAX_COMMAND_LINE, MAX_TEST_ID, command_target
from dragoman.tools.json_schema import Maybe
from dragoman.tools.tool import Parameters
from dragoman.workspace.caller import Caller

START_PARAMETERS = ("configuration_name", "configuration", "program", "test", "command", "session_id")
_LAUNCH_ONLY_PARAMETERS = ("args", "cwd", "env", "stdin", "file")
_DEFINITIONS = (
    r"\bfunction\s*\*?\s*{name}\s*[(<]",
    r"\b{name}\s*[:=]\s*(?:async\s*)?(?:function\b|\(|[\w$]+\s*=>)",
    r"^\s*(?:(?:public|private|protected|static|async|get|set)\s+|\*\s*)*#?{name}\s*(?:<[^>]*>)?\([^;]*$",
)


class RunTargetParameters(Parameters):
    """What to run, in exactly one of six ways. A session is used where it stopped; everything else is started for this
    call only.
    """

    test: Annotated[str, Field(max_length=MAX_TEST_ID)] = ""
    command: Annotated[str, Field(max_length=MAX_COMMAND_LINE)] = ""
    configuration_name: Annotated[str, Field(max_length=1000)] = ""
    configuration: Annotated[dict[str, Any], Field(default_factory=dict)]
    program: Annotated[str, Field(max_length=4096)] = ""
    args: Annotated[list[Text], Field(default_factory=list, max_length=1000)]
    cwd: Annotated[str, Field(max_length=4096)] = ""
    env: Annotated[dict[str, Text], Field(default_factory=dict, max_length=MAX_VARIABLES)]
    stdin: Annotated[Maybe[str], Field(max_length=MAX_STDIN)] = None
    file: Annotated[str, Field(max_length=4096)] = ""
    session_id: Annotated[str, Field(max_length=100, description="Resume this stopped session instead.")] = ""


def evidence_source(caller: Caller, wanted: RunTargetParameters) -> EvidenceSource:
    given = [way for way in START_PARAMETERS if getattr(wanted, way)]
    if len(given) != 1:
        raise DragomanError(
            "bad_arguments",
            localize(
                "Pass exactly one of `program`, `test`, `command`, `configuration_name`, `configuration` and "
                "`session_id`."
            ),
            hint=localize("get_debugger_configurations lists the names; list_sessions lists stopped sessions."),
        )
    if wanted.session_id:
        _require_no_start(wanted)
        return EvidenceSource(session_id=wanted.session_id)
    if wanted.test or wanted.command:
        found = command_target(caller, wanted.test, wanted.command, wanted.cwd, wanted.env, wanted.args)
        return EvidenceSource(launch_request=replace(found.launch_request, stdin=wanted.stdin, file=wanted.file))
    return EvidenceSource(
        launch_request=LaunchRequest(
            configuration_name=wanted.configuration_name,
            configuration=wanted.configuration,
            program=wanted.program,
            args=tuple(wanted.args),
            cwd=wanted.cwd,
            env=wanted.env,
            stdin=wanted.stdin,
            file=wanted.file,
        )
    )


def _require_no_start(wanted: RunTargetParameters) -> None:
    if any(getattr(wanted, name) for name in _LAUNCH_ONLY_PARAMETERS):
        raise DragomanError(
            "bad_arguments",
            localize("`args`, `cwd`, `env`, `stdin` and `file` apply only to a start; the session is running."),
        )


_SUFFIXES = frozenset({".js", ".mjs", ".cjs", ".jsx", ".ts", ".mts", ".cts", ".tsx"})


def has_function_search(path: str) -> bool:
    return Path(path).suffix in _SUFFIXES


def first_line_of(function: str, lines: Sequence[str]) -> int | None:
    """The first line of the function's body, in the named class if there is one. The first match wins."""
    owner, _, last = function.rpartition(".")
    start, end = _class_range(owner.rpartition(".")[2], lines) or (0, len(lines))
    name = re.escape(last)
    for pattern in _DEFINITIONS:
        for at in range(start, end):
            if re.search(pattern.format(name=name), lines[at]):
                return _body_line(at, lines)
    return None


def _class_range(name: str, lines: Sequence[str]) -> tuple[int, int] | None:
    """The lines of a class, by indentation."""
    pattern = re.compile(rf"^(\s*)(?:export\s+|default\s+|abstract\s+|const\s+\w+\s*=\s*)*class\s+{re.escape(name)}\b")
    for at, line in enumerate(lines if name else ()):
        found = pattern.match(line)
        if found:
            ends = (it for it in range(at + 1, len(lines)) if re.match(rf"{found[1]}\S", lines[it]))
            return at, next(ends, len(lines))
    return None


def _body_line(at: int, lines: Sequence[str]) -> int:
    """The first line of the body that is not empty; the same line if the function has only one."""
    opening = next((it for it in range(at, len(lines)) if re.search(r"\{\s*$|=>\s*$", lines[it])), None)
    if opening is None or re.search(r"\{.*\}|=>\s*[^\s{]", lines[at]):
        return at + 1
    inside = (it for it in range(opening + 1, len(lines)) if lines[it].strip() and not _is_comment(lines[it]))
    return next(inside, at) + 1


def _is_comment(line: str) -> bool:
    return line.strip().startswith(("//", "/*", "*"))


class LocationParameters(Parameters):
    """A location in the program: a line, text unique to one line, or the entry of a function."""

    file_path: Annotated[str, Field(max_length=4096, description="Default: the program.")] = ""
    line_number: Maybe[LineNumber] = None
    line_text: Annotated[str, Field(max_length=1000, description="Or text unique to one line.")] = ""
    function: Annotated[str, Field(max_length=1000, description="Or a function's entry.")] = ""

    @property
    def is_given(self) -> bool:
        return bool(self.line_number is not None or self.line_text or self.function)


class TraceLocationParameters(LocationParameters):
    """Also each return of a function."""

    returns: Annotated[str, Field(max_length=1000, description="Or a function's returns: `__return__`.")] = ""


@dataclass(frozen=True, slots=True)
class LocationFinder:
    service: DebugService
    locations: SourceLocations

    async def point(
        self,
        caller: Caller,
        subject: RunTargetParameters,
        wanted: LocationParameters,
        expressions: tuple[str, ...],
        condition: str = "",
    ) -> Tracepoint:
        """The location where the expressions are evaluated. Raises if it does not exist."""
        ways = [wanted.line_number is not None, bool(wanted.line_text), bool(wanted.function)]
        if sum(ways) != 1:
            raise (_one_location if isinstance(wanted, TraceLocationParameters) else _one_place)()
        named = stack_files(self.service, caller)
        if wanted.function:
            found = await self._searched(caller, subject, wanted, named)
            return msgspec.structs.replace(found, condition=condition, expressions=expressions)
        path, line = await self.locations.resolve_line(
            wanted.file_path or self._default(caller, subject),
            caller.workspace,
            named,
            wanted.line_number,
            wanted.line_text,
        )
        return Tracepoint(path=path, line=line, condition=condition, expressions=expressions)

    async def points(
        self,
        caller: Caller,
        subject: RunTargetParameters,
        wanted: TraceLocationParameters,
        expressions: tuple[str, ...],
        condition: str = "",
    ) -> list[Tracepoint]:
        """The location, or each place where the function returns."""
        if not wanted.returns:
            return [await self.point(caller, subject, wanted, expressions, condition)]
        if wanted.function or wanted.line_number is not None or wanted.line_text:
            raise _one_location()
        named = stack_files(self.service, caller)
        path = (await self.locations.read(wanted.file_path, caller.workspace, named))[0] if wanted.file_path else ""
        file = self._file_of(subject, wanted)
        if not await self.is_python(caller, subject, file) and (
            found := await self._returns(caller, subject, wanted, path)
        ):
            return [_at_return_statement(it, expressions, condition) for it in found]
        entry = LocationParameters(file_path=wanted.file_path, function=wanted.returns)
        known = await self._searched(caller, subject, entry, named)
        if not known.function:
            raise no_such_function()
        asked = expressions if any(map(names_return, expressions)) else (RETURN_NAME, *expressions)
        return [msgspec.structs.replace(known, path=path, condition=condition, expressions=asked, at_return=True)]

    async def _returns(
        self, caller: Caller, subject: RunTargetParameters, wanted: TraceLocationParameters, path: str
    ) -> list[ReturnPlace]:
        """In the source of languages whose debuggers do not say what is returned."""
        file = self._file_of(subject, wanted)
        search = FunctionSearch(caller.workspace)
        suffixes = language.suffixes if (language := language_of_file(file)) else frozenset[str]()
        named = await search.named(wanted.returns, suffixes)
        folder = caller.workspace / subject.program  # a program may be a folder, as in Go
        folder = folder if await anyio.Path(folder).is_dir() else caller.workspace
        functions = [it for it in named if it.path == path or (not path and Path(it.path).is_relative_to(folder))]
        sources = [(it, await search.source(it.path)) for it in functions]
        return [place for it, source in sources if source is not None for place in return_places(source, it)]

    @staticmethod
    def _file_of(subject: RunTargetParameters, wanted: LocationParameters) -> str:
        file = wanted.file_path or subject.program or str(subject.configuration.get("program") or "")
        return file if source_files.is_source_file(file) and "$" not in file else ""

    def lines(self, caller: Caller) -> ReadLines:
        """The source of a file of the program, for what is read while it runs."""

        async def lines(path: str) -> Sequence[str] | None:
            return await self.locations.sources.lines(path, caller.workspace, (path,))

        return lines

    async def _searched(
        self, caller: Caller, subject: RunTargetParameters, wanted: LocationParameters, named: Collection[str]
    ) -> Tracepoint:
        """Search a function in the source if the debugger cannot find it by name."""
        file = self._file_of(subject, wanted)
        is_read = has_function_search(file) or Path(file).suffix in source_files.PYTHON
        path, lines = await self.locations.read(file, caller.workspace, named) if is_read else ("", None)
        if has_function_search(file):
            line = first_line_of(wanted.function, lines or ())
            if line is None:
                raise no_such_function()
            return Tracepoint(path=path, line=line)
        is_found = await require_function(
            wanted.function,
            caller.workspace,
            is_python=await self.is_python(caller, subject, file),
            besides={**dict.fromkeys(named), **({path: "\n".join(lines)} if lines is not None else {})},
        )
        return Tracepoint(function=wanted.function, is_unknown=not is_found)

    async def is_python(self, caller: Caller, subject: RunTargetParameters, file: str) -> bool | None:
        """Whether the program is Python, by the file, the session or the target; None if unknown."""
        if file:
            return Path(file).suffix in source_files.PYTHON
        if subject.session_id:
            session = self.service.find(caller, subject.session_id)
            return session.launch.quirks.suffixes == source_files.PYTHON
        if subject.test or subject.command:
            launch_request = evidence_source(caller, subject).launch_request
            return launch_request is not None and launch_request.configuration.get("type") in PYTHON.types
        configuration = subject.configuration
        if subject.configuration_name:
            configuration = await anyio.to_thread.run_sync(
                _configuration_named, caller.workspace, subject.configuration_name
            )
        if "module" in configuration or configuration.get("type") in PYTHON.types:
            return True
        program = subject.program or str(configuration.get("program") or "")
        return _starts_python([program, *subject.args], caller, subject.cwd) if program and "$" not in program else None

    def _default(self, caller: Caller, subject: RunTargetParameters) -> str:
        """The default file: the program, or the file where the session stopped."""
        program = subject.program or str(subject.configuration.get("program", "")) or subject.test.partition("::")[0]
        if program and "$" not in program and (not subject.test or source_files.is_source_file(program)):
            return program
        if subject.session_id:
            frame = self.service.find(caller, subject.session_id).require_stopped().frame
            if frame is not None and frame.path:
                return frame.path
        raise DragomanError("bad_arguments", localize("Pass `file_path`: what is run does not name a file."))


def _at_return_statement(place: ReturnPlace, expressions: tuple[str, ...], condition: str) -> Tracepoint:
    if not place.is_certain:
        raise _return_within_line(file=Path(place.path).name, line=place.line)
    returned = place.values[0] if len(place.values) == 1 else ""
    point = Tracepoint(path=place.path, line=place.line, returned=returned)
    if not returned and any(map(names_return, (condition, *expressions))):
        raise _unreadable_return(file=Path(place.path).name, line=place.line)
    shown = tuple(map(point.readable, expressions)) or place.values
    conditions = [it for it in (place.condition, point.readable(condition)) if it]
    conditions = [f"({it})" for it in conditions] if len(conditions) > 1 else conditions
    language = language_of_file(place.path)
    joined = f" {language.conjunction if language else '&&'} ".join(conditions)
    return msgspec.structs.replace(point, condition=joined, expressions=shown)


_return_within_line = ErrorSpec(
    "bad_arguments",
    "{file}:{line} does something else before it returns, so a stop there is not always a return.",
    "Trace the whole call, which shows its result.",
)


_one_place = ErrorSpec("bad_arguments", "Pass exactly one of `line_number`, `line_text` and `function`.")
_one_location = ErrorSpec("bad_arguments", "Pass exactly one of `line_number`, `line_text`, `function` and `returns`.")
_unreadable_return = ErrorSpec(
    "bad_arguments",
    "What {file}:{line} returns can only be read by computing it again, which may change the program.",
    "Leave `__return__` out, or trace the whole call.",
)


def _configuration_named(workspace: Path, name: str) -> dict[str, Any]:
    with contextlib.suppress(DragomanError):
        return next((it for it in list_configurations(workspace).configurations if it.get("name") == name), {})
    return {}


def _starts_python(words: Sequence[str], caller: Caller, cwd: str) -> bool | None:
    """Whether a command such as `python3` or `pytest` runs Python; None if unknown."""
    try:
        found = read_command_words(
            words, caller.cwd / Path(cwd), caller.environment, workspace=caller.workspace
        ).launch_request
    except DragomanError:
        return None
    return found.configuration.get("type") in PYTHON.types if found.configuration else None


no_such_function = ErrorSpec(
    "no_such_function", "No function in the file has this name.", "Pass its `file_path` or a `line_number`."
)
