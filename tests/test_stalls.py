"""The watch over the machine: a pause is noticed, and only the tests that met it are excused."""

from __future__ import annotations

import signal
import subprocess
import sys
import time

from tests.stalls import AFTERMATH_S, Stall

# In a process of its own, which can be paused; a shorter limit, so that nobody waits for long.
WATCHED = """
import sys
from tests import stalls
stalls.EVERY_S, stalls.STALL_S = 0.1, 0.5
watch = stalls.StallWatch()
watch.start()
before = len(watch.stalls)
print("watching", flush=True)
sys.stdin.readline()
watch.end()
print(len(watch.stalls) - before, flush=True)
"""


def test_a_pause_is_noticed() -> None:
    watched = subprocess.Popen(
        [sys.executable, "-c", WATCHED], stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True, bufsize=1
    )
    try:
        assert watched.stdout is not None
        assert watched.stdout.readline() == "watching\n"
        watched.send_signal(signal.SIGSTOP)
        time.sleep(0.7)  # the pause itself
        watched.send_signal(signal.SIGCONT)
        result, _ = watched.communicate("\n", timeout=20)
        assert int(result) >= 1
    finally:
        watched.kill()
        watched.communicate(timeout=20)


def test_only_a_test_that_met_the_pause_is_excused() -> None:
    stall = Stall(began=100, ended=110)
    assert stall.touches(90, 101)
    assert stall.touches(111, 112)  # it met what the pause left behind
    assert not stall.touches(80, 99)
    assert not stall.touches(110 + AFTERMATH_S + 1, 200)
