"""A node process that lets no debugger in yet: a signal has it open its inspector, as node's own debugger does."""

from __future__ import annotations

import os
import signal
import time
from pathlib import Path

import psutil

from dragoman.errors import DragomanError
from dragoman.phrases import say
from dragoman.transport.peers import listeners

_OPENED_WITHIN_S = 3.0
_LOOKED_EVERY_S = 0.02
_NODE = frozenset({"node", "nodejs"})


def open_inspector(pid: int) -> int:
    """Its port. In a thread: node takes the signal when it gets to it."""
    _require_node(pid)
    before = _ports(pid)
    os.kill(pid, signal.SIGUSR1)
    deadline_s = time.monotonic() + _OPENED_WITHIN_S
    while not (opened := _ports(pid) - before) and time.monotonic() < deadline_s:
        time.sleep(_LOOKED_EVERY_S)
    found = opened or before  # one that was open already stays as it is
    if len(found) != 1:
        raise _not_opened(pid)
    return found.pop()


def _ports(pid: int) -> set[int]:
    return {it.port for it in listeners([pid]) if it.is_loopback}


def _require_node(pid: int) -> None:
    """Any other program would be killed by the signal."""
    try:
        program = psutil.Process(pid).exe()
    except psutil.Error:
        program = ""
    if Path(program).name not in _NODE:
        raise DragomanError(
            "not_node",
            say("The process {pid} is not a node process.", pid=pid),
            hint=say("Give the number of a process that runs `node`, or the type of debugger that this one needs."),
        )


def _not_opened(pid: int) -> DragomanError:
    return DragomanError(
        "no_inspector",
        say("The node process {pid} did not open its inspector.", pid=pid),
        hint=say("Its port 9229 may be taken: start it with `--inspect=PORT`, then attach with that `port`."),
    )
