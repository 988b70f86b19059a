"""Suggestions: how long one takes with a long history, what the history costs, and how often the first one is right.

Over the wrappers' socket of a daemon, each beside a request that is answered with nothing: what the machine and the
wire take is in both. BENCH_QUESTIONS makes it shorter.
"""

from __future__ import annotations

import gc
import os
import random
import socket
import subprocess
import time
from collections.abc import Iterable
from contextlib import closing
from dataclasses import replace
from pathlib import Path

import apsw
import psutil

from bench.agent import COMMAND, home_with_daemon
from bench.claims import Claim
from dragoman.core.paths import find_paths
from dragoman.protocols.omnish import BASE_REVISION, ClientConnection, ReplyReceived
from dragoman.protocols.omnish import messages as m
from dragoman.terminal.completion.predictor import CommandPredictor, TypingContext
from tests.terminal.completion.typed_commands import Typed, history

QUESTIONS = int(os.environ.get("BENCH_QUESTIONS", "3000"))
LONG, TOO_LONG = 100_000, 250_000
_LOADED_WITHIN_S = 120.0
_NOON_NS = 1_800_000_000 * 10**9


def run() -> list[Claim]:
    long = history(LONG)
    asked_ms, nothing_ms = _over_the_socket(long)
    guesses, took_s, megabytes = _learnt(long)
    right, recent = _replayed(history())
    return [
        Claim("p99 of a suggestion by the daemon, 100,000 commands", asked_ms, "ms", 10, "lower"),
        Claim("p99 beyond that of an empty answer", asked_ms - nothing_ms, "ms", 10, "lower"),
        Claim("p99 of a guess alone, 100,000 commands", _p99_ms(guesses, long), "ms", 10, "lower"),
        Claim("memory of 100,000 commands", megabytes, "MB", 100, "lower"),
        Claim("learning one command", took_s / LONG * 1e6, "µs", 200, "lower"),
        *_worst_cases(long),
        Claim("the first suggestion is right, after three characters", right * 100, "%", 40, "higher"),
        Claim("beside the most recent line with that beginning", right / recent, "×", 1.2, "higher"),
    ]


def _worst_cases(long: list[Typed]) -> list[Claim]:
    """No line typed twice; and more of them than are kept."""
    unique = [replace(typed, line=f"{typed.line} {number}") for number, typed in enumerate(long)]
    more = [replace(unique[number % LONG], line=f"{unique[number % LONG].line}.{number}") for number in range(TOO_LONG)]
    many, _, megabytes = _learnt(more)
    return [
        Claim("p99 of a guess, 100,000 distinct lines", _p99_ms(_learnt(unique)[0], unique), "ms", 10, "lower"),
        Claim("p99 of a guess, 250,000 distinct lines", _p99_ms(many, more), "ms", 10, "lower"),
        Claim("memory of 250,000 distinct lines", megabytes, "MB", 300, "lower"),
    ]


def _over_the_socket(long: list[Typed]) -> tuple[float, float]:
    """The p99 of suggestions, and of requests for nothing, one after the other."""
    with home_with_daemon() as environment:
        paths = find_paths(environment)
        subprocess.run([*COMMAND, "down", "--yes"], env=environment, check=True, capture_output=True)
        _fill(paths.journal_folder, long)
        subprocess.run([*COMMAND, "up"], env=environment, check=True, capture_output=True)
        with closing(_Asker(paths.omnish_socket)) as asker:
            asker.wait_until_loaded(long[-1])
            return asker.p99_ms(long)


