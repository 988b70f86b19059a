"""The errors of the DAP server, and how an error becomes a DAP response."""

from __future__ import annotations

import zlib
from collections.abc import Mapping
from typing import Any

from dragoman.core.errors import DragomanError, ErrorSpec, cut
from dragoman.core.localization import Language

# Results of what a person did with a key or a button: shown to them at once.
_SHOWN_COMMANDS = frozenset(
    {"launch", "attach", "continue", "next", "stepIn", "stepOut", "pause", "restart", "terminate", "disconnect", "goto",
     "restartFrame", "stepBack", "reverseContinue", "terminateThreads", "writeMemory"}
)  # fmt: skip


def error_body(error: DragomanError, command: str, language: Language) -> tuple[str, Mapping[str, Any]]:
    """The short message, and the body with the same text as a template variable: an editor would look for its own
    variables in plain text. A code has the same number in every version. An untrusted folder is named in its own field,
    for editors that can ask about it."""
    text = error.in_language(language)
    body = {
        "id": zlib.crc32(error.code.encode()) & 0x7FFF_FFFF,
        "format": "{text}",
        "variables": {"text": text, "code": error.code, **_untrusted(error)},
        "showUser": command in _SHOWN_COMMANDS,
    }
    return text, {"error": body}


def _untrusted(error: DragomanError) -> Mapping[str, str]:
    folder = error.details.get("folder") if error.code == "needs_trust" else None
    return {"folder": folder} if folder else {}


not_initialized = ErrorSpec(
    "not_initialized", "`{command}` was sent before `initialize`.", "Send `initialize` first.", command=cut(40)
)
initialized_twice = ErrorSpec("initialized_twice", "`initialize` was already sent.")
not_attached = ErrorSpec(
    "not_attached",
    "`{command}` needs a session; this client has none.",
    "Send `attach` with `session`, or `launch`; then wait for `initialized`.",
    command=cut(40),
)
attached_twice = ErrorSpec(
    "attached_twice", "This client already has a session.", "Open a new connection for another session."
)
not_supported = ErrorSpec("not_able", "This session's debugger ({debugger}) does not support `{command}`.")
bad_arguments = ErrorSpec(
    "bad_arguments", "Invalid arguments for `{command}`: {reason}", command=cut(40), reason=cut(300)
)
read_only = ErrorSpec(
    "read_only",
    "This client is read-only: `{command}` is not allowed.",
    "Attach without `readOnly` (`--read-only`) to make changes.",
    command=cut(40),
)
# Two clients act at the same moment: the error names the one that was first.
overtaken = ErrorSpec(
    "moved_on",
    "Not executed: {who} ran `{command}` first.",
    "Check where the program is now, then decide again.",
)
no_source = ErrorSpec("no_source", "No source has the reference {number}.")
nothing_raised = ErrorSpec("nothing_raised", "The program did not stop at an exception.")
not_opened = ErrorSpec(
    "not_opened",
    "The debugger was not ready within {seconds} s. Nothing was started.",
    "See `dragoman logs`, then try again.",
    seconds=round,
)
needs_target = ErrorSpec(
    "no_target",
    "The configuration does not say what to debug.",
    (
        "Set `program`, `dragomanType` with its attributes, or `configurationName` of launch.json. To join a "
        "session, use `attach` with `session`."
    ),
)
