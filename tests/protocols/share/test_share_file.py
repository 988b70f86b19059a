"""The file of a shared session: what was written is read, and every other file is refused as a whole."""

from __future__ import annotations

import io
import json
import random
import stat
import struct
import zipfile
from collections.abc import Callable, Mapping
from typing import Any

import msgspec
import pytest

from dragoman.protocols.share import (
    FILE_BYTES,
    PART_BYTES,
    SharedEvent,
    SharedFrame,
    SharedLaunch,
    SharedStop,
    SharedValue,
    ShareError,
    ShareManifest,
    ShareSignature,
    encode_lines,
    encode_manifest,
    manifest_of,
    read_share,
    sign_manifest,
    write_share,
)

SEED, OTHER_SEED = bytes(range(32)), bytes(range(1, 33))
STOP = SharedStop(
    number=1,
    at_ns=5,
    reason="breakpoint",
    frames=(SharedFrame("share", "~/shop/dinner.py", 4),),
    variables=(SharedValue("total", "90", "int"),),
    raised=("ValueError", "no"),
)
PARTS: Mapping[str, bytes] = {
    "events.jsonl": encode_lines([SharedEvent(at_ns=1, kind="started", body={"title": "dinner.py", "n": [1, 2]})]),
    "stops.jsonl": encode_lines([STOP]),
    "output.txt": b"dinner\n",
    "launch.json": encode_lines([SharedLaunch(workspace="~/shop", program="~/shop/dinner.py")]),
    "report.html": b"<!doctype html>",
}


def manifest(parts: Mapping[str, bytes] = PARTS, **changed: Any) -> ShareManifest:
    made = manifest_of(parts, product="0.1.0", session="debug-1", title="dinner.py", created_at_ns=7, redactions=2)
    return msgspec.structs.replace(made, **changed)


def file_of(parts: Mapping[str, bytes] = PARTS, seed: bytes = SEED, **changed: Any) -> bytes:
    about = manifest(parts, **changed)
    return write_share(about, sign_manifest(encode_manifest(about), seed), parts)


def zip_of(entries: list[tuple[str | zipfile.ZipInfo, bytes]], compression: int = zipfile.ZIP_STORED) -> bytes:
    buffer = io.BytesIO()
    with zipfile.ZipFile(buffer, "w", compression) as archive:
        for entry, data in entries:
            archive.writestr(entry, data)
    return buffer.getvalue()


def entries_of(data: bytes) -> list[tuple[str | zipfile.ZipInfo, bytes]]:
    with zipfile.ZipFile(io.BytesIO(data)) as archive:
        return [(it, archive.read(it)) for it in archive.infolist()]


def test_what_was_written_is_read() -> None:
    shared = read_share(file_of())
    assert shared.stops == (STOP,)
    assert shared.events[0].body == {"title": "dinner.py", "n": [1, 2]}
    assert (shared.output, shared.recording, shared.manifest.redactions) == ("dinner\n", b"", 2)
    assert shared.launch is not None
    assert shared.launch.program == "~/shop/dinner.py"
    assert shared.signature.fingerprint == sign_manifest(b"", SEED).fingerprint
    assert shared.id.startswith("shared-")


def test_the_signature_covers_a_prefix_that_no_other_message_has() -> None:
    """Else a gateway's challenge could be chosen so that its answer is the signature of a file."""
    from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PrivateKey

    text, key = encode_manifest(manifest()), Ed25519PrivateKey.from_private_bytes(SEED)
    bare = ShareSignature(key=key.public_key().public_bytes_raw().hex(), signature=key.sign(text).hex())
    with pytest.raises(ShareError) as refused:
        read_share(write_share(manifest(), bare, PARTS))
    assert refused.value.code == "share_forged"


def test_every_flipped_bit_is_refused() -> None:
    data, dice = file_of(), random.Random(7)
    for place in range(len(data)):
        changed = bytearray(data)
        changed[place] ^= 1 << dice.randrange(8)
        with pytest.raises(ShareError):
            read_share(bytes(changed))


