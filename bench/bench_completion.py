"""Suggestions: how long one takes with a long history, what the history costs, and how often the first one is right."""

from __future__ import annotations

import gc
import random
import time
from collections.abc import Iterable, Iterator
from dataclasses import replace

import psutil

from bench.claims import Claim
from dragoman.terminal.suggesting.guesses import Guesses, Moment
from tests.domain.terminal.habits import Typed, history

QUESTIONS = 5_000
LONG, VERY_LONG = 100_000, 1_000_000


def run() -> list[Claim]:
    long = history(LONG)
    guesses, took_s, megabytes = _learnt(long)
    right, recent = _replayed(history())
    return [
        Claim("p99 of a suggestion, 100,000 commands", _p99_ms(guesses, long), "ms", 10, "lower"),
        Claim("memory of 100,000 commands", megabytes, "MB", 100, "lower"),
        Claim("learning one command", took_s / LONG * 1e6, "µs", 200, "lower"),
        *_worst_cases(long),
        Claim("the first suggestion is right, after three characters", right * 100, "%", 40, "higher"),
        Claim("beside the most recent line with that beginning", right / recent, "×", 1.2, "higher"),
    ]


def _worst_cases(long: list[Typed]) -> list[Claim]:
    """No line typed twice; and a million commands, a quarter of them new."""
    unique = [replace(typed, line=f"{typed.line} {number}") for number, typed in enumerate(long)]
    many, _, megabytes = _learnt(_repeated(long, VERY_LONG // LONG))
    return [
        Claim("p99 of a suggestion, 100,000 distinct lines", _p99_ms(_learnt(unique)[0], unique), "ms", 10, "lower"),
        Claim("p99 of a suggestion, 1,000,000 commands", _p99_ms(many, long), "ms", 10, "lower"),
        Claim("memory of 1,000,000 commands", megabytes, "MB", 300, "lower"),
    ]


def _repeated(long: list[Typed], times: int) -> Iterator[Typed]:
    for round_number in range(times):
        for number, typed in enumerate(long):
            line = f"{typed.line} {round_number}.{number}" if number % 4 == 0 else typed.line
            yield replace(typed, line=line, at_s=typed.at_s + round_number * 1e7)


def _learnt(commands: Iterable[Typed]) -> tuple[Guesses, float, float]:
    """As the daemon learns a history, with the seconds and the megabytes that it took."""
    guesses, before = Guesses(), dict[str, str]()
    held, began = _resident_bytes(), time.perf_counter()
    for typed in commands:
        guesses.learn(typed.line, Moment(typed.cwd, before.get(typed.terminal, "")), typed.at_s, typed.exit_code)
        before[typed.terminal] = typed.line
        if guesses.is_full:
            guesses = guesses.smaller()
    guesses.lines.keep_best_of_all()
    took_s = time.perf_counter() - began
    return guesses, took_s, (_resident_bytes() - held) / 1e6


def _resident_bytes() -> int:
    gc.collect()
    return int(psutil.Process().memory_info().rss)


def _p99_ms(guesses: Guesses, commands: list[Typed]) -> float:
    chance, times = random.Random(7), list[float]()
    for _ in range(QUESTIONS):
        typed, before = chance.choice(commands), chance.choice(commands)
        beginning = typed.line[: chance.randint(1, max(1, min(12, len(typed.line) - 1)))]
        began = time.perf_counter()
        guesses.guess(beginning, Moment(typed.cwd, before.line), 5)
        times.append(time.perf_counter() - began)
    return sorted(times)[int(QUESTIONS * 0.99)] * 1000


def _replayed(commands: list[Typed]) -> tuple[float, float]:
    """How often the first suggestion was right, and the last line that began so."""
    guesses, before, latest = Guesses(), dict[str, str](), dict[str, str]()
    right = recent = 0
    for typed in commands:
        moment, beginning = Moment(typed.cwd, before.get(typed.terminal, "")), typed.line[:3]
        right += [line for line, _ in guesses.guess(beginning, moment, 1)] == [typed.line]
        recent += latest.get(beginning) == typed.line
        guesses.learn(typed.line, moment, typed.at_s, typed.exit_code)
        before[typed.terminal] = latest[beginning] = typed.line
    return right / len(commands), recent / len(commands)
