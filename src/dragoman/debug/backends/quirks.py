"""Adapter quirks: what adapters do differently, as data. No session has code for one adapter."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import Any


@dataclass(frozen=True, slots=True)
class AdapterQuirks:
    suffixes: frozenset[str] = frozenset()
    """Of the files in which it can stop; one of another language is not sent to it. None: all are."""
    hit_forms: frozenset[str] = frozenset({"==", ">", ">=", "<", "<=", "%"})
    """The comparisons it takes as we mean them; others are counted by us."""
    hit_spelling: Mapping[str, str] = field(default_factory=dict)
    """How it writes one, where it differs: a format with `number` and `remainder`."""
    qualified_expression: str = ""
    """An expression that is true in the function `name` of a class or a module, for an adapter that knows functions by
    their last name alone."""
    admit_expression: Callable[[str, str], str] = lambda *_: ""
    """By a path or a function, an expression that has the debugger stop in a library, which it passes over otherwise:
    evaluated in each process before it is set. Its value is a word for why it cannot (`bound`), or empty."""
    inner_frames: frozenset[str] = frozenset()
    """Names of frames that belong to the statement of the line they are called from: none of their hits is one more."""
    keeps_last_on_line: bool = False
    """Of several breakpoints that it moves to one line it keeps the last alone: they are sent as one."""
    resets_hit_counts: bool = False
    """It counts anew whenever the breakpoints of a file change."""
    stops_in_each_frame: bool = False
    """An exception that is raised stops it again in each caller on the way up: told once."""
    ways_to_end: frozenset[str] = frozenset()
    """Exceptions by which a program of this language ends on purpose: never told as a stop."""
    or_word: str = "||"
    """Between two conditions of which one is enough."""
    truth: str = "!!({condition})"
    """An expression that is shown as true where a `condition` holds: asked where several share a line."""
    fault_of: Callable[[str], str] = lambda _: ""
    """What is wrong with a condition, where the adapter would only never stop; nothing wrong: empty."""
    takes_log_messages: bool = True
    """Otherwise a logpoint is a stop that we answer ourselves: evaluate, tell, go on."""
    text_expression: str = "{expression}"
    """What to evaluate for a value in the message of a logpoint that we answer."""
    parse_text: Callable[[str], str] = str
    """The text, from how the answer shows it."""
    takes_one_option_only: bool = False
    """Of a condition, a hit condition and a log message it heeds one: the other two are then done by us."""
    log_prefix: str = ""
    """A pattern at the start of a logpoint's text that is the adapter's and not the user's."""
    name_notes_pattern: str = ""
    """A pattern of what it writes behind the name of an exception's type or of a frame: taken off."""
    sourceless_pattern: str = ""
    """A pattern at the start of the names of frames that have no code of the language, though a place is told."""
    failure_types: frozenset[str] = frozenset()
    """Types by which an evaluation that "succeeded" says that it failed."""
    stops_unasked: frozenset[str] = frozenset()
    """Reasons of a stop that it makes unasked when it begins: unless somebody paused it, the program is sent on."""
    properties: Mapping[str, Any] = field(default_factory=dict)
    """Sent by `setDebuggerProperty` to an adapter that takes it."""
    condition_error_pattern: str = ""
    """A pattern in the adapter's output that says which `condition` failed, and with what `error`."""
    rechecks_conditions: bool = False
    """With several threads it stops where a condition is false, or cannot be evaluated: asked once more by us."""
    condition_stop_pattern: str = ""
    """A pattern of a stop's text by which it says that a condition could not be evaluated (`error`), and calls that an
    exception of the program: the condition is then false."""
    exception_category: str = ""
    """The root of all exception types in `exceptionOptions`: where a type's name can be a condition."""
    evaluate_contexts: Mapping[str, str] = field(default_factory=dict)
    """Contexts of an evaluation that mean something else to it, such as a command line, and which one is meant."""
    calls_bare: bool = False
    """A member's name alone calls it: whoever looks at one runs it."""
    takes_time_limit: bool = False
    """It ends a look by itself when the time of who asked is over: it is told how long that is."""
    has_console: bool = False
    """What is evaluated may come to a command line of the debugger, whatever the context: any text can be a command."""
    has_terminal_line_ends: bool = False
    """It gives the program a terminal, which ends lines in two characters: told as one."""
    step_out_ends_inside: bool = False
    """It ends a step out on the last line of the function: a step over it leads out."""
    has_several_locations: bool = False
    """A line can have several places in the machine code, and it stops at each."""
    assignment_expression: str = ""
    """An expression that changes a variable, with `name` and `value`, where it has no request for that."""
    ignores_bad_values: bool = False
    """Its `setVariable` answers with the old value where the new one cannot be had: an assignment is refused then."""
    raise_functions: Mapping[str, str] = field(default_factory=dict)
    """Patterns of functions in which it stops because something was raised, and what to call that."""
    raised_output_pattern: str = ""
    """A pattern in the program's output by which it says the `message` of what it raised, for `raise_functions`."""
    raised_local: str = ""
    """The local in which a frame has what it raised, where no request says what that was."""
    raised_local_pattern: str = ""
    """A pattern of how that local is shown, with the `message` in it."""
    thread_dump: str = ""
    """An expression that is evaluated in a running program, beside its threads: where each is and what it waits for."""
    thread_dump_of: Callable[[str], str] = str
    """The text of a thread dump, from how the answer shows it."""
    dumps_at_any_time: bool = False
    """That expression is evaluated beside the threads, whatever they do. Otherwise not of a program that stands, where
    stacks tell more, nor of one that is to halt, which it would do in there."""
    dumps_from_outside: bool = False
    """What it waits for is asked of the kernel, where neither the program nor its debugger can say it."""
    kernel_waits: Mapping[str, str] = field(default_factory=dict)
    """Kinds of waits that the language calls otherwise than the kernel."""
    loses_pauses: bool = False
    """One that overtakes the continue before it is lost: it is asked for twice."""
    holder: str = ""
    """An expression of the thread that has what the innermost frame of another waits for, where that is a lock."""
    halts_anywhere: bool = False
    """It halts a program also where that waits in the kernel: one that cannot be asked is halted for a thread dump."""
    halts_busy: bool = False
    """It halts a program that runs code of the language: such a one is halted for a thread dump."""
    build_failed: str = ""
    """A pattern in its refusal to launch that says that the program could not be built: its output has the reason."""
    ready_timeout_s: float = 30.0
    """How long it may take to get ready, longer where it builds the program."""
    truncation_marks: frozenset[str] = frozenset()
    """Names of children by which it says that there are more than it tells."""
    synthetic_children: frozenset[str] = frozenset()
    """Names of children that are the adapter's and no elements of a container."""
    slice_expressions: Mapping[str, str] = field(default_factory=dict)
    """By type, an expression of a part of a container, with `name`, `start` and `stop`: asked where it cuts."""
    keyed_types: frozenset[str] = frozenset()
    """Of these, the types whose elements are named by keys and not by places."""
    length: str = ""
    """An expression of how many elements a container of these has, with `name`."""
    is_interruptible: bool = False
    """SIGINT ends what a look runs in the program's first thread, and not the program."""
    condition_expression: str = ""
    """An expression that is `true` where a `condition` holds, for an adapter that neither changes nor forgets a
    breakpoint it was given: we check conditions then, and a stop at one that was removed is none."""
    clear_breakpoints_expression: str = ""
    """An expression that has such an adapter forget every breakpoint: asked when we leave a program to itself."""
    leaves_program_stopped: bool = False
    """A program that it was attached to stays where it stopped when we go: we send it on before."""
    data_stop_pattern: str = ""
    """A pattern of a stop's description by which it tells that watched data changed, and calls it a breakpoint."""
    noise: str = ""
    """A pattern of whole outputs that are the adapter's own housekeeping: not told."""
    debuggees_are_children: bool = False
    """Its own session has no program, only child sessions have: when the last of them has gone, all has ended."""
    shows_stale_values: bool = False
    """It lists what a variable was when the program stopped, also after it was set."""
    continues_only_on_request: bool = False
    """Nothing resumes the program past us, neither a command line of the adapter nor another client. So a `continued`
    of a program that is stopped is a late one."""
