"""How fast terminals are recorded, how soon the index has seen it, and how soon the first hits are there.

A gigabyte of output and a million commands are made anew each time; `DRAGOMAN_BENCH_TERMINAL_MB` and
`DRAGOMAN_BENCH_COMMANDS` make it less.
"""

from __future__ import annotations

import os
import random
import statistics
import tempfile
import time
from collections.abc import AsyncIterator, Awaitable, Callable
from contextlib import asynccontextmanager
from functools import partial
from pathlib import Path

import anyio
import apsw

from bench.claims import Claim
from dragoman.journal import Journal
from dragoman.redaction import Redactor
from dragoman.terminal.commands import CommandStore
from dragoman.terminal.service import TerminalService
from dragoman.terminal.told import CommandFilter, CommandTold

MEGABYTES = int(os.environ.get("DRAGOMAN_BENCH_TERMINAL_MB", "1000"))
COMMANDS = int(os.environ.get("DRAGOMAN_BENCH_COMMANDS", "1000000"))
CHUNK_BYTES = 64 * 1024
_NOON_MS = 1_800_000_000_000
_ROUNDS = 9
_SEARCHES = {
    "a word in every line": "request",
    "a rare word": "xylophone",
    "two words of one line": "warning timeout",
    "a beginning": "xylo*",
    "a word that is nowhere": "nonexistentword",
}
_FILTERS = {
    "the newest": CommandFilter(),
    "a word": CommandFilter(text="make"),
    "failed in a folder": CommandFilter(failed=True, cwd="/src/project7"),
}


def run() -> list[Claim]:
    return anyio.run(_measure)


async def _measure() -> list[Claim]:
    with tempfile.TemporaryDirectory() as folder:
        claims = await _output_claims(Path(folder) / "output")
    with tempfile.TemporaryDirectory() as folder:
        return [*claims, *await _command_claims(Path(folder) / "commands")]


@asynccontextmanager
async def _service(folder: Path) -> AsyncIterator[TerminalService]:
    store, redactor = CommandStore(), Redactor()
    async with (
        Journal.open(folder / "journal", stores=[store], redact=redactor.event) as journal,
        TerminalService.open(journal, store, folder / "terminal", redactor=redactor) as service,
    ):
        yield service


async def _output_claims(folder: Path) -> list[Claim]:
    async with _service(folder) as service:
        recorded = await _record(service)
        indexed_s = await _indexed_s(service)
        searches = [
            Claim(f"first 20 hits: {name}", await _median_ms(partial(service.search_output, words)), "ms", 200, "lower")
            for name, words in _SEARCHES.items()
        ]
    return [
        Claim("recorded, redaction on, 64 KiB chunks", recorded, "MB/s", 150, "higher"),
        Claim(f"index behind after a burst of {MEGABYTES} MB", indexed_s, "s", 60, "lower"),
        *searches,
    ]


async def _record(service: TerminalService) -> float:
    """Ten terminals one after another, a command every few megabytes; some lines are rare."""
    chunks = _chunks(256)
    dice = random.Random(4)
    began_s = time.perf_counter()
    for number in range(MEGABYTES * 1_000_000 // CHUNK_BYTES):
        terminal = f"bench{number * 10 * CHUNK_BYTES // (MEGABYTES * 1_000_000)}"
        await service.take(terminal, "output", _NOON_MS + number, dice.choice(chunks))
        if number % 100 == 0:
            await service.take(terminal, "output", _NOON_MS + number, b"a xylophone was heard\r\n")
            told = CommandTold(id=f"{terminal}:{number}", terminal=terminal, line="make", started_ms=_NOON_MS + number)
            await service.command_ended(told)
    return MEGABYTES / (time.perf_counter() - began_s)


async def _indexed_s(service: TerminalService) -> float:
    began_s = time.perf_counter()
    await service.catch_up()
    return time.perf_counter() - began_s


def _chunks(count: int) -> list[bytes]:
    """Log lines with numbers and names that hardly come twice, none of which looks like a secret."""
    dice = random.Random(3)
    letters = "abcdefghijklmnopqrstuvwxyz"
    words = ["".join(dice.choices(letters, k=dice.randint(2, 10))) for _ in range(20_000)]

    def line() -> str:
        clock = f"12:{dice.randint(10, 59)}:{dice.randint(10, 59)}"
        level = dice.choices(["info", "debug", "warning"], [80, 15, 5])[0]
        spice = " timeout" if dice.random() < 0.001 else ""
        said = " ".join(dice.choices(words, k=9))
        return f"{clock} [{level}] request {dice.getrandbits(36):09x} {said}{spice}"

    text = "\r\n".join(line() for _ in range(count * CHUNK_BYTES // 90)).encode()
    return [text[start : start + CHUNK_BYTES] for start in range(0, count * CHUNK_BYTES, CHUNK_BYTES)]


async def _command_claims(folder: Path) -> list[Claim]:
    async with _service(folder):
        pass
    await anyio.to_thread.run_sync(_fill, folder / "journal")
    async with _service(folder) as service:
        claims = [
            Claim(
                f"{COMMANDS:,} commands, {name}", await _median_ms(partial(service.commands, wish)), "ms", 50, "lower"
            )
            for name, wish in _FILTERS.items()
        ]
        began_s = time.perf_counter()
        read = 0
        async for _ in service.history():
            read += 1
            if read == 100_000:
                break
        return [*claims, Claim("100,000 commands streamed", time.perf_counter() - began_s, "s", 2, "lower")]


def _fill(folder: Path) -> None:
    (database,) = folder.glob("events-*.db")
    connection = apsw.Connection(str(database))
    with connection:
        connection.execute(
            """insert into commands
            with recursive numbers (n) as (select 0 union all select n + 1 from numbers where n + 1 < ?1),
            told (n, line) as (select n, format('%s %d', case n % 4 when 0 then 'git status' when 1 then 'make test'
                when 2 then 'cargo build' else 'vim main.c' end, n % 997) from numbers)
            select (?2 + n) * 1000000, 'old:' || n, 't' || (n % 50), line, line, '/src/project' || (n % 40), null,
                n % 9 = 0, 1, null, null, null, null, 0, 0, null, null from told""",
            (COMMANDS, _NOON_MS),
        )
    connection.close()


async def _median_ms(work: Callable[[], Awaitable[object]]) -> float:
    await work()
    return statistics.median([await _ms(work) for _ in range(_ROUNDS)])


async def _ms(work: Callable[[], Awaitable[object]]) -> float:
    began_s = time.perf_counter()
    await work()
    return (time.perf_counter() - began_s) * 1000
