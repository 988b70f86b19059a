"""Reports where each thread and asyncio task of a Python program is and what it waits for. Runs inside the program.

debugpy evaluates the source of this file in a thread of its own while the program runs, so it must work on every
interpreter that debugpy supports (3.8 and later). It takes no lock that the program could hold and calls no code of
the program: attributes are read from instance dictionaries only.
"""
# ruff: noqa: SLF001, PTH100, PTH120, UP006, UP035, UP045  private frames; no pathlib in the program; Python 3.8

from __future__ import annotations

import _thread
import ast
import contextlib
import json
import linecache
import os
import sys
import threading
from types import FrameType, ModuleType
from typing import Any, Dict, List, Optional, Tuple

_THREADS, _TASKS, _FRAMES, _TEXT, _DEPTH = 64, 64, 6, 160, 200
_LOCKS = (type(_thread.allocate_lock()), type(_thread.RLock()))
_Fields = Dict[str, Any]
_Stack = List[FrameType]
_Stacks = Dict[int, List[FrameType]]
_Columns = Tuple[int, int, int, int]
_STANDARD = os.path.dirname(os.__file__)
_MOVES_WITHIN_S = 0.03

# What a thread waits for, by module and function of a frame in the standard library. The outermost such frame counts.
_LIBRARY = {
    ("threading", "wait"): "condition",
    ("threading", "join"): "thread",
    ("threading", "_wait_for_tstate_lock"): "thread",
    ("threading", "acquire"): "semaphore",
    ("threading", "_shutdown"): "shutdown",
    ("queue", "get"): "queue_item",
    ("queue", "put"): "queue_room",
    ("queue", "join"): "queue_done",
    ("concurrent.futures._base", "result"): "future",
    ("concurrent.futures._base", "exception"): "future",
    ("concurrent.futures._base", "wait"): "future",
    ("concurrent.futures._base", "result_iterator"): "future",
    ("concurrent.futures.thread", "shutdown"): "threads",
    ("concurrent.futures.thread", "_worker"): "work",
    ("subprocess", "wait"): "process",
    ("subprocess", "communicate"): "process",
    ("subprocess", "run"): "process",
    ("subprocess", "call"): "process",
    ("multiprocessing.process", "join"): "process",
    ("multiprocessing.popen_fork", "wait"): "process",
    ("multiprocessing.pool", "get"): "future",
    ("multiprocessing.pool", "wait"): "future",
    ("multiprocessing.pool", "worker"): "work",
    ("multiprocessing.queues", "get"): "queue_item",
    ("multiprocessing.connection", "recv"): "data",
    ("multiprocessing.connection", "wait"): "descriptors",
    ("multiprocessing.connection", "accept"): "connection",
    ("multiprocessing.synchronize", "__enter__"): "lock",
    ("socket", "accept"): "connection",
    ("socket", "readinto"): "data",
    ("socket", "create_connection"): "connecting",
    ("socket", "getaddrinfo"): "name",
    ("socketserver", "serve_forever"): "connection",
    ("ssl", "read"): "data",
    ("ssl", "recv"): "data",
    ("ssl", "do_handshake"): "data",
    ("selectors", "select"): "descriptors",
    ("asyncio.base_events", "run_forever"): "event_loop",
    ("asyncio.base_events", "run_until_complete"): "event_loop",
    ("asyncio.runners", "run"): "event_loop",
    ("asyncio.tasks", "sleep"): "sleep",
    ("asyncio.tasks", "wait"): "tasks",
    ("asyncio.tasks", "wait_for"): "tasks",
    ("asyncio.tasks", "gather"): "tasks",
    ("asyncio.taskgroups", "__aexit__"): "tasks",
    ("asyncio.locks", "acquire"): "lock",
    ("asyncio.locks", "__aenter__"): "lock",
    ("asyncio.locks", "wait"): "event",
    ("asyncio.queues", "get"): "queue_item",
    ("asyncio.queues", "put"): "queue_room",
    ("asyncio.queues", "join"): "queue_done",
    ("asyncio.streams", "drain"): "writing",
    ("asyncio.streams", "_wait_for_data"): "data",
    ("asyncio.subprocess", "wait"): "process",
    ("asyncio.subprocess", "communicate"): "process",
    ("asyncio.threads", "to_thread"): "future",
    ("asyncio.base_events", "sock_recv"): "data",
    ("asyncio.base_events", "serve_forever"): "connection",
}
# What a thread waits for, by the name of the native function that its innermost frame calls.
_CALLS = {
    "sleep": "sleep", "pause": "signal", "sigwait": "signal", "acquire": "lock", "acquire_lock": "lock",
    "recv": "data", "recv_into": "data", "recvfrom": "data", "recvmsg": "data", "read": "data", "readline": "data",
    "readinto": "data", "read1": "data", "readlines": "data", "accept": "connection", "_accept": "connection",
    "connect": "connecting", "send": "writing", "sendall": "writing", "write": "writing", "flush": "writing",
    "select": "descriptors", "poll": "descriptors", "epoll": "descriptors", "kqueue": "descriptors",
    "waitpid": "process", "wait": "process", "wait3": "process", "wait4": "process", "waitid": "process",
    "system": "process", "flock": "file_lock", "lockf": "file_lock", "fcntl": "file_lock", "input": "input",
    "get": "queue_item", "getaddrinfo": "name", "gethostbyname": "name", "join": "thread",
}  # fmt: skip
_EVENTS = {"Event": "event", "Barrier": "barrier", "Semaphore": "semaphore", "BoundedSemaphore": "semaphore"}


