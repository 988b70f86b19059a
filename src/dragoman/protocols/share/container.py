"""The archive: a zip without compression, in exactly one form for its parts.

A file is accepted only if writing its parts again gives the same bytes. Whatever a zip could hide (comments, extra
fields, gaps, links, a second entry of one name) is therefore refused, and so is every flipped bit.
"""

from __future__ import annotations

import io
import stat
import struct
import zipfile
from collections.abc import Mapping

from dragoman.core.localization import localize
from dragoman.protocols.share import errors

MANIFEST, SIGNATURE = "manifest.json", "signature.json"
EVENTS, STOPS, OUTPUT, RECORDING, LAUNCH, REPORT = (
    "events.jsonl",
    "stops.jsonl",
    "output.txt",
    "recording.cast",
    "launch.json",
    "report.html",
)
CONTENT_PARTS = (EVENTS, STOPS, OUTPUT, RECORDING, LAUNCH, REPORT)
_PARTS = (MANIFEST, SIGNATURE, *CONTENT_PARTS)
PART_BYTES = 8 << 20
FILE_BYTES = 32 << 20
_HEAD_BYTES = 64 << 10
"""The manifest and the signature are small."""

_LOCAL_HEADER, _END_RECORD = b"PK\x03\x04", struct.Struct("<4sHHHHIIH")
_MAX_DIRECTORY_BYTES = 4096
# What `zipfile` raises for files that somebody made to break it.
_UNREADABLE = (
    zipfile.BadZipFile,
    EOFError,
    NotImplementedError,
    OSError,
    OverflowError,
    RuntimeError,
    ValueError,
    struct.error,
)
_CREATED = (1980, 1, 1, 0, 0, 0)


def write_container(parts: Mapping[str, bytes]) -> bytes:
    buffer = io.BytesIO()
    with zipfile.ZipFile(buffer, "w", zipfile.ZIP_STORED) as archive:
        for name in _PARTS:
            if name in parts:
                archive.writestr(_entry(name), parts[name])
    return buffer.getvalue()


def _entry(name: str) -> zipfile.ZipInfo:
    entry = zipfile.ZipInfo(name, _CREATED)
    entry.create_system = 3
    entry.external_attr = (stat.S_IFREG | 0o600) << 16
    return entry


def read_container(data: bytes) -> dict[str, bytes]:
    if len(data) > FILE_BYTES:
        raise errors.oversized(reason=localize("more than {limit} bytes", limit=f"{FILE_BYTES:,}"))
    if not data.startswith(_LOCAL_HEADER):
        raise errors.not_a_share()
    _require_small_directory(data)
    try:
        with zipfile.ZipFile(io.BytesIO(data)) as archive:
            _require_plain_parts(archive.infolist())
            parts = {entry.filename: archive.read(entry) for entry in archive.infolist()}
    except _UNREADABLE as error:
        raise errors.damaged(reason=localize("it cannot be read as an archive")) from error
    if write_container(parts) != data:
        raise errors.damaged(reason=localize("its bytes are not those of its parts"))
    return parts


def _require_small_directory(data: bytes) -> None:
    """Before anything is parsed: a directory of a million entries would fill the memory."""
    tail = data[-_END_RECORD.size :]
    if len(tail) < _END_RECORD.size or not tail.startswith(b"PK\x05\x06"):
        raise errors.damaged(reason=localize("its end is missing"))
    _, _, _, _, count, size, _, _ = _END_RECORD.unpack(tail)
    if count > len(_PARTS) or size > _MAX_DIRECTORY_BYTES:
        raise errors.oversized(reason=localize("more than {limit} parts", limit=len(_PARTS)))


def _require_plain_parts(entries: list[zipfile.ZipInfo]) -> None:
    seen: set[str] = set()
    for entry in entries:
        # The original name: `zipfile` cuts a name at a NUL.
        name = entry.orig_filename
        if name not in _PARTS:
            raise errors.unexpected_part(name=name)
        if name in seen:
            raise errors.damaged(reason=localize("{name} is in it twice", name=name))
        seen.add(name)
        if stat.S_ISLNK(entry.external_attr >> 16):
            raise errors.damaged(reason=localize("{name} is a link", name=name))
        if entry.compress_type != zipfile.ZIP_STORED or entry.compress_size != entry.file_size:
            raise errors.damaged(reason=localize("{name} is compressed", name=name))
        limit = PART_BYTES if name in CONTENT_PARTS else _HEAD_BYTES
        if entry.file_size > limit:
            raise errors.oversized(reason=localize("{name} has more than {limit} bytes", name=name, limit=f"{limit:,}"))
    for name in (MANIFEST, SIGNATURE):
        if name not in seen:
            raise errors.damaged(reason=localize("{name} is missing", name=name))
