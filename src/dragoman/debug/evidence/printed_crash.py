"""Reads what a program prints when it crashes: the exception, its frames and its causes.

This is needed where the debugger does not stop. Python at its recursion limit has no room left for a debugger, a
sanitizer ends the program itself, and the exception of a worker process arrives as the text of its traceback.
"""

from __future__ import annotations

import os
import re
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

from dragoman.debug.model import FrameInfo, RaisedException, VariableInfo
from dragoman.debug.source_files import is_library

_MOST_FRAMES = 8
_MOST_CAUSES = 8
_MOST_LINKS = 8

_DRAGOMAN_FOLDER = f"{Path(__file__).parents[2]}/"


@dataclass(frozen=True, slots=True)
class CrashCause:
    """What led to a breakdown, with the innermost place of the user's own in it."""

    type: str
    message: str
    frame: FrameInfo | None = None
    variables: tuple[VariableInfo, ...] = ()


@dataclass(frozen=True, slots=True)
class PrintedCrash:
    raised: RaisedException
    frames: tuple[FrameInfo, ...] = ()
    """From the place that failed up."""
    causes: tuple[CrashCause, ...] = ()
    start: int = 0
    """Where in the text it begins."""


def read_printed_crash(adapter_id: str, text: str) -> PrintedCrash | None:
    """The last that a text tells of."""
    reads = _BY_ADAPTER.get(adapter_id)
    return reads(text) if reads else None


def _user_frames(frames: Sequence[FrameInfo]) -> tuple[FrameInfo, ...]:
    """Of those that a recursion has many times in a row, one; without who started the program under the debugger."""
    found = [it for it in frames if not it.is_library and not it.path.startswith(_DRAGOMAN_FOLDER)]
    once = [it for at, it in enumerate(found) if at == 0 or it != found[at - 1]]
    return tuple(once[:_MOST_FRAMES])


def _frame(name: str, path: str, line: str) -> FrameInfo:
    return FrameInfo(id=0, name=name, path=path, line=int(line), is_library=is_library(path))


# Python.

_TRACEBACK = re.compile(r"^Traceback \(most recent call last\):\n(?P<frames>(?:[ \t].*\n|\n)*)", re.MULTILINE)
_PYTHON_FRAME = re.compile(r'^ +File "(?P<path>[^"\n]+)", line (?P<line>\d+), in (?P<name>.+)$', re.MULTILINE)
_CHAIN_SEPARATOR = re.compile(r"^(?:The above exception was|During handling of the above exception)", re.MULTILINE)
_PYTHON_RAISED = re.compile(r"(?P<type>[A-Za-z_][\w.]*)(?:: (?P<message>.*))?\n?")


def read_python_traceback(text: str) -> PrintedCrash | None:
    """A traceback for each link of the chain: the last is what ended the program, those before led to it."""
    links = [found for found in _TRACEBACK.finditer(text) if _PYTHON_RAISED.match(text, found.end())]
    chain = links[-1:]
    while len(chain) <= _MOST_CAUSES and len(chain) < len(links):
        before = links[-len(chain) - 1]
        if not _CHAIN_SEPARATOR.search(text, before.end(), chain[0].start()):
            break
        chain.insert(0, before)
    parsed_links = [(_raised(it, text), _python_frames(it)) for it in chain]
    if not parsed_links:
        return None
    *earlier, (raised, frames) = parsed_links
    causes = [CrashCause(it.type, it.message, next(iter(at), None)) for it, at in reversed(earlier)]
    return PrintedCrash(raised, frames, tuple(causes), chain[0].start())


def _raised(found: re.Match[str], text: str) -> RaisedException:
    raised = _PYTHON_RAISED.match(text, found.end())
    return (
        RaisedException(type=raised["type"].rpartition(".")[2], message=raised["message"] or "")
        if raised
        else RaisedException(type="", message="")
    )


def _python_frames(found: re.Match[str]) -> tuple[FrameInfo, ...]:
    frames = [_frame(it["name"], it["path"], it["line"]) for it in _PYTHON_FRAME.finditer(found["frames"])]
    return _user_frames(frames[::-1])


# JavaScript.

