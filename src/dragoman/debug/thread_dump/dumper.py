"""Takes a thread dump of a session: with code inside a running program, or from the stacks of a stopped one."""

from __future__ import annotations

import logging
import re
from collections.abc import Callable, Sequence
from typing import Any

import anyio
import anyio.to_thread
import msgspec

from dragoman.core.errors import DragomanError, RemoteProtocolError
from dragoman.debug.backends.port import EVALUATE_IN_EACH, RequestPort
from dragoman.debug.backends.quirks import AdapterQuirks
from dragoman.debug.model import FrameInfo, ThreadInfo
from dragoman.debug.source_files import is_library as is_of_a_library
from dragoman.debug.stops.snapshot import StopReader
from dragoman.debug.thread_dump import model, process_dump
from dragoman.debug.thread_dump.model import DumpedThread, ThreadDump
from dragoman.protocols.dap import read_body

_TOP_FRAMES = 8
log = logging.getLogger(__name__)
_RESPONSE_TIMEOUT_S = 0.8
_STACKS_TIMEOUT_S = 1.5
_MAX_STACKS = 64  # each takes a request to the debugger
_STACK_LEVELS = 12
_HOLDER_TIMEOUT_S = 0.3

# The first match counts, so special functions of a runtime come before the general ones that they call.
_WAITS: Sequence[tuple[str, re.Pattern[str]]] = [
    (kind, re.compile(pattern))
    for kind, pattern in (
        # Go
        ("lock", r"^sync\.\(\*(RW)?Mutex\)\.(R?Lock|lockSlow)"),
        ("group", r"^sync\.\(\*WaitGroup\)\.Wait"),
        ("condition", r"^sync\.\(\*Cond\)\.Wait"),
        ("sleep", r"^time\.Sleep"),
        ("process", r"^os(/exec)?\.\(\*(Process|Cmd)\)\.(W|w)ait"),
        ("connection", r"^(net\.\(\*\w+\)\.(A|a)ccept|internal/poll\.\(\*FD\)\.Accept)"),
        ("data", r"^(net\.\(\*\w+\)\.Read|os\.\(\*File\)\.Read|internal/poll\.\(\*FD\)\.Read)"),
        ("select", r"^runtime\.(selectgo|block)$"),
        ("channel_receive", r"^runtime\.chanrecv"),
        ("channel_send", r"^runtime\.chansend"),
        # Ruby
        ("lock", r"(Thread::)?Mutex#(lock|synchronize)|Monitor#(enter|synchronize)"),
        ("queue_item", r"(Thread::)?(Sized)?Queue#(pop|shift|deq)"),
        ("queue_room", r"(Thread::)?SizedQueue#(push|<<|enq)"),
        ("condition", r"ConditionVariable#wait|Mutex#sleep"),
        ("thread", r"Thread#(join|value)"),
        ("sleep", r"Kernel[#.]sleep"),
        ("connection", r"(TCP|UNIX)?Server#accept|Socket#accept"),
        ("process", r"Process\.(wait|waitpid|detach)|Kernel[#.](system|`)"),
        ("descriptors", r"IO\.select"),
        ("data", r"IO#(read|gets|readline|readpartial|sysread|wait_readable)|BasicSocket#recv"),
        # The C library, and what C++ and Rust build on it
        ("thread", r"^pthread_(clock|timed)?join|std::thread::join|thread::JoinHandle"),
        ("condition", r"^pthread_cond_(timed|clock)?wait|condition_variable::wait|Condvar::wait"),
        ("lock", r"^lll_lock|^pthread_(mutex|rwlock|spin)_\w*lock|std::mutex::lock|Mutex\w*(<.*>)?::lock"),
        ("semaphore", r"^sem_(timed|clock)?wait"),
        ("sleep", r"^(clock_)?nanosleep|^u?sleep$|thread::sleep|sleep_for"),
        ("connection", r"^accept4?$"),
        ("connecting", r"^connect$"),
        ("descriptors", r"^(p?poll|p?select|epoll_p?wait\d?)(64)?(_time64)?$"),
        ("process", r"^(wait|waitpid|wait3|wait4|waitid)$"),
        ("file_lock", r"^(flock|lockf)$"),
        ("signal", r"^(pause|sig(timed)?wait(info)?|sigsuspend)$"),
        ("data", r"^(read|recv|recvfrom|recvmsg|getline|fgets)$"),
        ("writing", r"^(write|send|sendto|sendmsg)$"),
        ("lock", r"futex_wait"),
    )
]
_RUNTIMES = re.compile(r"^(runtime|sync|internal/[\w/]+|time|os|os/exec|syscall|net|io|bufio)\.(?!main)|^\[C\]")


def wait_kind(frames: Sequence[FrameInfo]) -> str:
    """The kind of the wait; empty where the thread computes, or waits in a way that is not in the table."""
    names = [_function_name(frame) for frame in frames[:_TOP_FRAMES]]
    return next((kind for kind, pattern in _WAITS for name in names if pattern.search(name)), "")


