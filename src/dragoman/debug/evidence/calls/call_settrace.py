"""How the events of a call reach the tracers before Python 3.12, or where no tool of `sys.monitoring` is free: by one
trace function per thread, which all tracers share.

A debugger or coverage has a trace function of its own. Then ours calls theirs first, in each thread. Threads that begin
later get it by `threading.settrace`; into threads that run already only debugpy can bring it.
"""

from __future__ import annotations

import functools
import opcode
import sys
import threading
from typing import Any

from .call_monitor import unwind
from .call_target import UnpatchedFunctions, is_own

_FUNCTION = 0x1
_RETURNS = {opcode.opmap[it] for it in ("RETURN_VALUE", "RETURN_CONST") if it in opcode.opmap}
_YIELDS = {opcode.opmap[it] for it in ("YIELD_VALUE", "YIELD_FROM", "SEND") if it in opcode.opmap}
_WAITS = opcode.opmap.get("YIELD_FROM", -1)
_RESUME = opcode.opmap.get("RESUME", -1)
_GENERATORS = 0x20 | 0x80 | 0x200
_INNER = frozenset({"<listcomp>", "<setcomp>", "<dictcomp>", "<genexpr>"})


class SharedTrace:
    """The trace functions of all threads, and the engines that they hand events to."""

    def __init__(self) -> None:
        self.engines: tuple[SettraceEngine, ...] = ()
        self.set: Any = sys.settrace
        self.thread = 0
        self._hook: Any = None
        self._traced: set[int] = set()
        self._untraced: set[int] = set()

    def add(self, engine: SettraceEngine) -> None:
        if not self.engines:
            self._open()
        self.engines = (*self.engines, engine)

    def remove(self, engine: SettraceEngine) -> None:
        """Another tracer that was switched on later stands in front of ours, and stays there."""
        if engine not in self.engines:
            return
        self.engines = tuple(it for it in self.engines if it is not engine)
        if self.engines:
            return
        if _thread_hook() == self._begin_thread:
            threading.settrace(self._hook)
        self.leave(sys.gettrace())

    def leave(self, own: Any) -> None:
        if type(own) is _ThreadTrace:
            self.set(own.theirs)

    def remove_all(self) -> None:
        for it in self.engines:
            self.remove(it)

    def _open(self) -> None:
        holder = sys.modules.get("_pydevd_bundle.pydevd_tracing") or sys.modules.get("pydevd_tracing")
        original = getattr(getattr(holder, "TracingFunctionHolder", None), "_original_tracing", None)
        self.set = original or sys.settrace  # pydevd's own `sys.settrace` prints a warning
        self.thread = UnpatchedFunctions.get_ident()
        self._hook = _thread_hook()
        self._traced = {self.thread}
        self._untraced = _running_threads() - self._traced
        threading.settrace(self._begin_thread)
        if self._untraced and holder is not None and self._hook is not None:
            self._reach_running_threads(holder)
        self.set(_ThreadTrace(self, sys.gettrace()))

    def _reach_running_threads(self, pydevd: Any) -> None:
        """By debugpy's native library. Where it has none for this machine, these threads stay untraced."""
        for thread in list(self._untraced):
            try:
                if pydevd.set_trace_to_threads(self._begin_thread, [thread], create_dummy_thread=False) == 0:
                    self._untraced.discard(thread)
                    self._traced.add(thread)
            except Exception:
                return

    def _begin_thread(self, frame: Any, event: str, arg: Any) -> Any:
        """The first event of a thread."""
        thread = UnpatchedFunctions.get_ident()
        self._traced.add(thread)
        self._untraced.discard(thread)
        own = _ThreadTrace(self, self._hook)
        self.set(own)
        return own(frame, event, arg)

    @property
    def untraced_threads(self) -> int:
        """Threads that ran before, or that begin without `threading`: what they call is not seen."""
        return len(self._untraced | (_running_threads() - self._traced))

    @property
    def is_lost(self) -> bool:
        """Python ends tracing where the trace function itself is too deep for the stack."""
        is_here = UnpatchedFunctions.get_ident() == self.thread
        return bool(self.engines) and is_here and sys.gettrace() is None


def _thread_hook() -> Any:
    return getattr(threading, "_trace_hook", None)  # `threading.gettrace` is there from Python 3.10 on


def _running_threads() -> set[int]:
    """Apart from those of the debugger."""
    threads: dict[int, Any] = getattr(threading, "_active", {})
    return {it for it in sys._current_frames() if not getattr(threads.get(it), "pydev_do_not_trace", False)}


