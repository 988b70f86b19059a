"""The nouns of debugging, as every backend and face sees them: numbers are ours, paths absolute, lines from 1."""

from __future__ import annotations

from typing import Literal

import msgspec

StepKind = Literal["over", "into", "out"]
ThreadState = Literal["stopped", "running"]


class _Noun(msgspec.Struct, frozen=True, kw_only=True):
    pass


class Binding(_Noun, frozen=True):
    """What became of a breakpoint in a session."""

    verified: bool = False
    line: int | None = None
    message: str = ""


class Frame(_Noun, frozen=True):
    id: int
    name: str
    path: str = ""
    line: int = 0
    column: int = 0
    is_library: bool = False
    address: str = ""
    """Where in the machine code, for those that have one."""
    source_name: str = ""
    source_reference: int = 0
    """By which the adapter gives the text of a source that is no file; its own number, good for the whole session."""


class Scope(_Noun, frozen=True):
    name: str
    reference: int
    expensive: bool = False
    hint: str = ""
    named: int | None = None
    indexed: int | None = None


class Variable(_Noun, frozen=True):
    name: str
    value: str
    type: str | None = None
    reference: int = 0
    evaluate_name: str | None = None
    memory_reference: str | None = None
    named: int | None = None
    indexed: int | None = None


class Page(_Noun, frozen=True):
    """Some of what a variable holds. No total: the adapter tells of some and does not say how many there are."""

    variables: tuple[Variable, ...]
    total: int | None


class Locals(_Noun, frozen=True):
    scope_name: str
    variables: tuple[Variable, ...]


class Change(_Noun, frozen=True):
    """Of a value since the last stop in the same frame. None before: it was not there."""

    name: str
    before: str | None = None


class Raised(_Noun, frozen=True):
    """An exception: its type, what it says, and whether anything catches it."""

    type: str
    message: str
    uncaught: bool = True
    where: str = ""


class Stop(_Noun, frozen=True):
    """Everything a caller needs to decide the next step, taken once when the program stopped."""

    number: int
    at_ns: int
    reason: str
    thread_id: int
    description: str | None = None
    text: str | None = None
    all_threads_stopped: bool | None = None
    frames: tuple[Frame, ...] = ()
    total_frames: int = 0
    at: int = 0
    """The frame to look at: the first of the user's own code, where the program stopped below that by itself."""
    top_locals: Locals | None = None
    """Of the frame to look at."""
    changed: tuple[Change, ...] = ()
    """Of those, since the program last stopped there."""
    hit_breakpoints: tuple[int, ...] | None = None
    raised: Raised | None = None
    output: str = ""
    """The end of what was printed since the last stop."""
    output_lines: int = 0
    """How many lines were printed since then, also those that `output` has no room for."""
    by: str = ""
    """Who caused it, when it was not the caller: a person, another agent."""

    @property
    def frame(self) -> Frame | None:
        """The frame to look at."""
        return self.frames[self.at] if self.frames else None


class Ended(_Noun, frozen=True):
    """How it ended. Neither code nor signal: the adapter did not tell, or it was ended by us."""

    exit_code: int | None = None
    signal: str = ""
    message: str = ""
    output: str = ""
    output_lines: int = 0
    """See `Stop`."""
    by: str = ""
    """Who ended it, where somebody did."""
    is_untold: bool = False
    """The adapter went without a word: whether the program ended by itself is not known."""


class Until(_Noun, frozen=True):
    """A place to run to: a breakpoint of one run, which no list shows."""

    path: str
    line: int


class ThreadSeen(_Noun, frozen=True):
    """A thread; where it stands is known of a stopped one alone."""

    id: int
    name: str
    state: ThreadState
    path: str = ""
    line: int = 0
    function: str = ""


class Evaluated(_Noun, frozen=True):
    result: str
    type: str | None = None
    reference: int = 0
    named: int | None = None
    indexed: int | None = None
    memory_reference: str | None = None
