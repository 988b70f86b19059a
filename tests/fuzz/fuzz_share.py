"""A shared session with damaged bytes: read whole and as it was written, or refused."""

from __future__ import annotations

from dragoman.protocols.share import (
    SharedEvent,
    ShareError,
    encode_lines,
    encode_manifest,
    manifest_of,
    read_share,
    sign_manifest,
    write_share,
)


def _file(**parts: bytes) -> bytes:
    named = {"events.jsonl": parts.get("events", b""), "output.txt": parts.get("output", b"")}
    manifest = manifest_of(named, product="0.1.0", session="debug-1", title="t", created_at_ns=1)
    return write_share(manifest, sign_manifest(encode_manifest(manifest), bytes(32)), named)


SEEDS = [_file(), _file(output=b"hello\n"), _file(events=encode_lines([SharedEvent(at_ns=1, kind="started")]))]


def one_input(data: bytes) -> None:
    try:
        shared = read_share(data)
    except ShareError:
        return
    assert data in SEEDS, f"{shared.id} was not written here"
