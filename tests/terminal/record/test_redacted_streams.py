"""Secrets in a terminal's stream are found in any pieces and colours; nothing else is changed or delayed."""

from __future__ import annotations

import random
import re
import time

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from dragoman.core.redaction import Redactor
from tests.leaks import leaks, password

REDACTOR = Redactor(names=("iban",))
_PUBLIC = re.compile(r"^sk-ant-api03-|^\w{2,10}[_-](?:live_|test_|pat_)?|\n?-----[A-Z ]+-----\n?")
# So much of a secret may be seen where it was begun, went quiet and was gone on with.
SEEN = 8


def fed(*chunks: bytes, redactor: Redactor = REDACTOR) -> bytes:
    stream = redactor.stream()
    return b"".join(map(stream.feed, chunks)) + stream.flush()


def named(seed: int) -> dict[str, tuple[str, str]]:
    """Secrets told by what stands beside them: the whole text, and the part that must not be seen."""
    word = password(seed)
    return {
        "assigned": (f"export DB_PASSWORD={word}", word),
        "quoted": (f'{{"client_secret": "{word} {word}"}}', f"{word} {word}"),
        "option": (f"mysql --password {word} db", word),
        "option with =": (f"tool --api-key={word}", word),
        "environment": (f"GITHUB_TOKEN={word}", word),
        "file": (f"aws_secret_access_key = '{word}'", word),
        "yaml": (f"  password: {word}7a", f"{word}7a"),
        "address": (f"psql postgres://ann:{word}@db/x", word),
        "bearer": (f"curl -H 'Authorization: Bearer {word}7'", f"{word}7"),
        "basic": (f"Authorization: Basic {word}==", f"{word}=="),
        "own name": (f"IBAN={word}", word),
    }


def every(seed: int) -> dict[str, tuple[str, str]]:
    """Of those told by their shape, what everybody knows (`ghp_`) is no secret."""
    return {kind: (secret, _PUBLIC.sub("", secret)) for kind, secret in leaks(seed).items()} | named(seed)


def cut(data: bytes, dice: random.Random, pieces: int) -> list[bytes]:
    at = sorted(dice.randint(0, len(data)) for _ in range(pieces - 1))
    return [data[low:high] for low, high in zip([0, *at], [*at, len(data)], strict=True)]


@pytest.mark.parametrize("kind", every(0))
def test_a_secret_cut_at_any_two_places_is_found_and_its_surroundings_stay(kind: str) -> None:
    text, secret = every(7)[kind]
    data = f"before {text} after\r\n".encode()
    whole = fed(data)
    assert whole.startswith(b"before ")
    assert whole.endswith(b" after\r\n")
    assert b"<redacted " in whole
    for at in range(len(data) + 1):
        shown = fed(data[:at], data[at:])
        assert longest_seen(secret, shown) < SEEN, (at, shown)
    for _ in range(40):
        shown = fed(*cut(data, random.Random(at), 6))
        assert longest_seen(secret, shown) < SEEN, shown


@pytest.mark.parametrize("kind", every(0))
def test_a_secret_that_comes_byte_by_byte_is_found(kind: str) -> None:
    text, secret = every(8)[kind]
    shown = fed(*(bytes([byte]) for byte in f"x {text} y\r\n".encode()))
    assert longest_seen(secret, shown) < SEEN, shown
    assert shown.endswith(b" y\r\n")


@pytest.mark.parametrize("colour", [b"\x1b[0m", b"\x1b[01;31m\x1b[K", b"\x1b[38;5;208m", b"\x1b]8;;x\x1b\\", b" \r"])
@pytest.mark.parametrize("kind", every(0))
def test_a_secret_is_found_with_colours_in_the_middle_which_stay(kind: str, colour: bytes) -> None:
    text, secret = every(9)[kind]
    data = text.encode()
    for at in range(0, len(data) + 1, 3):
        shown = fed(b"x " + data[:at] + colour, data[at:] + b" y\r\n")
        assert longest_seen(secret, shown) < SEEN, (at, shown)
        assert colour in shown


def longest_seen(secret: str, shown: bytes) -> int:
    """How much of a secret, in one piece, can be read; what tells of it (`ghp_`) is no secret."""
    text = shown.decode("utf-8", "replace")
    best = 0
    for start in range(len(secret)):
        while start + best < len(secret) and secret[start : start + best + 1] in text:
            best += 1
    return best


