"""How fast terminals are recorded, how soon the index has seen it, and how soon the first hits are there.

A gigabyte of output and a million commands are made anew each time; `DRAGOMAN_BENCH_TERMINAL_MB` and
`DRAGOMAN_BENCH_COMMANDS` make it less.
"""

from __future__ import annotations

import os
import statistics
import tempfile
import time
from collections.abc import AsyncIterator, Awaitable, Callable
from contextlib import asynccontextmanager
from functools import partial
from itertools import islice
from pathlib import Path

import anyio

from bench.claims import Claim
from dragoman.core.redaction import Redactor
from dragoman.journal import Journal
from dragoman.terminal.model import CommandFilter, CommandReport
from dragoman.terminal.record.command_store import CommandStore
from dragoman.terminal.service import TerminalService
from tests.terminal.record_support import fill_with_commands
from tests.terminal.search.program_logs import Logs

MEGABYTES = int(os.environ.get("DRAGOMAN_BENCH_TERMINAL_MB", "1000"))
COMMANDS = int(os.environ.get("DRAGOMAN_BENCH_COMMANDS", "1000000"))
CHUNK_BYTES = 64 * 1024
CHUNKS = MEGABYTES * 1_000_000 // CHUNK_BYTES
TERMINALS = 10
_NOON_MS = 1_800_000_000_000
_ROUNDS = 5
_LONG_AGO = b"a trombone: request PASSED\r\n"
_SEARCHES = {
    "a word of every fourth line": "request",
    "a rare word": "xylophone",
    "two common words, often on one line": "request warning",
    "two words, seldom on one line": "warning timeout",
    "two common words, on one line long ago": "passed request",
    "two common words, never on one line": "building request",
    "a phrase": '"unused variable"',
    "a beginning": "xylo*",
    "a beginning of one letter": "t*",
    "a part of a rare word": "ylopho",
    "a part of three letters": "ing",
    "a word whose hits are old": "trombone",
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
        recorded = await record(service)
        indexed_s = await _indexed_s(service)
        searches = [
            Claim(f"first 20 hits: {name}", await _median_ms(partial(service.search_output, words)), "ms", 200, "lower")
            for name, words in _SEARCHES.items()
        ]
        one = partial(service.search_output, "request warning", terminal="bench0")
        searches.append(Claim("first 20 hits: of one terminal, long ago", await _median_ms(one), "ms", 200, "lower"))
    index_bytes = sum(path.stat().st_size for path in (folder / "terminal").iterdir())
    return [
        Claim("recorded, redaction on, 64 KiB chunks", recorded, "MB/s", 150, "higher"),
        Claim(f"index behind after a burst of {MEGABYTES} MB", indexed_s, "s", 60, "lower"),
        Claim("size of the index, of what is indexed", index_bytes / MEGABYTES / 10_000, "%", 50, "lower"),
        *searches,
    ]


async def record(service: TerminalService) -> float:
    """Ten terminals one after another, a command every few megabytes; how many megabytes a second were taken."""
    made = Logs().chunks(CHUNK_BYTES)
    took_s, number = await _taken_s(service, 0, [_LONG_AGO] * 30), 0
    while chunks := list(islice(made, min(512, CHUNKS - number))):
        took_s += await _taken_s(service, number, chunks)
        number += len(chunks)
    return MEGABYTES / took_s


async def _taken_s(service: TerminalService, first: int, chunks: list[bytes]) -> float:
    """Making them is not counted."""
    began_s = time.perf_counter()
    for number, chunk in enumerate(chunks, first):
        terminal = f"bench{number * TERMINALS // CHUNKS}"
        await service.record(terminal, "output", _NOON_MS + number, chunk)
        if number % 100 == 0:
            await service.record(terminal, "output", _NOON_MS + number, b"\na xylophone was heard\r\n")
            result = CommandReport(
                id=f"{terminal}:{number}", terminal=terminal, line="make", started_ms=_NOON_MS + number
            )
            await service.command_ended(result)
    return time.perf_counter() - began_s


async def _indexed_s(service: TerminalService) -> float:
    began_s = time.perf_counter()
    await service.catch_up()
    return time.perf_counter() - began_s


async def _command_claims(folder: Path) -> list[Claim]:
    async with _service(folder):
        pass
    await anyio.to_thread.run_sync(fill_with_commands, folder / "journal", COMMANDS)
    async with _service(folder) as service:
        claims = [
            Claim(
                f"{COMMANDS:,} commands, {name}",
                await _median_ms(partial(service.commands, request)),
                "ms",
                50,
                "lower",
            )
            for name, request in _FILTERS.items()
        ]
        began_s = time.perf_counter()
        read = 0
        async for _ in service.history():
            read += 1
            if read == 100_000:
                break
        return [*claims, Claim("100,000 commands streamed", time.perf_counter() - began_s, "s", 2, "lower")]


async def _median_ms(work: Callable[[], Awaitable[object]]) -> float:
    await work()
    return statistics.median([await _ms(work) for _ in range(_ROUNDS)])


async def _ms(work: Callable[[], Awaitable[object]]) -> float:
    began_s = time.perf_counter()
    await work()
    return (time.perf_counter() - began_s) * 1000
