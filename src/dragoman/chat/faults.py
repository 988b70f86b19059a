"""What can go wrong with a request to a gateway, in words for who asked."""

from __future__ import annotations

from dragoman.chat.standing import Standing
from dragoman.errors import DragomanError
from dragoman.phrases import say
from dragoman.wire.gateway import GatewayError


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
        "gateway_not_connected",
        say("There is no connection to a gateway (state: {state}).", state=now.state),
        hint=now.hint or say("Connect with `dragoman gateway connect`, then try again."),
    )


def connection_lost(method: str) -> DragomanError:
    return DragomanError(
        "gateway_connection_lost",
        say("The connection ended before {method} was answered; whether it took effect is unknown.", method=method),
        hint=say("It reconnects by itself: look at the session's history, then decide."),
    )


def no_answer(method: str, timeout_s: float) -> DragomanError:
    return DragomanError(
        "gateway_silent",
        say("The gateway did not answer {method} within {seconds} seconds.", method=method, seconds=f"{timeout_s:g}"),
        hint=say("Try again; if it stays silent, connect anew."),
    )
