"""The journal: how fast it takes events with search, how fast it finds them among a million, what one event costs."""

from __future__ import annotations

import itertools
import random
import statistics
import tempfile
import time
from collections.abc import Iterator
from pathlib import Path

import anyio

from bench.claims import Claim
from dragoman.core.events import Event
from dragoman.journal import Journal

EVENTS = 1_000_000
BATCH = 1_000
WORDS = 12
VOCABULARY = 20_000
# In every third event, and in one of a hundred thousand: beside the text's own words, whose frequencies fall as 1/n.
COMMON, RARE = "heartbeat", "quicksilver"
SEARCHES = {
    "a rare word": RARE,
    "a word in every third event": COMMON,
    "a common and a rare word": f"{COMMON} {RARE}",
    "a beginning of three letters": f"{COMMON[:3]}*",
    "a beginning of two letters": f"{COMMON[:2]}*",
    "a phrase": '"{phrase}"',
}


def run() -> list[Claim]:
    with tempfile.TemporaryDirectory(prefix="dragoman-bench-") as folder:
        return anyio.run(_measure, Path(folder) / "journal")


async def _measure(folder: Path) -> list[Claim]:
    async with Journal.open(folder) as journal:
        rate, lag_s = await _fill(journal)
        claims = [Claim("journal: indexed appends, batches of 1,000, synced", rate, "events/s", 40_000, "higher")]
        claims.append(Claim("journal: event loop's worst lag meanwhile", lag_s * 1e3, "ms", 50, "lower"))
        claims += [
            Claim(f"journal: newest 20 of a million, {what}", await _search_ms(journal, query), "ms", 50, "lower")
            for what, query in SEARCHES.items()
        ]
        ranked = await _search_ms(journal, COMMON, ranked=True)
        claims.append(Claim("journal: best 20 of the newest 10,000 hits", ranked, "ms", 50, "lower"))
        claims.append(Claim("journal: one append by itself, p99", await _single_ms(journal), "ms", 20, "lower"))
    return claims


async def _fill(journal: Journal) -> tuple[float, float]:
    """Only the appending is timed; the loop's lag is watched by a second task all the while."""
    spent_s, lags = 0.0, [0.0]
    async with anyio.create_task_group() as group:
        group.start_soon(_watch, lags)
        for batch in _batches(EVENTS):
            began = time.perf_counter()
            await journal.append(batch)
            spent_s += time.perf_counter() - began
            lags.append(-1.0)  # making the next batch holds the loop: that lag is the bench's own
        group.cancel_scope.cancel()
    return EVENTS / spent_s, max(lags)


async def _watch(lags: list[float]) -> None:
    while True:
        began, seen = time.perf_counter(), len(lags)
        await anyio.sleep(0.001)
        if len(lags) == seen:
            lags.append(time.perf_counter() - began - 0.001)


async def _search_ms(journal: Journal, query: str, *, ranked: bool = False) -> float:
    """Through the whole port, thread and decoding included; the slowest of the first run and the median."""
    if "{phrase}" in query:
        (newest,) = await journal.read(journal.last_sequence - 1)
        query = query.format(phrase=" ".join(newest.event.text.split()[:2]))
    times = []
    for _ in range(9):
        began = time.perf_counter()
        assert await journal.search(query, ranked=ranked)
        times.append((time.perf_counter() - began) * 1e3)
    return max(times[0], statistics.median(times))


async def _single_ms(journal: Journal) -> float:
    times = []
    for event in itertools.islice(itertools.chain.from_iterable(_batches(BATCH)), 500):
        began = time.perf_counter()
        await journal.append([event])
        times.append((time.perf_counter() - began) * 1e3)
    return statistics.quantiles(times, n=100)[98]


def _batches(count: int) -> Iterator[list[Event]]:
    dice = random.Random(1)
    words = ["".join(dice.choices("abcdefghijklmnopqrstuvwxyz", k=dice.randint(2, 9))) for _ in range(VOCABULARY)]
    weights = list(itertools.accumulate(1 / rank for rank in range(1, VOCABULARY + 1)))
    for start in range(0, count, BATCH):
        text = iter(dice.choices(words, cum_weights=weights, k=WORDS * BATCH))
        yield [_event(number, list(itertools.islice(text, WORDS))) for number in range(start, start + BATCH)]


def _event(number: int, words: list[str]) -> Event:
    if number % 3 == 0:
        words[5] = COMMON
    if number % 100_000 == 0:
        words[7] = RARE
    session = f"run-{number // 5_000}"
    body = {"category": "stdout", "line": number}
    return Event(kind="output.written", session=session, cause="call-1f2e3d4c", text=" ".join(words), body=body)


if __name__ == "__main__":
    for claim in run():
        print(f"{claim.name:60} {claim.value:12,.2f} {claim.unit}  {'met' if claim.met else 'MISSED'}")
