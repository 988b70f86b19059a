"""Device identity: an Ed25519 key signs the connect parameters and the challenge's nonce.

`cryptography` is loaded inside the functions: most connections of most users never need it.
"""

from __future__ import annotations

import base64
import binascii
import hashlib
from collections.abc import Sequence
from typing import TYPE_CHECKING, Literal

import msgspec

from dragoman.core.errors import LocalProtocolError
from dragoman.protocols.gateway.messages import Challenge, ConnectParams, Device

if TYPE_CHECKING:
    from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PrivateKey

SignedForm = Literal["v2", "v3"]
_LOWER_ASCII = str.maketrans("ABCDEFGHIJKLMNOPQRSTUVWXYZ", "abcdefghijklmnopqrstuvwxyz")


def signed_text(params: ConnectParams, device: Device, form: SignedForm = "v3") -> str:
    """What the signature covers. `v2` lacks the last two fields; gateways accept both forms."""
    client = params.client
    fields = [
        form,
        device.id,
        client.id,
        client.mode,
        params.asked_role,
        _scopes(params.scopes),
        str(device.signed_at),
        params.signed_token,
        device.nonce,
    ]
    if form == "v3":
        fields += [_metadata(client.platform), _metadata(client.device_family)]
    return "|".join(fields)


def sign_connect(params: ConnectParams, seed: bytes, challenge: Challenge, *, form: SignedForm = "v3") -> ConnectParams:
    """The parameters with their device block, signed with the challenge's time, so that the local clock does not
    matter."""
    key = _private_key(seed)
    public = key.public_key().public_bytes_raw()
    unsigned = Device(
        id=device_id(public),
        public_key=encode_base64url(public),
        signature="",
        signed_at=challenge.ts,
        nonce=challenge.nonce,
    )
    signature = key.sign(signed_text(params, unsigned, form).encode())
    device = msgspec.structs.replace(unsigned, signature=encode_base64url(signature))
    return msgspec.structs.replace(params, device=device)


def signature_holds(params: ConnectParams, device: Device) -> bool:
    """Whether the device signed these parameters, in either form."""
    return any(_verifies(device, signed_text(params, device, form)) for form in ("v3", "v2"))


def device_id(public_key: bytes) -> str:
    return hashlib.sha256(public_key).hexdigest()


def device_of(seed: bytes) -> str:
    """The id by which gateways know the holder of this key."""
    return device_id(_private_key(seed).public_key().public_bytes_raw())


def claimed_id(device: Device) -> str | None:
    """The id that belongs to the device's key, or None if the key is invalid."""
    public = decode_base64url(device.public_key)
    return device_id(public) if public is not None and len(public) == 32 else None


def encode_base64url(data: bytes) -> str:
    return base64.urlsafe_b64encode(data).rstrip(b"=").decode("ascii")


def decode_base64url(text: str) -> bytes | None:
    """Strict: the standard library's decoder skips foreign characters."""
    try:
        return base64.b64decode(text.rstrip("=") + "=" * (-len(text.rstrip("=")) % 4), b"-_", validate=True)
    except (binascii.Error, ValueError):
        return None


def _verifies(device: Device, text: str) -> bool:
    from cryptography.exceptions import InvalidSignature  # noqa: PLC0415
    from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PublicKey  # noqa: PLC0415

    public, signature = decode_base64url(device.public_key), decode_base64url(device.signature)
    if public is None or signature is None:
        return False
    try:
        Ed25519PublicKey.from_public_bytes(public).verify(signature, text.encode())
    except (InvalidSignature, ValueError):
        return False
    return True


def _private_key(seed: bytes) -> Ed25519PrivateKey:
    from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PrivateKey  # noqa: PLC0415

    if len(seed) != 32:
        raise LocalProtocolError("bad_device_seed", f"a device seed has 32 bytes, not {len(seed)}")
    return Ed25519PrivateKey.from_private_bytes(seed)


def _scopes(scopes: Sequence[str] | None) -> str:
    # In the order in which they were sent: the gateway does not sort them before it verifies.
    return ",".join(scopes or ())


def _metadata(text: str | None) -> str:
    return (text or "").strip().translate(_LOWER_ASCII)
