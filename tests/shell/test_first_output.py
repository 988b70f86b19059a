"""A shell's first words are shown before there is anything to record them, and never again."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from dragoman.core.paths import find_paths
from dragoman.shell.first_output import filter_first_output
from dragoman.shell.mark_filter import MarkFilter
from dragoman.shell.overlay.overlay import Overlay
from dragoman.shell.recording.daemon_link import DaemonLink
from dragoman.shell.recording.outbox import RecordingOutbox
from dragoman.shell.recording.recorder import SessionIdentity, ShellRecorder
from dragoman.shell.settings import ShellSettings
from dragoman.shell.sidecar import Sidecar

NONCE = "5ca1ab1e"
_OURS = f"\x1b]133;D;;nonce={NONCE}\a\x1b]133;A;nonce={NONCE}\aprompt> \x1b]133;B;nonce={NONCE}\a".encode()
_THEIRS = b"\x1b]133;A\a\x1b]633;P;Cwd=/x\awelcome\r\n"


def passing(strip: bool) -> MarkFilter:
    return MarkFilter(NONCE, strip=strip)


def side(*, strip: bool) -> Sidecar:
    session = SessionIdentity("s", None, {}, 1)
    outbox = RecordingOutbox(gap=session.gap, resume=session.resume)
    return Sidecar(
        Overlay(ShellSettings(), session_id="s", columns=80, rows=24),
        ShellRecorder(session, ShellSettings(), NONCE, outbox),
        DaemonLink(outbox, find_paths({"DRAGOMAN_HOME": "/nonexistent"}), {}),
        passing(strip),
    )


@given(
    at=st.integers(0, 200), printed=st.sampled_from([_OURS, _THEIRS + _OURS, b"caf\xc3\xa9 \x1b[1m" + _OURS + b"ls"])
)
@pytest.mark.parametrize("strip", [False, True])
def test_the_screen_gets_the_same_bytes_as_from_what_records_them(at: int, printed: bytes, strip: bool) -> None:
    first, rest = printed[:at], printed[at:]
    shown = filter_first_output(first, NONCE, passing(strip))
    later = side(strip=strip)
    assert later.handle_output(first, 1.0) == shown
    assert shown + later.handle_output(rest, 2.0) == side(strip=strip).handle_output(printed, 1.0)
    assert NONCE.encode() not in shown
