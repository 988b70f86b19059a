"""Races and kills of the daemon, round by round: a few in every test run, thousands in `tests.soak`.

Everything that is chosen follows from the seed; the moments themselves are the machine's.
"""

from __future__ import annotations

import contextlib
import os
import random
import signal
import subprocess
import time
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field

from dragoman.core.errors import DragomanError
from dragoman.io.files.lock import is_held
from tests.daemons import PATIENCE, Cli, call, daemons_of, eventually
from tests.e2e.life.process_watch import journal_rows, one_daemon, pid_in, require_sentences, require_success
from tests.machine import ready_s

STARTS_AFTER_KILL_WITHIN_S = 2.0


def finished(process: subprocess.Popen[str], within_s: float = 60) -> subprocess.CompletedProcess[str]:
    stdout, stderr = process.communicate(timeout=within_s)
    return subprocess.CompletedProcess(process.args, process.returncode, stdout, stderr)


def end_quietly(cli: Cli) -> None:
    """In order, without the cost of a command."""
    with contextlib.suppress(DragomanError):
        call(cli.paths, "shutdown")
    eventually(lambda: not is_held(cli.paths.lock_file))


def kill_daemons(cli: Cli) -> None:
    for process in daemons_of(cli.home):
        with contextlib.suppress(ProcessLookupError):
            os.kill(process.pid, signal.SIGKILL)


def races_of_starts(cli: Cli, rounds: int, *, starters: int, seed: int) -> Iterator[int]:
    """So many `up` at once, again and again; after each round the daemon ends in order or by SIGKILL."""
    dice = random.Random(seed)
    for _ in range(rounds):
        results = [finished(process) for process in [cli.begin("up", "--json") for _ in range(starters)]]
        pids = {pid_in(result) for result in results}
        assert pids == {eventually(lambda: _only(cli))}, pids
        yield pids.pop()
        dice.choice((end_quietly, kill_daemons))(cli)


def _only(cli: Cli) -> int | None:
    """Losers of the race may take a moment to leave the process table."""
    daemons = daemons_of(cli.home)
    return daemons[0].pid if len(daemons) == 1 else None


def races_with(cli: Cli, rounds: int, rival: tuple[str, ...], *, seed: int) -> Iterator[None]:
    """`up` against a rival command: whatever comes out, each says a sentence, and at most one daemon is there."""
    dice = random.Random(seed)
    for _ in range(rounds):
        if dice.random() < 0.5:
            require_success(cli("up"))
        commands = [("up", "--json"), rival]
        dice.shuffle(commands)
        for result in [finished(process) for process in [cli.begin(*command) for command in commands]]:
            require_sentences(result)
            assert result.returncode in ({0, 3} if "down" in result.args else {0}), result
        eventually(lambda: len(daemons_of(cli.home)) <= 1)
        assert pid_in(cli("up", "--json")) == one_daemon(cli)
        yield


def measured_start(cli: Cli) -> tuple[subprocess.CompletedProcess[str], float, float]:
    """What `up` said, how long it took, and how long it could not go on because others had the processors.

    That is no part of the first: a start is a second of work, and as many seconds as there are others at it. What it
    waits for by itself, a lock, a peer or a disk, is.
    """
    began = time.monotonic()
    process = cli.begin("up", "--json")
    os.waitid(os.P_PID, process.pid, os.WEXITED | os.WNOWAIT)  # it can still be asked about
    took, crowded = time.monotonic() - began, ready_s(process.pid)
    result = finished(process)
    crowded += ready_s(pid_in(result))
    return result, took - crowded, crowded


@dataclass
class Kills:
    """SIGKILL at random moments of one home's life; nothing that was acknowledged may be missing afterwards."""

    cli: Cli
    seed: int
    acknowledged: set[int] = field(default_factory=set)
    tokens: str = ""
    first_start_s: float = 0.0
    """Of a home that nobody was killed in, on this machine."""

    def rounds(self, count: int) -> Iterator[str]:
        dice = random.Random(self.seed)
        moments: list[Callable[[random.Random], None]] = []
        for _ in range(count):
            if not moments:  # each once, in any order, before one comes again
                moments = dice.sample((self.starting, self.working, self.ending), 3)
            moment = moments.pop()
            moment(dice)
            kill_daemons(self.cli)  # one that was not there yet when its moment came
            eventually(lambda: not daemons_of(self.cli.home))
            self.require_usable()
            yield moment.__name__

    def starting(self, dice: random.Random) -> None:
        end_quietly(self.cli)
        process = self.cli.begin("up", "--json")
        with contextlib.suppress(subprocess.TimeoutExpired):
            process.wait(dice.random() * 0.8)
        kill_daemons(self.cli)
        result = finished(process)
        require_sentences(result)
        if result.returncode == 0:
            self.acknowledged.add(pid_in(result))

    def working(self, dice: random.Random) -> None:
        rotated = [self.cli.begin("token", "rotate", "gateway") for _ in range(dice.randint(0, 2))]
        time.sleep(dice.random() * 0.3)
        kill_daemons(self.cli)
        for process in rotated:
            require_sentences(finished(process))

    def ending(self, dice: random.Random) -> None:
        process = self.cli.begin("down")
        with contextlib.suppress(subprocess.TimeoutExpired):
            process.wait(dice.random() * 0.5)
        kill_daemons(self.cli)
        require_sentences(finished(process))

    def require_usable(self) -> None:
        result, took, crowded = measured_start(self.cli)
        self.first_start_s = self.first_start_s or (0.0 if self.acknowledged else took)
        self.acknowledged.add(pid_in(result))
        bound = max(STARTS_AFTER_KILL_WITHIN_S * PATIENCE, 2 * self.first_start_s)
        assert took < bound, f"{took:.2f} s of its own and {crowded:.2f} s that others had the processors"
        started = {row["body"]["pid"] for row in journal_rows(self.cli) if row["kind"] == "daemon.started"}
        assert self.acknowledged <= started
        tokens = self.cli.token("mcp")
        assert self.tokens in {"", tokens}, "a token changed without a rotation"
        self.tokens = tokens
        left = {path.name for path in self.cli.paths.state.iterdir()}
        assert left == {"tokens", "journal", "logs", "terminal", "port"}, left
