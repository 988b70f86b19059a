"""Errors of chat and of requests to a gateway."""

from __future__ import annotations

from dragoman.chat.gateway_client.connection_status import GatewayStatus
from dragoman.core.errors import DragomanError, ErrorSpec, quoted, short_number
from dragoman.core.localization import localize
from dragoman.protocols.gateway import GatewayError

NOT_CONNECTED = "gateway_not_connected"
CONNECTION_LOST_CODES = frozenset({"gateway_connection_lost"})
RECOVERABLE_CODES = CONNECTION_LOST_CODES | {NOT_CONNECTED}
"""Codes of failures that a later connection resolves."""


class GatewayRequestError(DragomanError):
    """The gateway refused; `error` is its error."""

    def __init__(self, method: str, error: GatewayError) -> None:
        super().__init__(
            "gateway_refused",
            localize("The gateway refused {method}: {words}", method=method, words=error.message[:300] or error.code),
            hint=localize("Grant missing permissions on the gateway; for anything else, see its message."),
        )
        self.error = error


def not_connected(now: GatewayStatus) -> DragomanError:
    return DragomanError(
        NOT_CONNECTED,
        localize("Not connected to a gateway ({state}). {reason}", state=now.state, reason=now.reason or ""),
        hint=now.hint or localize("Connect with `dragoman gateway connect`, then try again."),
    )


connection_lost = ErrorSpec(
    "gateway_connection_lost",
    "The connection closed before the gateway answered {method}. It is unknown whether it took effect.",
    "Dragoman reconnects automatically. Check the session history before you retry.",
)
gateway_stayed_away = ErrorSpec(
    "gateway_stayed_away",
    "The gateway disconnected during the answer and was not back after {seconds} seconds.",
    "When `dragoman gateway status` shows it is back, check the session history.",
    seconds=short_number,
)
no_answer = ErrorSpec(
    "gateway_silent",
    "The gateway did not answer {method} within {seconds} seconds.",
    "Try again. If there is still no response, reconnect.",
    seconds=short_number,
)
run_silent = ErrorSpec(
    "gateway_silent",
    "No update on this answer from the gateway for {seconds} seconds.",
    "It may still be working. The complete answer will appear in the session history.",
    seconds=short_number,
)
unreadable_answer = ErrorSpec(
    "gateway_unreadable",
    "The gateway's response does not match the protocol.",
    "Check the address. It must be a gateway that speaks protocol 3 or 4.",
)
unknown_session = ErrorSpec(
    "unknown_session", "Unknown conversation {key}.", "Create it first, or send a message to it.", key=quoted(80)
)
too_many_sessions = ErrorSpec(
    "too_many_sessions", "Limit reached: {most} conversations.", "Delete a conversation you no longer need."
)
too_many_waiting = ErrorSpec(
    "too_many_waiting",
    "{most} messages are already waiting in this conversation.",
    "Wait for the current run to finish, or stop it.",
)
not_approved = ErrorSpec(
    "needs_approval",
    "Nothing was started: the user has not approved it yet.",
    "Approval is requested in the chat.",
)
approval_needs_person = ErrorSpec(
    "not_a_person",
    "Only a person can approve actions or trust folders, not a gateway client.",
    "Answer on the page or in the editor.",
)
bad_key = ErrorSpec(
    "bad_device_key",
    "The device key is damaged: {file}.",
    "Delete that file. Dragoman creates a new key, and gateways ask for approval again.",
)
limit_reached = ErrorSpec("run_limit", "The run was stopped: {reason}", "Send another message to continue.")
