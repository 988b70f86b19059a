"""Output full of hints at secrets takes time in proportion to its length, whatever it repeats."""

from __future__ import annotations

import re
import time
from collections.abc import Callable
from functools import partial

import pytest

from dragoman.core.redaction import Redactor
from tests.secret_corpus import secret_forms

REDACTOR = Redactor()
NAMES = ("password", "dbpass", ";pwd", "secret_key", "api-key", "key", "token", "credentials", "_auth", "authorization")
SEPARATORS = (" ", "=", ":", " = ", "='", '": "', '\\": \\"', ", value: ", ">", "://", "\x1b[1m", " |")
COMMANDS = ("curl -u", "mysql -p", "sshpass -p", "docker login -p", "redis-cli -a", "smbclient -U", "echo", "set")
# Each of another part of the engine: names, values, commands, tokens, marks, colours.
LONG = (
    "token: ", "password ", "curl -u ", "cookie:", "eyJ-",
    "password=abc123 <redacted 9 chars> ", "password=abc123 \x1b[1m",
)  # fmt: skip


def fragments() -> set[str]:
    """Every form with its secret and without, and every name and command with every separator."""
    texts = [form.text for form in secret_forms()]
    heads = [re.split("|".join(map(re.escape, form.secrets)), form.text)[0] for form in secret_forms()]
    pairs = [f"{one}{other}" for one in (*NAMES, *COMMANDS) for other in SEPARATORS]
    return {*filter(None, heads), *(f"{text} " for text in texts), *pairs}


def seconds(data: bytes, times: int) -> float:
    """The least of some: what else runs on the machine only adds."""
    return min(_once(data) for _ in range(times))


def _once(data: bytes) -> float:
    stream = REDACTOR.stream()
    began = time.process_time()
    stream.feed(data)
    return time.process_time() - began


def stays_below(limit: float, ratio: Callable[[int], float]) -> bool:
    """Measured again, and longer, before it counts."""
    return any(ratio(times) < limit for times in (1, 3, 6))


def repeated(fragment: str, size: int) -> bytes:
    return (fragment.encode() * (size // len(fragment) + 1))[:size]


@pytest.mark.parametrize("fragment", LONG)
def test_a_byte_of_a_long_chunk_takes_no_longer_than_one_of_a_short_chunk(fragment: str) -> None:
    short, long = repeated(fragment, 8_192), repeated(fragment, 65_536)
    assert stays_below(3, lambda times: seconds(long, times) / seconds(short, times + 1) / 8)


def test_no_fragment_makes_the_engine_look_far_around_each_of_its_places() -> None:
    """Against the same where lines end early, so that nothing can be looked at far from its place."""
    slow = [it for it in fragments() if not stays_below(8, partial(_against_lines, it))]
    assert slow == []


def _against_lines(fragment: str, times: int) -> float:
    dense, lines = repeated(fragment, 1_200), repeated(f"{fragment}\n", 1_200)
    # What is quick is not measured well: a few lines more make it long enough.
    return seconds(dense, times) / seconds(lines + b"token: \n" * 40, times)