def test_every_cut_and_every_addition_is_refused() -> None:
    data, dice = file_of(), random.Random(8)
    for length in {*range(64), *range(len(data) - 300, len(data)), *dice.sample(range(len(data)), 200)}:
        with pytest.raises(ShareError):
            read_share(data[:length])
    for more in (data + b"\0", b"\0" + data, data + data, data[:100] + b"x" + data[100:], data + file_of()):
        with pytest.raises(ShareError):
            read_share(more)


def test_random_damage_of_any_length_is_refused_with_a_reason() -> None:
    data, dice = file_of(), random.Random(9)
    for _ in range(1500):
        start, length = dice.randrange(len(data)), dice.choice((0, 1, 2, 4, 30, 400))
        instead = dice.randbytes(dice.choice((0, 1, 2, 4, 30)))
        changed = data[:start] + instead + data[start + length :]
        if changed == data:
            continue
        with pytest.raises(ShareError) as refused:
            read_share(changed)
        assert str(refused.value)


def _swapped_part() -> bytes:
    other = {**PARTS, "output.txt": b"supper\n"}
    return write_share(manifest(), sign_manifest(encode_manifest(manifest()), SEED), other)


def _replaced_key() -> bytes:
    signature = sign_manifest(encode_manifest(manifest()), SEED)
    other = sign_manifest(b"", OTHER_SEED)
    return write_share(manifest(), msgspec.structs.replace(signature, key=other.key), PARTS)


def _changed_manifest() -> bytes:
    signature = sign_manifest(encode_manifest(manifest()), SEED)
    return write_share(manifest(title="other.py"), signature, PARTS)


@pytest.mark.parametrize("forge", [_swapped_part, _replaced_key, _changed_manifest])
def test_a_forged_file_is_refused(forge: Callable[[], bytes]) -> None:
    with pytest.raises(ShareError) as refused:
        read_share(forge())
    assert refused.value.code == "share_forged"


def test_a_key_in_another_spelling_is_refused() -> None:
    signature = sign_manifest(encode_manifest(manifest()), SEED)
    loud = msgspec.structs.replace(signature, key=signature.key.upper())
    with pytest.raises(ShareError):
        read_share(write_share(manifest(), loud, PARTS))


def test_a_future_version_says_what_reads_it() -> None:
    with pytest.raises(ShareError) as refused:
        read_share(file_of(version=2, product="9.1.0"))
    assert refused.value.code == "share_too_new"
    assert "9.1.0" in str(refused.value)
    with pytest.raises(ShareError):
        read_share(file_of(version=0))


def test_times_that_no_calendar_has_are_refused() -> None:
    for number in (-1, 1 << 63, 10**30):
        with pytest.raises(ShareError):
            read_share(file_of(created_at_ns=number))


def test_a_missing_and_an_unsigned_part_are_refused() -> None:
    less = {name: data for name, data in PARTS.items() if name != "stops.jsonl"}
    signature = sign_manifest(encode_manifest(manifest()), SEED)
    with pytest.raises(ShareError):
        read_share(write_share(manifest(), signature, less))
    short = manifest(less)
    with pytest.raises(ShareError) as refused:
        read_share(write_share(short, sign_manifest(encode_manifest(short), SEED), PARTS))
    assert refused.value.code == "share_forged"


def _link() -> zipfile.ZipInfo:
    entry = zipfile.ZipInfo("output.txt", (1980, 1, 1, 0, 0, 0))
    entry.create_system, entry.external_attr = 3, (stat.S_IFLNK | 0o777) << 16
    return entry


@pytest.mark.filterwarnings("ignore:Duplicate name")
@pytest.mark.parametrize(
    ("more", "reason"),
    [
        (("../../.bashrc", b"x"), "unexpected part '../../.bashrc'"),
        (("/etc/passwd", b"x"), "unexpected part"),
        (("output.txt\x1b[2J", b"x"), r"unexpected part 'output.txt\x1b[2J'"),
        (("sub/output.txt", b"x"), "unexpected part"),
        (("report.html", b"y"), "twice"),
        ((_link(), b"/etc/passwd"), "is a link"),
    ],
)
def test_names_that_lead_elsewhere_are_refused(more: tuple[Any, bytes], reason: str) -> None:
    entries = [it for it in entries_of(file_of()) if more[0] == "report.html" or it[0] != "x"]
    if isinstance(more[0], zipfile.ZipInfo):
        entries = [it for it in entries if getattr(it[0], "filename", "") != "output.txt"]
    with pytest.raises(ShareError) as refused:
        read_share(zip_of([*entries, more]))
    assert reason in str(refused.value)


