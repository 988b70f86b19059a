"""Python, debugged by debugpy, which is a dependency of Dragoman and works without an installation.

The adapter runs in Dragoman's interpreter, which has debugpy. The program runs in the client's interpreter, which
needs nothing of ours.
"""

from __future__ import annotations

import ast
import functools
import re
import shutil
import subprocess
import sys
import warnings
from collections.abc import Mapping
from importlib.metadata import version
from pathlib import Path
from typing import Any

from dragoman.core.errors import DragomanError, ErrorSpec, cut
from dragoman.core.localization import localize
from dragoman.debug import source_files
from dragoman.debug.backends.adapters.discovery import command_output
from dragoman.debug.backends.adapters.spec import AdapterSpec, Address, LaunchContext
from dragoman.debug.backends.quirks import AdapterQuirks
from dragoman.debug.errors import bad_port
from dragoman.debug.source_files import is_library
from dragoman.io.processes.command import ProcessCommand
from dragoman.workspace.python_interpreter import find_interpreter

# Variables that would change how the adapter's own interpreter starts. The program still gets the client's.
_PROGRAM_ONLY_VARIABLES = frozenset({"PYTHONHOME", "PYTHONPATH", "PYTHONSTARTUP", "PYTHONINSPECT", "PYTHONOPTIMIZE"})

# Evaluations are interrupted after this many seconds. Otherwise one could block its thread, and with it the session,
# forever.
_INTERRUPT_TIMEOUT_VARIABLE = "PYDEVD_INTERRUPT_THREAD_TIMEOUT"
_RESTORED_VARIABLES = _PROGRAM_ONLY_VARIABLES | {_INTERRUPT_TIMEOUT_VARIABLE}
_DEBUGGER_VARIABLES = {
    _INTERRUPT_TIMEOUT_VARIABLE: "20",
    # Otherwise each child process prints a warning about frozen modules on its standard error.
    "PYDEVD_DISABLE_FILE_VALIDATION": "1",
    # Otherwise a slow display or evaluation is reported as a warning among the program's own output.
    "PYDEVD_WARN_SLOW_RESOLVE_TIMEOUT": "86400",
    "PYDEVD_WARN_EVALUATION_TIMEOUT": "86400",
    # As debugpy does when it reads the program's output: otherwise nothing appears until the buffer is full.
    "PYTHONUNBUFFERED": "1",
    "PYTHONIOENCODING": "utf-8",
}
# By `runInTerminal`, so that the program can be given input, its children's output appears once, and its end ends the
# session. debugpy's own way waits for any process that keeps the output open, and reports a child's output twice.
_RUN_IN_TERMINAL = {"console": "integratedTerminal"}

# It means the same as `python`, and debugpy rejects a configuration with both.
_ALIASED_KEYS = frozenset({"pythonPath"})
# These catch what a test raises, so it is never uncaught; it still leaves the user's own code.
_TEST_RUNNERS = frozenset({"pytest", "py.test", "unittest", "nose2"})
# A key of debugpy's configuration.
_OLDEST_PYTHON = (3, 8)
_VERSION = re.compile(r"Python (\d+)\.(\d+)")
_SCRIPTS = Path(__file__).with_name("debugpy_scripts")
_ENTRY = _SCRIPTS / "debugpy_entry.py"
# Run by our interpreter, which has debugpy; it starts the program with the program's interpreter. Not in a client's
# terminal, whose environment is meant for the program only: there, debugpy's own launcher runs.
_LAUNCHER = {
    "debugLauncherPython": sys.executable,
    "debugLauncherPath": str(_SCRIPTS / "debugpy_launcher.py"),
}

# One expression: debugpy evaluates it in a thread of its own, whatever the program's threads wait for.
_THREAD_DUMP = (
    "(lambda names: (exec({source!r}, names), names['dump']())[1])({{'__name__': 'dragoman_thread_dump'}})".format(
        source=(_SCRIPTS / "python_threads.py").read_text(encoding="utf-8")
    )
)