def test_the_name_before_a_secret_is_let_through_at_once_and_only_the_rest_is_held() -> None:
    stream = REDACTOR.stream()
    assert stream.feed(b"it is ghp_") == b"it is ghp_"
    assert not stream.holds
    assert stream.feed(b"a1B2") == b""
    assert stream.held_bytes == 4
    assert stream.feed(b"\r\nnext") == b"a1B2\r\nnext"


@pytest.mark.parametrize(
    "line", [b"$ ", b"ls -la\r\n", b"Downloading 55%\r", b"| working\r", b"sk", b"pass", b"\x1b[0m"]
)
def test_ordinary_output_is_never_held(line: bytes) -> None:
    stream = REDACTOR.stream()
    assert stream.feed(line) == line
    assert not stream.holds


def test_an_escape_sequence_that_was_cut_waits_for_its_rest() -> None:
    stream = REDACTOR.stream()
    assert stream.feed(b"red \x1b[3") == b"red "
    assert stream.feed(b"1mtext") == b"\x1b[31mtext"
    assert stream.feed(b"\x1b[3") + stream.flush() == b"\x1b[3"


def test_an_unfinished_secret_is_shown_only_while_it_is_short() -> None:
    stream = REDACTOR.stream()
    assert stream.feed(b"ghp_abc") + stream.flush() == b"ghp_abc"
    assert stream.feed(b"defghijklmnopq") == b""
    assert stream.flush() == b"<redacted 14 chars>"
    assert stream.feed(b"rstuvwxyz0123456789 end\n") == b"<redacted 19 chars> end\n"


def test_a_private_key_is_hidden_line_by_line_and_what_follows_is_not() -> None:
    lines = [b"-----BEGIN OPENSSH " + b"PRIVATE KEY-----\r\n", *[b"b3BlbnNzaC1rZXktdjEAAAAA\r\n"] * 20]
    stream = REDACTOR.stream()
    shown = b"".join(stream.feed(line) + stream.flush() for line in lines)
    shown += stream.feed(b"-----END OPENSSH PRIVATE KEY-----\r\n$ ls\r\n") + stream.flush()
    assert b"b3Blbn" not in shown
    assert shown.endswith(b"\r\n$ ls\r\n")


def test_what_is_held_is_bounded_whatever_comes() -> None:
    stream = REDACTOR.stream()
    for hostile in (
        b"eyJ" + b"a" * 70_000,
        b"-----BEGIN PRIVATE KEY-----" + b"a" * 70_000,
        b"password='" + b"a" * 70_000,
    ):
        for start in range(0, len(hostile), 500):
            stream.feed(hostile[start : start + 500])
            assert stream.held_bytes < 20_000
        stream.flush()


@pytest.mark.parametrize(
    "text",
    [
        "Basic usage: see below",
        "password: required",
        "Enter password: ",
        "password=$DB_PASSWORD",
        "max_tokens=4096",
        "see secrets.py",
        "http://localhost:8080/path",
        "keyboard = 'us'",
        "the token expired",
        "ghost_writer sk-learn eyJ npm_config",
        "git commit -m 'pass the salt'",
        "---------------------------------------------------",
        "0123456789abcdef0123456789abcdef01234567",
    ],
)
def test_what_is_not_a_secret_stays_readable(text: str) -> None:
    assert REDACTOR.line(text) == text
    assert fed(text.encode() + b"\r\n") == text.encode() + b"\r\n"


@settings(max_examples=200)
@given(st.lists(st.binary(max_size=60), max_size=8))
def test_any_bytes_without_a_secret_come_out_as_they_went_in(chunks: list[bytes]) -> None:
    shown, entries = fed(*chunks), b"".join(chunks)
    if b"<redacted " not in shown and b"\x1b]" not in entries:  # titles are not kept
        assert shown == entries


@settings(max_examples=100)
@given(st.lists(st.binary(max_size=200), max_size=8), st.integers(0, 1 << 30))
def test_nothing_is_looked_for_where_redaction_is_off(chunks: list[bytes], seed: int) -> None:
    secret = random.Random(seed).choice(list(leaks(seed).values())).encode()
    assert fed(*chunks, secret, redactor=Redactor(enabled=False)) == b"".join([*chunks, secret])


@pytest.mark.parametrize(
    "hostile",
    [b"eyJ", b"password='", b"://", b"-----BEGIN PRIVATE KEY-----", b"sk-a-", b"\x1b[1m", b"token=", b" \r", b"key: "],
)
def test_hostile_bytes_do_not_make_it_slow(hostile: bytes) -> None:
    data = hostile * (65_536 // len(hostile))
    began = time.process_time()
    fed(data, data)
    assert time.process_time() - began < 3
