"""Runs a failed test once more in a child process, with the tracer on some functions, and brings back what they did.

The child is a fork: it begins with everything the tests before left in memory, and what it changes there is gone with
it. A test that ends its process or hangs ends the child alone. Where there is no fork, it runs again in this process.
"""

from __future__ import annotations

import _thread
import contextlib
import json
import os
import select
import signal
import time
import warnings
from collections.abc import Callable, Sequence
from typing import Any

import pytest
from _pytest.runner import runtestprotocol

from .call_target import CallTarget
from .call_tracer import CallTracer
from .secret_names import HidingCopier, hide_secrets

TRACERS: pytest.StashKey[list[CallTracer]] = pytest.StashKey()
_MOST_BYTES = 8_000_000
_TRACED_SHARE = 0.7  # of the time: a call that does not end is cut off before the child is
_POLL_S = 0.02
_WATCH_S = 0.2
_sleep, _monotonic = time.sleep, time.monotonic  # tests replace them
_TRIES = 50
_WATCHED_SHARE = 0.8  # then the child answers with what it has
_UNKNOWN = -1
Target = tuple[CallTarget, str]
"""A function, and which of its calls."""


class SecondRunError(Exception):
    """The child brought nothing back; the message says why, in words for the reader."""


def run_again(
    item: pytest.Item, nextitem: pytest.Item | None, targets: Sequence[Target], seconds: float
) -> dict[str, Any]:
    """`passed`, `has_ended`, and `records`: a call of each function that was called, without secrets."""

    def run() -> dict[str, Any]:
        return _traced(item, nextitem, targets, seconds * _TRACED_SHARE)

    def unfinished() -> dict[str, Any]:
        tracers = item.stash.get(TRACERS, [])
        for _ in range(_TRIES):
            with contextlib.suppress(RuntimeError):  # the test goes on meanwhile, and may change what is read
                return {"passed": False, "has_ended": False, "records": _records(tracers)}
        return {"passed": False, "has_ended": False, "records": []}

    return _in_child(run, unfinished, seconds) if hasattr(os, "fork") else run()


def _traced(
    item: pytest.Item, nextitem: pytest.Item | None, targets: Sequence[Target], seconds: float
) -> dict[str, Any]:
    renew = getattr(item, "_initrequest", None)
    if renew is not None:
        renew()
    tracers = []
    for target, call in targets:
        tracer = CallTracer(target, call=call, max_seconds=seconds)
        tracer.values = HidingCopier()
        tracers.append(tracer)
    item.stash[TRACERS] = tracers
    try:
        reports = runtestprotocol(item, nextitem=nextitem, log=False)
    finally:
        del item.stash[TRACERS]
    return {"passed": all(it.passed for it in reports), "has_ended": True, "records": _records(tracers)}


def _records(tracers: Sequence[CallTracer]) -> list[dict[str, Any]]:
    return [hide_secrets(it) for it in (tracer.record() for tracer in tracers) if "function" in it]


def _in_child(
    run: Callable[[], dict[str, Any]], unfinished: Callable[[], dict[str, Any]], seconds: float
) -> dict[str, Any]:
    reading, writing = os.pipe()
    parent = os.getpid()
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # Python 3.12 and later warn of a fork beside threads; it has a deadline here
        try:
            child = os.fork()
        except OSError:
            os.close(reading)
            os.close(writing)
            raise
    if child == 0:
        os.close(reading)
        _answer(run, unfinished, writing, parent, seconds)
    os.close(writing)
    status = None
    try:
        data, status = _read(reading, child, time.monotonic() + seconds)
    finally:
        os.close(reading)
        if status is None:
            _kill(child)
    if status is None:
        raise SecondRunError(f"The test did not end within {seconds:.0f} s when it ran again.")
    try:
        answer = json.loads(data)
    except ValueError:
        raise SecondRunError(f"The test ended its process when it ran again ({_ending(status)}).") from None
    return dict(answer)


def _answer(
    run: Callable[[], dict[str, Any]],
    unfinished: Callable[[], dict[str, Any]],
    writing: int,
    parent: int,
    seconds: float,
) -> None:
    """In the child. It leaves at once: what ends a test run must happen once, in the parent."""
    first = _thread.allocate_lock()

    def leave_with(answer: Callable[[], dict[str, Any]]) -> None:
        """Never returns, unless nothing can be answered; of two threads, the first one answers."""
        with contextlib.suppress(BaseException):
            data = json.dumps(answer()).encode()
            if not first.acquire(blocking=False):
                _sleep(seconds)  # the other one is leaving
            while data:
                data = data[os.write(writing, data) :]
            os._exit(0)

    def watch() -> None:
        """A test that hangs answers nothing, and nobody else ends it if pytest itself is killed."""
        until = _monotonic() + seconds * _WATCHED_SHARE
        while _monotonic() < until:
            if os.getppid() != parent:
                _kill_group()
            _sleep(_WATCH_S)
        leave_with(unfinished)
        _sleep(seconds)  # the parent ends it before, and says that the test did not end
        _kill_group()

    try:
        os.setpgid(0, 0)
        nothing = os.open(os.devnull, os.O_RDWR)
        for stream in (0, 1, 2):  # of `-s`, and of what the captured streams stand for
            os.dup2(nothing, stream)
        _thread.start_new_thread(watch, ())
        leave_with(run)
    finally:
        os._exit(1)  # the parent says that nothing came


def _kill_group() -> None:
    """Ours, with what the test started."""
    if os.getpgrp() == os.getpid():
        os.killpg(0, signal.SIGKILL)
    os.kill(os.getpid(), signal.SIGKILL)


def _read(reading: int, child: int, until: float) -> tuple[bytes, int | None]:
    """All that the child wrote, and how it ended; None if it has not.

    The end of the pipe does not say so: a test may close it and go on, or leave a process that holds it open.
    """
    os.set_blocking(reading, False)
    poller = select.poll()  # `select` fails beyond 1024 descriptors, which tests that leak some reach
    poller.register(reading, select.POLLIN)
    data = b""
    is_open = True
    while time.monotonic() < until and len(data) < _MOST_BYTES:
        status = _status(child)  # asked first: then what it wrote is in the pipe
        piece = b"more"
        while is_open and piece and len(data) < _MOST_BYTES:
            try:
                piece = os.read(reading, 65536)
            except BlockingIOError:
                break
            data += piece
        is_open = bool(piece) and is_open
        if status is not None:
            return data, status
        if is_open:
            poller.poll(_POLL_S * 1000)
        else:
            time.sleep(_POLL_S)
    return data, None


def _status(child: int) -> int | None:
    try:
        found, status = os.waitpid(child, os.WNOHANG)
    except ChildProcessError:  # reaped by another: a test that ignores SIGCHLD leaves that to the system
        return _UNKNOWN
    return status if found else None


def _kill(child: int) -> None:
    for kill in (os.killpg, os.kill):  # the group is not there before the child made it
        try:
            kill(child, signal.SIGKILL)
        except OSError:
            continue
        break
    with contextlib.suppress(ChildProcessError):
        os.waitpid(child, 0)


def _ending(status: int) -> str:
    if status == _UNKNOWN:
        return "exit code unknown"
    if os.WIFSIGNALED(status):
        return f"signal {os.WTERMSIG(status)}"
    return f"exit code {os.WEXITSTATUS(status)}"
