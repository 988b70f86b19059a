"""Secrets in what a terminal gets and does not show: titles, links, folders."""

from __future__ import annotations

import pytest

from dragoman.core.redaction import Redactor

TOKEN = b"ghp_" + b"a1B2" * 9


def kept(data: bytes, *, size: int) -> bytes:
    stream = Redactor().stream()
    pieces = [stream.feed(data[at : at + size]) for at in range(0, len(data), size)]
    return b"".join([*pieces, stream.flush()])


@pytest.mark.parametrize("size", [1, 7, 30, 10_000])
@pytest.mark.parametrize("end", [b"\x07", b"\x1b\\"])
def test_a_title_is_not_kept_since_half_a_secret_may_be_in_it(size: int, end: bytes) -> None:
    result = b"before\x1b]0;export KEY=" + TOKEN[:12] + end + b"after\n\x1b]2;vim" + end
    assert kept(result, size=size) == b"before\x1b]0;" + end + b"after\n\x1b]2;" + end


@pytest.mark.parametrize("size", [1, 7, 10_000])
def test_of_links_and_folders_the_secret_alone_is_replaced(size: int) -> None:
    text = b"\x1b]8;;https://host/?a=" + TOKEN + b"\x07text\x1b]8;;\x07 \x1b]7;file://host/home\x07"
    shown = kept(text, size=size)
    assert TOKEN not in shown
    assert shown.startswith(b"\x1b]8;;https://host/?a=<redacted ")
    assert shown.endswith(b"text\x1b]8;;\x07 \x1b]7;file://host/home\x07")


def test_endless_events_are_cut_off_in_time() -> None:
    stream = Redactor().stream()
    shown = stream.feed(b"\x1b]0;" + b"x" * 5000)
    assert len(shown) + stream.held_bytes == 5004
    assert not stream.held_bytes


def test_with_redaction_off_every_byte_is_kept() -> None:
    stream = Redactor(enabled=False).stream()
    result = b"\x1b]0;" + TOKEN + b"\x07"
    assert stream.feed(result) == result
