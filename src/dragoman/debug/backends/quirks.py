"""Adapter quirks: what adapters do differently, as data and named hooks. No session has code for one adapter.

The comment behind a field names the adapters for which it is set. Versions, as far as they were driven: debugpy 1.8.22,
js-debug 1.112.0, dlv 1.20.2, lldb-dap 19.1.7, rdbg 1.4.0 (the debug gem of Ruby 3.1.2). For codelldb no version was
recorded. "LuaPanda" is our own bridge to its runtimes. A quirk is kept while a supported version may show it.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import Any


@dataclass(frozen=True, slots=True)
class AdapterQuirks:
    """How one adapter differs. A default is what the protocol says, or what most adapters do.

    An adapter's module builds one; `DapBackend` and its connections correct what concerns the stream of messages, the
    session and its breakpoints the rest. It holds no state.
    """

    suffixes: frozenset[str] = frozenset()  # all
    """Suffixes of the files in which it can stop; breakpoints in files of another language are not sent. Empty: all are
    sent."""

    # Breakpoints.

    hit_forms: frozenset[str] = frozenset({"==", ">", ">=", "<", "<=", "%"})  # dlv: no `%`; js-debug, LLDB, rdbg: none
    """The comparisons that mean to it what they mean to us; hits of others are counted by us. js-debug rejects
    `% 2 == 0`, lldb-dap reads a number as "from there on" and ignores the rest, dlv reads `% 3 == 1` as `% 3`."""
    hit_spelling: Mapping[str, str] = field(default_factory=dict)  # debugpy, LuaPanda
    """How it writes a comparison, where it differs: a format with `number` and `remainder`."""
    qualified_expression: str = ""  # debugpy
    """An expression that is true in the function `name` of a class or a module, for an adapter that knows functions by
    their unqualified name only."""
    library_expression: Callable[[str, str], str] = lambda *_: ""  # debugpy
    """By path or function, an expression that makes the debugger stop in library code, which it skips otherwise. It is
    evaluated in each process before the breakpoint is set, and returns the code of a failure, or nothing."""
    inner_frames: frozenset[str] = frozenset()  # debugpy
    """Names of frames that belong to the statement of the line that calls them: a hit in them is not one more."""
    keeps_last_on_line: bool = False  # debugpy
    """It keeps only the last of several breakpoints that it moves to one line, so they are sent as one."""
    resets_hit_counts: bool = False  # debugpy
    """It starts to count again whenever the breakpoints of a file change."""
    or_word: str = "||"  # debugpy, LuaPanda: "or"
    """Between two conditions of which one is enough."""
    truth: str = "!!({condition})"  # debugpy, LuaPanda: in their languages
    """An expression that is shown as true where a `condition` holds, evaluated where several share a line."""
    fault_of: Callable[[str], str] = lambda _: ""  # debugpy
    """What is wrong with a condition with which the adapter would silently never stop. Empty: nothing is."""
    takes_log_messages: bool = True  # not debugpy, LLDB, rdbg
    """Otherwise a logpoint is a stop that we handle: evaluate, log, resume. rdbg has no logpoints; LLDB logs once per
    location of the line; debugpy's text arrives on another way than the program's output, and after it."""
    logs_without_halt: bool = False  # debugpy
    """It evaluates conditions and messages in the thread that comes by, and halts the program for neither. So it can
    trace a program that must not be halted; it is then sent the messages even if it gets none otherwise."""
    text_expression: str = "{expression}"  # debugpy
    """The expression to evaluate for a value in the message of a logpoint that we handle."""
    parse_text: Callable[[str], str] = str  # debugpy
    """The text, from how the result shows it."""
    takes_one_option_only: bool = False  # js-debug
    """It uses only one of a condition, a hit condition and a log message: we handle the other two."""
    log_prefix: str = ""  # dlv: "> [Go 1]: "
    """A pattern at the start of a logpoint's text that is the adapter's and not the user's."""
    condition_error_pattern: str = ""  # debugpy, LuaPanda
    """A pattern in the adapter's output that says which `condition` failed, and with what `error`."""
    rechecks_conditions: bool = False  # lldb-dap, codelldb
    """With several threads it stops where a condition is false, or cannot be evaluated: we evaluate it once more."""
    condition_stop_pattern: str = ""  # dlv
    """A pattern of a stop's text by which it says that a condition could not be evaluated (`error`), and calls that an
    exception of the program: the condition is then false."""
    condition_expression: str = ""  # rdbg
    """An expression that is `true` where a `condition` holds, for an adapter that neither changes nor forgets a
    breakpoint: we check conditions, and a stop at one that was removed is not reported."""
    clear_breakpoints_expression: str = ""  # rdbg
    """An expression that makes such an adapter forget every breakpoint, evaluated when we leave a program running."""
    has_several_locations: bool = False  # lldb-dap, codelldb
    """A line can have several locations in the machine code, and it stops at each."""
    data_stop_pattern: str = ""  # lldb-dap, codelldb
    """A pattern of a stop's description by which it reports that watched data changed, and calls it a breakpoint."""

    # Stops and exceptions.

    stops_in_each_frame: bool = False  # debugpy
    """A raised exception stops it again in each caller on the way up: reported once."""
    ways_to_end: frozenset[str] = frozenset()  # debugpy, rdbg: SystemExit and the like
    """Exceptions by which a program of this language ends on purpose: never reported as a stop."""
    name_notes_pattern: str = ""  # debugpy
    """A pattern of what it writes behind the name of an exception's type or of a frame: removed."""
    sourceless_pattern: str = ""  # rdbg: "[C] "
    """A pattern at the start of the names of frames without code of the language, though it reports a location."""
    stops_unasked: frozenset[str] = frozenset()  # rdbg: "pause"
    """Reasons of a stop that it makes by itself at the start: unless somebody paused it, the program is resumed."""
    exception_category: str = ""  # debugpy
    """The root of all exception types in `exceptionOptions`: where a type's name can be a condition."""
    raise_functions: Mapping[str, str] = field(default_factory=dict)  # lldb-dap, codelldb: Rust's panic
    """Patterns of functions in which it stops because something was raised, and what to call that."""
    raised_output_pattern: str = ""  # lldb-dap, codelldb
    """A pattern in the program's output that has the `message` of what it raised, for `raise_functions`."""
    raised_local: str = ""  # rdbg
    """The local in which a frame has what it raised, where no request returns that."""
    raised_local_pattern: str = ""  # rdbg
    """A pattern of how that local is shown, with the `message` in it."""

    # Run control.

    continues_only_on_request: bool = False  # debugpy (its bookkeeping: tests/debug/backends/debuggee_tree)
    """Nothing resumes the program past us, neither a command line of the adapter nor another client. So a `continued`
    of a program that is stopped is a late one."""
    step_out_ends_inside: bool = False  # rdbg
    """It ends a step out on the last line of the function: a step over that line leaves it."""
    loses_pauses: bool = False  # js-debug
    """It loses a pause that overtakes the continue before it: the pause is requested twice."""
    halts_anywhere: bool = False  # dlv, lldb-dap, codelldb, rdbg
    """It also halts a program that waits in the kernel, so one is halted for a thread dump."""
    halts_busy: bool = False  # LuaPanda
    """It halts a program that runs code of the language, so such a one is halted for a thread dump."""
    leaves_program_stopped: bool = False  # dlv
    """A program that it was attached to stays stopped when we leave: we resume it first."""

    # Evaluation and variables.

    failure_types: frozenset[str] = frozenset()  # rdbg: `success: true` with the type NameError
    """Types by which an evaluation that "succeeded" says that it failed."""
    evaluate_contexts: Mapping[str, str] = field(default_factory=dict)  # lldb-dap, codelldb, debugpy
    """Contexts of an evaluation that mean something else to it, such as a command line, and which one to send."""
    calls_bare: bool = False  # rdbg
    """Reading a member calls it, so an inspection would run it."""
    takes_time_limit: bool = False  # LuaPanda
    """It ends an evaluation by itself when the caller's time is over: the limit is sent with the request."""
    has_console: bool = False  # editors' adapters that we do not know
    """Any text that is evaluated may reach a command line of the debugger, whatever the context."""
    assignment_expression: str = ""  # rdbg
    """An expression that changes a variable, with `name` and `value`, where it has no request for that."""
    ignores_bad_values: bool = False  # debugpy
    """Its `setVariable` answers with the old value where the new one is invalid: the assignment is then refused."""
    shows_stale_values: bool = False  # js-debug
    """It lists what a variable was when the program stopped, also after it was set."""
    is_interruptible: bool = False  # debugpy
    """SIGINT ends an evaluation in the program's first thread, and not the program."""
    truncation_marks: frozenset[str] = frozenset()  # debugpy
    """Names of children by which it says that there are more than it lists."""
    synthetic_children: frozenset[str] = frozenset()  # debugpy
    """Names of children that are the adapter's and not elements of a container."""
    slice_expressions: Mapping[str, str] = field(default_factory=dict)  # debugpy
    """By type, an expression for a part of a container that it truncates, with `name`, `start` and `stop`."""
    keyed_types: frozenset[str] = frozenset()  # debugpy
    """Of these types, those whose elements are named by keys, not by positions."""
    length: str = ""  # debugpy
    """An expression of how many elements such a container has, with `name`."""

    # Thread dumps.

    thread_dump: str = ""  # debugpy, js-debug
    """An expression that is evaluated in a running program: where each thread is and what it waits for."""
    thread_dump_of: Callable[[str], str] = str  # js-debug
    """The text of a thread dump, from how the result shows it."""
    dumps_at_any_time: bool = False  # debugpy
    """The expression is evaluated in a thread of its own, whatever the program's threads do. Otherwise it is evaluated
    neither in a stopped program, where stacks say more, nor in one that is about to halt, which would halt in the
    expression."""
    dumps_from_outside: bool = False  # LuaPanda
    """The kernel is asked what the program waits for, because neither the program nor its debugger can say it."""
    kernel_waits: Mapping[str, str] = field(default_factory=dict)  # js-debug
    """Kinds of waits that the language names otherwise than the kernel."""
    holder: str = ""  # lldb-dap, codelldb
    """An expression of the thread that holds what the innermost frame of another waits for, where that is a lock."""

    # Start, end and output.

    properties: Mapping[str, Any] = field(default_factory=dict)  # debugpy
    """Sent by `setDebuggerProperty` to an adapter that supports it."""
    build_failed: str = ""  # dlv
    """A pattern in its refusal to launch that says that the build failed: its output has the reason."""
    ready_timeout_s: float = 30.0  # dlv and LuaPanda: longer
    """How long it may take to get ready, longer where it builds the program."""
    debuggees_are_children: bool = False  # js-debug
    """Its own session has no program, only child sessions do: when the last one has ended, all has ended."""
    program_output_is_adapters: bool = False  # dlv, rdbg
    """The program has the adapter's standard streams: what is written there is output, and stdin is fed there."""
    exit_code_from_process: bool = False  # js-debug and rdbg send no `exited`; LuaPanda
    """It never reports the exit code. A program that it has us start (`runInTerminal`) gives it, or the adapter itself
    where the program has its streams: then it is the program."""
    reports_signals_in_eight_bits: bool = False  # debugpy
    """If a signal ended the program, it reports 256 minus the number of the signal."""
    exit_code_in_output: re.Pattern[str] | None = None  # dlv sends no `exited`
    """How a line of its output says the exit code: a group `code`."""
    exit_report: re.Pattern[str] | None = None  # lldb-dap
    """The line of its output after which it reports the end. It is not shown."""
    signal_in_exit_report: re.Pattern[str] | None = None  # lldb-dap
    """How the report says which signal ended the program: a group `signal`, hexadecimal."""
    adapter_lines: re.Pattern[str] | None = None  # js-debug, dlv, rdbg, lldb-dap, codelldb
    """Lines of output, matched from their start, that are the adapter's and not the program's: dropped."""
    noise: str = ""  # editors' sessions
    """A pattern of whole outputs that are the adapter's own housekeeping: dropped."""
    has_terminal_line_ends: bool = False  # lldb-dap, codelldb
    """It gives the program a terminal, which ends lines in two characters: reported as one."""