def innermost_own_frame(frames: Sequence[FrameInfo]) -> FrameInfo | None:
    """The innermost frame of the user's own code, or else the innermost frame that has a source."""
    own = (
        frame for frame in frames if not frame.is_library and frame.path and not _RUNTIMES.match(_function_name(frame))
    )
    placed = (frame for frame in frames if frame.path)
    return next(own, None) or next(placed, None) or (frames[0] if frames else None)


def _function_name(frame: FrameInfo) -> str:
    """Without its library, and without what the C library puts before its own names."""
    return re.sub(r"^_+(GI_+)?(libc_+)?", "", frame.name.rpartition("`")[2] or frame.name)


class ThreadDumper:
    def __init__(self, backend: RequestPort, quirks: AdapterQuirks, pid: Callable[[], int | None]) -> None:
        """`pid` is the program's, where it is known and of this machine."""
        self._backend = backend
        self._pid = pid
        self._quirks = quirks

    @property
    def can_dump_running(self) -> bool:
        """Whether a program can be looked at without being halted."""
        return bool(self._quirks.thread_dump) or self._quirks.dumps_from_outside

    @property
    def can_dump_stopped(self) -> bool:
        return self._quirks.dumps_at_any_time

    async def running(self, *, is_to_halt: bool = False) -> ThreadDump:
        """The threads of every process of the session; empty if nothing can be read in time."""
        can_ask = bool(self._quirks.thread_dump) and (self._quirks.dumps_at_any_time or not is_to_halt)
        found = await self._dump_from_inside() if can_ask else ThreadDump()
        pid = self._pid() if not found else None
        return found if pid is None else await anyio.to_thread.run_sync(self._dump_from_outside, pid)

    def _dump_from_outside(self, pid: int) -> ThreadDump:
        found = process_dump.faulthandler_dump(pid)
        return found or process_dump.syscall_dump(pid, self._quirks.kernel_waits)

    async def _dump_from_inside(self) -> ThreadDump:
        # Not `repl`: while debugpy 1.8 evaluates in that context, it sends the program's output twice.
        asked = {"expression": self._quirks.thread_dump, "context": "watch"}
        try:
            response = await self._backend.request(EVALUATE_IN_EACH, asked, timeout_s=_RESPONSE_TIMEOUT_S)
            answers = read_body(response, _Answers).answers
        except (DragomanError, RemoteProtocolError) as error:
            log.info("no thread dump: %s", error)
            return ThreadDump()
        return model.merge_dumps(_read(answer, self._quirks) for answer in answers)

    async def stopped(self, threads: Sequence[ThreadInfo], reader: StopReader) -> ThreadDump:
        """From the stacks of a stopped program. Threads that there was no time for have only a name."""
        found = [_thread_from_name(it) for it in threads]
        holders: dict[int, int] = {}
        with anyio.move_on_after(_STACKS_TIMEOUT_S):
            for place, thread in enumerate(threads[:_MAX_STACKS]):
                try:
                    frames, _ = await reader.stack(thread.id, _STACK_LEVELS)
                    found[place] = _thread_from_frames(thread, frames)
                    if found[place].kind == "lock" and self._quirks.holder:
                        holders[thread.id] = await self._holder(frames[0], reader)
                except (DragomanError, RemoteProtocolError, ValueError):
                    continue
        dumped = model.with_holders(found[:_MAX_STACKS], holders)
        shown = sorted(dumped, key=lambda it: is_of_a_library(it.path))  # threads of the runtime come last
        return ThreadDump(threads=tuple(shown), total=len(threads), deadlocks=model.deadlocks(dumped, holders))

    async def _holder(self, top: FrameInfo, reader: StopReader) -> int:
        """By the system's thread number. Raises if that cannot be read."""
        expression = self._quirks.holder
        answer = await reader.evaluate(expression, top.id, "watch", timeout_s=_HOLDER_TIMEOUT_S)
        return int(answer.result)


class _ProcessAnswer(msgspec.Struct):
    result: str
    threads: dict[int, int] = msgspec.field(default_factory=dict)


class _Answers(msgspec.Struct):
    answers: list[_ProcessAnswer]


def _read(answer: _ProcessAnswer, quirks: AdapterQuirks) -> ThreadDump:
    try:
        return model.dump_of_process(quirks.thread_dump_of(answer.result), answer.threads)
    except ValueError as error:
        log.info("a thread dump cannot be read: %s", error)
        return ThreadDump()


_PLACE_IN_NAME = re.compile(r"#\d+ (?P<path>/.*):(?P<line>\d+):in [`'](?P<function>.*)'")


def _thread_from_name(thread: ThreadInfo) -> DumpedThread:
    """rdbg does not stop threads that wait, and says where they are in their names."""
    place = _PLACE_IN_NAME.fullmatch(thread.name)
    if place is None:
        return DumpedThread(name=thread.name, id=thread.id)
    path, line, function = place["path"], int(place["line"]), place["function"]
    return DumpedThread(name=thread.name, id=thread.id, path=path, line=line, function=function)


def _thread_from_frames(thread: ThreadInfo, frames: Sequence[FrameInfo]) -> DumpedThread:
    own = innermost_own_frame(frames)
    place: dict[str, Any] = {"path": own.path, "line": own.line, "function": own.name} if own else {}
    return DumpedThread(name=thread.name, id=thread.id, kind=wait_kind(frames), **place)
