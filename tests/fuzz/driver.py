"""Feed damaged inputs to the harnesses: `python -m tests.fuzz.driver --seconds 600 [--seed N] [NAME…]`.

A harness is a file `fuzz_NAME.py` next to this one with `SEEDS: list[bytes]` (good inputs to damage) and
`one_input(data)`, which raises only for a real bug: an expected protocol error is caught inside the harness.
Everything follows from the printed seed, so that a failure can be repeated.
"""

from __future__ import annotations

import argparse
import importlib
import itertools
import secrets
import sys
import time
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path
from random import Random

HERE = Path(__file__).parent
MAX_INPUT = 1 << 16
INTERESTING = [
    *(bytes([byte]) for byte in b'\0\1\n\r\x1b\x7f\x80\x9c\xff "{}[];:\\'),
    *(number.to_bytes(4, order) for number in (0, 1, 0x7FFFFFFF, 0xFFFFFFFF) for order in ("big", "little")),
    *(number.to_bytes(8, order) for number in (0, 1, 2**63, 2**64 - 1) for order in ("big", "little")),
    *(b"\r\n\r\n", b"\x1b]", b"\x1b\\", b"\xed\xa0\x80", b"\xc0\x80", b"\xf4\x90\x80\x80", "é".encode()),
    *(b"-1", b"99999999999999999999", b"1e999", b"NaN", b"null", b'"\\ud800"', b"[" * 600),
]


@dataclass(frozen=True, slots=True)
class Harness:
    name: str
    one_input: Callable[[bytes], None]
    seeds: list[bytes]


class FuzzFailureError(AssertionError):
    """A harness found a bug; the message is all that is needed to repeat it."""

    def __init__(self, harness: str, seed: int, round_number: int, data: bytes, why: Exception) -> None:
        super().__init__(
            f"{harness}: {type(why).__name__}: {why}\n"
            f"repeat with: python -m tests.fuzz.driver --seed {seed} --rounds {round_number + 1} {harness}\n"
            f"input: {data.hex() or '(empty)'}"
        )


def harness_names() -> list[str]:
    return sorted(path.stem.removeprefix("fuzz_") for path in HERE.glob("fuzz_*.py"))


def load(name: str) -> Harness:
    module = importlib.import_module(f"tests.fuzz.fuzz_{name}")
    return Harness(name, module.one_input, list(module.SEEDS))


# Mutations: each damages the bytes in place, with the dice and the other seeds at hand.


def _flip_bit(data: bytearray, dice: Random, _: list[bytes]) -> None:
    if data:
        data[dice.randrange(len(data))] ^= 1 << dice.randrange(8)


def _set_byte(data: bytearray, dice: Random, _: list[bytes]) -> None:
    if data:
        data[dice.randrange(len(data))] = dice.randrange(256)


def _insert(data: bytearray, dice: Random, _: list[bytes]) -> None:
    at = dice.randint(0, len(data))
    data[at:at] = dice.choice(INTERESTING)


def _overwrite(data: bytearray, dice: Random, _: list[bytes]) -> None:
    piece = dice.choice(INTERESTING)
    at = dice.randint(0, len(data))
    data[at : at + len(piece)] = piece


def _cut(data: bytearray, dice: Random, _: list[bytes]) -> None:
    begin, end = _span(data, dice)
    del data[begin:end]


def _truncate(data: bytearray, dice: Random, _: list[bytes]) -> None:
    del data[dice.randint(0, len(data)) :]


def _duplicate(data: bytearray, dice: Random, _: list[bytes]) -> None:
    begin, end = _span(data, dice)
    data[end:end] = data[begin:end] * dice.choice((1, 2, 7))


def _splice(data: bytearray, dice: Random, seeds: list[bytes]) -> None:
    """The beginning of one input and the end of another: a message that turns into a different one."""
    other = dice.choice(seeds)
    data[dice.randint(0, len(data)) :] = other[dice.randint(0, len(other)) :]


def _append(data: bytearray, dice: Random, seeds: list[bytes]) -> None:
    data += dice.choice(seeds)


MUTATIONS = [_flip_bit, _set_byte, _insert, _overwrite, _cut, _truncate, _duplicate, _splice, _append]


def _span(data: bytearray, dice: Random) -> tuple[int, int]:
    begin = dice.randint(0, len(data))
    return begin, min(len(data), begin + dice.choice((1, 2, 4, 8, 64, 4096)))


def mutated(seeds: list[bytes], dice: Random) -> bytes:
    data = bytearray(dice.choice(seeds))
    for _ in range(dice.choice((1, 1, 2, 3, 8))):
        dice.choice(MUTATIONS)(data, dice, seeds)
    return bytes(data[:MAX_INPUT])


def inputs(seeds: list[bytes], seed: int) -> Iterator[bytes]:
    """The seeds themselves and nothing at all, then damaged ones for ever."""
    yield from (b"", *seeds)
    dice = Random(seed)
    while True:
        yield mutated(seeds, dice)


def run(harness: Harness, seed: int, *, rounds: int | None = None, seconds: float | None = None) -> int:
    """Run until the rounds or the seconds are over; the number of inputs tried."""
    deadline = None if seconds is None else time.monotonic() + seconds
    for number, data in enumerate(itertools.islice(inputs(harness.seeds, seed), rounds)):
        try:
            harness.one_input(data)
        except Exception as why:
            raise FuzzFailureError(harness.name, seed, number, data, why) from why
        if deadline is not None and time.monotonic() > deadline:
            return number + 1
    return rounds or 0


def main(arguments: list[str] | None = None) -> int:
    parser = argparse.ArgumentParser(prog="python -m tests.fuzz.driver", description="Fuzz the wire packages.")
    parser.add_argument("names", nargs="*", metavar="NAME", help=f"of: {', '.join(harness_names())}")
    parser.add_argument("--seconds", type=float, help="in all, shared by the harnesses (default 60)")
    parser.add_argument("--rounds", type=int, help="inputs a harness, instead of seconds")
    parser.add_argument("--seed", type=int, default=secrets.randbits(32))
    chosen = parser.parse_args(arguments)
    names = chosen.names or harness_names()
    seconds = None if chosen.rounds else (chosen.seconds or 60) / len(names)
    print(f"seed {chosen.seed}")
    try:
        for name in names:
            print(
                f"{name}: {run(load(name), chosen.seed, rounds=chosen.rounds, seconds=seconds):,} inputs",
                flush=True,
            )
    except FuzzFailureError as failure:
        print(failure)
        return 1
    return 0


if __name__ == "__main__":
    sys.exit(main())
