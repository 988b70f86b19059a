"""How the events of a call reach the tracers from Python 3.12: by one tool of `sys.monitoring`, which all share.

Python has six tools in all, of which debuggers, coverage and profilers take up to three. With a tool per function, the
fourth function would find none.
"""

from __future__ import annotations

import sys
from typing import Any

from .call_target import is_own

_FUNCTION = 0x1
_TOOLS = (4, 3, 5)  # 0, 1 and 2 are reserved for debuggers, coverage and profilers; 5 for optimizers
_INNER = frozenset({"<listcomp>", "<setcomp>", "<dictcomp>", "<genexpr>"})
_MOST_CODES = 20_000
TOOL_NAME = "dragoman trace_call"


class MonitoringTool:
    """Hands each event to the engines that watch its code. Code that none of them watches is switched off at its first
    event.
    """

    def __init__(self) -> None:
        self._tool = -1
        self._engines: tuple[MonitoringEngine, ...] = ()
        self._watched: dict[int, tuple[Any, dict[MonitoringEngine, int]]] = {}
        """By the id of a code: the code, and the local events that each engine needs of it."""
        self._named: dict[int, tuple[Any, tuple[MonitoringEngine, ...], bool]] = {}
        """The code, the engines whose function has its name, and whether a call of it is a row of its caller."""

    def add(self, engine: MonitoringEngine) -> None:
        if self._tool < 0:
            self._open()
        self._named.clear()
        self._engines = (*self._engines, engine)
        self.renew()

    def remove(self, engine: MonitoringEngine) -> None:
        self._named.clear()
        self._engines = tuple(it for it in self._engines if it is not engine)
        for code, wanted in list(self._watched.values()):
            if engine in wanted:
                self.watch(engine, code, 0)
        self.set_events()
        if not self._engines:
            self._close()

    def renew(self) -> None:
        """What was switched off before may be needed now."""
        self.set_events()
        sys.monitoring.restart_events()  # type: ignore[attr-defined]

    def watch(self, engine: MonitoringEngine, code: Any, events: int) -> None:
        wanted = self._watched.get(id(code), (code, {}))[1]
        wanted = {**wanted, engine: events}  # a new one: another thread may go through the old one
        if not events:
            del wanted[engine]
        if wanted:
            self._watched[id(code)] = (code, wanted)
        else:
            self._watched.pop(id(code), None)
        union = 0
        for it in wanted.values():
            union |= it
        sys.monitoring.set_local_events(self._tool, code, union)  # type: ignore[attr-defined]

    def _open(self) -> None:
        monitoring: Any = sys.monitoring  # type: ignore[attr-defined]
        for tool in _TOOLS:
            try:
                monitoring.use_tool_id(tool, TOOL_NAME)
            except ValueError:
                continue
            self._tool = tool
            break
        if self._tool < 0:
            raise RuntimeError("no free tool of sys.monitoring")
        for event, callback in self._callbacks():
            monitoring.register_callback(self._tool, event, callback)

    def _close(self) -> None:
        monitoring: Any = sys.monitoring  # type: ignore[attr-defined]
        for event, _ in self._callbacks():
            monitoring.register_callback(self._tool, event, None)
        monitoring.free_tool_id(self._tool)
        self._tool = -1

    def _callbacks(self) -> tuple[tuple[int, Any], ...]:
        events: Any = sys.monitoring.events  # type: ignore[attr-defined]
        return (
            (events.PY_START, self._py_start),
            (events.PY_RESUME, self._py_resume),
            (events.LINE, self._line),
            (events.PY_RETURN, self._py_return),
            (events.PY_YIELD, self._py_yield),
            (events.PY_UNWIND, self._py_unwind),
            (events.RAISE, self._raise),
        )

    def set_events(self) -> None:
        events: Any = sys.monitoring.events  # type: ignore[attr-defined]
        open_ones = [it for it in self._engines if not it.tracer.is_done]
        wanted = events.PY_START if open_ones else 0
        if any(it.has_begun for it in open_ones):
            wanted |= events.PY_UNWIND | events.RAISE
        sys.monitoring.set_events(self._tool, wanted)  # type: ignore[attr-defined]

    def _py_start(self, code: Any, offset: int) -> Any:
        _, named, is_row = self._named.get(id(code)) or self._inspect_code(code)
        is_wanted = bool(named)
        frame = sys._getframe(1)
        for engine in self._engines:
            if engine in named and engine.enter(code, frame):
                continue
            if is_row and engine.has_begun and not engine.tracer.is_done:
                is_wanted = True
                if engine.tracer.recordings:
                    engine.enter_callee(code, frame)
        if is_wanted:
            return None
        self._named.pop(id(code), None)  # it brings no further event
        return sys.monitoring.DISABLE  # type: ignore[attr-defined]

    def _inspect_code(self, code: Any) -> tuple[Any, tuple[MonitoringEngine, ...], bool]:
        if len(self._named) >= _MOST_CODES:
            self._named.clear()
        named = tuple(it for it in self._engines if it.may_enter(code))
        is_row = is_own(code.co_filename) and bool(code.co_flags & _FUNCTION) and code.co_name not in _INNER
        found = self._named[id(code)] = (code, named, is_row)
        return found

    def _watching(self, code: Any) -> Any:
        found = self._watched.get(id(code))
        return found[1] if found is not None else ()

    def _line(self, code: Any, line: int) -> None:
        for engine in self._watching(code):
            if engine.tracer.recordings:
                engine.guard(engine.tracer.line, sys._getframe(1), line)

    def _py_return(self, code: Any, offset: int, value: Any) -> None:
        for engine in self._watching(code):
            if engine.tracer.active:
                engine.guard(engine.leave, sys._getframe(1), value)

    def _py_yield(self, code: Any, offset: int, value: Any) -> None:
        for engine in self._watching(code):
            if engine.tracer.active:
                engine.guard(engine.tracer.suspended, sys._getframe(1), value)

    def _py_resume(self, code: Any, offset: int) -> None:
        for engine in self._watching(code):
            if engine.tracer.active:
                engine.guard(engine.tracer.resumed, sys._getframe(1))

    def _py_unwind(self, code: Any, offset: int, error: Any) -> None:
        for engine in self._engines:
            if engine.tracer.active:
                engine.guard(unwind, engine.tracer, sys._getframe(1), error)

    def _raise(self, code: Any, offset: int, error: Any) -> None:
        for engine in self._engines:
            if engine.tracer.recordings:
                engine.guard(engine.tracer.raised, sys._getframe(1), error)


