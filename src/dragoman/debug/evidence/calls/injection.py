"""Puts the call tracer into a program that stands at a stop of debugpy, and reads what it recorded.

The tracer is seven modules of the standard library alone. They become a package without files in the program, so that
their relative imports work there as they do here. Their names begin with `<`: neither debugpy nor the tracer takes
them for the user's code.
"""

from __future__ import annotations

import ast
import functools
import json
import os
import stat
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from dragoman.core.errors import DragomanError
from dragoman.debug.evidence.evidence_probe import EvidenceProbe
from dragoman.debug.evidence.python_evaluation import build_helper
from dragoman.debug.session.session import DebugSession

INJECTED_MODULES = (
    "call_target",
    "call_values",
    "call_changes",
    "call_recording",
    "call_monitor",
    "call_settrace",
    "call_tracer",
)
PYTHON_ADAPTERS = frozenset({"debugpy", "python"})  # also as editors call the one that they lend
_RETURN_MODULES = ("call_target", "call_values", "call_monitor", "call_settrace", "return_tracer")
_PACKAGE = "_dragoman_calls"
_RETURN_PACKAGE = "_dragoman_returns"
_EVALUATION_TIMEOUT_S = 10.0
_READ_CHARACTERS = 4_000_000
_LOADER = """
import sys, types
def load(package, sources):
    made = types.ModuleType(package)
    made.__path__ = []
    sys.modules[package] = made
    for name, source in sources:
        module = types.ModuleType(package + "." + name)
        module.__package__ = package
        sys.modules[package + "." + name] = module
        exec(compile(source, "<dragoman " + name + ">", "exec", dont_inherit=True), module.__dict__)
        setattr(made, name, module)
    return sys.modules[package + "." + name]
"""
_TRACER = f"__import__('sys').modules[{_PACKAGE + '.call_tracer'!r}]"


@functools.cache
def _sources(names: tuple[str, ...]) -> list[tuple[str, str]]:
    """The last one is the module that is started."""
    folder = Path(__file__).parent
    return [(name, (folder / f"{name}.py").read_text(encoding="utf-8")) for name in names]


def build_start(options: Mapping[str, Any]) -> str:
    return _build_start(_PACKAGE, INJECTED_MODULES, f"**{dict(options)!a}")


def _build_start(package: str, modules: tuple[str, ...], arguments: str) -> str:
    """One expression: debugpy evaluates it in the thread that stands, which is what `sys.settrace` needs."""
    loaded = f"names['load']({package!a}, {_sources(modules)!a})"
    return f"(lambda names: (exec({_LOADER!a}, names), {loaded}.start({arguments}))[1])({{}})"


async def _evaluate(session: DebugSession, expression: str, context: str = "watch") -> str:
    inspection = session.inspection
    found = await inspection.evaluate(expression, None, context, timeout_s=_EVALUATION_TIMEOUT_S, thread_id=None)
    return found.result


async def inject_tracer(session: DebugSession, options: Mapping[str, Any]) -> None:
    await _evaluate(session, build_start(options))


async def inject_return_tracer(session: DebugSession, probe: EvidenceProbe) -> None:
    """At each return of the functions that the probe asks for, the program writes a row."""
    points, file, most = probe.return_points()
    asked = [
        {
            "number": number,
            "function": it.function,
            "file": it.path,
            "condition": it.condition,
            "frame": it.shows_frame,
            "texts": list(probe.expressions_at(number)),
        }
        for number, it in points
    ]
    arguments = f"{build_helper()}, {tuple(asked)!a}, {str(file)!a}, {most}"
    await _evaluate(session, _build_start(_RETURN_PACKAGE, _RETURN_MODULES, arguments))


async def remove_return_tracer(session: DebugSession) -> None:
    await _try(session, f"__import__('sys').modules[{_RETURN_PACKAGE + '.return_tracer'!r}].stop() and None")


async def mark_failure(session: DebugSession, type_name: str) -> None:
    """At a stop by an exception. debugpy puts it among the variables of one frame; in others its type must do."""
    if not await _try(session, f"{_TRACER}.mark(__exception__)"):
        await _try(session, f"{_TRACER}.mark(None, {type_name.rpartition('.')[2]!a})")


async def write_record(session: DebugSession) -> None:
    """Of a call that has not ended, at a stop."""
    await _try(session, f"{_TRACER}.write()")


async def remove_tracer(session: DebugSession) -> None:
    await _try(session, f"{_TRACER}.stop() and None")


async def read_record(session: DebugSession) -> Mapping[str, Any]:
    """By the debugger itself, where the program cannot write the file. This context is never shortened."""
    try:
        shown = await _evaluate(session, f"{_TRACER}.read()", "clipboard")
        return parse_record(str(ast.literal_eval(shown)))
    except (DragomanError, ValueError, SyntaxError):
        return {}


async def _try(session: DebugSession, expression: str) -> bool:
    """A program that no longer evaluates anything has written its record before."""
    try:
        await _evaluate(session, expression)
    except DragomanError:
        return False
    return True


def parse_record(text: str) -> Mapping[str, Any]:
    """The file is the program's to spoil."""
    try:
        found = json.loads(text)
    except (ValueError, RecursionError):
        return {}
    return found if isinstance(found, dict) else {}


def _read_bounded(file: Path) -> str:
    """The program may put anything in its place: what is not a plain file is not read, and no more than a bound."""
    try:
        descriptor = os.open(file, os.O_RDONLY | os.O_NONBLOCK | os.O_NOFOLLOW)
    except OSError:
        return ""
    with os.fdopen(descriptor, "rb") as stream:
        if not stat.S_ISREG(os.fstat(descriptor).st_mode):
            return ""
        return stream.read(_READ_CHARACTERS).decode("utf-8", "replace")


class CallProbe(EvidenceProbe):
    """Watches the file into which the tracer writes the call, and ends the run some time after it is complete."""

    grace_polls = 0
    """How many more looks a program gets to end by itself."""
    _is_python = False

    def set_adapter(self, adapter_id: str) -> None:
        super().set_adapter(adapter_id)
        self._is_python = adapter_id in PYTHON_ADAPTERS
        if self._is_python:
            self.points = ()  # the tracer finds the function by itself

    def start_options(self, options: Mapping[str, Any]) -> Mapping[str, Any]:
        return {**options, "path": str(self._file or "")}

    @property
    def writes_rows(self) -> bool:
        return self._file is not None and self._is_python

    def record(self) -> Mapping[str, Any]:
        return parse_record(_read_bounded(self._file)) if self._file else {}

    def read(self) -> None:
        if self.table.is_over.is_set() or not self._is_complete():
            return
        self.grace_polls -= 1
        if self.grace_polls < 0:
            self.table.is_over.set()

    def _is_complete(self) -> bool:
        if self._file is None or not self._file.exists() or not self._file.stat().st_size:
            return False
        return bool(self.record().get("done"))
