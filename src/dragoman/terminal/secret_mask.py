"""Secrets in a terminal's frames that are on the disk already: masked with as many stars, in what is shown or typed."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from dragoman.journal import Records
from dragoman.redaction import LONGEST_BYTES, Redactor
from dragoman.terminal.stream import HEAD_BYTES, Frame, Kind, decoded

# Of what was shown and of what was typed, the frames follow each other; a command line stands alone.
_FLOWING = (Kind.OUTPUT, Kind.INPUT)
# Small frames are looked at together, though not in pieces so long that an echo is not taken for one any more.
_PIECE_BYTES = 8_000


def masked(records: Records, redactor: Redactor) -> list[bytes]:
    """The payloads, each as long as it was."""
    fresh = list(records.payloads)
    every = [decoded(payload) for payload in fresh]
    for kind in _FLOWING:
        places = [place for place, frame in enumerate(every) if frame and frame.kind is kind]
        before, after = _end(records.before, kind), _beginning(records.after, kind)
        flow = _masked_flow([fresh[place][HEAD_BYTES:] for place in places], before, after, redactor)
        for place, data in zip(places, flow, strict=True):
            fresh[place] = fresh[place][:HEAD_BYTES] + data
    for place, frame in enumerate(every):
        if frame is None:
            (fresh[place],) = _masked_flow([fresh[place]], b"", b"", redactor)
        elif frame.kind is Kind.BEGAN:
            (line,) = _masked_flow([frame.data], b"", b"", redactor)
            fresh[place] = fresh[place][:HEAD_BYTES] + line
    return fresh


def _masked_flow(pieces: Sequence[bytes], before: bytes, after: bytes, redactor: Redactor) -> list[bytes]:
    stream = redactor.mask()
    if before:
        stream.go_on_after(before)
    shown = [stream.feed(piece) for piece in _joined(pieces)]
    if after.startswith(b"*"):  # the rest of a secret, masked before this file: what may begin one here does
        shown += [stream.settle(), stream.flush()]
    else:
        shown += [stream.feed(after), stream.flush()]
    return _cut(b"".join(shown), pieces)


def _joined(pieces: Sequence[bytes]) -> Iterator[bytes]:
    few: list[bytes] = []
    size = 0
    for piece in pieces:
        if few and size + len(piece) > _PIECE_BYTES:
            yield b"".join(few)
            few, size = [], 0
        few.append(piece)
        size += len(piece)
    if few:
        yield b"".join(few)


def _cut(data: bytes, pieces: Sequence[bytes]) -> list[bytes]:
    found: list[bytes] = []
    at = 0
    for piece in pieces:
        found.append(data[at : at + len(piece)])
        at += len(piece)
    return found


def _beginning(payloads: Sequence[bytes], kind: Kind) -> bytes:
    found = b""
    for frame in _frames(payloads, kind):
        found += frame.data
        if len(found) >= LONGEST_BYTES:
            break
    return found[:LONGEST_BYTES]


def _end(payloads: Sequence[bytes], kind: Kind) -> bytes:
    found = b""
    for frame in _frames(reversed(payloads), kind):
        found = frame.data + found
        if len(found) >= LONGEST_BYTES:
            break
    return found[-LONGEST_BYTES:]


def _frames(payloads: Sequence[bytes] | Iterator[bytes], kind: Kind) -> Iterator[Frame]:
    return (frame for payload in payloads if (frame := decoded(payload)) and frame.kind is kind)
