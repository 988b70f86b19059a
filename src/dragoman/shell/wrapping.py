"""What stands beside the copying, put together."""

from __future__ import annotations

import os

from dragoman.phrases import preferred_language, say
from dragoman.places import find_places
from dragoman.shell.arguments import Options
from dragoman.shell.child import Child
from dragoman.shell.launching import Launch
from dragoman.shell.link import Link
from dragoman.shell.nesting import word_in
from dragoman.shell.outbox import Outbox
from dragoman.shell.outer import rows_and_columns
from dragoman.shell.overlay import Overlay
from dragoman.shell.passing import Passing
from dragoman.shell.recording import AGENT, ASKS, LANGUAGE, PRIVATE, SIZE, STREAMS, VERIFIES, Recording, Session
from dragoman.shell.side import Side, now_ms
from dragoman.shell.wishes import read_wishes


def side_for(
    options: Options, launch: Launch, child: Child, size: bytes, *, session_id: str, parent: str | None
) -> Side:
    places = find_places()
    wishes = read_wishes(places.settings_file)
    rows, columns = rows_and_columns(size)
    attributes = {**_attributes(options, launch), SIZE: f"{columns}x{rows}"}
    session = Session(session_id, parent, attributes, now_ms())
    outbox = Outbox(gap=session.gap, resume=session.resume)
    is_inside = bool(word_in(os.environ, attributes["tty"]))
    overlay = Overlay(wishes, session_id=session_id, columns=columns, rows=rows)
    if is_inside and not options.private:
        overlay.tell(say("This terminal is recorded already; `exit` leads back to it."))
    return Side(
        overlay,
        Recording(session, wishes, launch.nonce, outbox, private=options.private, word=launch.word),
        Link(outbox, places),
        Passing(launch.nonce, strip=options.strip_marks, nested=parent is not None, holder=options.holder),
        nonce=launch.nonce,
        child=None if options.agent else child,
        alone=None if is_inside or options.private else say("Nothing is recorded until `dragoman up`."),
    )


def _attributes(options: Options, launch: Launch) -> dict[str, str]:
    """Of a private terminal no more than that it lives."""
    attributes = {
        "shell": launch.program,
        "pid": str(os.getpid()),
        "tty": os.ttyname(0),
        "hostname": os.uname().nodename,
        STREAMS: "1",
        ASKS: "1",
        LANGUAGE: preferred_language(),
    }
    told = {
        "cwd": "" if options.private else os.getcwd(),  # noqa: PTH109  as text
        VERIFIES: "1" if launch.nonce else "",
        AGENT: options.agent,
        PRIVATE: "1" if options.private else "",
    }
    return attributes | {name: value for name, value in told.items() if value}
