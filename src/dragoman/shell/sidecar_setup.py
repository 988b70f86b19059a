"""Creates the sidecar of a wrapped shell.

`main` imports this module only after the shell has started, because everything that it imports would delay the prompt.
"""

from __future__ import annotations

import os

from dragoman.core.localization import localize, preferred_language
from dragoman.core.paths import find_paths
from dragoman.shell.arguments import ShellOptions
from dragoman.shell.launch import ShellLaunch
from dragoman.shell.mark_filter import MarkFilter
from dragoman.shell.nesting import nesting_token_in
from dragoman.shell.outer_terminal import rows_and_columns
from dragoman.shell.overlay.overlay import Overlay
from dragoman.shell.pty import ShellProcess
from dragoman.shell.recording.daemon_link import DaemonLink
from dragoman.shell.recording.outbox import RecordingOutbox
from dragoman.shell.recording.recorder import (
    AGENT,
    ASKS,
    LANGUAGE,
    PRIVATE,
    SIZE,
    STREAMS,
    VERIFIES,
    SessionIdentity,
    ShellRecorder,
)
from dragoman.shell.settings import read_shell_settings
from dragoman.shell.sidecar import Sidecar, now_ms


def create_sidecar(
    options: ShellOptions, launch: ShellLaunch, child: ShellProcess, size: bytes, *, session_id: str, parent: str | None
) -> Sidecar:
    paths = find_paths()
    settings = read_shell_settings(paths.settings_file)
    rows, columns = rows_and_columns(size)
    attributes = {**_attributes(options, launch), SIZE: f"{columns}x{rows}"}
    session = SessionIdentity(session_id, parent, attributes, now_ms())
    outbox = RecordingOutbox(gap=session.gap, resume=session.resume)
    is_inside = bool(nesting_token_in(os.environ, attributes["tty"]))
    overlay = Overlay(settings, session_id=session_id, columns=columns, rows=rows)
    if is_inside and not options.private:
        overlay.show_notice(localize("This terminal is already recorded; `exit` returns to it."))
    return Sidecar(
        overlay,
        ShellRecorder(session, settings, launch.nonce, outbox, private=options.private, word=launch.word),
        DaemonLink(outbox, paths),
        MarkFilter(launch.nonce, strip=options.strip_marks, nested=parent is not None, holder=options.holder),
        nonce=launch.nonce,
        child=None if options.agent else child,
        no_daemon_notice=None
        if is_inside or options.private
        else localize("Nothing is recorded until you run `dragoman up`."),
    )


def _attributes(options: ShellOptions, launch: ShellLaunch) -> dict[str, str]:
    """A private terminal reports only that it exists."""
    attributes = {
        "shell": launch.program,
        "pid": str(os.getpid()),
        "tty": os.ttyname(0),
        "hostname": os.uname().nodename,
        STREAMS: "1",
        ASKS: "1",
        LANGUAGE: preferred_language(),
    }
    optional = {
        "cwd": "" if options.private else os.getcwd(),  # noqa: PTH109  as text
        VERIFIES: "1" if launch.nonce else "",
        AGENT: options.agent,
        PRIVATE: "1" if options.private else "",
    }
    return attributes | {name: value for name, value in optional.items() if value}