_shared_tool = MonitoringTool()


class MonitoringEngine:
    """What one tracer needs of the tool."""

    counts_after = True

    def __init__(self, tracer: Any, tool: MonitoringTool = _shared_tool) -> None:
        self.tracer = tracer
        self.has_begun = False
        """From its first recording on, calls of the user's other functions count too."""
        self._tool = tool
        self._codes: list[Any] = []
        self._callees: dict[int, Any] = {}
        self._is_on = False

    def start(self) -> None:
        events: Any = sys.monitoring.events  # type: ignore[attr-defined]
        self._own_events = events.PY_START | events.PY_RESUME | events.LINE | events.PY_RETURN | events.PY_YIELD
        self._tool.add(self)
        self._is_on = True

    def stop(self) -> None:
        if self._is_on:
            self._is_on = False
            self._tool.remove(self)

    def is_lost(self) -> bool:
        return False

    @property
    def untraced_threads(self) -> int:
        return 0

    def recording_began(self) -> None:
        if not self.has_begun:
            self.has_begun = True
            self._tool.renew()

    def recording_done(self) -> None:
        events: Any = sys.monitoring.events  # type: ignore[attr-defined]
        for code in self._callees.values():
            self._tool.watch(self, code, 0)
        for code in self._codes:
            self._tool.watch(self, code, events.PY_START)  # further calls are counted
        self._callees.clear()
        self._tool.set_events()

    def may_enter(self, code: Any) -> bool:
        """By the code alone."""
        return self._is_known(code) or bool(self.tracer.target.may_match(code))

    def _is_known(self, code: Any) -> bool:
        return any(code is it for it in self._codes)

    def enter(self, code: Any, frame: Any) -> bool:
        """Whether this is a call of the function itself."""
        tracer = self.tracer
        try:
            is_known = self._is_known(code)
            # A method that is inherited is called for several classes, of which one is meant.
            if not (is_known and not tracer.target.qualifier) and not tracer.target.matches(code, frame):
                return False
            if not is_known:
                if tracer.is_done:
                    return False
                self._codes.append(code)
                self._tool.watch(self, code, self._own_events)
            tracer.started(frame)
        except Exception as error:  # the program must not notice
            tracer.drop(error)
        return True

    def enter_callee(self, code: Any, frame: Any) -> None:
        try:
            self.tracer.callee_started(frame)
            if id(frame) in self.tracer.callees and id(code) not in self._callees and not self._is_known(code):
                self._callees[id(code)] = code
                events: Any = sys.monitoring.events  # type: ignore[attr-defined]
                self._tool.watch(self, code, events.PY_RETURN | events.PY_YIELD)
        except Exception as error:
            self.tracer.drop(error)

    def leave(self, frame: Any, value: Any) -> None:
        if id(frame) in self.tracer.active:
            self.tracer.returned(frame, value)
        else:
            self.tracer.callee_ended(frame, value, "")

    def guard(self, act: Any, *args: Any) -> None:
        try:
            act(*args)
        except Exception as error:
            self.tracer.drop(error)


def unwind(tracer: Any, frame: Any, error: Any) -> None:
    """A frame is left by an exception."""
    if id(frame) in tracer.active:
        tracer.unwound(frame, error)
    elif id(frame) in tracer.callees:
        tracer.callee_ended(frame, None, tracer.error_text(error))
