"""Python by debugpy, which is a dependency: it works at once.

The adapter runs with our interpreter, where debugpy is; the program with its client's, which needs nothing of ours.
"""

from __future__ import annotations

import ast
import re
import sys
import warnings
from collections.abc import Mapping
from importlib.metadata import version
from pathlib import Path
from typing import Any

from dragoman.debug import suffixes
from dragoman.debug.adapters.commands import output_of
from dragoman.debug.adapters.spec import AdapterSpec, Address, Situation
from dragoman.debug.dialect import Dialect
from dragoman.debug.own_code import is_library
from dragoman.errors import DragomanError
from dragoman.phrases import say
from dragoman.transport.command import Command
from dragoman.workspace.interpreter import find_interpreter

# What would change how our own adapter's interpreter starts; the program still gets the client's.
_NOT_FOR_THE_ADAPTER = frozenset({"PYTHONHOME", "PYTHONPATH", "PYTHONSTARTUP", "PYTHONINSPECT", "PYTHONOPTIMIZE"})

# After so many seconds an evaluation is interrupted, which would else keep its thread, and so the session, for ever.
_INTERRUPTS = "PYDEVD_INTERRUPT_THREAD_TIMEOUT"
_HELD_BACK = _NOT_FOR_THE_ADAPTER | {_INTERRUPTS}
_FOR_THE_DEBUGGER = {
    _INTERRUPTS: "20",
    # Else each child process says on its standard error that its frozen modules cannot be stepped into.
    "PYDEVD_DISABLE_FILE_VALIDATION": "1",
    # Else what takes long to show or to evaluate is told as a warning among the program's own output.
    "PYDEVD_WARN_SLOW_RESOLVE_TIMEOUT": "86400",
    "PYDEVD_WARN_EVALUATION_TIMEOUT": "86400",
    # As debugpy does where it reads the program's output: nothing would be seen before the buffer is full.
    "PYTHONUNBUFFERED": "1",
    "PYTHONIOENCODING": "utf-8",
}
# By `runInTerminal`: so it can be given something to read, what its children write is told once, and its end is the
# end. debugpy's own way waits for whoever still holds the output open, and tells a child's output twice.
_STARTED_BY_US = {"console": "integratedTerminal"}

# `python` says the same, and debugpy refuses to be told twice.
_SAID_OTHERWISE = frozenset({"pythonPath"})
# These catch what a test raises, so nothing of it is uncaught; it leaves the user's own code all the same.
_RUN_TESTS = frozenset({"pytest", "py.test", "unittest", "nose2"})
# Of debugpy.
_OLDEST = (3, 8)
_VERSION = re.compile(r"Python (\d+)\.(\d+)")
_ENTRY = Path(__file__).with_name("debugpy_entry.py")
# By our interpreter, where debugpy is; it starts the program with the program's. Not in a client's terminal, whose
# environment is made for that alone: debugpy's own is run there.
_LAUNCHER = {
    "debugLauncherPython": sys.executable,
    "debugLauncherPath": str(Path(__file__).with_name("debugpy_launcher.py")),
}

# One expression: debugpy evaluates it in a thread of its own, whatever the program's threads wait for.
_THREAD_DUMP = (
    "(lambda names: (exec({source!r}, names), names['survey']())[1])({{'__name__': 'dragoman_thread_dump'}})".format(
        source=Path(__file__).with_name("python_threads.py").read_text(encoding="utf-8")
    )
)

_ADMIT = "(lambda names: (exec({source!r}, names), names[{name!r}]({of!r}))[1])({{'__name__': 'dragoman_libraries'}})"
_LIBRARIES = Path(__file__).with_name("python_libraries.py").read_text(encoding="utf-8")