_NODE_RAISED = re.compile(
    r"^(?:Uncaught )?(?P<type>[A-Z][\w.$]*)(?: \[\w+\])?(?:: (?P<message>.*))?\n(?P<frames>(?: +at .*\n?)+)",
    re.MULTILINE,
)
_NODE_FRAME = re.compile(
    r"^ +at (?:async )?(?:(?P<name>[^\n(]+?) \()?(?:file://)?(?P<path>[^\n():]+):(?P<line>\d+):\d+\)?", re.MULTILINE
)


def _read_node_crash(text: str) -> PrintedCrash | None:
    found = list(_NODE_RAISED.finditer(text))
    if not found:
        return None
    last = found[-1]
    frames = [
        _frame(it["name"] or "<anonymous>", it["path"], it["line"]) for it in _NODE_FRAME.finditer(last["frames"])
    ]
    return PrintedCrash(
        RaisedException(type=last["type"], message=last["message"] or ""), _user_frames(frames), start=last.start()
    )


# Sanitizers.

_SANITIZER = re.compile(r"^==\d+==\s*(?:ERROR|WARNING): (?P<type>\w+Sanitizer): (?P<message>.*)$", re.MULTILINE)
_RUNTIME_ERROR = re.compile(
    r"^(?P<path>[^\s:][^\n:]*):(?P<line>\d+):\d+: runtime error: (?P<message>.*)$", re.MULTILINE
)
_ACCESS = re.compile(r"^(?P<access>(?:READ|WRITE) of size \d+)", re.MULTILINE)
_OWNER_LINE = re.compile(r"^(?P<whose>(?:freed|previously allocated|allocated) by thread \S+)", re.MULTILINE)
_NATIVE_FRAME = re.compile(r"^ +#\d+ 0x[0-9a-f]+ in (?P<name>.+?) (?P<path>/[^\s:]+):(?P<line>\d+)", re.MULTILINE)
_STACK = re.compile(r"(?:^ +#\d+ .*\n?)+", re.MULTILINE)
_ADDRESSES = re.compile(r" on (?:unknown )?address 0x[0-9a-f]+.*| at pc 0x.*")


def _read_sanitizer_report(text: str) -> PrintedCrash | None:
    found = list(_SANITIZER.finditer(text))
    if not found:
        return _undefined_behaviour(text)
    report = text[found[-1].start() :]
    access = _ACCESS.search(report)
    description = _ADDRESSES.sub("", found[-1]["message"])
    message = f"{description}, {access['access']}" if access else description
    raised = RaisedException(type=found[-1]["type"], message=message)
    return PrintedCrash(raised, _first_stack(report), tuple(_memory_owners(report)), found[-1].start())


def _undefined_behaviour(text: str) -> PrintedCrash | None:
    found = list(_RUNTIME_ERROR.finditer(text))
    if not found:
        return None
    at = found[-1]
    frames = _first_stack(text[at.end() :]) or (FrameInfo(id=0, name="?", path=at["path"], line=int(at["line"])),)
    return PrintedCrash(
        RaisedException(type="UndefinedBehaviorSanitizer", message=at["message"]), frames, start=at.start()
    )


def _memory_owners(report: str) -> Iterator[CrashCause]:
    """Of memory that was not to be touched: who freed it, who allocated it."""
    for whose in list(_OWNER_LINE.finditer(report))[:_MOST_CAUSES]:
        stack = _first_stack(report[whose.end() :])
        yield CrashCause(whose["whose"], "", next(iter(stack), None))


def _first_stack(text: str) -> tuple[FrameInfo, ...]:
    stack = _STACK.search(text)
    return (
        _user_frames([_frame(it["name"], it["path"], it["line"]) for it in _NATIVE_FRAME.finditer(stack[0])])
        if stack
        else ()
    )


# pytest.

_SECTION = re.compile(r"^_+ (?P<title>[^_\s].*?) _+\n(?P<body>(?:(?!_+ [^_\s].* _+$|={4,}).*\n?)*)", re.MULTILINE)
_PHASE = re.compile(r"ERROR (?:at setup of|at teardown of|collecting) ")
_PYTEST_FRAME = re.compile(
    r"^(?P<path>[^\s:<][^:\n]*\.py):(?P<line>\d+)(?:: in (?P<name>\S+)|: ?(?P<type>[A-Za-z_][\w.]*)?)?$", re.MULTILINE
)
_FUNCTION = re.compile(r"^[> ] *(?:async )?def (\w+)", re.MULTILINE)
_SAID = re.compile(r"^E(?: +(.*))?$", re.MULTILINE)
_SYNTAX_PLACE = re.compile(r'^ *File "(?P<path>[^"\n]+)", line (?P<line>\d+)$', re.MULTILINE)
_TYPED = re.compile(r"(?P<type>[A-Za-z_][\w.]*): (?P<message>.*)")
_MOST_SECTIONS = 20


