"""The gateway's client looks at what it was granted, comes back by itself, and never where only a person can help."""

from __future__ import annotations

import stat
from inspect import signature
from pathlib import Path
from typing import Any, get_args

import anyio
import msgspec
import pytest

from dragoman.chat.errors import GatewayRequestError
from dragoman.chat.gateway_client import connection_status
from dragoman.chat.gateway_client.connection_status import ReconnectPolicy
from dragoman.chat.gateway_client.roles import SCOPES
from dragoman.core.errors import DragomanError
from dragoman.protocols.gateway import (
    Challenge,
    ConnectParams,
    EventFrame,
    GatewayError,
    RetryAdvice,
    SequenceGap,
    device_refusal,
)
from tests.chat.gateway_client.scripted_connection import line
from tests.support.fake_gateway import NONCE, AcceptedConnection

pytestmark = pytest.mark.anyio


async def welcomes(accepted: AcceptedConnection) -> None:
    await accepted.welcome()
    await accepted.stay()


def refusing(code: str, message: str, /, **details: Any) -> Any:
    async def script(accepted: AcceptedConnection) -> None:
        await accepted.refuse(await accepted.challenge(), code, message, **details)
        await accepted.close(1008, message)

    return script


@pytest.mark.requirement("chat:client:websocket", "chat:state:connected")
async def test_it_proves_who_it_is_with_a_signature_that_holds(tmp_path: Path) -> None:
    seen: list[dict[str, Any]] = []

    async def script(accepted: AcceptedConnection) -> None:
        seen.append((await accepted.welcome())["params"])
        await accepted.stay()

    async with line(tmp_path, script, token="shared") as it:
        await it.until_state("connected")
        await it.stays(lambda: (it.gateway.connections, it.client.gateway_status.state) == (1, "connected"), for_s=0.05)
    params = msgspec.convert(seen[0], ConnectParams)
    assert (
        device_refusal(params, Challenge(NONCE, params.device.signed_at if params.device else 0), 1_794_724_324_867)
        is None
    )
    assert (params.min_protocol, params.max_protocol, params.scopes) == (3, 4, SCOPES)
    assert (params.client.id, params.client.mode, params.client.display_name) == ("cli", "cli", "Dragoman")
    assert params.auth is not None
    assert params.auth.token == "shared"


async def test_without_a_token_there_is_no_auth_and_the_device_stays_the_same(tmp_path: Path) -> None:
    seen: list[dict[str, Any]] = []

    async def script(accepted: AcceptedConnection) -> None:
        seen.append((await accepted.welcome())["params"])
        await accepted.close(1012, "service restart")

    async with line(tmp_path, script) as it:
        await it.until(lambda: len(seen) >= 2)
    assert [params.get("auth") for params in seen[:2]] == [None, None]
    assert len({params["device"]["id"] for params in seen}) == 1
    key = tmp_path / "identity" / "device.key"
    assert stat.S_IMODE(key.stat().st_mode) == 0o600


async def test_a_connection_without_rights_is_degraded_and_names_them(tmp_path: Path) -> None:
    async def script(accepted: AcceptedConnection) -> None:
        await accepted.welcome(scopes=["operator.read"])
        await accepted.stay()

    async with line(tmp_path, script) as it:
        now = await it.until_state("degraded")
        assert now.missing_scopes == tuple(scope for scope in SCOPES if scope != "operator.read")
        assert "operator.write" in str(now.reason)


async def test_a_device_token_is_kept_and_used_when_the_shared_token_is_wrong(tmp_path: Path) -> None:
    seen: list[dict[str, Any]] = []

    async def script(accepted: AcceptedConnection) -> None:
        connect = await accepted.challenge()
        auth = connect["params"]["auth"]
        seen.append(auth)
        if accepted.number == 1 or "deviceToken" in auth:
            granted = {"role": "operator", "scopes": list(SCOPES), "deviceToken": "device-1"}
            await accepted.answer(connect, {"type": "hello-ok", "protocol": 3, "auth": granted})
            await (accepted.close(1012, "service restart") if accepted.number == 1 else accepted.stay())
        else:
            await accepted.refuse(connect, "INVALID_REQUEST", "unauthorized", code="AUTH_TOKEN_MISMATCH")
            await accepted.close(1008, "unauthorized")

    async with line(tmp_path, script, token="old") as it:
        await it.until(lambda: len(seen) == 3 and it.client.gateway_status.state == "connected")
    assert seen == [{"token": "old"}, {"token": "old"}, {"deviceToken": "device-1"}]
    assert stat.S_IMODE((tmp_path / "identity" / "device-tokens.json").stat().st_mode) == 0o600


