"""How a gateway client stands: one of seven states, each with a reason that a person can act on."""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import Literal

from dragoman.phrases import Phrase, say
from dragoman.wire.gateway import GatewayError, Verdict

State = Literal["disconnected", "connecting", "connected", "pairing_required", "degraded", "paused", "error"]


@dataclass(frozen=True, slots=True)
class Standing:
    state: State
    code: str = ""
    reason: Phrase | None = None
    hint: Phrase | None = None
    request_id: str = ""
    """Of a pairing that somebody has to approve; the newest is the one that counts."""
    missing_scopes: tuple[str, ...] = ()
    retry_in_s: float | None = None


NOT_ASKED = Standing(
    "disconnected",
    "not_asked",
    say("Nobody has asked for a connection yet."),
    hint=say("Connect with `dragoman gateway connect`. The chat of the page and its agent need no other gateway."),
)
DISCONNECTED = Standing(
    "disconnected",
    "ended_here",
    say("The connection was ended on request."),
    hint=say("Connect again with `dragoman gateway connect`."),
)
NO_CANVAS = Standing("disconnected")
"""Of a gateway that does not draw on nodes, or none."""
CONNECTING = Standing(
    "connecting",
    "connecting",
    say("The gateway is asked to let us in."),
    hint=say("Wait a moment; `dragoman gateway status` says how it went."),
)
CONNECTED = Standing("connected")


def degraded(missing: tuple[str, ...]) -> Standing:
    """A connection without scopes is `ok` and can do nothing: the top complaint about clients that look at `ok`."""
    return Standing(
        "degraded",
        "missing_scopes",
        say("The gateway connected us without these rights: {scopes}.", scopes=", ".join(missing)),
        hint=say("Approve this device on the gateway, or give a token that carries them."),
        missing_scopes=missing,
    )


def unreachable(address: str, words: str, retry_in_s: float | None = None) -> Standing:
    return Standing(
        "connecting" if retry_in_s is not None else "error",
        "gateway_unreachable",
        say("Nobody answers at {address}: {words}", address=address, words=words),
        hint=say("Start the gateway, or set another address."),
        retry_in_s=retry_in_s,
    )


def lost(code: int, words: str, retry_in_s: float) -> Standing:
    return Standing(
        "connecting",
        "connection_lost",
        say("The connection to the gateway was lost ({code} {words}).", code=code, words=words or "-"),
        hint=_ENDINGS.get(code, say("It is tried again by itself.")),
        retry_in_s=retry_in_s,
    )


def no_handshake(within_s: float, retry_in_s: float) -> Standing:
    return Standing(
        "connecting",
        "no_handshake",
        say("No gateway handshake within {seconds} seconds.", seconds=f"{within_s:g}"),
        hint=say("Check the address: it must be a gateway of protocol 3 or 4."),
        retry_in_s=retry_in_s,
    )


def given_up(attempts: int) -> Standing:
    return Standing(
        "error",
        "gave_up",
        say("The gateway could not be reached in {attempts} attempts.", attempts=attempts),
        hint=say("Connect again when it runs, or allow unlimited attempts in the settings."),
    )


def refused(error: GatewayError, verdict: Verdict) -> Standing:
    """What retrying cannot cure. The gateway's own words are data beside ours."""
    detail = error.detail
    if verdict.reason == "PAIRING_REQUIRED":
        return Standing(
            "pairing_required",
            verdict.reason,
            say("The gateway waits for somebody to approve this device."),
            hint=say(
                "Approve it on the gateway with `openclaw devices approve {request}`, then connect again.",
                request=_shown(detail.request_id),
            ),
            request_id=detail.request_id,
        )
    return Standing(
        "paused",
        verdict.reason,
        say("The gateway refused us: {words}.", words=error.message[:300].rstrip(". ") or error.code),
        hint=_ADVICE.get(verdict.reason, say("Correct that, then connect again.")),
    )


def canvas_waits(request_id: str) -> Standing:
    """A node is approved by a person, on loopback too; it need not connect again afterwards."""
    return Standing(
        "pairing_required",
        "NODE_PAIRING_REQUIRED",
        say("The gateway waits for somebody to approve that its agents draw on this canvas."),
        hint=say(
            "Approve it with `dragoman gateway approve {request}`, or on the gateway with "
            "`openclaw nodes approve {request}`.",
            request=_shown(request_id),
        ),
        request_id=request_id,
    )


def speaks_otherwise(words: str) -> Standing:
    return Standing(
        "paused",
        "not_a_gateway",
        say("What answers there breaks the gateway protocol: {words}", words=words[:300]),
        hint=say("Check the address: it must be a gateway of protocol 3 or 4."),
    )


def _shown(request_id: str) -> str:
    """It stands in a command that a person copies: what is no plain word is not shown there."""
    return request_id if _PLAIN.fullmatch(request_id) else "-"


_PLAIN = re.compile(r"[\w-]{1,80}", re.ASCII)
_ENDINGS = {
    1008: say('It let go of us, where its words are "slow consumer" because we read too slowly. It is tried again.'),
    1009: say("A message was larger than is taken. It is tried again by itself."),
    1012: say("It stops or starts again. It is tried again by itself; start it if it stays away."),
    1013: say("It has no room for us now. It is tried again by itself."),
    4000: say("It said nothing for two ticks. It is tried again by itself; look whether it still runs."),
    4401: say("The token was changed. Set the one that this gateway has now."),
}
"""What a code that a connection is closed with means to a person."""
_GIVE_THE_TOKEN = say(
    "Put the gateway's token into a file (mode 0600): `dragoman config set gateway_token_file FILE`, its address with "
    "`dragoman config set gateway_address URL` (no other is sent it), then `dragoman restart`. Another Dragoman tells "
    "its own with `dragoman token show gateway`."
)
_ADVICE = {
    "AUTH_TOKEN_MISMATCH": _GIVE_THE_TOKEN,
    "AUTH_TOKEN_MISSING": _GIVE_THE_TOKEN,
    "DEVICE_IDENTITY_REQUIRED": _GIVE_THE_TOKEN,
    "PROTOCOL_MISMATCH": say("Update the gateway, or Dragoman: they share no version of the protocol."),
    "AUTH_RATE_LIMITED": say("Wait a few minutes, then connect again."),
}
