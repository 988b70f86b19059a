"""The data types of debugging that every backend and server shares. Ids are ours, paths are absolute, and lines start
at 1.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass, field
from enum import Enum
from typing import Any, Literal

import msgspec

from dragoman.core.ids import new_id
from dragoman.core.localization import LocalizedText, localize
from dragoman.core.safe_text import printable

StepKind = Literal["over", "into", "out"]
ThreadState = Literal["stopped", "running"]


class SessionState(Enum):
    """The six words of the specification."""

    IDLE = "Idle"
    STARTING = "Starting"
    RUNNING = "Running"
    STOPPED = "Stopped"
    TERMINATING = "Terminating"
    TERMINATED = "Terminated"


LIVE_STATES = frozenset({SessionState.STARTING, SessionState.RUNNING, SessionState.STOPPED, SessionState.TERMINATING})


class _ModelStruct(msgspec.Struct, frozen=True, kw_only=True):
    pass


class Binding(_ModelStruct, frozen=True):
    """The state of a breakpoint in a session."""

    verified: bool = False
    line: int | None = None
    message: str = ""


class FrameInfo(_ModelStruct, frozen=True):
    id: int
    name: str
    path: str = ""
    line: int = 0
    column: int = 0
    is_library: bool = False
    address: str = ""
    """The address in machine code, if there is one."""
    source_name: str = ""
    source_reference: int = 0
    """The adapter's number for a source that is not a file. It gives the text, and is valid for the whole session."""


class ScopeInfo(_ModelStruct, frozen=True):
    name: str
    reference: int
    expensive: bool = False
    hint: str = ""
    named: int | None = None
    indexed: int | None = None


class VariableInfo(_ModelStruct, frozen=True):
    name: str
    value: str
    type: str | None = None
    reference: int = 0
    evaluate_name: str | None = None
    memory_reference: str | None = None
    named: int | None = None
    indexed: int | None = None


class VariablePage(_ModelStruct, frozen=True):
    """A page of the variables in a container. Without a total, the adapter does not say how many there are."""

    variables: tuple[VariableInfo, ...]
    total: int | None


class Locals(_ModelStruct, frozen=True):
    scope_name: str
    variables: tuple[VariableInfo, ...]


class VariableChange(_ModelStruct, frozen=True):
    """A value that changed since the last stop in the same frame. Without `before`, it did not exist then."""

    name: str
    before: str | None = None


class RaisedException(_ModelStruct, frozen=True):
    """An exception: its type, what it says, and whether anything catches it."""

    type: str
    message: str
    uncaught: bool = True
    where: str = ""


class Stop(_ModelStruct, frozen=True):
    """Everything a caller needs to decide the next step, taken once when the program stopped."""

    number: int
    at_ns: int
    reason: str
    thread_id: int
    description: str | None = None
    text: str | None = None
    all_threads_stopped: bool | None = None
    frames: tuple[FrameInfo, ...] = ()
    total_frames: int = 0
    at: int = 0
    """The frame to look at: the first of the user's own code, where the program stopped below that by itself."""
    top_locals: Locals | None = None
    """Of the frame to look at."""
    changed: tuple[VariableChange, ...] = ()
    """Of those, since the program last stopped there."""
    hit_breakpoints: tuple[int, ...] | None = None
    raised: RaisedException | None = None
    output: str = ""
    """The end of what was printed since the last stop."""
    output_lines: int = 0
    """How many lines were printed since then, also those that `output` has no room for."""
    by: str = ""
    """Who caused it, when it was not the caller: a person, another agent."""

    @property
    def frame(self) -> FrameInfo | None:
        """The frame to look at."""
        return self.frames[self.at] if self.frames else None


class ProgramEnd(_ModelStruct, frozen=True):
    """How a session ended. With neither exit code nor signal, the adapter did not report one, or we ended it."""

    exit_code: int | None = None
    signal: str = ""
    message: str = ""
    output: str = ""
    output_lines: int = 0
    """See `Stop`."""
    by: str = ""
    """Who ended it, where somebody did."""
    is_unreported: bool = False
    """The adapter went without a word: whether the program ended by itself is not known."""


class RunTarget(_ModelStruct, frozen=True):
    """A location to run to: a breakpoint for one run that no list shows."""

    path: str
    line: int


class ThreadInfo(_ModelStruct, frozen=True):
    """A thread. Its location is known only while it is stopped."""

    id: int
    name: str
    state: ThreadState
    path: str = ""
    line: int = 0
    function: str = ""


class EvaluateResult(_ModelStruct, frozen=True):
    result: str
    type: str | None = None
    reference: int = 0
    named: int | None = None
    indexed: int | None = None
    memory_reference: str | None = None


@dataclass(frozen=True, slots=True)
class LaunchRequest:
    """What to debug: a configuration by name or in full, or just a program."""

    configuration_name: str = ""
    configuration: Mapping[str, Any] = field(default_factory=dict)
    program: str = ""
    args: tuple[str, ...] = ()
    cwd: str = ""
    env: Mapping[str, str] = field(default_factory=dict)
    inputs: Mapping[str, str] = field(default_factory=dict)
    process_id: int | None = None
    file: str = ""
    """The value of `${file}`: in an editor, the open file."""
    from_editor: Mapping[str, str] = field(default_factory=dict, repr=False)
    """Values that an editor gave, by variable, such as `command:pick`."""
    no_debug: bool = False
    stdin: str | None = None
    """What the program reads from standard input, followed by its end. None: the input is empty."""


_PERSON = re.compile(r"person-[^:]+:(?P<program>.*)", re.DOTALL)
_NAME = 60


def new_person_id(program: str) -> str:
    """A new id. What the program calls itself is another's text: one short line of it."""
    return f"{new_id('person')}:{printable(' '.join(program.split()))[:_NAME]}"


def is_person(id: str) -> bool:
    return _PERSON.fullmatch(id) is not None


def person_label(id: str) -> LocalizedText | None:
    """Nothing for a client that is no person: its id says nothing to others."""
    found = _PERSON.fullmatch(id)
    return localize("a person in {program}", program=found["program"] or "?") if found else None
