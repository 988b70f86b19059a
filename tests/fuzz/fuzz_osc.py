"""Any bytes through the scanner: transparent, bounded, and the same in two chunkings."""

from __future__ import annotations

from dragoman.protocols.osc import MAX_BODY, Mark, MarkScanner, encode_mark
from dragoman.protocols.osc.marks import CommandFinished, CommandLineReported, OutputStarted, PropertyReported

SEEDS = [
    b"\x1b[32mgreen\x1b[0m\x1b]0;title\x07\x1b]133;A;aid=1\x07$ \x1b]133;B\x1b\\",
    encode_mark(CommandLineReported(command_line="ls -la; pwd", nonce="n0")) * 2,
    encode_mark(OutputStarted(command_line="echo “hi”")) + b"\x1b]133;C;cmdline=$'a\\nb'\\ c\x07",
    encode_mark(CommandFinished(exit_code=1, nonce="n0")) + b"\x1b]633;D\x07",
    encode_mark(PropertyReported(key="Cwd", value="/tmp/你好")),
    b"\x1b]633;E;" + b"x" * (MAX_BODY - 3) + b"\x07",
]


def one_input(data: bytes) -> None:
    size = 1 + sum(data[:8]) % 61
    in_chunks = _scan([data[at : at + size] for at in range(0, len(data), size)])
    assert in_chunks == _scan([data]), "chunking changed the marks"


def _scan(chunks: list[bytes]) -> list[tuple[int, bytes]]:
    scanner, marks, at = MarkScanner(), [], 0
    released = bytearray()
    for chunk in [*chunks, None]:
        for piece in scanner.flush() if chunk is None else scanner.feed(chunk):
            raw = piece.raw if isinstance(piece, Mark) else piece
            if isinstance(piece, Mark):
                marks.append((at, raw))
            released += raw
            at += len(raw)
        assert len(scanner.held) <= MAX_BODY + 7, "more is held than a mark may have"
    assert released == b"".join(chunks), "the stream was changed"
    return marks
