"""Device identity, by the vectors that a real gateway accepted."""

from __future__ import annotations

import json
import subprocess
import sys
from typing import Any

import msgspec
import pytest
from hypothesis import given
from hypothesis import strategies as st

from dragoman.core.errors import LocalProtocolError
from dragoman.protocols.gateway import (
    Challenge,
    ClientInfo,
    ConnectParams,
    Credentials,
    device_id,
    sign_connect,
    signature_holds,
    signed_text,
)
from dragoman.protocols.gateway.device import claimed_id, decode_base64url, encode_base64url
from tests.protocols.gateway.transcripts import VECTORS, handshakes, params

CASES = json.loads((VECTORS / "device-signature.json").read_text(encoding="utf-8"))
BOTH = pytest.mark.parametrize("case", CASES, ids=lambda case: case["version"])


def signed(case: dict[str, Any], **changed: Any) -> ConnectParams:
    unsigned = params(client=msgspec.convert(case["client"], ClientInfo), **changed)
    challenge = Challenge(case["device"]["nonce"], case["device"]["signedAt"])
    return sign_connect(unsigned, bytes.fromhex(case["seed_hex"]), challenge, form=case["version"])


@BOTH
def test_we_sign_as_the_vector_does(case: dict[str, Any]) -> None:
    device = signed(case).device
    assert device is not None
    assert json.loads(msgspec.json.encode(device)) == case["device"]
    assert signed_text(signed(case), device, case["version"]) == case["payload"]


@BOTH
def test_we_accept_what_the_vector_signed(case: dict[str, Any]) -> None:
    connect = signed(case)
    assert connect.device is not None
    assert signature_holds(connect, connect.device)
    assert claimed_id(connect.device) == connect.device.id


@BOTH
@pytest.mark.parametrize(
    "changed",
    [
        {"role": "node"},
        {"scopes": ("operator.write", "operator.read")},
        {"auth": Credentials(token="other")},
        {"auth": None},
        {"client": ClientInfo("cli", "0.1.0", "Linux", "ui", device_family="Desktop")},
    ],
)
def test_a_signature_covers_role_scopes_in_their_order_token_and_client(
    case: dict[str, Any], changed: dict[str, Any]
) -> None:
    connect = msgspec.structs.replace(signed(case), **changed)
    assert connect.device is not None
    assert not signature_holds(connect, connect.device)


def test_only_the_third_form_covers_the_platform() -> None:
    other = ClientInfo("cli", "0.1.0", "darwin", "cli", device_family="Desktop")
    held = []
    for case in CASES:
        connect = msgspec.structs.replace(signed(case), client=other)
        assert connect.device is not None
        held.append(signature_holds(connect, connect.device))
    assert held == [True, False]


def test_the_device_token_is_signed_where_it_is_the_credential() -> None:
    for credentials in (Credentials(token="t"), Credentials(device_token="t"), Credentials(bootstrap_token="t")):
        connect = signed(CASES[0], auth=credentials)
        assert connect.device is not None
        assert signed_text(connect, connect.device).split("|")[7] == "t"
    assert signed(CASES[0], auth=Credentials(password="secret")).signed_token == ""


def test_an_invalid_signature_or_key_does_not_hold() -> None:
    connect = signed(CASES[1])
    assert connect.device is not None
    for field, text in (("signature", "AAAA"), ("signature", "*"), ("public_key", "AAAA"), ("public_key", "")):
        broken = msgspec.structs.replace(connect.device, **{field: text})
        assert not signature_holds(connect, broken)


def test_metadata_is_trimmed_and_only_its_ascii_lowered() -> None:
    client = ClientInfo("cli", "0.1.0", "  LinÜx ", "cli")
    connect = sign_connect(params(client=client), bytes(32), Challenge("n", 1))
    assert connect.device is not None
    assert signed_text(connect, connect.device).split("|")[-2:] == ["linÜx", ""]


def test_a_seed_of_another_length_is_refused() -> None:
    with pytest.raises(LocalProtocolError) as caught:
        sign_connect(params(), b"short", Challenge("n", 1))
    assert caught.value.code == "bad_device_seed"


def test_every_recorded_device_has_the_id_of_its_key_except_where_that_was_the_fault() -> None:
    connects = [(name, next(line.frame for line in socket.of("out"))) for name, socket in handshakes()]
    devices = [(name, it["params"]["device"]) for name, it in connects if it["params"].get("device")]
    assert devices
    for name, block in devices:
        public = decode_base64url(block["publicKey"])
        assert (public is not None and device_id(public) == block["id"]) is not (
            "id mismatch" in name or "key invalid" in name
        )


@given(st.binary(max_size=80))
def test_base64url_is_unpadded_and_read_strictly(data: bytes) -> None:
    text = encode_base64url(data)
    assert "=" not in text
    assert decode_base64url(text) == data
    assert decode_base64url(text + "*") is None


def test_cryptography_is_loaded_only_when_a_device_is_signed_or_verified() -> None:
    code = "import sys, dragoman.protocols.gateway; sys.exit('cryptography' in sys.modules)"
    assert subprocess.run([sys.executable, "-c", code], check=False).returncode == 0