@dataclass(frozen=True, slots=True)
class PrintedFailure:
    """A failure as pytest prints it. `title`: the test without its file, or the file that cannot be read."""

    title: str
    crash: PrintedCrash


def read_pytest_failures(text: str, cwd: str) -> list[PrintedFailure]:
    """Of failures at which no debugger stops: a stack overflow, `sys.exit`, a missing fixture, a file with an error."""
    found: list[PrintedFailure] = []
    for section in list(_SECTION.finditer(text))[:_MOST_SECTIONS]:
        body = _CHAIN_SEPARATOR.split(section["body"])[-1]
        messages = _SAID.findall(body)
        if messages:
            found.append(PrintedFailure(_PHASE.sub("", section["title"]), _of_section(body, messages, cwd)))
    return found


def _of_section(body: str, messages: Sequence[str], cwd: str) -> PrintedCrash:
    frames: list[FrameInfo] = []
    type_name, end = "", 0
    for at in _PYTEST_FRAME.finditer(body):
        named = at["name"] or next(reversed(_FUNCTION.findall(body[end : at.start()])), "")
        frames.insert(0, _frame(named, os.path.normpath(Path(cwd, at["path"])), at["line"]))
        type_name, end = at["type"] or "", at.end()
    # The message of a syntax error begins with the location and ends with the type.
    if (place := _SYNTAX_PLACE.match(messages[0])) is not None:
        frames.insert(0, _frame("<module>", place["path"], place["line"]))
    first, rest = (messages[-1], messages[1:-1]) if place else (messages[0], messages[1:])
    typed = _TYPED.match(first)
    if typed is None and not type_name and first.startswith("assert "):
        type_name = "AssertionError"
    message = "\n".join([typed["message"] if typed else first, *rest])
    raised = RaisedException(type=(typed["type"] if typed else type_name).rpartition(".")[2], message=message)
    return PrintedCrash(raised, _user_frames(frames))


_BY_ADAPTER: Mapping[str, Callable[[str], PrintedCrash | None]] = {
    "debugpy": read_python_traceback,
    "pwa-node": _read_node_crash,
    "lldb-dap": _read_sanitizer_report,
    "codelldb": _read_sanitizer_report,
}


@dataclass(frozen=True, slots=True)
class _ChainFormat:
    link: re.Pattern[str]
    has_last: bool = True
    """Whether what ended the program is a link as well, and not only what led to it."""
    oldest_first: bool = False


_CHAIN_FORMATS: Mapping[str, _ChainFormat] = {
    "pwa-node": _ChainFormat(
        re.compile(r"^ +\[cause\]: (?:(?P<type>[A-Z][\w.$]*)(?: \[\w+\])?: )?(?P<message>.*?)(?: \{)?$", re.MULTILINE),
        has_last=False,
    ),
    "rdbg": _ChainFormat(
        re.compile(r"^\S.*?:\d+:in [`'].*?': (?P<message>.*) \((?P<type>[A-Z][\w:]*)\)$", re.MULTILINE)
    ),
    "go": _ChainFormat(
        re.compile(r"^\t*(?P<type>panic): (?P<message>.*?)(?: \[recovered\])?$", re.MULTILINE), oldest_first=True
    ),
}


def read_printed_chain(adapter_id: str, raised: RaisedException, printed: str) -> tuple[RaisedException, ...]:
    """What ended the program, then what led to it, the nearest first. `printed`: since it was raised."""
    way = _CHAIN_FORMATS.get(adapter_id)
    found = list(way.link.finditer(printed)) if way is not None else []
    links = [RaisedException(type=it["type"] or "", message=it["message"]) for it in found[: _MOST_LINKS + 1]]
    if way is None or not links:
        return (raised,)
    links = links[::-1] if way.oldest_first else links
    return tuple(_with_known_first(raised, links) if way.has_last else [raised, *links])


def _with_known_first(raised: RaisedException, links: list[RaisedException]) -> list[RaisedException]:
    """A debugger knows more of the one that it stopped at than the line that is printed of it."""
    first, *rest = links
    is_same = first.type == raised.type and first.message in raised.message
    return [raised if is_same else first, *rest]
