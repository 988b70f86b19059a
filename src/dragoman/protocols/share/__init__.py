"""The file of a shared session: parts in a plain archive, a manifest with their hashes, and a signature over it."""

from dragoman.protocols.share.container import FILE_BYTES, PART_BYTES, read_container
from dragoman.protocols.share.contents import (
    SharedBreakpoint,
    SharedEvent,
    SharedFrame,
    SharedLaunch,
    SharedSession,
    SharedStop,
    SharedValue,
    encode_lines,
    read_share,
    write_share,
)
from dragoman.protocols.share.errors import FORMAT_VERSION, ShareError
from dragoman.protocols.share.manifest import (
    PartEntry,
    ShareManifest,
    ShareSignature,
    decode_manifest,
    encode_manifest,
    manifest_of,
    sign_manifest,
)

__all__ = [
    "FILE_BYTES",
    "FORMAT_VERSION",
    "PART_BYTES",
    "PartEntry",
    "ShareError",
    "ShareManifest",
    "ShareSignature",
    "SharedBreakpoint",
    "SharedEvent",
    "SharedFrame",
    "SharedLaunch",
    "SharedSession",
    "SharedStop",
    "SharedValue",
    "decode_manifest",
    "encode_lines",
    "encode_manifest",
    "manifest_of",
    "read_container",
    "read_share",
    "sign_manifest",
    "write_share",
]
