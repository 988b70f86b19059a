"""What is refused, and how an error becomes a response: the one place of this face where it becomes text."""

from __future__ import annotations

import zlib
from collections.abc import Mapping
from typing import Any

from dragoman.errors import DragomanError
from dragoman.phrases import Language, Phrase, say

# What a person did with a key or a button, and what came of it: shown to them at once.
_SHOWN = frozenset(
    {"launch", "attach", "continue", "next", "stepIn", "stepOut", "pause", "restart", "terminate", "disconnect", "goto",
     "restartFrame", "stepBack", "reverseContinue", "terminateThreads", "writeMemory"}
)  # fmt: skip


def shape_of(error: DragomanError, command: str, language: Language) -> tuple[str, Mapping[str, Any]]:
    """The short message, and the body with the same as a template: in a plain one an editor would look for variables of
    its own. The number is the same for one code in every version. The folder that is not trusted is named apart, for
    editors that can ask about it."""
    text = error.in_language(language)
    told = {
        "id": zlib.crc32(error.code.encode()) & 0x7FFF_FFFF,
        "format": "{text}",
        "variables": {"text": text, "code": error.code, **_untrusted(error)},
        "showUser": command in _SHOWN,
    }
    return text, {"error": told}


def _untrusted(error: DragomanError) -> Mapping[str, str]:
    folder = getattr(error, "details", {}).get("folder") if error.code == "needs_trust" else None
    return {"folder": folder} if folder else {}


def fault() -> DragomanError:
    return DragomanError(
        "internal_error", say("Something went wrong in the daemon."), hint=say("See `dragoman logs`, then try again.")
    )


def not_initialized(command: str) -> DragomanError:
    return DragomanError(
        "not_initialized",
        say("`{command}` came before `initialize`.", command=command[:40]),
        hint=say("Send `initialize` first, once."),
    )


def initialized_twice() -> DragomanError:
    return DragomanError("initialized_twice", say("`initialize` was answered before, and comes once."))


def not_joined(command: str) -> DragomanError:
    return DragomanError(
        "not_attached",
        say("`{command}` needs a session, and this client has none.", command=command[:40]),
        hint=say("Send `attach` with `session`, or `launch`; then wait for `initialized`."),
    )


def joined_twice() -> DragomanError:
    return DragomanError(
        "attached_twice",
        say("This client has a session already."),
        hint=say("Open another connection for another session."),
    )


def not_served(command: str) -> DragomanError:
    return DragomanError("not_served", say("`{command}` is not served.", command=command[:40]))


def not_able(command: str, debugger: str) -> DragomanError:
    return DragomanError(
        "not_able",
        say("`{command}` is beyond this session's debugger ({debugger}).", command=command, debugger=debugger),
    )


def bad_arguments(command: str, reason: str) -> DragomanError:
    return DragomanError(
        "bad_arguments",
        say("The arguments of `{command}` cannot be read: {reason}", command=command[:40], reason=reason[:300]),
    )


def read_only(command: str) -> DragomanError:
    return DragomanError(
        "read_only",
        say("This client only watches: `{command}` would change something.", command=command[:40]),
        hint=say("Attach without `readOnly` (`--read-only`) to take part."),
    )


def overtaken(who: Phrase, command: str) -> DragomanError:
    """Two at the same moment: the second is told who was first."""
    return DragomanError(
        "moved_on",
        say("{who} did `{command}` meanwhile, so this was not done.", who=who, command=command),
        hint=say("See where the program is now, then decide again."),
    )


def no_source(reference: int) -> DragomanError:
    return DragomanError("no_source", say("There is no source with the number {number}.", number=reference))


def nothing_raised() -> DragomanError:
    return DragomanError("nothing_raised", say("The program did not stop at an exception."))


def not_opened(within_s: float) -> DragomanError:
    return DragomanError(
        "not_opened",
        say("The debugger was not there within {seconds} s, so nothing was started.", seconds=round(within_s)),
        hint=say("See `dragoman logs`, then try again."),
    )


def needs_target() -> DragomanError:
    return DragomanError(
        "no_target",
        say("The configuration does not say what to debug."),
        hint=say(
            "Give `program`, or `dragomanType` with what that debugger needs, or `configurationName` of launch.json; "
            "to join a session, `attach` with `session`."
        ),
    )
