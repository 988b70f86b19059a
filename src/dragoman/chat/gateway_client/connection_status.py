"""The status of the connection to a gateway, with a reason that a person can act on, and the delays before a
reconnect.
"""

from __future__ import annotations

import re
from collections.abc import Callable
from dataclasses import dataclass
from typing import Literal

import msgspec
from msgspec import Raw, UnsetType

from dragoman.core.localization import LocalizedText, localize
from dragoman.protocols.gateway import GatewayError, RetryAdvice

DELAYS_S = (1.0, 2.0, 4.0, 8.0, 16.0, 30.0)
ATTEMPTS = 10
_JITTER = 0.2
_RESTART_DELAY_RANGE_S = (0.1, 300.0)
"""The limits for a restart time that a gateway announces."""

GatewayState = Literal["disconnected", "connecting", "connected", "pairing_required", "degraded", "paused", "error"]


@dataclass(frozen=True, slots=True)
class GatewayStatus:
    """The status of a gateway connection: one of seven states, with a reason and a hint."""

    state: GatewayState
    code: str = ""
    reason: LocalizedText | None = None
    hint: LocalizedText | None = None
    request_id: str = ""
    """The pairing that somebody has to approve; only the newest is valid."""
    missing_scopes: tuple[str, ...] = ()
    retry_in_s: float | None = None


NOT_REQUESTED = GatewayStatus(
    "disconnected",
    "not_asked",
    localize("No connection has been requested yet."),
    hint=localize("Connect with `dragoman gateway connect`. The page's chat and its agent need no other gateway."),
)
DISCONNECTED = GatewayStatus(
    "disconnected",
    "ended_here",
    localize("Disconnected on request."),
    hint=localize("Connect again with `dragoman gateway connect`."),
)
NO_CANVAS = GatewayStatus("disconnected")
"""The status for a gateway that does not draw on nodes, or for none."""
CONNECTING = GatewayStatus(
    "connecting",
    "connecting",
    localize("Connecting to the gateway."),
    hint=localize("Wait a moment; `dragoman gateway status` shows the result."),
)
CONNECTED = GatewayStatus("connected")


def degraded(missing: tuple[str, ...]) -> GatewayStatus:
    """A connection without scopes is `ok` but can do nothing.

    Clients that look only at `ok` get this wrong most often.
    """
    return GatewayStatus(
        "degraded",
        "missing_scopes",
        localize("Connected, but the gateway did not grant these permissions: {scopes}.", scopes=", ".join(missing)),
        hint=localize("Approve this device on the gateway, or use a token that grants them."),
        missing_scopes=missing,
    )


def unreachable(address: str, words: str, retry_in_s: float | None = None) -> GatewayStatus:
    return GatewayStatus(
        "connecting" if retry_in_s is not None else "error",
        "gateway_unreachable",
        localize("Cannot reach {address}: {words}", address=address, words=words),
        hint=localize("Start the gateway, or set another address."),
        retry_in_s=retry_in_s,
    )


def connection_lost(code: int, words: str, retry_in_s: float) -> GatewayStatus:
    return GatewayStatus(
        "connecting",
        "connection_lost",
        localize("The connection to the gateway was lost ({code} {words}).", code=code, words=words or "-"),
        hint=_CLOSE_CODE_HINTS.get(code, localize("Retrying.")),
        retry_in_s=retry_in_s,
    )


def no_handshake(within_s: float, retry_in_s: float) -> GatewayStatus:
    return GatewayStatus(
        "connecting",
        "no_handshake",
        localize("No gateway handshake within {seconds} seconds.", seconds=f"{within_s:g}"),
        hint=localize("Check the address. It must be a gateway that speaks protocol 3 or 4."),
        retry_in_s=retry_in_s,
    )


def gave_up(attempts: int) -> GatewayStatus:
    return GatewayStatus(
        "error",
        "gave_up",
        localize("Could not reach the gateway after {attempts} attempts.", attempts=attempts),
        hint=localize("Start the gateway and connect again, or allow unlimited attempts in the settings."),
    )


