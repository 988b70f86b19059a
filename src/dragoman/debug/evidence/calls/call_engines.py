"""How the events of a call reach the tracer: `sys.monitoring` from Python 3.12, `sys.settrace` before."""

from __future__ import annotations

import functools
import opcode
import sys
import threading
from typing import Any

from .call_target import Originals, is_own

_FUNCTION = 0x1
_RETURNS = {opcode.opmap[it] for it in ("RETURN_VALUE",) if it in opcode.opmap}
_YIELDS = {opcode.opmap[it] for it in ("YIELD_VALUE", "YIELD_FROM", "SEND") if it in opcode.opmap}
_WAITS = opcode.opmap.get("YIELD_FROM", -1)
_GENERATORS = 0x20 | 0x80 | 0x200
_TOOLS = (4, 3, 5)  # 0, 1 and 2 are reserved for debuggers, coverage and profilers
_INNER = frozenset({"<listcomp>", "<setcomp>", "<dictcomp>", "<genexpr>"})


class MonitoringEngine:
    """A tool of its own. Code that is neither the function nor called by it is switched off at its first event."""

    counts_after = True

    def __init__(self, tracer: Any) -> None:
        self._tracer = tracer
        self._tool = -1
        self._codes: list[Any] = []
        self._callees: dict[int, Any] = {}
        self._is_restarted = False

    def start(self) -> None:
        monitoring: Any = sys.monitoring  # type: ignore[attr-defined]
        for tool in _TOOLS:
            try:
                monitoring.use_tool_id(tool, "dragoman trace_call")
            except ValueError:
                continue
            self._tool = tool
            break
        if self._tool < 0:
            raise RuntimeError("no free tool of sys.monitoring")
        events = monitoring.events
        self._own_events = events.PY_START | events.PY_RESUME | events.LINE | events.PY_RETURN | events.PY_YIELD
        for event, callback in (
            (events.PY_START, self._py_start),
            (events.PY_RESUME, self._py_resume),
            (events.LINE, self._line),
            (events.PY_RETURN, self._py_return),
            (events.PY_YIELD, self._py_yield),
            (events.PY_UNWIND, self._py_unwind),
            (events.RAISE, self._raise),
        ):
            monitoring.register_callback(self._tool, event, callback)
        monitoring.set_events(self._tool, events.PY_START)
        monitoring.restart_events()

    def stop(self) -> None:
        if self._tool < 0:
            return
        monitoring: Any = sys.monitoring  # type: ignore[attr-defined]
        monitoring.set_events(self._tool, 0)
        for code in (*self._codes, *self._callees.values()):
            monitoring.set_local_events(self._tool, code, 0)
        for event in ("PY_START", "PY_RESUME", "LINE", "PY_RETURN", "PY_YIELD", "PY_UNWIND", "RAISE"):
            monitoring.register_callback(self._tool, getattr(monitoring.events, event), None)
        monitoring.free_tool_id(self._tool)
        self._tool = -1

    def is_lost(self) -> bool:
        return False

    def recording_began(self) -> None:
        """Now calls of the user's other functions count too, which were switched off before."""
        monitoring: Any = sys.monitoring  # type: ignore[attr-defined]
        if not self._is_restarted:
            self._is_restarted = True
            events = monitoring.events
            monitoring.set_events(self._tool, events.PY_START | events.PY_UNWIND | events.RAISE)
            monitoring.restart_events()

    def recording_done(self) -> None:
        monitoring: Any = sys.monitoring  # type: ignore[attr-defined]
        monitoring.set_events(self._tool, 0)
        for code in self._callees.values():
            monitoring.set_local_events(self._tool, code, 0)
        for code in self._codes:
            monitoring.set_local_events(self._tool, code, monitoring.events.PY_START)
        self._callees.clear()

    def _py_start(self, code: Any, offset: int) -> Any:
        tracer = self._tracer
        disable = sys.monitoring.DISABLE  # type: ignore[attr-defined]
        try:
            target = tracer.target
            is_known = any(code is it for it in self._codes)
            may_match = is_known or (not tracer.is_done and target.may_match(code))
            # A method that is inherited is called for several classes, of which one is meant.
            if may_match and ((is_known and not target.qualifier) or target.matches(code, sys._getframe(1))):
                if not is_known:
                    self._codes.append(code)
                    sys.monitoring.set_local_events(self._tool, code, self._own_events)  # type: ignore[attr-defined]
                tracer.started(sys._getframe(1))
                return None
            if not is_own(code.co_filename) or not code.co_flags & _FUNCTION or code.co_name in _INNER:
                return None if may_match else disable
            if not self._is_restarted or tracer.is_done:
                return None if may_match else disable
            if tracer.recordings:
                self._callee(code, sys._getframe(1))
        except Exception as error:  # the program must not notice
            tracer.drop(error)
        return None

    def _callee(self, code: Any, frame: Any) -> None:
        tracer = self._tracer
        tracer.callee_started(frame)
        is_known = id(code) in self._callees or any(code is it for it in self._codes)
        if id(frame) in tracer.callees and not is_known:
            self._callees[id(code)] = code
            events: Any = sys.monitoring.events  # type: ignore[attr-defined]
            sys.monitoring.set_local_events(self._tool, code, events.PY_RETURN | events.PY_YIELD)  # type: ignore[attr-defined]

    def _line(self, code: Any, line: int) -> Any:
        if self._tracer.recordings:
            try:
                self._tracer.line(sys._getframe(1), line)
            except Exception as error:
                self._tracer.drop(error)

    def _py_return(self, code: Any, offset: int, value: Any) -> Any:
        if self._tracer.active:
            try:
                frame = sys._getframe(1)
                if id(frame) in self._tracer.active:
                    self._tracer.returned(frame, value)
                else:
                    self._tracer.callee_ended(frame, value, "")
            except Exception as error:
                self._tracer.drop(error)

    def _py_yield(self, code: Any, offset: int, value: Any) -> Any:
        if self._tracer.active:
            try:
                self._tracer.suspended(sys._getframe(1), value)
            except Exception as error:
                self._tracer.drop(error)

    def _py_resume(self, code: Any, offset: int) -> Any:
        if self._tracer.active:
            try:
                self._tracer.resumed(sys._getframe(1))
            except Exception as error:
                self._tracer.drop(error)

    def _py_unwind(self, code: Any, offset: int, error: Any) -> Any:
        if self._tracer.active:
            try:
                _unwound(self._tracer, sys._getframe(1), error)
            except Exception as raised:
                self._tracer.drop(raised)

    def _raise(self, code: Any, offset: int, error: Any) -> Any:
        if self._tracer.recordings:
            try:
                self._tracer.raised(sys._getframe(1), error)
            except Exception as raised:
                self._tracer.drop(raised)