def dump() -> str:
    """Returns one JSON text. Looks twice: a thread whose frame moved in between is running."""
    before = _positions(sys._current_frames())
    pause = _thread.allocate_lock()
    pause.acquire()
    pause.acquire(True, _MOVES_WITHIN_S)  # the program may have replaced `time.sleep`
    frames = sys._current_frames()
    after = _positions(frames)
    known = dict(vars(threading)["_active"])
    own = [ident for ident in frames if not _is_debuggers(known.get(ident), frames[ident])]
    tasks = _tasks()
    seen = _ProgramThreads(
        {ident: _stack(frames[ident]) for ident in own}, known, [(it, _coroutines(it)) for it in tasks]
    )
    threads = [_thread_of(seen, ident, runs=before.get(ident) != after[ident]) for ident in own[:_THREADS]]
    return json.dumps(
        {
            "pid": os.getpid(),
            "threads": threads,
            "total_threads": len(own),
            "tasks": [_task_of(seen, task, chain) for task, chain in seen.tasks[:_TASKS]],
            "total_tasks": len(tasks),
        }
    )


class _ProgramThreads:
    def __init__(self, stacks: _Stacks, known: dict[int, Any], tasks: list[tuple[Any, _Stack]]) -> None:
        self.stacks, self.known, self.tasks = stacks, known, tasks

    def name(self, ident: int) -> str:
        thread = self.known.get(ident)
        return str(getattr(thread, "_name", None) or ident)[:_TEXT]


def _positions(frames: dict[int, FrameType]) -> dict[int, tuple[int, int]]:
    return {ident: (id(frame), frame.f_lasti) for ident, frame in frames.items()}


def _is_debuggers(thread: Any, frame: FrameType) -> bool:
    if getattr(thread, "is_pydev_daemon_thread", False):
        return True
    while frame.f_back is not None:
        frame = frame.f_back
    return str(frame.f_globals.get("__name__", "")).startswith(("debugpy.", "_pydevd"))


def _stack(frame: FrameType | None) -> _Stack:
    """Innermost first; without what the debugger put between, and without the wait in which it holds a thread."""
    stack: _Stack = []
    while frame is not None and len(stack) < _DEPTH:
        if not _is_of_the_debugger(frame.f_code.co_filename):
            stack.append(frame)
        elif _is_called_by_the_program(frame):
            stack.clear()
        frame = frame.f_back
    return stack


def _is_called_by_the_program(frame: FrameType) -> bool:
    """Otherwise it is what started the program, or a thread of it."""
    outer = frame.f_back
    while outer is not None:
        if _is_own(outer):
            return True
        outer = outer.f_back
    return False


def _is_of_the_debugger(path: str) -> bool:
    return "pydevd" in path or os.sep + "debugpy" in path


def _is_own(frame: FrameType) -> bool:
    path = frame.f_code.co_filename
    is_library = path.startswith((_STANDARD + os.sep, "<frozen", "<string>")) or "-packages" + os.sep in path
    return not is_library and not _is_of_the_debugger(path)