_LIBRARY_CALL = (
    "(lambda names: (exec({source!r}, names), names[{name!r}]({of!r}))[1])({{'__name__': 'dragoman_libraries'}})"
)
_LIBRARY_SOURCE = (_SCRIPTS / "python_libraries.py").read_text(encoding="utf-8")

_CONDITION_FAILED = (
    r"Error while evaluating expression in conditional breakpoint: (?P<condition>[^\n]*)\n.*?(?P<error>[^\n]+)\s*$"
)
# Evaluated in the frame that stops, below the debugger's own frames. Before 3.11, code objects have no qualified
# name, so the class comes from the object.
_QUALIFIED_NAME_CONDITION = (
    "(lambda n, f: (lambda q, o: any(('.' + w).endswith('.' + n) for w in (q,"
    " f.f_globals.get('__name__', '') + '.' + q,"
    " f.f_code.co_filename.rpartition('/')[2].rpartition('.')[0] + '.' + q,"
    " type(o).__name__ + '.' + f.f_code.co_name, getattr(o, '__name__', '') + '.' + f.f_code.co_name)))"
    "(getattr(f.f_code, 'co_qualname', f.f_code.co_name).replace('.<locals>', ''),"
    " f.f_locals.get('self', f.f_locals.get('cls'))))({name!r},"
    " next(f for f, _ in __import__('traceback').walk_stack(__import__('sys')._getframe())"
    " if 'pydevd' not in f.f_code.co_filename and not f.f_code.co_filename.startswith('<')))"
)
_SEQUENCE = "({name})[{start}:{stop}]"
_ITEMS = "list(__import__('itertools').islice({name}, {start}, {stop}))"
_SLICES = {
    "list": _SEQUENCE,
    "tuple": _SEQUENCE,
    "deque": _ITEMS,
    "set": _ITEMS,
    "frozenset": _ITEMS,
    "dict": "dict(__import__('itertools').islice(({name}).items(), {start}, {stop}))",
}


def _command(context: LaunchContext) -> ProcessCommand:
    """The launcher inherits the adapter's environment, so this is also where the program's comes from."""
    environment = {name: value for name, value in context.environment.items() if name not in _PROGRAM_ONLY_VARIABLES}
    return ProcessCommand([sys.executable, "-P", str(_ENTRY)], environment, context.workspace)


def _arguments(context: LaunchContext) -> dict[str, Any]:
    given = {name: value for name, value in context.arguments.items() if name not in _ALIASED_KEYS}
    if context.request != "launch":
        # debugpy does not follow the children of a process that it was injected into, so they would wait forever.
        return {"redirectOutput": True, "subProcess": True, **given} | _without_children(given)
    held_back = {name: value for name, value in context.environment.items() if name in _RESTORED_VARIABLES}
    return {
        "showReturnValue": True,
        "subProcess": True,
        **given,
        **_RUN_IN_TERMINAL,
        **({} if context.is_in_terminal else _LAUNCHER),
        "redirectOutput": context.is_in_terminal,  # otherwise its output would appear only in the client's terminal
        "python": _python(context),
        "env": {**_DEBUGGER_VARIABLES, **held_back, **given.get("env", {})},
    }


def _without_children(given: Mapping[str, Any]) -> dict[str, bool]:
    return {"subProcess": False} if "processId" in given else {}


def _running_adapter(context: LaunchContext) -> Address | None:
    """`connect`, or in older files `port`: what listens in the program is an adapter already."""
    given = context.arguments
    where = given.get("connect") or given
    if context.request != "attach" or "listen" in given or not isinstance(where, Mapping) or "port" not in where:
        return None
    if not str(where["port"]).isdecimal():
        raise bad_port(port=where["port"])
    return Address(str(where.get("host") or "127.0.0.1"), int(where["port"]))


