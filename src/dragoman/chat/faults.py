"""What can go wrong with a request to a gateway, in words for who asked."""

from __future__ import annotations

from dragoman.chat.standing import Standing
from dragoman.errors import DragomanError
from dragoman.phrases import say
from dragoman.wire.gateway import GatewayError

NOT_CONNECTED = "gateway_not_connected"
BROKEN_OFF = frozenset({"gateway_connection_lost"})
LOST = BROKEN_OFF | {NOT_CONNECTED}
"""Codes of what a later connection cures."""


class RequestFailedError(DragomanError):
    """The gateway said no; `error` is what it said."""

    def __init__(self, method: str, error: GatewayError) -> None:
        super().__init__(
            "gateway_refused",
            say("The gateway refused {method}: {words}", method=method, words=error.message[:300] or error.code),
            hint=say("Missing rights are granted on the gateway; anything else is in its own words."),
        )
        self.error = error


def request_failed(method: str, error: GatewayError) -> DragomanError:
    return RequestFailedError(method, error)


def not_connected(now: Standing) -> DragomanError:
    return DragomanError(
        NOT_CONNECTED,
        say("There is no connection to a gateway ({state}). {reason}", state=now.state, reason=now.reason or ""),
        hint=now.hint or say("Connect with `dragoman gateway connect`, then try again."),
    )


def connection_lost(method: str) -> DragomanError:
    return DragomanError(
        "gateway_connection_lost",
        say("The connection ended before {method} was answered; whether it took effect is unknown.", method=method),
        hint=say("It reconnects by itself: look at the session's history, then decide."),
    )


def stayed_away(seconds: float) -> DragomanError:
    return DragomanError(
        "gateway_stayed_away",
        say("The gateway went away in the middle of the answer, for {seconds} seconds now.", seconds=f"{seconds:g}"),
        hint=say("`dragoman gateway status` says when it is back. Look at the session's history then."),
    )


def no_answer(method: str, timeout_s: float) -> DragomanError:
    return DragomanError(
        "gateway_silent",
        say("The gateway did not answer {method} within {seconds} seconds.", method=method, seconds=f"{timeout_s:g}"),
        hint=say("Try again; if it stays silent, connect anew."),
    )


def no_end(seconds: float) -> DragomanError:
    return DragomanError(
        "gateway_silent",
        say("The gateway has said nothing about this answer for {seconds} seconds.", seconds=f"{seconds:g}"),
        hint=say("It may still be at work. The answer will be in the session's history when it is complete."),
    )


def unreadable() -> DragomanError:
    return DragomanError(
        "gateway_unreadable",
        say("The gateway's answer has not the shape that the protocol gives it."),
        hint=say("Check the address: it must be a gateway of protocol 3 or 4."),
    )


def unknown_session(key: str) -> DragomanError:
    return DragomanError(
        "unknown_session",
        say("There is no conversation {key}.", key=ascii(key[:80])),
        hint=say("Create it first, or send a message to it."),
    )


def too_many_sessions(most: int) -> DragomanError:
    return DragomanError(
        "too_many_sessions",
        say("There are {most} conversations, as many as are kept.", most=most),
        hint=say("Delete one that is no longer needed."),
    )


def too_many_waiting(most: int) -> DragomanError:
    return DragomanError(
        "too_many_waiting",
        say("{most} messages wait in this conversation already.", most=most),
        hint=say("Wait for the run, or stop it."),
    )
