"""What a thread waits for, by the functions at the top of its stack: Go's runtime, the C library, Ruby's core."""

from __future__ import annotations

import re
from collections.abc import Sequence

from dragoman.debug.model import Frame

_NEAR_THE_TOP = 8

# The first that fits decides, so what a runtime calls for something special stands before what it is made of.
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


def wait_of(frames: Sequence[Frame]) -> str:
    """The kind of the wait; empty where the thread computes, or waits in a way that is not in the table."""
    names = [_name(frame) for frame in frames[:_NEAR_THE_TOP]]
    return next((kind for kind, pattern in _WAITS for name in names if pattern.search(name)), "")


def first_own(frames: Sequence[Frame]) -> Frame | None:
    """The innermost frame of the user's own code; where there is none, the innermost that has a source."""
    own = (frame for frame in frames if not frame.is_library and frame.path and not _RUNTIMES.match(_name(frame)))
    placed = (frame for frame in frames if frame.path)
    return next(own, None) or next(placed, None) or (frames[0] if frames else None)


def _name(frame: Frame) -> str:
    """Without its library, and without what the C library puts before its own names."""
    return re.sub(r"^_+(GI_+)?(libc_+)?", "", frame.name.rpartition("`")[2] or frame.name)