_CONDITION_FAILED = (
    r"Error while evaluating expression in conditional breakpoint: (?P<condition>[^\n]*)\n.*?(?P<error>[^\n]+)\s*$"
)
# In the frame that stops, found below the debugger's own. Before 3.11 code does not know its class: the object does.
_QUALIFIED = (
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


def _command(situation: Situation) -> Command:
    """The launcher inherits the adapter's environment, so this is also where the program's comes from."""
    environment = {name: value for name, value in situation.environment.items() if name not in _NOT_FOR_THE_ADAPTER}
    return Command([sys.executable, "-P", str(_ENTRY)], environment, situation.workspace)


def _arguments(situation: Situation) -> dict[str, Any]:
    given = {name: value for name, value in situation.arguments.items() if name not in _SAID_OTHERWISE}
    if situation.request != "launch":
        # Of a process that was injected into, debugpy does not follow the children: they would wait for ever.
        return {"redirectOutput": True, "subProcess": True, **given} | _without_children(given)
    held_back = {name: value for name, value in situation.environment.items() if name in _HELD_BACK}
    return {
        "showReturnValue": True,
        "subProcess": True,
        **given,
        **_STARTED_BY_US,
        **({} if situation.is_in_terminal else _LAUNCHER),
        "redirectOutput": situation.is_in_terminal,  # else its output would be in the client's terminal alone
        "python": _python(situation),
        "env": {**_FOR_THE_DEBUGGER, **held_back, **given.get("env", {})},
    }


def _without_children(given: Mapping[str, Any]) -> dict[str, bool]:
    return {"subProcess": False} if "processId" in given else {}


def _listens_already(situation: Situation) -> Address | None:
    """`connect`, or in older files `port`: what listens in the program is an adapter already."""
    given = situation.arguments
    where = given.get("connect") or given
    if situation.request != "attach" or "listen" in given or not isinstance(where, Mapping) or "port" not in where:
        return None
    if not str(where["port"]).isdecimal():
        raise _bad_port(where["port"])
    return Address(str(where.get("host") or "127.0.0.1"), int(where["port"]))


def _python(situation: Situation) -> list[str]:
    named = situation.arguments.get("python") or situation.arguments.get("pythonPath")
    if isinstance(named, str):
        return [str(situation.workspace / Path(named).expanduser()) if "/" in named else named]
    if isinstance(named, list):
        return [str(word) for word in named]
    return [str(find_interpreter(situation.workspace, situation.environment).path)]


def _facts(situation: Situation) -> Mapping[str, str]:
    adapter = {"adapter": f"debugpy {version('debugpy')}"}
    return adapter if situation.request != "launch" else {"interpreter": " ".join(_python(situation)), **adapter}


def _filters_for_tests(situation: Situation) -> tuple[str, ...]:
    given = situation.arguments
    runs = {str(given.get("module") or "").partition(".")[0], Path(str(given.get("program") or "")).name}
    return ("userUnhandled",) if runs & _RUN_TESTS else ()


def _require_runnable(situation: Situation) -> None:
    """Of one that debugpy cannot run in, it would wait in vain until the deadline."""
    python = _python(situation)
    if situation.request != "launch" or len(python) != 1:  # more words are a wrapper, which may not know `-V`
        return
    found = _VERSION.search(output_of([python[0], "-V"], environment=situation.environment))
    version = (int(found[1]), int(found[2])) if found else _OLDEST
    if version < _OLDEST:
        raise DragomanError(
            "python_not_supported",
            say(
                "Python {version} is not supported: the debugger needs {oldest} or newer.",
                version=f"{version[0]}.{version[1]}",
                oldest=".".join(map(str, _OLDEST)),
            ),
            hint=say("{python} was chosen. Name a newer one with `python` in the configuration.", python=python[0]),
        )


def _bad_port(port: object) -> DragomanError:
    return DragomanError(
        "bad_port",
        say("{port} is not a port.", port=ascii(port)[:60]),
        hint=say("Give `connect` the host and the number of the port where the program listens."),
    )


def _fault_of(condition: str) -> str:
    """By our grammar, which may be older than the program's: such a condition is sent all the same."""
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            ast.parse(condition.strip(), "condition", "eval")
    except (SyntaxError, ValueError, MemoryError, RecursionError) as error:
        return f"{type(error).__name__}: {error}"
    return ""


def _admits(path: str, function: str) -> str:
    """Of a function only where its module is named: of all functions of one name those of the user's own code stop."""
    if path and is_library(path):
        return _ADMIT.format(source=_LIBRARIES, name="admit", of=path)
    if "." in function:
        return _ADMIT.format(source=_LIBRARIES, name="admit_function", of=function)
    return ""


def _text_of(shown: str) -> str:
    """Of a string that is shown in quotes; what is none says why there is no text."""
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
    dialect=Dialect(
        suffixes=suffixes.PYTHON,
        qualified=_QUALIFIED,
        inner_frames=frozenset({"<listcomp>", "<setcomp>", "<dictcomp>", "<genexpr>"}),
        admits=_admits,
        keeps_last_of_a_line=True,
        forgets_hits=True,
        raises_in_each_frame=True,
        hit_spelling={"%": "% {number} - {remainder}"},  # it writes `== 0` behind it
        ways_to_end=frozenset({"SystemExit", "Skipped", "SkipTest", "unittest.case.SkipTest"}),
        own_notes=r"\s+\((?:note: full exception trace is shown|Current frame\)).*",
        or_word="or",
        truth="bool({condition})",
        # Its own would come by another way than what the program prints, and after it.
        takes_log_messages=False,
        as_text="str({expression})",
        text_of=_text_of,
        fault_of=_fault_of,
        properties={"skipPrintBreakpointException": []},  # else a condition with a wrong name is silently never true
        condition_failed=_CONDITION_FAILED,
        swallows_bad_values=True,
        exception_category="Python Exceptions",
        cut_marks=frozenset({"more", "Unable to handle:"}),
        own_children=frozenset({"special variables", "function variables", "class variables", "len()"}),
        slices=_SLICES,
        keyed=frozenset({"dict"}),
        length="len({name})",
        # For a clipboard a value is sent whole, and of an answer over 16 MB the adapter dies without a word.
        contexts={"clipboard": "watch"},
        is_interrupted=True,
        thread_dump=_THREAD_DUMP,
        is_asked_beside=True,
    ),
    exception_filters=("uncaught",),
    more_filters=_filters_for_tests,
    listens_already=_listens_already,
    tells_signals_in_eight_bits=True,
    goes_on_only_when_asked=True,
    facts=_facts,
    require_runnable=_require_runnable,
)
