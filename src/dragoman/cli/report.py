"""`dragoman report`: a debug session as one file that a colleague can read."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Annotated, Any

from cyclopts import Parameter

from dragoman.cli import completers
from dragoman.cli.debug.workspace import record_scope
from dragoman.cli.journal import AllWorkspaces
from dragoman.cli.output import ExitCode, show_text, shown, warn
from dragoman.cli.report_pages import Story, as_html, as_markdown
from dragoman.errors import DragomanError
from dragoman.phrases import say
from dragoman.places import find_places
from dragoman.transport.control_link import ControlLink
from dragoman.visible import visible
from dragoman.wire.control import Answer, Item

_SILENT_AT_MOST_S = 30.0
_PAGES: Mapping[str, Callable[[Story], str]] = {
    ".md": as_markdown,
    ".markdown": as_markdown,
    ".html": as_html,
    ".htm": as_html,
}


def report(
    session: Annotated[
        str,
        Parameter(
            help=shown(
                say("A debug session's id, as `dragoman debug sessions` and the page show it; the newest if left out.")
            ),
            completer=completers.debug_sessions,
        ),
    ] = "",
    /,
    *,
    output: Annotated[
        Path | None, Parameter(name=["-o", "--output"], help=shown(say("The file to write: .md or .html.")))
    ] = None,
    all_workspaces: AllWorkspaces = False,
) -> int:
    page = _PAGES.get(output.suffix.lower()) if output else as_markdown
    if page is None:
        raise DragomanError(
            "unknown_format",
            say("A report is written as .md or .html."),
            hint=say("Give the file one of these endings."),
        )
    written = page(_told(session, record_scope(all_workspaces=all_workspaces)))
    if output is None:
        show_text(visible(written))
        return ExitCode.OK
    output.write_text(written, encoding="utf-8")
    warn(say("Written: {file}", file=str(output)))
    return ExitCode.OK


def _told(session: str, scope: dict[str, str]) -> Story:
    entries: list[dict[str, Any]] = []
    with ControlLink.open(find_places()) as link:
        for item in link.stream("debug_report", {"session": session, **scope}, idle_s=_SILENT_AT_MOST_S):
            if isinstance(item, Item):
                entries.append(item.value)
            elif isinstance(item, Answer):
                return Story(item.result, entries)
    raise AssertionError("a stream without an answer")
