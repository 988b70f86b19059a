"""Python by debugpy, which is a dependency: it works at once.

The adapter runs with our interpreter, where debugpy is; the program with its client's, which needs nothing of ours.
"""

from __future__ import annotations

import ast
import sys
import warnings
from collections.abc import Mapping
from importlib.metadata import version
from pathlib import Path
from typing import Any

from dragoman.debug.adapters.spec import AdapterSpec, Situation
from dragoman.debug.dialect import Dialect
from dragoman.errors import DragomanError
from dragoman.phrases import say
from dragoman.transport.command import Command
from dragoman.workspace.interpreter import find_interpreter

# What would change how our own adapter's interpreter starts; the program still gets the client's.
_NOT_FOR_THE_ADAPTER = frozenset({"PYTHONHOME", "PYTHONPATH", "PYTHONSTARTUP", "PYTHONINSPECT", "PYTHONOPTIMIZE"})

# After so many seconds an evaluation is interrupted, which would else keep its thread, and so the session, for ever.
_INTERRUPTS = "PYDEVD_INTERRUPT_THREAD_TIMEOUT"
_HELD_BACK = _NOT_FOR_THE_ADAPTER | {_INTERRUPTS}

# `python` says the same, and debugpy refuses to be told twice.
_SAID_OTHERWISE = frozenset({"pythonPath"})
# Else every child Python process waits, for ever, for a session of its own that nobody opens.
_OURS = {"subProcess": False}


def _command(situation: Situation) -> Command:
    """The launcher inherits the adapter's environment, so this is also where the program's comes from."""
    environment = {name: value for name, value in situation.environment.items() if name not in _NOT_FOR_THE_ADAPTER}
    return Command([sys.executable, "-P", "-m", "debugpy.adapter"], environment, situation.workspace)


def _arguments(situation: Situation) -> dict[str, Any]:
    given = {name: value for name, value in situation.arguments.items() if name not in _SAID_OTHERWISE}
    if "connect" in given:
        raise _listens_itself()
    if situation.request != "launch":
        return given | _OURS
    held_back = {name: value for name, value in situation.environment.items() if name in _HELD_BACK}
    return {
        "redirectOutput": True,
        "showReturnValue": True,
        **given,
        **_OURS,
        "console": "internalConsole",  # VS Code's own template says integratedTerminal, and there is none here
        "python": _python(situation),
        "env": {_INTERRUPTS: "20", **held_back, **given.get("env", {})},
    }


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


def _listens_itself() -> DragomanError:
    """What listens there is an adapter already; ours would wait for the program to call it, which it never does."""
    return DragomanError(
        "not_yet",
        say("Attaching to a Python program by its port cannot be done yet."),
        hint=say("Attach by processId, or start the program with start_debugging."),
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


PYTHON = AdapterSpec(
    name="python",
    types=frozenset({"python", "debugpy"}),
    adapter_id="debugpy",
    transport="stdio",
    command=_command,
    arguments=_arguments,
    dialect=Dialect(ways_to_end=frozenset({"SystemExit"}), or_word="or", fault_of=_fault_of),
    exception_filters=("uncaught",),
    facts=_facts,
)
