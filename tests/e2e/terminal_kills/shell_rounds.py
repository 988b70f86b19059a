"""Wrapper, shell or daemon are killed while a wrapped shell prints: the terminal is restored, the record is true.

What the record holds of a terminal is what the person saw, to the last acknowledged byte, and never anything else.
"""

from __future__ import annotations

import contextlib
import os
import random
import signal
import threading
from collections.abc import Callable, Iterator
from dataclasses import dataclass

import psutil

from tests.daemons import call, eventually
from tests.e2e.terminal_kills.quick_daemon import QuickDaemon
from tests.e2e.terminal_kills.reading import Kept, read_back, terminals_by_pid
from tests.e2e.terminal_kills.wrapped import Wrapped, numbers_in, wrapped

_WITHIN_S = 0.4
_PRINT = "for i in $(seq {first} {last}); do echo line-$i-end; done"
_LINES = 3000

Victims = Callable[[QuickDaemon, Wrapped], int]
VICTIMS: dict[str, Victims] = {
    "wrapper": lambda _, terminal: terminal.process.pid,
    "shell": lambda _, terminal: terminal.shell().pid,
    "daemon": lambda daemon, _: daemon.pid,
}


@dataclass(frozen=True)
class _Seen:
    """A round, and what its person saw."""

    story: str
    victim: str
    pid: int
    screen: bytes


@dataclass
class ShellKills:
    daemon: QuickDaemon
    seed: int

    def rounds(self, count: int) -> Iterator[str]:
        """What was done, round by round; at the end every terminal's record is compared with its screen."""
        dice = random.Random(self.seed)
        seen = []
        for number in range(count):
            victim = dice.choice(sorted(VICTIMS))
            story = f"seed {self.seed}, round {number}: {victim} killed"
            seen.append(self._round(victim, dice.random() * _WITHIN_S, story))
            yield story
        self.daemon.end()
        terminals = terminals_by_pid(self.daemon.paths)
        for one in seen:
            _require_true(one, read_back(self.daemon.paths, terminals[one.pid]))

    def _round(self, victim: str, after_s: float, story: str) -> _Seen:
        with wrapped(self.daemon.variables()) as terminal:
            shell = terminal.shell()
            eventually(lambda: self._connected() == 1)
            self._strike(terminal, victim, after_s)
            _AFTER[victim](self.daemon, terminal, story)
            _require_gone(shell)
            eventually(lambda: self._connected() == 0)
            return _Seen(story, victim, terminal.process.pid, bytes(terminal.screen))

    def _connected(self) -> int:
        return int(call(self.daemon.paths, "status")["terminals"]["connected"])

    def _strike(self, terminal: Wrapped, victim: str, after_s: float) -> None:
        terminal.type(_PRINT.format(first=1, last=_LINES))
        killer = threading.Timer(after_s, _kill, args=(VICTIMS[victim](self.daemon, terminal),))
        killer.start()
        terminal.read_for(after_s + 0.05)
        killer.join()


def _require_true(seen: _Seen, kept: Kept) -> None:
    """In the record stands what stood on the screen; a wrapper that was killed may not have told its last bytes, or
    not have shown what it told."""
    recorded, shown = numbers_in(kept.output), numbers_in(seen.screen)
    assert recorded == list(range(1, len(recorded) + 1)), (seen.story, recorded[:5], recorded[-5:])
    assert kept.gaps == 0, seen.story
    if seen.victim != "wrapper":
        assert recorded == shown, (seen.story, len(recorded), len(shown))
        assert kept.ended, seen.story


def _after_wrapper(_: QuickDaemon, terminal: Wrapped, story: str) -> None:
    assert terminal.ended_within(5), story
    eventually(lambda: terminal.attributes() == terminal.before)


def _after_shell(_: QuickDaemon, terminal: Wrapped, story: str) -> None:
    assert terminal.ended_within(10), story
    assert terminal.attributes() == terminal.before, story


def _after_daemon(daemon: QuickDaemon, terminal: Wrapped, story: str) -> None:
    """The shell goes on; when there is a daemon again, what it missed is told."""
    terminal.read_until(b"line-%d-end" % _LINES)
    daemon.start()
    terminal.type(_PRINT.format(first=_LINES + 1, last=_LINES + 10))
    terminal.read_until(b"line-%d-end" % (_LINES + 10))
    eventually(lambda: call(daemon.paths, "status")["terminals"]["connected"] == 1, within_s=15)
    terminal.type("exit")
    assert terminal.ended_within(10), story
    assert terminal.attributes() == terminal.before, story


_AFTER = {"wrapper": _after_wrapper, "shell": _after_shell, "daemon": _after_daemon}


def _require_gone(shell: psutil.Process) -> None:
    eventually(lambda: not shell.is_running() or shell.status() == psutil.STATUS_ZOMBIE)


def _kill(pid: int) -> None:
    with contextlib.suppress(ProcessLookupError):
        os.kill(pid, signal.SIGKILL)