def test_compressed_parts_are_refused_before_they_are_unpacked() -> None:
    bomb = zip_of([("output.txt", b"\0" * (64 << 20))], zipfile.ZIP_DEFLATED)
    assert len(bomb) < 1 << 20
    with pytest.raises(ShareError) as refused:
        read_share(bomb)
    assert "is compressed" in str(refused.value)


def test_sizes_and_counts_are_bounded() -> None:
    for entries, reason in (
        ([("output.txt", b"x" * (PART_BYTES + 1))], "output.txt has more than"),
        ([("manifest.json", b" " * (1 << 17))], "manifest.json has more than"),
        ([(f"part{it}", b"") for it in range(200)], "more than 8 parts"),
    ):
        with pytest.raises(ShareError) as refused:
            read_share(zip_of(list(entries)))
        assert (refused.value.code, reason in str(refused.value)) == ("share_too_large", True), str(refused.value)
    with pytest.raises(ShareError) as refused:
        read_share(b"PK\x03\x04" + b"\0" * FILE_BYTES)
    assert refused.value.code == "share_too_large"


def test_sizes_that_lie_are_refused() -> None:
    data = file_of()
    directory = data.rindex(b"PK\x01\x02")
    for size in (0, 1, 1 << 31, 0xFFFFFFFF):
        for at in (directory + 20, directory + 24, data.rindex(b"PK\x03\x04") + 22):
            changed = bytearray(data)
            changed[at : at + 4] = struct.pack("<I", size)
            with pytest.raises(ShareError):
                read_share(bytes(changed))


@pytest.mark.parametrize(
    ("name", "data"),
    [
        ("events.jsonl", b'{"at_ns":1,"kind":"x","body":' + b'{"a":' * 100_000 + b"1" + b"}" * 100_000 + b"}\n"),
        ("events.jsonl", b'{"at_ns":1,"kind":"x","body":{"a":[' + b"0," * 3_000_000 + b"0]}}\n"),
        ("events.jsonl", b'{"at_ns":1,"kind":"x"}\n' * 30_000),
        ("events.jsonl", b'{"at_ns":"1","kind":"x"}\n'),
        ("events.jsonl", b'{"at_ns":1,"kind":"x","run":"me"}\n'),
        ("stops.jsonl", b'{"number":1,"at_ns":1,"reason":3}\n'),
        ("stops.jsonl", b"[]\n"),
        ("stops.jsonl", b"\xff\xfe\n"),
        ("stops.jsonl", b'{"number":1,"at_ns":9223372036854775808,"reason":"x"}\n'),
        ("stops.jsonl", b'{"number":1e99,"at_ns":1,"reason":"x"}\n'),
        ("events.jsonl", b'{"at_ns":-1,"kind":"x"}\n'),
        ("events.jsonl", b'{"at_ns":1,"kind":"x","body":{"n":' + b"9" * 5000 + b"}}\n"),
        ("output.txt", b"\xff"),
        ("launch.json", b'{"workspace":"/w","program":["x"]}'),
        ("launch.json", b"null"),
    ],
)
def test_signed_parts_of_a_wrong_form_are_refused(name: str, data: bytes) -> None:
    with pytest.raises(ShareError):
        read_share(file_of({**PARTS, name: data}))


@pytest.mark.parametrize("data", [b"", b"PK", b"#!/bin/sh\necho hello\n", b"\x7fELF" + b"\0" * 100, b"{}"])
def test_any_other_file_is_refused(data: bytes) -> None:
    with pytest.raises(ShareError):
        read_share(data)


@pytest.mark.parametrize(
    "text",
    [
        b"[]",
        b"{}",
        b'{"format":"dragoman-share","version":"1"}',
        b"[" * 60_000,
        json.dumps({"format": "other", "version": 1}).encode(),
        b" " + encode_manifest(manifest()),
    ],
)
def test_a_manifest_of_a_wrong_form_is_refused(text: bytes) -> None:
    signature = msgspec.json.encode(sign_manifest(text, SEED))
    with pytest.raises(ShareError):
        read_share(zip_of([("manifest.json", text), ("signature.json", signature)]))
