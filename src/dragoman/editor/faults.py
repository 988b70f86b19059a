"""Why an editor did not do what it was asked."""

from __future__ import annotations

from pathlib import Path

from dragoman.errors import DragomanError
from dragoman.phrases import say
from dragoman.visible import visible

_SHOWN = 300


def no_editor(workspace: Path) -> DragomanError:
    return DragomanError(
        "no_editor",
        say("No editor is connected that has {folder} open.", folder=workspace),
        hint=say(
            "Ask the person to open this folder in VS Code (or Cursor, code-server) with the Dragoman extension: it "
            "connects by itself. `make vsix` builds the extension."
        ),
    )


def cannot(name: str, method: str) -> DragomanError:
    return DragomanError(
        "editor_cannot",
        say("{editor} is connected and cannot do `{method}`.", editor=_shown(name), method=method),
        hint=say("Its extension is older than the daemon: ask the person to update it."),
    )


def silent(name: str, within_s: float) -> DragomanError:
    return DragomanError(
        "editor_silent",
        say("{editor} gave no answer within {seconds} seconds.", editor=_shown(name), seconds=round(within_s, 1)),
        hint=say("It may be waiting for the person, who is asked before an agent may do this. Try again later."),
    )


def gone(name: str) -> DragomanError:
    return DragomanError(
        "editor_gone",
        say("{editor} left before it answered: it was closed or reloaded.", editor=_shown(name)),
        hint=say("It connects again by itself when it is back. Then try again."),
    )


def not_allowed() -> DragomanError:
    return DragomanError(
        "not_allowed",
        say("The person at the editor did not allow this."),
        hint=say("Do not ask again unless the person wishes it. What was refused for good is theirs to allow again."),
    )


def refused(name: str, reason: str) -> DragomanError:
    return DragomanError(
        "editor_refused",
        say("{editor} could not do it: {reason}", editor=_shown(name), reason=_shown(reason) or "?"),
    )


def too_many_questions(name: str) -> DragomanError:
    return DragomanError(
        "too_many_questions",
        say("{editor} has not answered the questions before this one.", editor=_shown(name)),
        hint=say("Wait for their answers, then try again."),
    )


def too_many_editors(limit: int) -> DragomanError:
    return DragomanError(
        "too_many_editors",
        say("{limit} editors are connected; there is no room for another.", limit=limit),
        hint=say("Close a window that is not needed."),
    )


def unknown_call(method: str) -> DragomanError:
    return DragomanError("unknown_method", say("An editor cannot call {method} here.", method=ascii(method[:60])))


def _shown(text: str) -> str:
    """Another's words: one short line of them."""
    return visible(" ".join(text.split()))[:_SHOWN]
