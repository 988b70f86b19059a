"""`dragoman last`: the last command of this workspace, or one by its id, and what it printed."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Annotated, Any

from cyclopts import Parameter

from dragoman.cli.debug.asking import Asker, asking, show_lines
from dragoman.cli.history import Json, command_lines
from dragoman.cli.journal import AllWorkspaces
from dragoman.cli.output import ExitCode, show_json, show_text, shown, warn
from dragoman.phrases import say
from dragoman.visible import visible

_PAGE = 100_000


def last(
    command_id: Annotated[str, Parameter(help=shown(say("A command's id, as `dragoman history` shows it.")))] = "",
    /,
    *,
    output: Annotated[
        bool, Parameter(negative="", help=shown(say("Print what it printed, and nothing else.")))
    ] = False,
    failed: Annotated[bool, Parameter(negative="", help=shown(say("The last one that failed.")))] = False,
    terminal: Annotated[str, Parameter(help=shown(say("Of this terminal.")))] = "",
    all_workspaces: AllWorkspaces = False,
    json: Json = False,
) -> int:
    with asking(None, all_workspaces=all_workspaces) as asker:
        if failed and not command_id:
            return _failure(asker, terminal, output=output, as_json=json)
        first = asker.call(
            "get_command_output", command_id=command_id, terminal=terminal, part="head", limit=_PAGE
        ).data
        return _told(asker, first, output=output, as_json=json)


def _failure(asker: Asker, terminal: str, *, output: bool, as_json: bool) -> int:
    found = asker.call("get_last_failure", terminal=terminal).data
    if not found["found"]:
        warn(say("No failed command is recorded there."))
        return ExitCode.FAILED
    if output:
        id = found["command"]["command_id"]
        first = asker.call("get_command_output", command_id=id, part="head", limit=_PAGE).data
        return _told(asker, first, output=True, as_json=as_json)
    if as_json:
        show_json(found)
    else:
        show_lines([*command_lines(found["command"]), *(f"  {line}" for line in found["error_lines"])])
    return ExitCode.OK


def _told(asker: Asker, first: Any, *, output: bool, as_json: bool) -> int:
    if as_json:
        show_json({"command": first["command"], **({"output": "\n".join(_pages(asker, first))} if output else {})})
    elif output:
        for page in _pages(asker, first):
            show_text(visible(page))
    else:
        show_lines(command_lines(first["command"]))
    return ExitCode.OK


def _pages(asker: Asker, first: Any) -> Iterator[str]:
    page = first
    while True:
        if page["output"]:
            yield page["output"]
        if page["next_offset"] is None:
            return
        id = first["command"]["command_id"]
        page = asker.call("get_command_output", command_id=id, offset=page["next_offset"], limit=_PAGE).data
