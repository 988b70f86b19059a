"""`dragoman debug break|breakpoints|clear`: the workspace's breakpoints, which need no session."""

from __future__ import annotations

from typing import Annotated, Any

from cyclopts import Parameter

from dragoman.cli.debug import options as opt
from dragoman.cli.debug.arguments import breakpoint_arguments, parse_location
from dragoman.cli.output import render
from dragoman.cli.tool_client import open_tool_client, show_reply
from dragoman.core.errors import DragomanError
from dragoman.core.localization import localize


def break_(
    place: Annotated[str, Parameter(help=render(localize("FILE:LINE, or FILE:LINE:COLUMN.")))],
    /,
    *,
    if_: opt.If = "",
    hit: opt.Hit = "",
    log: opt.Log = "",
    workspace: opt.Workspace = None,
    json: opt.Json = False,
) -> int:
    wanted = breakpoint_arguments(place, condition=if_, hit_condition=hit, log_message=log)
    with open_tool_client(workspace, starts_daemon=True) as client:
        reply = client.call("set_breakpoint", **wanted)
    return show_reply(reply, as_json=json)


def breakpoints(*, workspace: opt.Workspace = None, json: opt.Json = False) -> int:
    with open_tool_client(workspace, starts_daemon=True) as client:
        reply = client.call("get_breakpoints")
    return show_reply(reply, as_json=json)


def clear(
    which: Annotated[str, Parameter(help=render(localize("Breakpoint number, or FILE:LINE.")))] = "",
    /,
    *,
    everything: Annotated[
        bool, Parameter(name="--all", negative="", help=render(localize("Remove all breakpoints in the workspace.")))
    ] = False,
    workspace: opt.Workspace = None,
    json: opt.Json = False,
) -> int:
    asked = _breakpoint_selection(which, everything=everything)
    with open_tool_client(workspace, starts_daemon=True) as client:
        reply = client.call("remove_breakpoint", **asked)
    return show_reply(reply, as_json=json)


def _breakpoint_selection(which: str, *, everything: bool) -> dict[str, Any]:
    if bool(which) == everything:
        raise DragomanError(
            "bad_choice",
            localize("Pass exactly one of: a breakpoint number, FILE:LINE, --all."),
            hint=localize("`dragoman debug breakpoints` lists them."),
        )
    if everything:
        return {"clear_all": True}
    if which.isascii() and which.isdigit():
        return {"breakpoint_id": int(which)}
    file, line, _ = parse_location(which)
    return {"location": {"file_path": file, "line_number": line}}