def _thread_of(seen: _ProgramThreads, ident: int, *, runs: bool) -> _Fields:
    stack, thread = seen.stacks[ident], seen.known.get(ident)
    fields = {
        "id": _number(thread),
        "ident": ident,
        "native_id": getattr(thread, "_native_id", None),
        "name": seen.name(ident),
        "is_daemon": bool(getattr(thread, "_daemonic", False)),
        **_place(stack),
        "runs": runs,
    }
    return fields if runs else {**fields, **_wait(seen, stack)}


def _number(thread: Any) -> int | None:
    """The debugger's number for it, which is a matter of its insides."""
    with contextlib.suppress(Exception):
        schema = sys.modules["_pydevd_bundle._debug_adapter.pydevd_base_schema"]
        constants = sys.modules["_pydevd_bundle.pydevd_constants"]
        number: int = schema.BaseSchema._translate_id_to_dap(constants.get_thread_id(thread))
        return number if thread is not None else None
    return None


def _place(stack: _Stack) -> _Fields:
    own = next((frame for frame in stack if _is_own(frame)), stack[0] if stack else None)
    if own is None:
        return {}
    shown = stack[stack.index(own) :][:_FRAMES]
    return {**_at(own), "stack": [_at(frame) for frame in shown]}


def _at(frame: FrameType) -> _Fields:
    return {"file": os.path.abspath(frame.f_code.co_filename), "line": frame.f_lineno or 0,
            "function": frame.f_code.co_name}  # fmt: skip


def _wait(seen: _ProgramThreads, stack: _Stack) -> _Fields:
    kind, found = "", None
    for frame in stack:
        if kind and _is_own(frame):
            break
        named = _LIBRARY.get((str(frame.f_globals.get("__name__")), frame.f_code.co_name))
        kind, found = (named, frame) if named else (kind, found)
        if _is_own(frame):
            break
    if not kind and stack:
        return _native_wait(seen, stack)
    return _library_wait(seen, kind, found, stack)


def _library_wait(seen: _ProgramThreads, kind: str, frame: FrameType | None, stack: _Stack) -> _Fields:
    owner: Any = frame.f_locals.get("self") if frame is not None else None
    fields: _Fields = {"kind": _EVENTS.get(type(owner).__name__, kind) if kind in ("condition", "semaphore") else kind}
    if kind == "thread" and isinstance(owner, threading.Thread):
        ident = vars(owner).get("_ident")
        fields.update(target=str(vars(owner).get("_name"))[:_TEXT], holder=ident)
    elif kind == "thread" or not kind:
        fields["target"] = ""
    elif kind == "process":
        fields["target"] = _process(stack)
    elif kind == "lock":
        _add_holder(seen, fields, owner)
    own = next((it for it in stack if _is_own(it)), None)
    if own is not None and "target" not in fields:
        fields["target"] = _text_of_call(own)
    return fields


def _process(stack: _Stack) -> str:
    """The pid, from whatever object of the standard library waits for it."""
    for frame in stack:
        pid = getattr(frame.f_locals.get("self"), "__dict__", {}).get("pid")
        if isinstance(pid, int):
            return str(pid)
    return ""


def _native_wait(seen: _ProgramThreads, stack: _Stack) -> _Fields:
    frame = stack[0]
    call, node = _call_at(frame)
    if not call and _tree(frame.f_code.co_filename, frame.f_globals) is not None:
        return {"runs": True}
    found = _resolved(node, frame)
    if isinstance(found, _LOCKS):
        fields = {"kind": "lock", "target": call[:_TEXT]}
        _add_holder(seen, fields, found)
        return fields
    name = getattr(found, "__name__", "") if callable(found) else ""
    name = name if isinstance(name, str) and name else call.rpartition(".")[2]
    return {"kind": _CALLS.get(name, "call"), "target": call[:_TEXT]}