class _Asker:
    def __init__(self, path: Path) -> None:
        self._socket = socket.socket(socket.AF_UNIX)
        self._socket.connect(str(path))
        self._connection = ClientConnection(BASE_REVISION)
        self.close = self._socket.close

    def suggested(self, beginning: str, cwd: str) -> list[str]:
        asked = m.CompletionRequest("bench", beginning, len(beginning), 1, cwd)
        request_id, frame = self._connection.request(asked)
        self._socket.sendall(frame)
        while True:
            self._connection.receive_data(self._socket.recv(65536))
            for event in self._connection.events():
                if isinstance(event, ReplyReceived) and event.request_id == request_id:
                    assert isinstance(event.message, m.CompletionResponse)
                    return [it.text for it in event.message.suggestions]

    def wait_until_loaded(self, last: Typed) -> None:
        ends_s = time.monotonic() + _LOADED_WITHIN_S
        while last.line not in self.suggested(last.line[:-1], last.cwd):
            assert time.monotonic() < ends_s, "the history was not read in time"
            time.sleep(0.2)

    def p99_ms(self, commands: list[Typed]) -> tuple[float, float]:
        chance, asked, nothing = random.Random(7), list[float](), list[float]()
        for _ in range(QUESTIONS):
            typed = chance.choice(commands)
            asked.append(self._took_s(typed.line[: chance.randint(1, max(1, min(12, len(typed.line) - 1)))], typed.cwd))
            nothing.append(self._took_s("", typed.cwd))
        return _p99(asked) * 1000, _p99(nothing) * 1000

    def _took_s(self, beginning: str, cwd: str) -> float:
        began_s = time.perf_counter()
        self.suggested(beginning, cwd)
        return time.perf_counter() - began_s


def _fill(folder: Path, commands: list[Typed]) -> None:
    (database,) = folder.glob("events-*.db")
    connection = apsw.Connection(str(database))
    with connection:
        connection.executemany(
            "insert into commands values (?, ?, ?, ?, ?, ?, ?, ?, 1, null, null, null, null, 0, 0, null, null)",
            (
                (
                    _NOON_NS + number,
                    f"old:{number}",
                    it.terminal,
                    it.line,
                    it.line,
                    it.cwd,
                    _NOON_NS + number,
                    it.exit_code,
                )
                for number, it in enumerate(commands)
            ),
        )
    connection.close()


def _learnt(commands: Iterable[Typed]) -> tuple[CommandPredictor, float, float]:
    """As the daemon learns a history, with the seconds and the megabytes that it took."""
    guesses, before = CommandPredictor(), dict[str, str]()
    held, began = _resident_bytes(), time.perf_counter()
    for typed in commands:
        guesses.train(typed.line, TypingContext(typed.cwd, before.get(typed.terminal, "")), typed.at_s, typed.exit_code)
        before[typed.terminal] = typed.line
        if guesses.is_full:
            guesses = guesses.pruned()
    guesses.lines.build_best()
    took_s = time.perf_counter() - began
    return guesses, took_s, (_resident_bytes() - held) / 1e6


def _resident_bytes() -> int:
    gc.collect()
    return int(psutil.Process().memory_info().rss)


def _p99_ms(guesses: CommandPredictor, commands: list[Typed]) -> float:
    chance, times = random.Random(7), list[float]()
    for _ in range(QUESTIONS):
        typed, before = chance.choice(commands), chance.choice(commands)
        beginning = typed.line[: chance.randint(1, max(1, min(12, len(typed.line) - 1)))]
        began = time.perf_counter()
        guesses.predict(beginning, TypingContext(typed.cwd, before.line), 5)
        times.append(time.perf_counter() - began)
    return _p99(times) * 1000


def _p99(times: list[float]) -> float:
    return sorted(times)[int(len(times) * 0.99)]


def _replayed(commands: list[Typed]) -> tuple[float, float]:
    """How often the first suggestion was right, and the last line that began so."""
    guesses, before, latest = CommandPredictor(), dict[str, str](), dict[str, str]()
    right = recent = 0
    for typed in commands:
        moment, beginning = TypingContext(typed.cwd, before.get(typed.terminal, "")), typed.line[:3]
        right += [line for line, _ in guesses.predict(beginning, moment, 1)] == [typed.line]
        recent += latest.get(beginning) == typed.line
        guesses.train(typed.line, moment, typed.at_s, typed.exit_code)
        before[typed.terminal] = latest[beginning] = typed.line
    return right / len(commands), recent / len(commands)
