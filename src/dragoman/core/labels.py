"""Labels, states and event descriptions in the reader's language. Data keeps the names of its schema.

Standard library only: `dragoman status` prints them.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from dragoman.core.localization import LocalizedText, join_texts, localize


def with_label(label: LocalizedText | str, text: object) -> LocalizedText:
    return localize("{label}: {text}", label=label, text=text)


def comma_list(parts: Sequence[LocalizedText]) -> LocalizedText:
    """A comma-separated list in the reader's language."""
    first, *others = parts
    for other in others:
        first = localize("{first}, {second}", first=first, second=other)
    return first


def semicolon_list(parts: Sequence[LocalizedText]) -> LocalizedText:
    """Clauses joined with semicolons."""
    first, *rest = parts
    return localize("{first}; {rest}", first=first, rest=semicolon_list(rest)) if rest else first


def label_of(value: str) -> LocalizedText:
    """The label of a state, a reason, an owner or a detail. Unknown words are shown unchanged."""
    return _LABELS.get(value) or localize("{text}", text=value)


_LABELS: Mapping[str, LocalizedText] = {
    it.template: it
    for it in (
        # A debug session, its threads, and how a wait for it ended.
        localize("Idle"),
        localize("Starting"),
        localize("Running"),
        localize("Stopped"),
        localize("Terminating"),
        localize("Terminated"),
        localize("running"),
        localize("stopped"),
        localize("timeout"),
        localize("interrupted"),
        # Why a program stopped.
        localize("step"),
        localize("breakpoint"),
        localize("exception"),
        localize("pause"),
        localize("entry"),
        localize("goto"),
        localize("function breakpoint"),
        localize("data breakpoint"),
        # How a run ended.
        localize("exited"),
        localize("limit"),
        localize("lost"),
        # Kinds of access to a watched variable.
        localize("read"),
        localize("write"),
        localize("readWrite"),
        # Terminals: state, why they ended, and owner.
        localize("live"),
        localize("ended"),
        localize("client_left"),
        localize("unused"),
        localize("made_room"),
        localize("stopped_by_person"),
        localize("daemon_ended"),
        localize("daemon_died"),
        localize("person"),
        localize("agent"),
        # Kinds of active sessions.
        localize("debug"),
        localize("terminal"),
        # State of the gateway connection.
        localize("disconnected"),
        localize("connecting"),
        localize("connected"),
        localize("pairing_required"),
        localize("degraded"),
        localize("paused"),
        localize("error"),
        # Severity of a problem in the editor.
        localize("warning"),
        localize("information"),
        localize("hint"),
        # What a session runs with.
        localize("adapter"),
        localize("interpreter"),
        localize("editor"),
        localize("debugger"),
        localize("listens"),
        localize("connects to"),
        localize("waits for"),
        # Labels of error details.
        localize("debugger says"),
        localize("args"),
        localize("at"),
        localize("column"),
        localize("command"),
        localize("cwd"),
        localize("description"),
        localize("end"),
        localize("env"),
        localize("exit_code"),
        localize("file"),
        localize("folder"),
        localize("function_name"),
        localize("id"),
        localize("key"),
        localize("kind"),
        localize("known"),
        localize("last_lines"),
        localize("line"),
        localize("line_count"),
        localize("lines"),
        localize("name"),
        localize("nearest"),
        localize("needs"),
        localize("options"),
        localize("path"),
        localize("process_id"),
        localize("program"),
        localize("reason"),
        localize("runs_with"),
        localize("session"),
        localize("session_id"),
        localize("sessions"),
        localize("state"),
        localize("stop_number"),
        localize("task"),
        localize("tasks"),
        localize("text"),
        localize("variable"),
        localize("what"),
        localize("would_run"),
    )
}


def event_text(kind: str, text: str, body: Mapping[str, Any]) -> LocalizedText:
    """The description of an event. Values from people, programs and files stay unchanged, and so does an
    unknown kind.
    """
    words = kind.replace(".", " ")
    about = {name: " ".join(str(value).split()) for name, value in body.items() if isinstance(value, str | int)}
    rest = text.removeprefix(words)
    match kind:
        case "daemon.started" if " at " in rest:
            return localize("daemon started at {address}", address=rest.removeprefix(" at "))
        case "daemon.ended" if " at " in rest:
            return localize("daemon ended at {address}", address=rest.removeprefix(" at "))
        case "debug.stopped" if "reason" in about:
            place = rest.removeprefix(f" {about['reason']}").strip()
            return join_texts(" ", filter(None, (_EVENT_LABELS[words], label_of(about["reason"]), place)))
        case "terminal.command_failed" if "exit_code" in about:
            return localize("failed with exit code {code}", code=about["exit_code"])
        case "daemon.setting_changed" if "key" in about:
            return localize("{key} changed on the page", key=about["key"])
        case "canvas.surface_removed" if "surface" in about:
            return localize("surface {name} removed", name=about["surface"])
        case "canvas.action_taken" if {"name", "surface"} <= about.keys():
            return localize("{name} on {surface}", name=about["name"], surface=about["surface"])
        case "chat.file_changed" if "path" in about:
            return localize("{path} changed by an agent behind the gateway", path=about["path"])
        case "journal.set_aside" if "file" in about:
            return localize("The damaged journal was moved to {name}; a new one was created.", name=about["file"])
    is_named = words in _EVENT_LABELS and text.startswith(words)
    return join_texts("", (_EVENT_LABELS[words], rest)) if is_named else localize("{text}", text=text)


_EVENT_LABELS: Mapping[str, LocalizedText] = {
    it.template: it
    for it in (
        localize("mcp connected"),
        localize("mcp disconnected"),
        localize("workspace trusted"),
        localize("workspace distrusted"),
        localize("breakpoint set"),
        localize("breakpoint changed"),
        localize("breakpoint removed"),
        localize("debug started"),
        localize("debug running"),
        localize("debug failed"),
        localize("debug joined"),
        localize("debug left"),
        localize("debug held"),
        localize("debug released"),
        localize("debug resumed"),
        localize("debug paused"),
        localize("debug stopped"),
        localize("debug evaluated"),
        localize("debug traced"),
        localize("debug variable_set"),
        localize("debug ended"),
        localize("debug afterwards_failed"),
    )
}
"""By the prefix of the event's stored text."""