def _python(context: LaunchContext) -> list[str]:
    named = context.arguments.get("python") or context.arguments.get("pythonPath")
    if isinstance(named, str):
        return [str(context.workspace / Path(named).expanduser()) if "/" in named else named]
    if isinstance(named, list):
        return [str(word) for word in named]
    return [str(find_interpreter(context.workspace, context.environment).path)]


def _facts(context: LaunchContext) -> Mapping[str, str]:
    adapter = {"adapter": f"debugpy {version('debugpy')}"}
    return adapter if context.request != "launch" else {"interpreter": " ".join(_python(context)), **adapter}


def _filters_for_tests(context: LaunchContext) -> tuple[str, ...]:
    given = context.arguments
    runs = {str(given.get("module") or "").partition(".")[0], Path(str(given.get("program") or "")).name}
    return ("userUnhandled",) if runs & _TEST_RUNNERS else ()


def _require_runnable(context: LaunchContext) -> None:
    """Where debugpy cannot run in the interpreter or get into the process, it would wait until the deadline."""
    if "processId" in context.arguments and context.request == "attach":
        require_injection(context.environment)
    python = _python(context)
    if context.request != "launch" or len(python) != 1:  # several words are a wrapper, which may not support `-V`
        return
    match = _VERSION.search(command_output([python[0], "-V"], environment=context.environment))
    version = (int(match[1]), int(match[2])) if match else _OLDEST_PYTHON
    if version < _OLDEST_PYTHON:
        raise DragomanError(
            "python_not_supported",
            localize(
                "Python {version} is not supported: the debugger needs {oldest} or newer.",
                version=f"{version[0]}.{version[1]}",
                oldest=".".join(map(str, _OLDEST_PYTHON)),
            ),
            hint=localize("{python} was selected. Set `python` in the configuration to a newer one.", python=python[0]),
        )


def _condition_error(condition: str) -> str:
    """Checked with our grammar, which may be older than the program's: the condition is sent in any case."""
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            ast.parse(condition.strip(), "condition", "eval")
    except (SyntaxError, ValueError, MemoryError, RecursionError) as error:
        return f"{type(error).__name__}: {error}"
    return ""


def _library_expression(path: str, function: str) -> str:
    """For a function only if its module is named: a plain name stops in functions of the user's own code."""
    if path and is_library(path):
        return _LIBRARY_CALL.format(source=_LIBRARY_SOURCE, name="include_file", of=path)
    if "." in function:
        return _LIBRARY_CALL.format(source=_LIBRARY_SOURCE, name="include_module_of", of=function)
    return ""


def _unquoted(shown: str) -> str:
    """The text of a quoted string. Anything else is a reason why there is no text."""
    try:
        found = ast.literal_eval(shown)
    except (SyntaxError, ValueError, MemoryError, RecursionError):
        return shown
    return found if isinstance(found, str) else shown


PYTHON = AdapterSpec(
    name="python",
    types=frozenset({"python", "debugpy"}),
    adapter_id="debugpy",
    transport="stdio",
    command=_command,
    arguments=_arguments,
    quirks=AdapterQuirks(
        suffixes=source_files.PYTHON,
        qualified_expression=_QUALIFIED_NAME_CONDITION,
        inner_frames=frozenset({"<listcomp>", "<setcomp>", "<dictcomp>", "<genexpr>"}),
        library_expression=_library_expression,
        keeps_last_on_line=True,
        resets_hit_counts=True,
        stops_in_each_frame=True,
        hit_spelling={"%": "% {number} - {remainder}"},  # debugpy appends `== 0` to it
        ways_to_end=frozenset({"SystemExit", "Skipped", "SkipTest", "unittest.case.SkipTest"}),
        name_notes_pattern=r"\s+\((?:note: full exception trace is shown|Current frame\)).*",
        or_word="or",
        truth="bool({condition})",
        # debugpy's own logpoint output takes another path than the program's output, and arrives after it.
        takes_log_messages=False,
        logs_without_halt=True,
        text_expression="str({expression})",
        parse_text=_unquoted,
        fault_of=_condition_error,
        # Otherwise a condition with an unknown name is silently never true.
        properties={"skipPrintBreakpointException": []},
        condition_error_pattern=_CONDITION_FAILED,
        ignores_bad_values=True,
        exception_category="Python Exceptions",
        truncation_marks=frozenset({"more", "Unable to handle:"}),
        synthetic_children=frozenset({"special variables", "function variables", "class variables", "len()"}),
        slice_expressions=_SLICES,
        keyed_types=frozenset({"dict"}),
        length="len({name})",
        # The context `clipboard` sends the complete value, and a response over 16 MB silently kills the adapter.
        evaluate_contexts={"clipboard": "watch"},
        is_interruptible=True,
        thread_dump=_THREAD_DUMP,
        dumps_at_any_time=True,
        continues_only_on_request=True,
        reports_signals_in_eight_bits=True,
    ),
    exception_filters=("uncaught",),
    extra_exception_filters=_filters_for_tests,
    running_adapter=_running_adapter,
    facts=_facts,
    require_runnable=_require_runnable,
)


