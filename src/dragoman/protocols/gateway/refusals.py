"""Refused handshakes: what a server answers, and whether a client may retry."""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping
from typing import Any, Literal

import msgspec
from msgspec import UNSET, Struct

from dragoman.protocols.gateway.device import claimed_id, signature_holds
from dragoman.protocols.gateway.framing import CLOSE_POLICY, CLOSE_PROTOCOL, raw
from dragoman.protocols.gateway.messages import Challenge, ConnectParams, Device, GatewayError

MAX_SKEW_MS = 120_000
ROLES = frozenset({"operator", "node"})
MAX_CLOSE_REASON_BYTES = 123  # RFC 6455 section 5.5: 125 with the code


class HandshakeRefusal(Struct, frozen=True):
    """A response to `connect` after which the socket is closed."""

    code: str
    message: str
    details: Mapping[str, Any] = {}
    close_code: int = CLOSE_POLICY
    retry_after_ms: int | None = None

    @property
    def error(self) -> GatewayError:
        return GatewayError(
            code=self.code,
            message=self.message,
            details=raw(self.details) if self.details else UNSET,
            retryable=True if self.retry_after_ms is not None else None,
            retry_after_ms=self.retry_after_ms,
        )

    @property
    def close_reason(self) -> str:
        return self.message.encode()[:MAX_CLOSE_REASON_BYTES].decode(errors="ignore")


def invalid(message: str, **details: Any) -> HandshakeRefusal:
    return HandshakeRefusal("INVALID_REQUEST", message, details)


FIRST_REQUEST_MUST_BE_CONNECT = invalid("invalid handshake: first request must be connect")
INVALID_ROLE = invalid("invalid role")
TOKEN_MISMATCH = invalid(
    "unauthorized: gateway token mismatch",
    code="AUTH_TOKEN_MISMATCH",
    authReason="token_mismatch",
    canRetryWithDeviceToken=False,
    recommendedNextStep="update_auth_credentials",
)


def token_missing(command: str) -> HandshakeRefusal:
    """For a client without a device identity: it needs the token that the command prints."""
    message = f"unauthorized: gateway token missing (`{command}` prints it)"
    return invalid(message, code="AUTH_TOKEN_MISSING", authReason="token_missing", canRetryWithDeviceToken=False)


DEVICE_TOKEN_MISMATCH = invalid(
    "unauthorized: device token mismatch (rotate/reissue device token)",
    code="AUTH_DEVICE_TOKEN_MISMATCH",
    authReason="device_token_mismatch",
    canRetryWithDeviceToken=False,
    recommendedNextStep="update_auth_credentials",
)
DEVICE_IDENTITY_REQUIRED = HandshakeRefusal(
    "NOT_PAIRED", "device identity required", {"code": "DEVICE_IDENTITY_REQUIRED"}
)
NONCE_REQUIRED = invalid("device nonce required", code="DEVICE_AUTH_NONCE_REQUIRED", reason="device-nonce-missing")
NONCE_MISMATCH = invalid("device nonce mismatch", code="DEVICE_AUTH_NONCE_MISMATCH", reason="device-nonce-mismatch")
SIGNATURE_INVALID = invalid("device signature invalid", code="DEVICE_AUTH_SIGNATURE_INVALID", reason="device-signature")
SIGNATURE_EXPIRED = invalid(
    "device signature expired", code="DEVICE_AUTH_SIGNATURE_EXPIRED", reason="device-signature-stale"
)
DEVICE_ID_MISMATCH = invalid(
    "device identity mismatch", code="DEVICE_AUTH_DEVICE_ID_MISMATCH", reason="device-id-mismatch"
)


def protocol_mismatch(params: ConnectParams, protocols: Iterable[int]) -> HandshakeRefusal:
    known = sorted(protocols)
    details = {
        "code": "PROTOCOL_MISMATCH",
        "clientMinProtocol": params.min_protocol,
        "clientMaxProtocol": params.max_protocol,
        "expectedProtocol": known[-1],
        "minimumProbeProtocol": known[0],
    }
    return HandshakeRefusal("INVALID_REQUEST", "protocol mismatch", details, close_code=CLOSE_PROTOCOL)


def negotiated(params: ConnectParams, protocols: Iterable[int]) -> int | None:
    """The highest protocol that both sides speak."""
    common = [version for version in protocols if params.min_protocol <= version <= params.max_protocol]
    return max(common, default=None)