def _unwound(tracer: Any, frame: Any, error: Any) -> None:
    if id(frame) in tracer.active:
        tracer.unwound(frame, error)
    elif id(frame) in tracer.callees:
        tracer.callee_ended(frame, None, tracer.error_text(error))


class SettraceEngine:
    """A composite of whatever traces already and of the tracer. Only the thread that started it, and those that begin
    later without a debugger, are seen.
    """

    counts_after = False

    def __init__(self, tracer: Any) -> None:
        self._tracer = tracer
        self._theirs: Any = None
        self._set: Any = sys.settrace
        self._errors: dict[int, Any] = {}
        self._is_on = False
        self._has_overflowed = False
        self._thread = 0
        self._name = "" if tracer.target.line or tracer.target.codes else tracer.target.name

    def start(self) -> None:
        self._theirs = sys.gettrace()
        holder = sys.modules.get("_pydevd_bundle.pydevd_tracing") or sys.modules.get("pydevd_tracing")
        original = getattr(getattr(holder, "TracingFunctionHolder", None), "_original_tracing", None)
        self._set = original or sys.settrace  # pydevd's own `sys.settrace` prints a warning
        self._is_on = True
        self._thread = Originals.get_ident()
        if self._theirs is None:
            threading.settrace(self._call)
        self._set(self._call)

    def stop(self) -> None:
        if not self._is_on:
            return
        self._is_on = False
        if self._theirs is None:
            threading.settrace(None)
        if Originals.get_ident() == self._thread and sys.gettrace() == self._call:
            self._set(self._theirs)

    def is_lost(self) -> bool:
        """Python ends tracing where the trace function itself is too deep for the stack."""
        if self._has_overflowed:
            return True
        return self._is_on and Originals.get_ident() == self._thread and sys.gettrace() is None

    def recording_began(self) -> None:
        pass

    def recording_done(self) -> None:
        self._is_on = False
        if self._theirs is None:
            threading.settrace(None)
        # Another tracer that was switched on later stands in front of this one, and stays there.
        if Originals.get_ident() == self._thread and sys.gettrace() == self._call:
            self._set(self._theirs)

    def _call(self, frame: Any, event: str, arg: Any) -> Any:
        theirs = self._theirs(frame, event, arg) if self._theirs is not None else None
        if event != "call" or not self._is_on:
            return theirs
        if self._name and frame.f_code.co_name != self._name and not self._tracer.active:
            return theirs  # nearly every call of a program ends here
        try:
            is_ours = self._enter(frame, frame.f_code)
        except Exception as error:  # the program must not notice
            self.drop(frame, error)
            is_ours = False
        if not is_ours:
            return theirs
        if is_ours == "own":
            frame.f_trace_lines = True  # another tracer, to which this is a function that is called, needs no lines
        elif theirs is None:
            frame.f_trace_lines = False
        return _LocalTrace(self, theirs)

    def _enter(self, frame: Any, code: Any) -> Any:
        tracer = self._tracer
        if id(frame) in tracer.active or id(frame) in tracer.callees:
            tracer.resumed(frame)
            return "own" if id(frame) in tracer.active else "callee"
        if tracer.target.may_match(code) and tracer.target.matches(code, frame):
            tracer.started(frame)
            return "own" if id(frame) in tracer.active else False
        is_callee = tracer.recordings and is_own(code.co_filename) and code.co_flags & _FUNCTION
        if is_callee and code.co_name not in _INNER:
            tracer.callee_started(frame)
            return "callee" if id(frame) in tracer.callees else False
        return False

    def drop(self, frame: Any, error: Exception) -> None:
        """Python ends all tracing of a thread whose trace function raises, the debugger's too. Where nothing profiles,
        a profile function sees the frame next, and switches it on again.
        """
        try:
            self._tracer.drop(error)
        except Exception:
            if sys.version_info < (3, 9) and type(error) is RecursionError:
                self._is_on, self._has_overflowed = False, True
            elif sys.getprofile() is None:
                sys.setprofile(functools.partial(self._resume_tracing, frame, error))
            else:
                self._is_on = False
            raise

    def _resume_tracing(self, raised_in: Any, error: Exception, frame: Any, event: str, arg: Any) -> None:
        if frame.f_code.co_filename == _THIS_FILE:
            return  # the trace function itself, on its way out
        sys.setprofile(None)
        self._set(self._call if self._is_on else self._theirs)
        if frame is raised_in and event == "return":
            _unwound(self._tracer, frame, error)
        elif self._is_on:
            raised_in.f_trace = _LocalTrace(self, None)

    def handle(self, frame: Any, event: str, arg: Any) -> None:
        tracer = self._tracer
        if event == "line":
            self._errors.pop(id(frame), None)
            tracer.line(frame, frame.f_lineno)
        elif event == "exception":
            self._errors[id(frame)] = arg[1]
            if arg[0] is not StopIteration:  # how a loop or an await ends
                tracer.raised(frame, arg[1])
        elif event == "return":
            self._left(frame, arg)

    def _left(self, frame: Any, value: Any) -> None:
        """The last opcode tells a return from a suspension and from an exception."""
        error = self._errors.pop(id(frame), None)
        code = frame.f_code
        last = code.co_code[frame.f_lasti] if frame.f_lasti >= 0 else -1
        if _WAITS >= 0 and code.co_code[frame.f_lasti + 2 : frame.f_lasti + 3] == bytes([_WAITS]):
            last = _WAITS  # before Python 3.11 it stands one instruction earlier, to run it again
        if last in _RETURNS:
            if id(frame) in self._tracer.active:
                self._tracer.returned(frame, value)
            else:
                self._tracer.callee_ended(frame, value, "")
        elif last in _YIELDS and code.co_flags & _GENERATORS and error is None:
            self._tracer.suspended(frame, value)
        else:
            _unwound(self._tracer, frame, error)


class _LocalTrace:
    """The local trace function of one frame: theirs first, then ours."""

    __slots__ = ("engine", "theirs")

    def __init__(self, engine: SettraceEngine, theirs: Any) -> None:
        self.engine = engine
        self.theirs = theirs

    def __call__(self, frame: Any, event: str, arg: Any) -> Any:
        if self.theirs is not None:
            self.theirs = self.theirs(frame, event, arg)
        try:
            if self.engine._is_on:
                self.engine.handle(frame, event, arg)
            elif self.theirs is None and frame.f_trace is self:
                frame.f_trace_lines = False
        except Exception as error:
            self.engine.drop(frame, error)
        return self if self.engine._is_on else self.theirs


_THIS_FILE = _unwound.__code__.co_filename


def new_engine(tracer: Any) -> Any:
    return MonitoringEngine(tracer) if sys.version_info >= (3, 12) else SettraceEngine(tracer)
