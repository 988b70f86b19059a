"""The mark scanner: how fast output passes through it, in 64 KiB chunks."""

from __future__ import annotations

from bench.claims import Claim, median_s
from dragoman.protocols.osc import CommandFinished, Mark, MarkScanner, encode_mark

CHUNK = 65536
PLAIN = b"The quick brown fox jumps over the lazy dog, 0123456789 times.\r\n"
COLOURED = b"\x1b[0m\x1b[01;34mfolder\x1b[0m  \x1b[32m+ added line\x1b[m  \x1b[1;31merror\x1b[0m: something\r\n"
LINKED = b"\x1b]8;;file:///home/me/a.py\x1b\\a.py\x1b]8;;\x1b\\  \x1b[32mpassed\x1b[0m in 0.1 s\r\n"
TITLED = b"\x1b]0;a title\x07" + PLAIN * 20


def run() -> list[Claim]:
    marked = encode_mark(CommandFinished(exit_code=0, nonce="c0ffee")) + COLOURED * 10
    return [
        Claim("without escapes", _rate(PLAIN), "GB/s", 2.0, "higher"),
        Claim("coloured, without marks", _rate(COLOURED), "GB/s", 0.5, "higher"),
        Claim("links on every line, without marks", _rate(LINKED), "GB/s", 0.5, "higher"),
        Claim("titles, without marks", _rate(TITLED), "GB/s", 0.5, "higher"),
        Claim("a mark every ten coloured lines", _rate(marked, marks=True), "GB/s", 0.1, "higher"),
    ]


def _rate(pattern: bytes, *, marks: bool = False) -> float:
    stream = pattern * (CHUNK * 64 // len(pattern))
    chunks = [stream[at : at + CHUNK] for at in range(0, len(stream), CHUNK)]

    def scan() -> None:
        scanner, size, found = MarkScanner(), 0, 0
        for chunk in chunks:
            for piece in scanner.feed(chunk):
                size += len(piece.raw if isinstance(piece, Mark) else piece)
                found += isinstance(piece, Mark)
        assert size + len(scanner.held) == len(stream)
        assert bool(found) == marks

    return len(stream) / median_s(scan) / 1e9
