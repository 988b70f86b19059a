"""What a client does after a refusal: to retry where a person must act is a bug, and so is to give up on a restart."""

from __future__ import annotations

import json

import pytest
from msgspec import Raw

from dragoman.protocols.gateway import GatewayError, RetryAdvice, classify
from dragoman.protocols.gateway.refusals import HandshakeRefusal
from tests.protocols.gateway.transcripts import handshakes


def error(detail: str = "", code: str = "INVALID_REQUEST", **more: object) -> GatewayError:
    return GatewayError(code=code, details=Raw(json.dumps({"code": detail} | more).encode()))


@pytest.mark.parametrize(
    "detail",
    [
        "AUTH_TOKEN_MISSING",
        "AUTH_PASSWORD_MISSING",
        "AUTH_PASSWORD_MISMATCH",
        "AUTH_RATE_LIMITED",
        "AUTH_DEVICE_TOKEN_MISMATCH",
        "AUTH_BOOTSTRAP_TOKEN_INVALID",
        "PAIRING_REQUIRED",
        "DEVICE_IDENTITY_REQUIRED",
        "AUTH_TOKEN_MISMATCH",
        "DEVICE_AUTH_SIGNATURE_INVALID",
        "CONTROL_UI_ORIGIN_NOT_ALLOWED",
        "PROTOCOL_MISMATCH",
    ],
)
@pytest.mark.parametrize("code", ["INVALID_REQUEST", "NOT_PAIRED", "UNAVAILABLE"])
def test_what_only_a_person_can_mend_pauses(detail: str, code: str) -> None:
    assert classify(error(detail, code)) == RetryAdvice("pause", detail)


@pytest.mark.parametrize(
    "detail", ["DEVICE_AUTH_NONCE_MISMATCH", "DEVICE_AUTH_NONCE_REQUIRED", "DEVICE_AUTH_SIGNATURE_EXPIRED"]
)
def test_what_a_fresh_challenge_may_cure_is_tried_again(detail: str) -> None:
    assert classify(error(detail)) == RetryAdvice("retry", detail)


def test_a_wrong_shared_token_is_replaced_by_the_stored_device_token_once() -> None:
    mismatch = error("AUTH_TOKEN_MISMATCH")
    assert classify(mismatch, device_token_untried=True) == RetryAdvice(
        "retry_with_device_token", "AUTH_TOKEN_MISMATCH", 250
    )
    assert classify(mismatch, device_token_untried=False).action == "pause"
    advised = error("SOMETHING_NEW", canRetryWithDeviceToken=True)
    assert classify(advised, device_token_untried=True).action == "retry_with_device_token"


@pytest.mark.parametrize(("result", "waited"), [(1, 100), (500, 500), (60_000, 2_000), (250.7, 250)])
def test_a_starting_gateway_is_asked_again_when_it_says_within_reason(result: float, waited: int) -> None:
    starting = GatewayError(code="UNAVAILABLE", details=Raw(b'{"reason":"startup-sidecars"}'), retry_after_ms=result)
    assert classify(starting) == RetryAdvice("retry", "startup-sidecars", waited)


def test_an_error_that_nobody_knows_yet_is_retried_at_the_callers_own_pace() -> None:
    assert classify(GatewayError(code="SOMETHING_NEW")) == RetryAdvice("retry", "SOMETHING_NEW")
    assert classify(GatewayError(message="plain text of the specification")).action == "retry"


def test_every_recorded_refusal_is_classified_as_the_reference_client_does() -> None:
    verdicts = {}
    for name, socket in handshakes():
        answer = socket.answer_to(socket.of("out")[0].frame)
        if answer is not None and not answer["ok"]:
            result = answer["error"]
            details = Raw(json.dumps(result["details"]).encode()) if "details" in result else Raw(b"{}")
            verdicts[name] = classify(GatewayError(code=result["code"], details=details)).action
    retried = {name.split(": ")[1] for name, action in verdicts.items() if action == "retry"}
    assert retried == {"device nonce mismatch", "device nonce blank", "device signature stale"}
    assert len(verdicts) > 20


@pytest.mark.parametrize("message", ["m" * 200, "中" * 60, "é" * 62])
def test_a_close_reason_is_cut_to_what_a_close_frame_holds_and_stays_text(message: str) -> None:
    reason = HandshakeRefusal("X", message).close_reason
    assert 120 < len(reason.encode()) <= 123
    assert message.startswith(reason)