# Whether gdb can call a function in a running program: that is how debugpy gets into one before Python 3.14.
#
# gdb 13 cannot write the registers of a processor with AMX: the kernel takes the whole state (11,008 bytes) or
# nothing (EFAULT), and gdb's buffer is smaller. The call fails, and the program, which was interrupted in a system
# call, sees an error that does not exist (514, ERESTARTNOHAND) and dies. So the call is tried on a process of our own
# first.

_WITHIN_S = 10.0
_OPTIONS = ("--nw", "--nh", "--nx", "--batch")  # as debugpy calls it

_no_gdb = ErrorSpec(
    "needs_gdb",
    "Attaching by process ID needs gdb, and it is not on PATH. The program was not touched.",
    "Install gdb, or start the program with `python -m debugpy --listen PORT` and attach to that port.",
)
_cannot_call = ErrorSpec(
    "cannot_inject",
    "gdb cannot call functions in processes of this machine: {reason}. Attaching would end the program, so it was not "
    "touched.",
    "Install gdb 14 or newer, or start the program with `python -m debugpy --listen PORT` and attach to that port.",
    reason=cut(120),
)


def require_injection(environment: Mapping[str, str]) -> None:
    """Blocks for as long as gdb takes, most often a third of a second; once per gdb that works."""
    if sys.platform != "linux" or hasattr(sys, "remote_exec"):  # from 3.14, debugpy needs no gdb
        return
    gdb = shutil.which("gdb", path=environment.get("PATH"))
    if gdb is None:
        raise _no_gdb()
    _require_call(gdb, Path(gdb).stat().st_mtime_ns)


@functools.cache  # an error is not kept: the next attach tries again
def _require_call(gdb: str, _modified_ns: int) -> None:
    printed, number = _call_in_own_process(gdb)
    lines = [line.strip().rstrip(".") for line in printed.splitlines() if line.strip()]
    # A process that gdb may not attach to is not harmed, and the other one may be allowed (PR_SET_PTRACER).
    if f"$1 = {number}" not in lines and "ptrace: Operation not permitted" not in lines:
        raise _cannot_call(reason=next((it for it in lines if it.startswith("Couldn't")), " ".join(lines[-1:]) or "?"))


def _call_in_own_process(gdb: str) -> tuple[str, int]:
    quiet = subprocess.DEVNULL
    with subprocess.Popen(["sleep", "60"], stdin=quiet, stdout=quiet, stderr=quiet) as own:  # noqa: S607
        try:
            command = [gdb, *_OPTIONS, "--pid", str(own.pid), "--eval-command=print (int)getpid()"]
            done = subprocess.run(  # noqa: S603
                command, stdin=quiet, capture_output=True, timeout=_WITHIN_S, check=False
            )
        except subprocess.TimeoutExpired:
            return f"no answer within {_WITHIN_S:.0f} s", own.pid
        finally:
            own.kill()
    return (done.stdout + done.stderr).decode("utf-8", "replace"), own.pid