class _ThreadTrace:
    """The trace function of one thread: theirs first, then ours."""

    __slots__ = ("shared", "theirs")

    def __init__(self, shared: SharedTrace, theirs: Any) -> None:
        self.shared = shared
        self.theirs = theirs

    def __call__(self, frame: Any, event: str, arg: Any) -> Any:
        theirs = self.theirs
        if theirs is not None:
            before = sys.gettrace()
            theirs = theirs(frame, event, arg)
            now = sys.gettrace()
            if now is not before:  # they put another one, or nothing, in its place, as pydevd and coverage do
                self.theirs = now
                self.shared.set(self)
        engines = self.shared.engines
        if event != "call":
            return theirs
        if not engines:
            self.shared.leave(sys.gettrace())
            return theirs
        return self._entered(frame, theirs, engines)

    def _entered(self, frame: Any, theirs: Any, engines: tuple[SettraceEngine, ...]) -> Any:
        code = frame.f_code
        found: list[SettraceEngine] = []
        has_lines = False
        for engine in engines:
            if engine.name and code.co_name != engine.name and not engine.tracer.active:
                continue  # nearly every call of a program ends here
            try:
                how = engine.enter(frame, code)
            except Exception as error:  # the program must not notice
                self.drop(engine, frame, error, found)
                continue
            if how:
                found.append(engine)
                has_lines = has_lines or how == "own"
        if not found:
            return theirs
        if has_lines:
            frame.f_trace_lines = True  # another tracer, to which this is a function that is called, needs no lines
        elif theirs is None:
            frame.f_trace_lines = False
        return _LocalTrace(self, found, theirs)

    def drop(self, engine: SettraceEngine, frame: Any, error: Exception, engines: list[SettraceEngine]) -> None:
        """Python ends all tracing of a thread whose trace function raises, the debugger's too. Where nothing profiles,
        a profile function sees the frame next, and switches it on again.
        """
        try:
            engine.tracer.drop(error)
        except Exception:
            if sys.version_info < (3, 9) and type(error) is RecursionError:
                for it in self.shared.engines:
                    it.has_overflowed = True
                self.shared.remove_all()
            elif sys.getprofile() is None:
                sys.setprofile(functools.partial(self._resume, frame, error, engines or [engine]))
            else:
                self.shared.remove_all()
            raise

    def _resume(
        self, raised_in: Any, error: Any, engines: list[SettraceEngine], frame: Any, event: str, arg: Any
    ) -> None:
        if frame.f_code.co_filename == _THIS_FILE:
            return  # the trace function itself, on its way out
        sys.setprofile(None)
        is_on = bool(self.shared.engines)
        self.shared.set(self if is_on else self.theirs)
        if frame is raised_in and event == "return":
            for engine in engines:
                unwind(engine.tracer, frame, error)
        elif is_on:
            raised_in.f_trace = _LocalTrace(self, engines, None)


class _LocalTrace:
    """The trace function of one frame."""

    __slots__ = ("engines", "theirs", "thread_trace")

    def __init__(self, thread_trace: _ThreadTrace, engines: list[SettraceEngine], theirs: Any) -> None:
        self.thread_trace = thread_trace
        self.engines = engines
        self.theirs = theirs

    def __call__(self, frame: Any, event: str, arg: Any) -> Any:
        if self.theirs is not None:
            self.theirs = self.theirs(frame, event, arg)
        is_on = False
        for engine in self.engines:
            if engine.is_on:
                try:
                    engine.handle(frame, event, arg)
                except Exception as error:
                    self.thread_trace.drop(engine, frame, error, self.engines)
                is_on = is_on or engine.is_on
        if not is_on and self.theirs is None and frame.f_trace is self:
            frame.f_trace_lines = False
        return self if is_on else self.theirs


_THIS_FILE = _LocalTrace.__call__.__code__.co_filename
_shared_trace = SharedTrace()


class SettraceEngine:
    """What one tracer makes of the events."""

    counts_after = False

    def __init__(self, tracer: Any, shared: SharedTrace = _shared_trace) -> None:
        self.tracer = tracer
        self.name = "" if tracer.target.line or tracer.target.codes else tracer.target.name
        self.has_overflowed = False
        self._shared = shared
        self._errors: dict[int, Any] = {}

    @property
    def is_on(self) -> bool:
        return self in self._shared.engines

    def start(self) -> None:
        self._shared.add(self)

    def stop(self) -> None:
        self._shared.remove(self)

    def is_lost(self) -> bool:
        return self.has_overflowed or (self.is_on and self._shared.is_lost)

    @property
    def untraced_threads(self) -> int:
        return self._shared.untraced_threads

    def recording_began(self) -> None:
        pass

    def recording_done(self) -> None:
        self._shared.remove(self)

    def enter(self, frame: Any, code: Any) -> str:
        """What the frame is: a call of the function itself, one that it calls, or nothing of these."""
        tracer = self.tracer
        if id(frame) in tracer.active or id(frame) in tracer.callees:
            tracer.resumed(frame)
            return "own" if id(frame) in tracer.active else "callee"
        if tracer.target.may_match(code) and tracer.target.matches(code, frame):
            tracer.started(frame)
            return "own" if id(frame) in tracer.active else ""
        is_callee = tracer.recordings and is_own(code.co_filename) and code.co_flags & _FUNCTION
        if is_callee and code.co_name not in _INNER:
            tracer.callee_started(frame)
            return "callee" if id(frame) in tracer.callees else ""
        return ""

    def handle(self, frame: Any, event: str, arg: Any) -> None:
        if event == "line":
            self._errors.pop(id(frame), None)
            self.tracer.line(frame, frame.f_lineno)
        elif event == "exception":
            self._errors[id(frame)] = arg[1]
            if arg[0] is not StopIteration:  # how a loop or an await ends
                self.tracer.raised(frame, arg[1])
        elif event == "return":
            self._left(frame, arg)

    def _left(self, frame: Any, value: Any) -> None:
        """The last opcode tells a return from a suspension and from an exception."""
        error = self._errors.pop(id(frame), None)
        code = frame.f_code
        last = code.co_code[frame.f_lasti] if frame.f_lasti >= 0 else -1
        if _WAITS >= 0 and code.co_code[frame.f_lasti + 2 : frame.f_lasti + 3] == bytes([_WAITS]):
            last = _WAITS  # before Python 3.11 it stands one instruction earlier, to run it again
        elif last == _RESUME and frame.f_lasti >= 2:
            last = code.co_code[frame.f_lasti - 2]  # from Python 3.13 it stands one instruction later
        if last in _RETURNS:
            if id(frame) in self.tracer.active:
                self.tracer.returned(frame, value)
            else:
                self.tracer.callee_ended(frame, value, "")
        elif last in _YIELDS and code.co_flags & _GENERATORS and error is None:
            self.tracer.suspended(frame, value)
        else:
            unwind(self.tracer, frame, error)