def device_refusal(params: ConnectParams, challenge: Challenge, now_ms: int) -> HandshakeRefusal | None:
    """What is wrong with the device block, in the order in which real gateways check; None without a block."""
    device = params.device
    if device is None:
        return None
    checks = (
        (claimed_id(device) != device.id, DEVICE_ID_MISMATCH),
        (abs(now_ms - device.signed_at) > MAX_SKEW_MS, SIGNATURE_EXPIRED),
        (not device.nonce.strip(), NONCE_REQUIRED),
        (device.nonce != challenge.nonce, NONCE_MISMATCH),
    )
    early = next((refusal for wrong, refusal in checks if wrong), None)
    return early or _signature_refusal(params, device)


def _signature_refusal(params: ConnectParams, device: Device) -> HandshakeRefusal | None:
    return None if signature_holds(params, device) else SIGNATURE_INVALID


# msgspec's sentence -> the sentence of the validator that real gateways use
_SENTENCES = (
    (re.compile(r"Object contains unknown field `(.+?)`"), "unexpected property '{}'"),
    (re.compile(r"Object missing required field `(.+?)`"), "must have required property '{}'"),
    (re.compile(r"Invalid enum value"), "must be equal to one of the allowed values"),
    (re.compile(r"Expected `int` >= (\d+)"), "must be >= {}"),
    (re.compile(r"Expected `int` <= (\d+)"), "must be <= {}"),
    (re.compile(r"Expected `(.+?)`"), "must be {}"),
)
_AT = re.compile(r" - at `\$(.*)`$")


def invalid_params(method: str, error: msgspec.ValidationError | str) -> HandshakeRefusal:
    """In the words of a real gateway: `invalid connect params: at /client/id: must be equal to one of …`."""
    text = str(error)
    match = _AT.search(text)
    place = match[1].replace(".", "/") if match else ""
    sentence = _sentence(_AT.sub("", text))
    prefix = f"at {place or 'root'}: " if place or sentence.startswith("unexpected") else ""
    return invalid(f"invalid {method} params: {prefix}{sentence}")


def _sentence(text: str) -> str:
    for pattern, sentence in _SENTENCES:
        if found := pattern.match(text):
            return sentence.format(*found.groups())
    return text


RetryAction = Literal["pause", "retry", "retry_with_device_token"]


class RetryAdvice(Struct, frozen=True):
    """What a client does after a refusal. Retrying where it says `pause` is a bug: a person has to act first."""

    action: RetryAction
    reason: str
    retry_after_ms: int | None = None


_PAUSES = frozenset(
    {
        "AUTH_TOKEN_MISSING",
        "AUTH_TOKEN_MISMATCH",
        "AUTH_PASSWORD_MISSING",
        "AUTH_PASSWORD_MISMATCH",
        "AUTH_RATE_LIMITED",
        "AUTH_DEVICE_TOKEN_MISMATCH",
        "AUTH_BOOTSTRAP_TOKEN_INVALID",
        "PAIRING_REQUIRED",
        "DEVICE_IDENTITY_REQUIRED",
        "DEVICE_AUTH_SIGNATURE_INVALID",
        "DEVICE_AUTH_DEVICE_ID_MISMATCH",
        "CONTROL_UI_ORIGIN_NOT_ALLOWED",
        "PROTOCOL_MISMATCH",
    }
)
# A new challenge may resolve these.
_FIXED_BY_RECONNECTING = frozenset(
    {"DEVICE_AUTH_NONCE_MISMATCH", "DEVICE_AUTH_NONCE_REQUIRED", "DEVICE_AUTH_SIGNATURE_EXPIRED"}
)
_DEVICE_TOKEN_DELAY_MS = 250
_STARTING_DELAY_MS = (100, 2_000)


def classify(error: GatewayError, *, device_token_untried: bool = False) -> RetryAdvice:
    """Pause, retry, or try the stored device token once instead of the shared one."""
    detail = error.detail
    reason = detail.code or detail.reason or error.code
    if device_token_untried and (detail.code == "AUTH_TOKEN_MISMATCH" or detail.can_retry_with_device_token):
        return RetryAdvice("retry_with_device_token", reason, _DEVICE_TOKEN_DELAY_MS)
    if detail.code in _PAUSES or _is_our_fault(error):
        return RetryAdvice("pause", reason)
    return RetryAdvice("retry", reason, _delay(error))


def _is_our_fault(error: GatewayError) -> bool:
    """A malformed or unsupported `connect` is refused every time."""
    return error.code in {"INVALID_REQUEST", "NOT_PAIRED"} and error.detail.code not in _FIXED_BY_RECONNECTING


def _delay(error: GatewayError) -> int | None:
    if error.retry_after_ms is None:
        return None
    low, high = _STARTING_DELAY_MS
    return int(min(max(error.retry_after_ms, low), high))