def _add_holder(seen: _ProgramThreads, fields: _Fields, lock: object) -> None:
    """An RLock knows its owner. A Lock does not: its holder is inside a `with` of it, or behind its `acquire()`."""
    text = repr(lock) if isinstance(lock, _LOCKS[1]) else ""
    owner = text.partition("owner=")[2].split(" ")[0]
    if owner.isdigit() and int(owner):
        fields.update(holder=int(owner), holder_name=seen.name(int(owner)))
        return
    for other, stack in seen.stacks.items():
        for frame in stack:
            if _is_own(frame) and _holds(frame, lock):
                fields.update(holder=other, holder_name=seen.name(other), held_at=_at(frame))
                return
    for task, chain in seen.tasks:
        if any(_is_own(frame) and _holds(frame, lock) for frame in chain):
            fields["holder_name"] = _task_name(task)
            return


def _holds(frame: FrameType, lock: object) -> bool:
    """Found in the source: the frame is inside a `with` of the lock, or behind an `acquire()` that nothing released."""
    function = _function(frame)
    if function is None:
        return False
    line, taken = frame.f_lineno or 0, 0
    for node in ast.walk(function):
        if isinstance(node, (ast.With, ast.AsyncWith)):
            inside = node.lineno < node.body[0].lineno <= line <= _end(node.body[-1])
            if inside and any(_resolved(item.context_expr, frame) is lock for item in node.items):
                return True
        elif isinstance(node, ast.Call) and isinstance(node.func, ast.Attribute) and node.lineno < line:
            change = {"acquire": 1, "release": -1}.get(node.func.attr, 0)
            taken += change if change and _resolved(node.func.value, frame) is lock else 0
    return taken > 0


def _function(frame: FrameType) -> ast.AST | None:
    """The syntax tree of what the frame runs."""
    tree = _tree(frame.f_code.co_filename, frame.f_globals)
    if tree is None or frame.f_code.co_name == "<module>":
        return tree
    named = [it for it in ast.walk(tree) if getattr(it, "name", "") == frame.f_code.co_name]
    first = frame.f_code.co_firstlineno
    return next((it for it in named if first in _first_lines(it)), None)


def _first_lines(function: Any) -> list[int]:
    """A function begins at its first decorator, or at its `def`: versions differ."""
    return [function.lineno, *(it.lineno for it in getattr(function, "decorator_list", ()))]


_TREES: Dict[str, Optional[ast.Module]] = {}


def _tree(path: str, names: dict[str, Any]) -> ast.Module | None:
    if path not in _TREES:
        lines = linecache.getlines(path, names)
        try:
            _TREES[path] = ast.parse("".join(lines)) if lines else None
        except (SyntaxError, ValueError, RecursionError, MemoryError):
            _TREES[path] = None
    return _TREES[path]


def _end(node: ast.stmt) -> int:
    return getattr(node, "end_lineno", None) or node.lineno


def _text_of_call(frame: FrameType) -> str:
    return _call_at(frame)[0][:_TEXT]


def _call_at(frame: FrameType) -> tuple[str, ast.AST | None]:
    """The call that the frame is in, as written, and its node: by column where the interpreter records columns."""
    tree, line = _tree(frame.f_code.co_filename, frame.f_globals), frame.f_lineno or 0
    if tree is None:
        return "", None
    place, found = _columns(frame), []
    for node in ast.walk(tree):
        if getattr(node, "lineno", line + 1) <= line <= getattr(node, "end_lineno", 0):
            found += [(_fit(node, it, place, line), it) for it in _callees(node)]
    fit, best = max(found, key=lambda it: it[0], default=(0, None))
    return (_written(best), best) if fit else ("", None)


def _callees(node: ast.AST) -> list[ast.expr]:
    if isinstance(node, ast.Call):
        return [node.func]
    return [item.context_expr for item in node.items] if isinstance(node, (ast.With, ast.AsyncWith)) else []


def _fit(node: Any, callee: Any, place: _Columns | None, line: int) -> int:
    """How well the columns of an instruction are those of a call: some versions tell where a `with` begins instead."""
    if place is None:
        return 1 if line in (node.lineno, callee.lineno) else 0
    spans = [(it.lineno, it.end_lineno, it.col_offset, it.end_col_offset) for it in (callee, node)]
    if place in spans[isinstance(node, ast.Call) :]:
        return 4
    if isinstance(node, ast.Call):
        return 3 if place[1::2] == spans[1][1::2] else 2 if place[::2] == spans[1][::2] else 0
    return 3 if place == spans[0] else 1 if place[::2] == spans[1][::2] else 0