@pytest.mark.parametrize(
    ("details", "message", "state"),
    [
        ({"code": "AUTH_TOKEN_MISMATCH"}, "unauthorized: gateway token mismatch", "paused"),
        (
            {"code": "PAIRING_REQUIRED", "requestId": "r1", "reason": "scope-upgrade"},
            "pairing required",
            "pairing_required",
        ),
        ({"code": "DEVICE_IDENTITY_REQUIRED"}, "device identity required", "paused"),
        ({"code": "PROTOCOL_MISMATCH"}, "protocol mismatch", "paused"),
        ({}, "invalid connect params: at root: unexpected property 'x'", "paused"),
    ],
)
async def test_what_only_a_person_can_fix_is_reported_and_not_retried(
    tmp_path: Path, details: dict[str, Any], message: str, state: str
) -> None:
    async with line(tmp_path, refusing("INVALID_REQUEST", message, **details), token="t") as it:
        now = await it.until_state(state)
        assert now.hint is not None
        assert now.request_id == details.get("requestId", "")
        await it.stays(lambda: it.gateway.connections == 1, for_s=0.1)
        it.client.connect()
        await it.until(lambda: it.gateway.connections == 2)


async def test_a_gateway_that_approved_fewer_scopes_before_is_asked_for_those(tmp_path: Path) -> None:
    """What we ask for has grown: whoever is paired already need not be approved anew to go on chatting."""
    before = ["operator.read", "operator.write", "operator.approvals", "operator.pairing"]
    asked: list[list[str]] = []

    async def script(accepted: AcceptedConnection) -> None:
        connect = await accepted.challenge()
        asked.append(connect["params"]["scopes"])
        if set(asked[-1]) <= set(before):
            granted = {"role": "operator", "scopes": before}
            await accepted.answer(connect, {"type": "hello-ok", "protocol": 3, "auth": granted})
            return await accepted.stay()
        details = {"code": "PAIRING_REQUIRED", "reason": "scope-upgrade", "requestId": "r", "approvedScopes": before}
        await accepted.refuse(connect, "NOT_PAIRED", "pairing required", **details)
        return await accepted.close(1008, "pairing required")

    async with line(tmp_path, script, token="t") as it:
        await it.until_state("connected")
        assert asked == [list(SCOPES), before]


async def test_a_gateway_that_is_starting_is_asked_again_when_it_says(tmp_path: Path) -> None:
    async def script(accepted: AcceptedConnection) -> None:
        if accepted.number > 1:
            return await welcomes(accepted)
        connect = await accepted.challenge()
        error = {
            "code": "UNAVAILABLE",
            "message": "starting",
            "retryAfterMs": 100,
            "details": {"reason": "startup-sidecars"},
        }
        await accepted.send({"type": "res", "id": connect["id"], "ok": False, "error": error})
        return await accepted.close(1008, "starting")

    async with line(tmp_path, script) as it:
        await it.until_state("connected")
        assert [now.retry_in_s for now in it.statuses if now.retry_in_s] == [0.1]


@pytest.mark.requirement(
    "chat:reconnect:automatic", "chat:reconnect:reset", "chat:state:connecting", "chat:client:subscribe-state"
)
async def test_after_a_loss_it_reconnects_with_the_documented_delays_and_resets_them(
    tmp_path: Path,
) -> None:
    async def script(accepted: AcceptedConnection) -> None:
        if accepted.number in (1, 4):
            await accepted.welcome()
        await accepted.close(1012, "service restart")

    async with line(tmp_path, script) as it:
        await it.until(lambda: it.gateway.connections >= 6)
        delays = [now.retry_in_s for now in it.statuses if now.retry_in_s]
        assert delays[:5] == [0.01, 0.02, 0.04, 0.01, 0.02]
        assert {now.state for now in it.statuses if now.retry_in_s} == {"connecting"}
        assert [it.states[0], it.states.count("connected")] == ["connecting", 2]