def connect_refused(error: GatewayError, verdict: RetryAdvice) -> GatewayStatus:
    """The status of a refusal that a retry cannot resolve. The gateway's text is data, separate from Dragoman's own."""
    detail = error.detail
    if verdict.reason == "PAIRING_REQUIRED":
        return GatewayStatus(
            "pairing_required",
            verdict.reason,
            localize("The gateway is waiting for approval of this device."),
            hint=localize(
                "Approve it on the gateway with `openclaw devices approve {request}`, then connect again.",
                request=_shown(detail.request_id),
            ),
            request_id=detail.request_id,
        )
    return GatewayStatus(
        "paused",
        verdict.reason,
        localize("The gateway refused the connection: {words}.", words=error.message[:300].rstrip(". ") or error.code),
        hint=_REFUSAL_HINTS.get(verdict.reason, localize("Fix that, then connect again.")),
    )


def node_pairing_required(request_id: str) -> GatewayStatus:
    """A person approves a node, even on loopback. The node need not reconnect afterwards."""
    return GatewayStatus(
        "pairing_required",
        "NODE_PAIRING_REQUIRED",
        localize("The gateway is waiting for approval to let its agents draw on this canvas."),
        hint=localize(
            "Approve it with `dragoman gateway approve {request}`, or on the gateway with "
            "`openclaw nodes approve {request}`.",
            request=_shown(request_id),
        ),
        request_id=request_id,
    )


def protocol_violated(words: str) -> GatewayStatus:
    return GatewayStatus(
        "paused",
        "not_a_gateway",
        localize("The server breaks the gateway protocol: {words}", words=words[:300]),
        hint=localize("Check the address. It must be a gateway that speaks protocol 3 or 4."),
    )


def _shown(request_id: str) -> str:
    """The id as part of a command that a person copies: anything but a plain word is left out."""
    return request_id if _PLAIN_ID.fullmatch(request_id) else "-"


_PLAIN_ID = re.compile(r"[\w-]{1,80}", re.ASCII)
_CLOSE_CODE_HINTS = {
    1008: localize('The gateway closed the connection; "slow consumer" means that Dragoman read too slowly. Retrying.'),
    1009: localize("A message exceeded the size limit. Retrying."),
    1012: localize("The gateway is stopping or restarting. Retrying; start it if it does not come back."),
    1013: localize("The gateway has too many connections. Retrying."),
    4000: localize("The gateway was silent for two ticks. Retrying; check that it is still running."),
    4401: localize("The gateway's token has changed. Set the current one."),
}
"""What a close code means to a person."""
_TOKEN_HINT = localize(
    "Put the gateway's token into a file (mode 0600) and run `dragoman config set gateway_token_file FILE`, "
    "`dragoman config set gateway_address URL` (the token is sent only there), then `dragoman restart`. If the "
    "gateway is another Dragoman, `dragoman token show gateway` prints its token."
)
_REFUSAL_HINTS = {
    "AUTH_TOKEN_MISMATCH": _TOKEN_HINT,
    "AUTH_TOKEN_MISSING": _TOKEN_HINT,
    "DEVICE_IDENTITY_REQUIRED": _TOKEN_HINT,
    "PROTOCOL_MISMATCH": localize("Update the gateway or Dragoman: they have no protocol version in common."),
    "AUTH_RATE_LIMITED": localize("Wait a few minutes, then connect again."),
}


class _Shutdown(msgspec.Struct, rename="camel"):
    restart_expected_ms: float | None = None


def restart_delay_s(shutdown: Raw | UnsetType) -> float | None:
    """The announced delay. None if there is none: then the usual delays apply."""
    try:
        announced = _Shutdown() if isinstance(shutdown, UnsetType) else msgspec.json.decode(shutdown, type=_Shutdown)
    except msgspec.DecodeError:
        return None
    least, most = _RESTART_DELAY_RANGE_S
    return (
        None if announced.restart_expected_ms is None else min(max(announced.restart_expected_ms / 1000, least), most)
    )


@dataclass(frozen=True, slots=True)
class ReconnectPolicy:
    unlimited: bool = False
    jitter: Callable[[], float] = lambda: 0.5
    """From 0 to 1. It spreads the reconnects of many clients of one gateway."""

    def delay_s(self, failed: int) -> float | None:
        """The delay after this many failures in a row; None means no more retries."""
        if failed > ATTEMPTS and not self.unlimited:
            return None
        delay = DELAYS_S[min(failed, len(DELAYS_S)) - 1]
        return delay * (1 + _JITTER * (2 * self.jitter() - 1)) if self.unlimited else delay
