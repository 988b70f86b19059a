"""Labels and states in a text: words of the reader's language, while data keeps the words of its schema.

Standard library alone: `status` prints them.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from dragoman.phrases import Phrase, say


def labelled(label: Phrase | str, text: object) -> Phrase:
    return say("{label}: {text}", label=label, text=text)


def listed(parts: Sequence[Phrase]) -> Phrase:
    """As one list, in whichever language it is shown."""
    first, *others = parts
    for other in others:
        first = say("{first}, {second}", first=first, second=other)
    return first


def in_turn(parts: Sequence[Phrase]) -> Phrase:
    """As one line of clauses."""
    first, *rest = parts
    return say("{first}; {rest}", first=first, rest=in_turn(rest)) if rest else first


def word_of(value: str) -> Phrase:
    """Of a state, a reason, an owner or a detail; what is in no list of ours is somebody's own word, and stays."""
    return _WORDS.get(value) or say("{text}", text=value)


_WORDS: Mapping[str, Phrase] = {
    it.template: it
    for it in (
        # A debug session, its threads, and how a wait for it ended.
        say("Idle"),
        say("Starting"),
        say("Running"),
        say("Stopped"),
        say("Terminating"),
        say("Terminated"),
        say("running"),
        say("stopped"),
        say("timeout"),
        say("interrupted"),
        # Why a program stopped.
        say("step"),
        say("breakpoint"),
        say("exception"),
        say("pause"),
        say("entry"),
        say("goto"),
        say("function breakpoint"),
        say("data breakpoint"),
        # How a run ended.
        say("exited"),
        say("limit"),
        say("lost"),
        # What a watched variable is watched for.
        say("read"),
        say("write"),
        say("readWrite"),
        # Terminals: their state, why they ended, and whose they are.
        say("live"),
        say("ended"),
        say("client_left"),
        say("unused"),
        say("made_room"),
        say("daemon_ended"),
        say("daemon_died"),
        say("person"),
        say("agent"),
        # What lives in a daemon.
        say("debug"),
        say("terminal"),
        # A gateway's connection.
        say("disconnected"),
        say("connecting"),
        say("connected"),
        say("pairing_required"),
        say("degraded"),
        say("paused"),
        say("error"),
        # An editor's problems.
        say("warning"),
        say("information"),
        say("hint"),
        # What a session runs with.
        say("adapter"),
        say("interpreter"),
        say("editor"),
        say("debugger"),
        say("listens"),
        say("connects to"),
        say("waits for"),
        # What an error is about.
        say("debugger says"),
        say("args"),
        say("at"),
        say("column"),
        say("command"),
        say("cwd"),
        say("description"),
        say("end"),
        say("env"),
        say("exit_code"),
        say("file"),
        say("folder"),
        say("function_name"),
        say("id"),
        say("key"),
        say("kind"),
        say("known"),
        say("last_lines"),
        say("line"),
        say("line_count"),
        say("lines"),
        say("name"),
        say("nearest"),
        say("needs"),
        say("options"),
        say("path"),
        say("process_id"),
        say("program"),
        say("reason"),
        say("runs_with"),
        say("session"),
        say("session_id"),
        say("sessions"),
        say("state"),
        say("stop_number"),
        say("task"),
        say("tasks"),
        say("text"),
        say("variable"),
        say("what"),
        say("would_run"),
    )
}