@pytest.mark.parametrize(("expected", "delay_s"), [(250, 0.25), (None, 0.01), (1, 0.1), ("soon", 0.01), (1e12, 300.0)])
async def test_a_gateway_that_stops_is_come_back_to_when_it_says(tmp_path: Path, expected: Any, delay_s: float) -> None:
    async def script(accepted: AcceptedConnection) -> None:
        await accepted.welcome()
        if accepted.number == 1:
            await accepted.event("shutdown", {"reason": "gateway stopping", "restartExpectedMs": expected})
            await accepted.close(1012, "service restart")
        await accepted.stay()

    async with line(tmp_path, script) as it:
        await it.until(lambda: any(now.code == "connection_lost" for now in it.statuses))
        lost = next(now for now in it.statuses if now.code == "connection_lost")
        assert lost.retry_in_s == delay_s
        assert "stopping or restarting" in str(lost.hint)


def test_every_way_to_be_without_a_connection_says_why_and_what_to_do() -> None:
    error = GatewayError(code="INVALID_REQUEST", message="no")
    verdicts = [RetryAdvice("pause", reason) for reason in ("PAIRING_REQUIRED", "AUTH_TOKEN_MISMATCH", "OTHER")]
    every = [
        connection_status.NOT_REQUESTED,
        connection_status.DISCONNECTED,
        connection_status.CONNECTING,
        connection_status.degraded(("operator.read",)),
        connection_status.unreachable("ws://x", "refused"),
        connection_status.gave_up(10),
        connection_status.node_pairing_required("r1"),
        connection_status.protocol_violated("x"),
        *(
            connection_status.connection_lost(code, "x", 1.0)
            for code in (1000, 1006, 1008, 1009, 1012, 1013, 4000, 4401)
        ),
        *(connection_status.connect_refused(error, verdict) for verdict in verdicts),
    ]
    assert [now for now in every if not (now.code and now.reason and now.hint)] == []
    assert {now.state for now in every} | {"connected"} == set(get_args(connection_status.GatewayState))


@pytest.mark.requirement("chat:reconnect:base-delay", "chat:reconnect:max-delay", "chat:reconnect:backoff")
def test_the_delays_are_the_documents_and_end_after_ten_unless_unlimited() -> None:
    assert [ReconnectPolicy().delay_s(failed) for failed in range(1, 12)] == [1, 2, 4, 8, 16, 30, 30, 30, 30, 30, None]
    assert ReconnectPolicy(unlimited=True, jitter=lambda: 0.0).delay_s(50) == 24
    assert ReconnectPolicy(unlimited=True, jitter=lambda: 1.0).delay_s(50) == 36


@pytest.mark.requirement("chat:reconnect:max-attempts", "chat:state:error")
async def test_after_ten_attempts_it_says_so_and_connects_only_when_asked(tmp_path: Path) -> None:
    class AtOnce(ReconnectPolicy):
        def delay_s(self, failed: int) -> float | None:
            return None if super().delay_s(failed) is None else 0.001

    async def script(accepted: AcceptedConnection) -> None:
        await accepted.close(1013, "not now")

    async with line(tmp_path, script, reconnect_policy=AtOnce()) as it:
        now = await it.until_state("error")
        assert (now.code, it.gateway.connections) == ("gave_up", 11)
        it.client.connect()
        await it.until(lambda: it.gateway.connections > 11)


async def test_nobody_there_is_reported_with_the_address(tmp_path: Path) -> None:
    async with line(tmp_path, welcomes, url="ws://127.0.0.1:1") as it:
        await it.until(lambda: it.client.gateway_status.code == "gateway_unreachable")
        assert "ws://127.0.0.1:1" in str(it.client.gateway_status.reason)


@pytest.mark.requirement("chat:reconnect:manual-disconnect", "chat:state:disconnected")
async def test_after_disconnect_it_never_comes_back_by_itself(tmp_path: Path) -> None:
    async with line(tmp_path, welcomes) as it:
        await it.until_state("connected")
        it.client.disconnect()
        await it.until_state("disconnected")
        await it.stays(lambda: it.gateway.connections == 1, for_s=0.1)
        it.client.connect()
        await it.until_state("connected")


