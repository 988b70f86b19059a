"""Streams and strategies that the tests of the scanner share."""

from __future__ import annotations

from collections.abc import Iterable

from hypothesis import strategies as st

from dragoman.protocols.osc import (
    CommandFinished,
    CommandLineReported,
    InputStarted,
    Mark,
    MarkScanner,
    OutputPart,
    OutputStarted,
    PromptStarted,
    PropertyReported,
)

CORPUS = (
    b"\x1b[32mgreen\x1b[0m \x1b]0;title\x07\x1b]133;A\x07$ \x1b]133;B;aid=7\x1b\\ls\r\n"
    b"\x1b]633;E;ls\\x20-la;n0\x07\x1b]133;C\x07file\x1b]8;;http://x\x1b\\link\x1b]8;;\x1b\\"
    b"\x1b]13\x1b]133;\x1b]133;D;1\x07\x1b]633;P;Cwd=/tmp\x1b\\\xe2\x80\x9cquoted\xe2\x80\x9d\x1b"
)

SAFE_TEXT = st.text(st.characters(exclude_characters=";=", exclude_categories=["Cc", "Cs"]), min_size=1, max_size=12)
NONCES = st.none() | st.from_regex(r"[A-Za-z0-9_-]{1,32}", fullmatch=True)
PARAMETERS = st.dictionaries(SAFE_TEXT.filter(lambda key: key not in {"nonce", "cmdline", "cmdline_url"}), SAFE_TEXT)
COMMON = {"nonce": NONCES, "parameters": PARAMETERS, "dialect": st.sampled_from([133, 633])}
MARKS: st.SearchStrategy[Mark] = st.one_of(
    st.builds(PromptStarted, **COMMON),
    st.builds(InputStarted, **COMMON),
    st.builds(OutputStarted, **COMMON, command_line=st.none() | st.text()),
    st.builds(CommandFinished, **COMMON, exit_code=st.none() | st.integers(-(2**31), 2**32 - 1)),
    st.builds(CommandLineReported, nonce=NONCES, command_line=st.text()),
    st.builds(
        PropertyReported,
        nonce=NONCES,
        parameters=PARAMETERS,
        key=st.text().filter(lambda key: "=" not in key),
        value=st.text(),
    ),
)
# Bytes that meet the scanner's rules far more often than chance would.
NOISE = st.lists(
    st.sampled_from(
        [
            *(b"\x1b", b"]", b"133;", b"633;", b"\x1b]133;", b"\x1b]633;", b"\\", b"\x07", b"A", b"D;1", b"E;ls"),
            *(b"\x18", b"\x1a", b"\x9c", b"\x9d", "“你好”".encode(), b"\x1b]0;t\x07", b"x" * 40),
        ]
    ),
    max_size=30,
).map(b"".join)


def whole(pieces: Iterable[OutputPart]) -> bytes:
    """The stream again, from what was released."""
    return b"".join(piece.raw if isinstance(piece, Mark) else piece for piece in pieces)


def marks_of(pieces: Iterable[OutputPart]) -> list[tuple[Mark, bytes]]:
    return [(piece, piece.raw) for piece in pieces if isinstance(piece, Mark)]


def scan(chunks: Iterable[bytes], scanner: MarkScanner | None = None) -> list[OutputPart]:
    scanner = scanner or MarkScanner()
    pieces = [piece for chunk in chunks for piece in scanner.feed(chunk)]
    return pieces + scanner.flush()


def placed_marks(pieces: Iterable[OutputPart]) -> list[tuple[int, bytes]]:
    """Each mark with its offset, which no chunking may change."""
    at, found = 0, []
    for piece in pieces:
        raw = piece.raw if isinstance(piece, Mark) else piece
        if isinstance(piece, Mark):
            found.append((at, raw))
        at += len(raw)
    return found
