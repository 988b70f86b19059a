"""What an event of the journal says to a reader. The record keeps it in English, to be found by its words."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from dragoman.phrases import Phrase, joined, say
from dragoman.words import word_of


def event_text(kind: str, text: str, body: Mapping[str, Any]) -> Phrase:
    """What people, programs and files gave stays as it is, and so does a kind that is in no list of ours."""
    words = kind.replace(".", " ")
    about = {name: " ".join(str(value).split()) for name, value in body.items() if isinstance(value, str | int)}
    rest = text.removeprefix(words)
    match kind:
        case "daemon.started" if " at " in rest:
            return say("daemon started at {address}", address=rest.removeprefix(" at "))
        case "daemon.ended" if " at " in rest:
            return say("daemon ended at {address}", address=rest.removeprefix(" at "))
        case "debug.stopped" if "reason" in about:
            place = rest.removeprefix(f" {about['reason']}").strip()
            return joined(" ", filter(None, (_KINDS[words], word_of(about["reason"]), place)))
        case "terminal.command_failed" if "exit_code" in about:
            return say("failed with exit code {code}", code=about["exit_code"])
        case "daemon.setting_changed" if "key" in about:
            return say("{key} was set at the page", key=about["key"])
        case "canvas.surface_removed" if "surface" in about:
            return say("surface {name} removed", name=about["surface"])
        case "canvas.action_taken" if {"name", "surface"} <= about.keys():
            return say("{name} on {surface}", name=about["name"], surface=about["surface"])
        case "chat.file_changed" if "path" in about:
            return say("{path} changed by an agent behind the gateway", path=about["path"])
        case "journal.set_aside" if "file" in about:
            return say("A damaged journal was set aside as {name}; a fresh one begins.", name=about["file"])
    is_named = words in _KINDS and text.startswith(words)
    return joined("", (_KINDS[words], rest)) if is_named else say("{text}", text=text)


_KINDS: Mapping[str, Phrase] = {
    it.template: it
    for it in (
        say("mcp connected"),
        say("mcp disconnected"),
        say("workspace trusted"),
        say("workspace distrusted"),
        say("breakpoint set"),
        say("breakpoint changed"),
        say("breakpoint removed"),
        say("debug started"),
        say("debug running"),
        say("debug failed"),
        say("debug joined"),
        say("debug left"),
        say("debug resumed"),
        say("debug paused"),
        say("debug stopped"),
        say("debug evaluated"),
        say("debug traced"),
        say("debug variable_set"),
        say("debug ended"),
        say("debug afterwards_failed"),
    )
}
"""As the first words of their text are, by which they are found."""