def _columns(frame: FrameType) -> _Columns | None:
    positions = getattr(frame.f_code, "co_positions", None)
    if positions is None:
        return None
    found = next((it for index, it in enumerate(positions()) if index == frame.f_lasti // 2), (None,))
    return None if None in found else found  # type: ignore[return-value]  # known by now


def _written(node: ast.AST | None) -> str:
    """Names and attributes are kept; of the rest of an expression, only its shape."""
    if isinstance(node, ast.Name):
        return node.id
    if isinstance(node, ast.Attribute):
        return _written(node.value) + "." + node.attr
    if isinstance(node, ast.Call):
        return _written(node.func) + "()"
    if isinstance(node, ast.Subscript):
        return _written(node.value) + "[…]"
    return "…"


def _resolved(node: ast.AST | None, frame: FrameType) -> Any:
    """The object, without running a property or any other code of the program."""
    if isinstance(node, ast.Name):
        for names in (frame.f_locals, frame.f_globals, frame.f_builtins):
            if node.id in names:
                return names[node.id]
        return None
    if isinstance(node, ast.Attribute):
        owner = _resolved(node.value, frame)
        if isinstance(owner, _LOCKS) and node.attr in ("acquire", "__enter__"):
            return owner
        return None if owner is None else _attribute(owner, node.attr)
    return None


def _attribute(owner: Any, name: str) -> Any:
    try:
        held = object.__getattribute__(owner, "__dict__")
    except (AttributeError, TypeError):
        held = {}
    if isinstance(held, dict) and name in held:
        return held[name]
    if isinstance(owner, ModuleType):
        return None
    for base in type.__getattribute__(owner if isinstance(owner, type) else type(owner), "__mro__"):
        if name in base.__dict__:
            found = base.__dict__[name]
            return found if not hasattr(type(found), "__get__") or callable(found) else None
    return None


def _tasks() -> list[Any]:
    tasks = sys.modules.get("asyncio.tasks")
    if tasks is None:
        return []
    found: list[Any] = []
    for name in ("_all_tasks", "_scheduled_tasks", "_eager_tasks"):
        with contextlib.suppress(RuntimeError, TypeError):  # the container grew in the meantime
            found += list(getattr(tasks, name, ()) or ())
    return [task for task in dict.fromkeys(found or _tasks_of_loops(tasks)) if not task.done()]


def _tasks_of_loops(tasks: Any) -> list[Any]:
    """Since 3.14 only `all_tasks` knows them, by their loop."""
    found: list[Any] = []
    for top in sys._current_frames().values():
        for frame in _stack(top):
            if frame.f_code.co_name == "run_forever" and "self" in frame.f_locals:
                with contextlib.suppress(Exception):
                    found += tasks.all_tasks(frame.f_locals["self"])
    return found


def _coroutines(task: Any) -> _Stack:
    """The frames of a task, innermost first."""
    frames: _Stack = []
    coroutine = task.get_coro()
    while coroutine is not None and len(frames) < _DEPTH:
        frame = _first_of(coroutine, "cr_frame", "gi_frame", "ag_frame")
        if frame is None:
            break
        frames.insert(0, frame)
        coroutine = _first_of(coroutine, "cr_await", "gi_yieldfrom", "ag_await")
    return frames


def _first_of(owner: Any, *names: str) -> Any:
    found = (getattr(owner, name, None) for name in names)
    return next((it for it in found if it is not None), None)


def _task_name(task: Any) -> str:
    return str(task.get_name() if hasattr(task, "get_name") else "task")[:_TEXT]


def _task_of(seen: _ProgramThreads, task: Any, chain: _Stack) -> _Fields:
    fields = {"name": _task_name(task), **_place(chain)}
    waited = getattr(task, "_fut_waiter", None)
    if waited is None:
        return {**fields, "runs": True}
    others = [waited] if hasattr(waited, "get_coro") else list(getattr(waited, "_children", None) or ())
    names = [_task_name(it) for it in others if hasattr(it, "get_coro") and not it.done()]
    if names:
        return {**fields, "kind": "tasks", "target": ", ".join(names[:4])[:_TEXT]}
    return {**fields, **_wait(seen, chain)}