@pytest.mark.requirement("gateway:request:id-sequence", "gateway:request:unique-id", "gateway:response:settles-request")
async def test_requests_are_answered_in_any_order(tmp_path: Path) -> None:
    async def script(accepted: AcceptedConnection) -> None:
        await accepted.welcome()
        first, second = await accepted.next(), await accepted.next()
        assert [first["id"], second["id"]] == ["cmd_1", "cmd_2"]
        await accepted.answer(second, second["method"])
        await accepted.send({"type": "res", "id": "never asked", "ok": True})
        await accepted.answer(first, first["method"])
        await accepted.stay()

    async with line(tmp_path, script) as it:
        await it.until_state("connected")
        answers: dict[str, Any] = {}

        async def ask(method: str) -> None:
            answers[method] = msgspec.json.decode(await it.client.request(method))  # type: ignore[arg-type]

        with anyio.fail_after(10):
            async with anyio.create_task_group() as group:
                group.start_soon(ask, "sessions.list")
                group.start_soon(ask, "health")
        assert answers == {"sessions.list": "sessions.list", "health": "health"}


@pytest.mark.requirement("chat:client:command-timeout", "chat:client:pending-fail-on-timeout")
async def test_a_request_that_is_refused_silent_or_cut_off_says_which(tmp_path: Path) -> None:
    async def script(accepted: AcceptedConnection) -> None:
        await accepted.welcome()
        await accepted.refuse(await accepted.next(), "FORBIDDEN", "missing scope: operator.admin", code="MISSING_SCOPE")
        await accepted.next()
        await accepted.next()
        await accepted.close(1012, "service restart")

    async with line(tmp_path, script) as it:
        await it.until_state("connected")
        with pytest.raises(GatewayRequestError) as refused:
            await it.client.request("config.get")
        assert refused.value.error.detail.code == "MISSING_SCOPE"
        for timeout_s, code in ((0.05, "gateway_silent"), (10.0, "gateway_connection_lost")):
            with pytest.raises(DragomanError) as failed:
                await it.client.request("health", timeout_s=timeout_s)
            assert failed.value.code == code
        assert signature(it.client.request).parameters["timeout_s"].default == 30
        it.client.disconnect()
        await it.until_state("disconnected")
        with pytest.raises(DragomanError) as failed:
            await it.client.request("health")
        assert failed.value.code == "gateway_not_connected"


async def test_a_gateway_that_goes_silent_is_left_after_two_ticks(tmp_path: Path) -> None:
    codes: list[int | None] = []

    async def script(accepted: AcceptedConnection) -> None:
        await accepted.welcome(tick_ms=100)
        await accepted.event("tick", {"ts": 1})
        try:
            await accepted.stay()
        finally:
            codes.append(accepted.socket.close_code)

    async with line(tmp_path, script) as it:
        await it.until(lambda: bool(codes) and it.gateway.connections > 1)
        assert codes[0] == 4000


async def test_events_are_passed_on_and_a_gap_is_reported_before_what_showed_it(tmp_path: Path) -> None:
    async def script(accepted: AcceptedConnection) -> None:
        await accepted.welcome()
        await accepted.event("chat", {"n": 1})
        accepted.seq += 1
        await accepted.event("chat", {"n": 3})
        await accepted.stay()

    async with line(tmp_path, script) as it:
        await it.until(lambda: len(it.on_event) == 3)
        assert [type(event) for event in it.on_event] == [EventFrame, SequenceGap, EventFrame]


@pytest.mark.parametrize("frame", ['{"type": "req", "id": "1", "method": "x"}', '{"type":', "[" * 200_000])
async def test_what_is_not_a_gateway_is_left_for_a_person_to_look_at(tmp_path: Path, frame: str) -> None:
    async def script(accepted: AcceptedConnection) -> None:
        await accepted.socket.send(frame)
        await accepted.stay()

    async with line(tmp_path, script) as it:
        assert (await it.until_state("paused")).code == "not_a_gateway"
        assert it.gateway.connections == 1


async def test_a_damaged_key_is_reported_and_not_replaced(tmp_path: Path) -> None:
    (tmp_path / "identity").mkdir(mode=0o700)
    key = tmp_path / "identity" / "device.key"
    key.write_text("damaged")
    key.chmod(0o600)
    async with line(tmp_path, welcomes) as it:
        assert (await it.until_state("paused")).code == "bad_device_key"
    assert key.read_text() == "damaged"
