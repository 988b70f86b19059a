"""A shell's first words are shown before there is anything to record them, and never again."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from dragoman.places import find_places
from dragoman.shell.link import Link
from dragoman.shell.opening import first_shown
from dragoman.shell.outbox import Outbox
from dragoman.shell.overlay import Overlay
from dragoman.shell.passing import Passing
from dragoman.shell.recording import Recording, Session
from dragoman.shell.side import Side
from dragoman.shell.wishes import Wishes

NONCE = "5ca1ab1e"
_OURS = f"\x1b]133;D;;nonce={NONCE}\a\x1b]133;A;nonce={NONCE}\aprompt> \x1b]133;B;nonce={NONCE}\a".encode()
_THEIRS = b"\x1b]133;A\a\x1b]633;P;Cwd=/x\awelcome\r\n"


def passing(strip: bool) -> Passing:
    return Passing(NONCE, strip=strip)


def side(*, strip: bool) -> Side:
    session = Session("s", None, {}, 1)
    outbox = Outbox(gap=session.gap, resume=session.resume)
    return Side(
        Overlay(Wishes(), session_id="s", columns=80, rows=24),
        Recording(session, Wishes(), NONCE, outbox),
        Link(outbox, find_places({"DRAGOMAN_HOME": "/nonexistent"}), {}),
        passing(strip),
    )


@given(at=st.integers(0, 200), said=st.sampled_from([_OURS, _THEIRS + _OURS, b"caf\xc3\xa9 \x1b[1m" + _OURS + b"ls"]))
@pytest.mark.parametrize("strip", [False, True])
def test_the_screen_gets_the_same_bytes_as_from_what_records_them(at: int, said: bytes, strip: bool) -> None:
    first, rest = said[:at], said[at:]
    shown = first_shown(first, NONCE, passing(strip))
    later = side(strip=strip)
    assert later.printed(first, 1.0) == shown
    assert shown + later.printed(rest, 2.0) == side(strip=strip).printed(said, 1.0)
    assert NONCE.encode() not in shown
