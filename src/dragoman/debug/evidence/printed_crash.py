"""What a program prints when it breaks down, read where its debugger did not stop: what it was, where, and from what.

Python at its recursion limit has no room left for a debugger; a sanitizer ends the program by itself; what a worker
process raised comes back as the text of its traceback.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

from dragoman.debug.model import Frame, Raised, Variable
from dragoman.debug.own_code import is_library

_MOST_FRAMES = 8
_MOST_CAUSES = 8
_OURSELVES = f"{Path(__file__).parents[2]}/"


@dataclass(frozen=True, slots=True)
class Cause:
    """What led to a breakdown, with the innermost place of the user's own in it."""

    type: str
    message: str
    frame: Frame | None = None
    variables: tuple[Variable, ...] = ()


@dataclass(frozen=True, slots=True)
class PrintedCrash:
    raised: Raised
    frames: tuple[Frame, ...] = ()
    """From the place that failed up."""
    causes: tuple[Cause, ...] = ()
    start: int = 0
    """Where in the text it begins."""


def printed_crash(adapter_id: str, text: str) -> PrintedCrash | None:
    """The last that a text tells of."""
    reads = _BY_ADAPTER.get(adapter_id)
    return reads(text) if reads else None


def _own(frames: Sequence[Frame]) -> tuple[Frame, ...]:
    """Of those that a recursion has many times in a row, one; without who started the program under the debugger."""
    found = [it for it in frames if not it.is_library and not it.path.startswith(_OURSELVES)]
    once = [it for at, it in enumerate(found) if at == 0 or it != found[at - 1]]
    return tuple(once[:_MOST_FRAMES])


def _frame(name: str, path: str, line: str) -> Frame:
    return Frame(id=0, name=name, path=path, line=int(line), is_library=is_library(path))


# Python.

_TRACEBACK = re.compile(r"^Traceback \(most recent call last\):\n(?P<frames>(?:[ \t].*\n|\n)*)", re.MULTILINE)
_PYTHON_FRAME = re.compile(r'^ +File "(?P<path>[^"\n]+)", line (?P<line>\d+), in (?P<name>.+)$', re.MULTILINE)
_LED_TO = re.compile(r"^(?:The above exception was|During handling of the above exception)", re.MULTILINE)
_PYTHON_RAISED = re.compile(r"(?P<type>[A-Za-z_][\w.]*)(?:: (?P<message>.*))?\n?")


def python_crash(text: str) -> PrintedCrash | None:
    """A traceback for each link of the chain: the last is what ended the program, those before led to it."""
    links = [found for found in _TRACEBACK.finditer(text) if _PYTHON_RAISED.match(text, found.end())]
    chain = links[-1:]
    while len(chain) <= _MOST_CAUSES and len(chain) < len(links):
        before = links[-len(chain) - 1]
        if not _LED_TO.search(text, before.end(), chain[0].start()):
            break
        chain.insert(0, before)
    told = [(_raised(it, text), _python_frames(it)) for it in chain]
    if not told:
        return None
    *earlier, (raised, frames) = told
    causes = [Cause(it.type, it.message, next(iter(at), None)) for it, at in reversed(earlier)]
    return PrintedCrash(raised, frames, tuple(causes), chain[0].start())


def _raised(found: re.Match[str], text: str) -> Raised:
    said = _PYTHON_RAISED.match(text, found.end())
    return (
        Raised(type=said["type"].rpartition(".")[2], message=said["message"] or "")
        if said
        else Raised(type="", message="")
    )


def _python_frames(found: re.Match[str]) -> tuple[Frame, ...]:
    frames = [_frame(it["name"], it["path"], it["line"]) for it in _PYTHON_FRAME.finditer(found["frames"])]
    return _own(frames[::-1])


# JavaScript.

_NODE_RAISED = re.compile(
    r"^(?:Uncaught )?(?P<type>[A-Z][\w.$]*)(?: \[\w+\])?(?:: (?P<message>.*))?\n(?P<frames>(?: +at .*\n?)+)",
    re.MULTILINE,
)
_NODE_FRAME = re.compile(
    r"^ +at (?:async )?(?:(?P<name>[^\n(]+?) \()?(?:file://)?(?P<path>[^\n():]+):(?P<line>\d+):\d+\)?", re.MULTILINE
)


def _node_crash(text: str) -> PrintedCrash | None:
    found = list(_NODE_RAISED.finditer(text))
    if not found:
        return None
    last = found[-1]
    frames = [
        _frame(it["name"] or "<anonymous>", it["path"], it["line"]) for it in _NODE_FRAME.finditer(last["frames"])
    ]
    return PrintedCrash(Raised(type=last["type"], message=last["message"] or ""), _own(frames), start=last.start())


# Sanitizers.

_SANITIZER = re.compile(r"^==\d+==\s*(?:ERROR|WARNING): (?P<type>\w+Sanitizer): (?P<message>.*)$", re.MULTILINE)
_RUNTIME_ERROR = re.compile(
    r"^(?P<path>[^\s:][^\n:]*):(?P<line>\d+):\d+: runtime error: (?P<message>.*)$", re.MULTILINE
)
_ACCESS = re.compile(r"^(?P<access>(?:READ|WRITE) of size \d+)", re.MULTILINE)
_WHOSE = re.compile(r"^(?P<whose>(?:freed|previously allocated|allocated) by thread \S+)", re.MULTILINE)
_NATIVE_FRAME = re.compile(r"^ +#\d+ 0x[0-9a-f]+ in (?P<name>.+?) (?P<path>/[^\s:]+):(?P<line>\d+)", re.MULTILINE)
_STACK = re.compile(r"(?:^ +#\d+ .*\n?)+", re.MULTILINE)
_ADDRESSES = re.compile(r" on (?:unknown )?address 0x[0-9a-f]+.*| at pc 0x.*")


def _sanitizer_crash(text: str) -> PrintedCrash | None:
    found = list(_SANITIZER.finditer(text))
    if not found:
        return _undefined_behaviour(text)
    report = text[found[-1].start() :]
    access = _ACCESS.search(report)
    said = _ADDRESSES.sub("", found[-1]["message"])
    message = f"{said}, {access['access']}" if access else said
    raised = Raised(type=found[-1]["type"], message=message)
    return PrintedCrash(raised, _first_stack(report), tuple(_owners(report)), found[-1].start())


def _undefined_behaviour(text: str) -> PrintedCrash | None:
    found = list(_RUNTIME_ERROR.finditer(text))
    if not found:
        return None
    at = found[-1]
    frames = _first_stack(text[at.end() :]) or (Frame(id=0, name="?", path=at["path"], line=int(at["line"])),)
    return PrintedCrash(Raised(type="UndefinedBehaviorSanitizer", message=at["message"]), frames, start=at.start())


def _owners(report: str) -> Iterator[Cause]:
    """Of memory that was not to be touched: who freed it, who allocated it."""
    for whose in list(_WHOSE.finditer(report))[:_MOST_CAUSES]:
        stack = _first_stack(report[whose.end() :])
        yield Cause(whose["whose"], "", next(iter(stack), None))


def _first_stack(text: str) -> tuple[Frame, ...]:
    stack = _STACK.search(text)
    return (
        _own([_frame(it["name"], it["path"], it["line"]) for it in _NATIVE_FRAME.finditer(stack[0])]) if stack else ()
    )


_BY_ADAPTER: Mapping[str, Callable[[str], PrintedCrash | None]] = {
    "debugpy": python_crash,
    "pwa-node": _node_crash,
    "lldb-dap": _sanitizer_crash,
    "codelldb": _sanitizer_crash,
}
