"""Kill a writing process with SIGKILL at random, again and again, on the same folder: acknowledged ⊆ readable.

`python -m tests.journal.kill_rounds N [SEED]` runs N rounds; `test_kill.py` runs a few in every test run.
"""

from __future__ import annotations

import os
import random
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator
from pathlib import Path

import anyio
import msgspec

from dragoman.core.events import Event
from dragoman.journal import Journal, JsonStore, SessionScope, Span
from tests.journal.support import append_bytes, require_sound

COUNTS = JsonStore("counts", int)


class Acknowledged(msgspec.Struct, frozen=True):
    last: int
    texts: list[str]
    count: int
    span: Span
    bytes: str


async def write(folder: Path, seed: int) -> None:
    """The victim: append, record bytes and forget, and say on stdout what was acknowledged, at once."""
    dice = random.Random(seed)
    async with Journal.open(folder, stores=[COUNTS], segment_bytes=20_000) as journal:
        rows = COUNTS.decoded((await journal.query(COUNTS.everything())).rows)
        count = rows.get("count", 0)
        while True:
            count += 1
            piece = f"bytes of {count};" * dice.randint(1, 300)
            span = await append_bytes(journal, "term-1", piece.encode())
            texts = [f"event {count} {number}" for number in range(dice.randint(1, 40))]
            events = [Event(kind="x.done", session="kept", text=text) for text in texts]
            put = COUNTS.put("count", count, at_ns=1)
            last = await journal.append([*events, Event(kind="x", session="scrap")], writes=[put], spans=[span])
            content = Acknowledged(last=last, texts=texts, count=count, span=span, bytes=piece)
            os.write(1, msgspec.json.encode(content) + b"\n")
            if count % 7 == 0:
                await journal.forget(SessionScope("scrap"))


async def check(folder: Path, acknowledged: list[Acknowledged]) -> None:
    async with Journal.open(folder, stores=[COUNTS]) as journal:
        rows = [row async for row in journal.export(session="kept")]
        found = {row["sequence"]: row["text"] for row in rows}
        stored = COUNTS.decoded((await journal.query(COUNTS.everything())).rows).get("count", 0)
        assert stored == max((int(text.split()[1]) for text in found.values()), default=0), "store and events differ"
        for result in acknowledged:
            numbers = range(result.last - len(result.texts), result.last)
            assert [found.get(number) for number in numbers] == result.texts, f"lost: {result}"
            assert await journal.read_bytes(result.span) == result.bytes.encode(), f"bytes lost: {result.span}"
            assert stored >= result.count
    require_sound(folder)


def rounds(folder: Path, count: int, seed: int) -> Iterator[int]:
    """Run so many rounds, yielding how many appends each acknowledged."""
    dice = random.Random(seed)
    acknowledged: list[Acknowledged] = []
    for _ in range(count):
        fresh = _one_round(folder, dice)
        acknowledged = [*acknowledged[-200:], *fresh]
        anyio.run(check, folder, acknowledged)
        assert not list(folder.glob("damaged-*")), "killed is not damaged"
        yield len(fresh)


def _one_round(folder: Path, dice: random.Random) -> list[Acknowledged]:
    command = [sys.executable, "-m", __spec__.name, "--write", str(folder), str(dice.randrange(1 << 30))]
    victim = subprocess.Popen(command, stdout=subprocess.PIPE)
    assert victim.stdout is not None
    output = [victim.stdout.readline() for _ in range(dice.randint(1, 30))]
    time.sleep(dice.random() * 0.02)
    victim.kill()
    output += victim.stdout.read().splitlines(keepends=True)
    victim.wait()
    victim.stdout.close()
    return [msgspec.json.decode(line, type=Acknowledged) for line in output if line.endswith(b"\n")]


def main() -> None:
    if sys.argv[1] == "--write":
        anyio.run(write, Path(sys.argv[2]), int(sys.argv[3]))
    seed = int(sys.argv[2]) if len(sys.argv) > 2 else random.randrange(1 << 30)
    print(f"seed {seed}", flush=True)
    with tempfile.TemporaryDirectory() as folder:
        total = sum(rounds(Path(folder) / "j", int(sys.argv[1]), seed))
    print(f"{sys.argv[1]} rounds, {total} appends acknowledged, none lost")


if __name__ == "__main__":
    main()
