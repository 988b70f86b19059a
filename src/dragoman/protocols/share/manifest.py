"""The manifest: what the file is about and the hash of every part, in one canonical form; and its signature.

`cryptography` is loaded inside the functions: most commands never need it.
"""

from __future__ import annotations

import hashlib
from collections.abc import Mapping
from typing import Annotated, TypeVar

import msgspec

from dragoman.core.localization import localize
from dragoman.protocols.share import errors
from dragoman.protocols.share.container import CONTENT_PARTS

_T = TypeVar("_T")
FORMAT = "dragoman-share"
_DOMAIN = b"dragoman-share 1\n"
"""Before the signed bytes, so that a signature for a gateway is never one for a file, nor the other way round."""


Count = Annotated[int, msgspec.Meta(ge=0, le=1 << 53)]
Nanoseconds = Annotated[int, msgspec.Meta(ge=0, le=(1 << 63) - 1)]
"""Since 1970, up to 2262: a later time is no date for many readers."""


class _ShareStruct(msgspec.Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    pass


class PartEntry(_ShareStruct, frozen=True):
    name: str
    size: Count
    sha256: str


class ShareManifest(_ShareStruct, frozen=True):
    format: str
    version: int
    product: str
    """The version of Dragoman that wrote it."""
    session: str
    title: str
    created_at_ns: Nanoseconds
    commit: str
    """Empty: the folder was not in a repository."""
    is_dirty: bool
    """Whether the tree differed from that commit when the file was written."""
    redactions: Count
    left_out: dict[str, Count]
    """What did not fit, counted, by part."""
    parts: tuple[PartEntry, ...]


class ShareSignature(_ShareStruct, frozen=True):
    """Ed25519, in hexadecimal."""

    key: str
    signature: str

    @property
    def fingerprint(self) -> str:
        """How people name the key: the SHA-256 of its bytes. For a gateway it is the id of the device."""
        return hashlib.sha256(bytes.fromhex(self.key)).hexdigest()


class _Head(msgspec.Struct, frozen=True):
    """What every version has."""

    format: str
    version: int
    product: str = ""


def manifest_of(
    parts: Mapping[str, bytes],
    *,
    product: str,
    session: str,
    title: str,
    created_at_ns: int,
    commit: str = "",
    is_dirty: bool = False,
    redactions: int = 0,
    left_out: Mapping[str, int] | None = None,
) -> ShareManifest:
    return ShareManifest(
        format=FORMAT,
        version=errors.FORMAT_VERSION,
        product=product,
        session=session,
        title=title,
        created_at_ns=created_at_ns,
        commit=commit,
        is_dirty=is_dirty,
        redactions=redactions,
        left_out=dict(left_out or {}),
        parts=tuple(_part_entry(name, parts[name]) for name in CONTENT_PARTS if name in parts),
    )


def _part_entry(name: str, data: bytes) -> PartEntry:
    return PartEntry(name=name, size=len(data), sha256=hashlib.sha256(data).hexdigest())


def encode_manifest(manifest: ShareManifest) -> bytes:
    return msgspec.json.encode(manifest)


def decode_manifest(data: bytes) -> ShareManifest:
    """The manifest, if it is in the canonical form: two spellings of one manifest would have two signatures."""
    head = _decoded(data, _Head)
    if head.format != FORMAT:
        raise errors.not_a_share()
    if head.version > errors.FORMAT_VERSION:
        raise errors.future_version(version=head.version, known=errors.FORMAT_VERSION, product=head.product)
    manifest = _decoded(data, ShareManifest)
    if head.version != errors.FORMAT_VERSION or encode_manifest(manifest) != data:
        raise errors.damaged(reason=localize("the manifest is not in its canonical form"))
    return manifest


def sign_manifest(manifest: bytes, seed: bytes) -> ShareSignature:
    from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PrivateKey  # noqa: PLC0415

    key = Ed25519PrivateKey.from_private_bytes(seed)
    return ShareSignature(key=key.public_key().public_bytes_raw().hex(), signature=key.sign(_DOMAIN + manifest).hex())


def encode_signature(signature: ShareSignature) -> bytes:
    return msgspec.json.encode(signature)


def verify_signature(data: bytes, manifest: bytes) -> ShareSignature:
    from cryptography.exceptions import InvalidSignature  # noqa: PLC0415
    from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PublicKey  # noqa: PLC0415

    signature = _decoded(data, ShareSignature)
    try:
        key, signed = bytes.fromhex(signature.key), bytes.fromhex(signature.signature)
        if encode_signature(ShareSignature(key=key.hex(), signature=signed.hex())) != data:
            raise errors.damaged(reason=localize("the signature is not in its canonical form"))
        Ed25519PublicKey.from_public_bytes(key).verify(signed, _DOMAIN + manifest)
    except (InvalidSignature, ValueError) as error:
        raise errors.forged(reason=localize("it was not made for this manifest by this key")) from error
    return signature


def require_parts(manifest: ShareManifest, parts: Mapping[str, bytes]) -> None:
    """Exactly the parts of the manifest, each as it was signed."""
    found = tuple(_part_entry(name, parts[name]) for name in CONTENT_PARTS if name in parts)
    for entry in found:
        if entry not in manifest.parts:
            raise errors.forged(reason=localize("{name} is not what was signed", name=entry.name))
    if found != manifest.parts:
        raise errors.damaged(reason=localize("a part is missing"))


def _decoded(data: bytes, kind: type[_T]) -> _T:
    try:
        return msgspec.json.decode(data, type=kind)
    except (msgspec.DecodeError, RecursionError, UnicodeDecodeError) as error:
        raise errors.damaged(reason=localize("the manifest or the signature cannot be read")) from error
