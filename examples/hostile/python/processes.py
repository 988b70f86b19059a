"""Processes that misbehave: `processes.py NAME`. The bomb is a bounded one."""

from __future__ import annotations

import os
import resource
import signal
import subprocess
import sys
import time
from collections.abc import Callable

MOST = 200


def stop() -> None:
    print("ready", flush=True)  # stop here


def forks() -> None:
    """Two generations that outlive their parents, in sessions of their own."""
    if os.fork() == 0:
        os.setsid()
        if os.fork() == 0:
            time.sleep(600)
        os._exit(0)
    stop()


def bomb() -> None:
    for _ in range(MOST):
        if os.fork() == 0:
            time.sleep(600)
            os._exit(0)
    stop()


def ignores_terminate() -> None:
    signal.signal(signal.SIGTERM, signal.SIG_IGN)
    signal.signal(signal.SIGHUP, signal.SIG_IGN)
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    stop()
    while True:
        time.sleep(1)


def halts() -> None:
    """Looks like a process that cannot be interrupted: nothing is answered any more."""
    stop()
    os.kill(os.getpid(), signal.SIGSTOP)
    print("went on")


def reads() -> None:
    print("read", repr(sys.stdin.read()), flush=True)
    stop()


def closes_descriptors() -> None:
    os.closerange(0, 3)
    stop()
    os._exit(5)


def closes_everything() -> None:
    """The debugger's own connection with the rest."""
    stop()
    os.closerange(0, 1024)
    time.sleep(0.2)
    os._exit(6)


def changes_folder() -> None:
    os.chdir("/")
    stop()


def starts_a_child() -> None:
    subprocess.run([sys.executable, "-c", "print('from the child')"], check=True)
    stop()


def limited(most: int = 2 << 30) -> None:
    """What it may have of memory is bounded, so that an expression may ask for all there is."""
    resource.setrlimit(resource.RLIMIT_AS, (most, most))
    state = {"count": 0}
    print(state)
    stop()
    print("count", state["count"])


def busy() -> None:
    stop()
    while True:
        pass


NAMES: dict[str, Callable[[], None]] = {
    "forks": forks,
    "bomb": bomb,
    "ignores": ignores_terminate,
    "halts": halts,
    "reads": reads,
    "closes": closes_descriptors,
    "closes-all": closes_everything,
    "folder": changes_folder,
    "child": starts_a_child,
    "limited": limited,
    "busy": busy,
}

if __name__ == "__main__":
    NAMES[sys.argv[1]]()
