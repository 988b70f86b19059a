"""Recognizes programs that never started, from what their interpreter printed: a syntax error, or a missing file or
module.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, replace
from pathlib import Path

from dragoman.core.errors import DragomanError, ErrorSpec
from dragoman.debug.model import ProgramEnd, Stop
from dragoman.debug.session.session import DebugSession

_OUTPUT_SEARCHED = 8_000
# Each matches the end of the output, possibly followed by frames of the runtime.
_PYTHON = (
    r'^ +File "(?P<path>[^"\n]+)", line (?P<line>\d+)\n(?:[ \t].*\n){0,4}'  # no function name: nothing ran yet
    r"(?P<error>(?:SyntaxError|IndentationError|TabError): .*)\s*\Z"
)
_NODE = (
    r"^(?:file://)?(?P<path>/[^\n]+?):(?P<line>\d+)\n(?:.*\n){1,6}(?P<error>SyntaxError: .*)\n"
    r"(?: +at .*(?:node:|internal/).*\n)*\s*(?:Node\.js v\S+\s*)?\Z"
)
_RUBY = r"(?P<path>/[^\n:]+\.rb):(?P<line>\d+): (?P<error>syntax error.*)"
_LUA = r"^(?:\S*lua\S*: )?(?P<path>[^\n:]+\.lua):(?P<line>\d+): (?P<error>.*(?: near | expected).*)"
_SYNTAX_ERRORS = tuple(re.compile(pattern, re.MULTILINE) for pattern in (_PYTHON, _NODE, _RUBY, _LUA))
_NODE_BEGINS = "internal/main/run_main"  # node's own frame that loads a program, below all frames of the program
_MISSING = tuple(
    re.compile(pattern, re.MULTILINE)
    for pattern in (
        r"^\S*python\S*: (?P<error>No module named \S+(?:;.*)?)\s*\Z",
        r"^\S*python\S*: (?P<error>can't (?:open file|find '__main__' module).*)\s*\Z",
        r"^(?P<error>Error: Cannot find module .*)\n(?:.*\n)*?.*requireStack: \[\]",
    )
)


@dataclass(frozen=True, slots=True)
class _SyntaxError:
    path: str
    line: int
    error: str


def start_failure(session: DebugSession, ended: ProgramEnd) -> DragomanError | None:
    """Why the program did not start; None if it ran."""
    if session.stop is not None:
        return start_failure_at_stop(session, session.stop)
    if not ended.exit_code or ended.by:
        return None
    printed = ended.output[-_OUTPUT_SEARCHED:]
    if (syntax_error := _find_syntax_error(printed)) is not None:
        return _syntax_error(syntax_error, session_id=session.id, exit_code=ended.exit_code)
    missing = next((found for pattern in _MISSING if (found := pattern.search(printed))), None)
    if missing is None:
        return None
    details = {"error": missing["error"].strip(), "session_id": session.id, "exit_code": ended.exit_code}
    return _program_not_found(details=details)


def start_failure_at_stop(session: DebugSession, stop: Stop) -> DragomanError | None:
    """Like `start_failure`, for a program that is stopped at an uncaught exception in the runtime's loader, with no
    frames of its own."""
    is_loading = any(_NODE_BEGINS in frame.path for frame in stop.frames) and all(it.is_library for it in stop.frames)
    if not session.launch.is_launch or session.is_owned_by_person or stop.raised is None or not is_loading:
        return None
    syntax_error = _find_syntax_error(f"{stop.raised.type}: {stop.raised.message}\n"[-_OUTPUT_SEARCHED:])
    return _syntax_error(syntax_error, session_id=session.id) if syntax_error and stop.raised.uncaught else None


@contextmanager
def explain_start_failure(program: Path | None = None) -> Iterator[None]:
    """Convert the error of a start: a debugger inside the program's interpreter exits on a syntax error, and its output
    names the place.
    """
    try:
        yield
    except DragomanError as error:
        words = str(error.message.values.get("words", "")) if error.code == "adapter_gone" else ""
        syntax_error = _find_syntax_error(words)
        if syntax_error is None:
            raise
        raise _syntax_error(replace(syntax_error, path=_full_path(syntax_error.path, program))) from error


def _find_syntax_error(printed: str) -> _SyntaxError | None:
    found = next((found for pattern in _SYNTAX_ERRORS if (found := pattern.search(printed))), None)
    return _SyntaxError(found["path"], int(found["line"][:9]), found["error"].strip()) if found else None


def _full_path(path: str, program: Path | None) -> str:
    """The program's path. Lua prints only the end of a long path, after three dots."""
    is_its_end = path.startswith("...") and program is not None and str(program).endswith(path.removeprefix("..."))
    return str(program) if is_its_end else path


def _syntax_error(found: _SyntaxError, **details: object) -> DragomanError:
    facts = {"path": found.path, "line": found.line, "error": found.error, **details}
    return _syntax_error_spec(path=found.path, line=found.line, details=facts)


_syntax_error_spec = ErrorSpec(
    "syntax_error",
    "The program did not start: line {line} of {path} has a syntax error.",
    "Fix that line, then start again.",
)
_program_not_found = ErrorSpec(
    "program_not_found",
    "The program did not start: the interpreter cannot find it.",
    "Check the program or module name, and the working directory.",
)
