"""`dragoman open` and a file that somebody made to break it: a sentence, an exit code, and nothing of the file."""

from __future__ import annotations

import zipfile
from collections.abc import Iterator
from pathlib import Path

import pytest

from dragoman.cli.dispatch import serve
from dragoman.protocols.share import encode_manifest, sign_manifest, write_share
from tests.protocols.share.test_share_file import PARTS, SEED, entries_of, file_of, manifest, zip_of


def _refused_files() -> Iterator[tuple[str, bytes, str]]:
    """Name, contents and the beginning of the message. All of them have the word MARK."""
    marked = {**PARTS, "output.txt": b"MARK", "report.html": b"MARK"}
    good = file_of(marked, title="MARK")
    yield "truncated", good[:-40], "The shared session is damaged: its end is missing"
    yield "flipped", good.replace(b"MARK", b"MERK", 1), "The shared session is damaged"
    signed = sign_manifest(encode_manifest(manifest(PARTS)), SEED)
    yield "swapped", write_share(manifest(PARTS), signed, marked), "The signature of the shared session is not valid"
    renamed = write_share(manifest(marked, title="MARK"), signed, marked)
    yield "unsigned", renamed, "The signature of the shared session is not valid"
    deep = b'{"at_ns":1,"kind":"MARK","body":' + b'{"a":' * 100_000 + b"1" + b"}" * 100_000 + b"}\n"
    yield "deep", file_of({**marked, "events.jsonl": deep}), "The shared session is damaged: events.jsonl"
    yield (
        "many",
        file_of({**marked, "events.jsonl": b'{"at_ns":1,"kind":"MARK"}\n' * 30_000}),
        "The shared session is too",
    )
    zeros = zip_of([("output.txt", b"\0" * (64 << 20))], zipfile.ZIP_DEFLATED)
    yield "bomb", zip_of([("output.txt", zeros)], zipfile.ZIP_DEFLATED), "The shared session is damaged"
    yield "huge", good[:4] + b"MARK" * (9 << 20), "The shared session is too large: more than 33,554,432 bytes"
    yield (
        "newer",
        file_of(marked, version=2, product="\x1b]52;c;ZXZp\x07\x9b2J"),
        "The shared session has format 2; this Dragoman reads",
    )
    named = zip_of([*entries_of(good), ("\x1b[2J\u202e.txt", b"MARK")])
    yield "named", named, "The shared session is damaged: unexpected part"
    yield "other", b"#!/bin/sh\necho MARK\n", "This is not a shared session."


@pytest.mark.parametrize(("name", "data", "message"), [pytest.param(*it, id=it[0]) for it in _refused_files()])
def test_a_bad_file_is_refused_and_nothing_of_it_is_shown(
    name: str, data: bytes, message: str, tmp_path: Path, capsys: pytest.CaptureFixture[str], home: Path
) -> None:
    bad = tmp_path / name
    bad.write_bytes(data)
    assert serve(["open", str(bad)]) == 1
    shown = capsys.readouterr()
    assert shown.out == ""
    assert shown.err.startswith(f"dragoman: {message}"), shown.err
    assert "MARK" not in shown.err
    assert all(it.isprintable() or it == "\n" for it in shown.err), shown.err
    assert list(home.iterdir()) == []
