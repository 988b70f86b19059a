"""`dragoman debug break|breakpoints|clear`: the workspace's breakpoints, which need no session."""

from __future__ import annotations

from typing import Annotated, Any

from cyclopts import Parameter

from dragoman.cli.debug import options as take
from dragoman.cli.debug.asking import asking, tell_outcome
from dragoman.cli.debug.places import breakpoint_at, place_of
from dragoman.cli.output import shown
from dragoman.errors import DragomanError
from dragoman.phrases import say


def break_(
    place: Annotated[str, Parameter(help=shown(say("FILE:LINE, or FILE:LINE:COLUMN.")))],
    /,
    *,
    if_: take.If = "",
    hit: take.Hit = "",
    log: take.Log = "",
    workspace: take.Workspace = None,
    json: take.Json = False,
) -> int:
    wanted = breakpoint_at(place, condition=if_, hit_condition=hit, log_message=log)
    with asking(workspace, starts_daemon=True) as asker:
        told = asker.call("set_breakpoint", **wanted)
    return tell_outcome(told, as_json=json)


def breakpoints(*, workspace: take.Workspace = None, json: take.Json = False) -> int:
    with asking(workspace, starts_daemon=True) as asker:
        told = asker.call("get_breakpoints")
    return tell_outcome(told, as_json=json)


def clear(
    which: Annotated[str, Parameter(help=shown(say("Its number, or FILE:LINE.")))] = "",
    /,
    *,
    everything: Annotated[
        bool, Parameter(name="--all", negative="", help=shown(say("All breakpoints of the workspace.")))
    ] = False,
    workspace: take.Workspace = None,
    json: take.Json = False,
) -> int:
    asked = _chosen(which, everything=everything)
    with asking(workspace, starts_daemon=True) as asker:
        told = asker.call("remove_breakpoint", **asked)
    return tell_outcome(told, as_json=json)


def _chosen(which: str, *, everything: bool) -> dict[str, Any]:
    if bool(which) == everything:
        raise DragomanError(
            "bad_choice",
            say("Say which breakpoint: exactly one of its number, its FILE:LINE, and --all."),
            hint=say("`dragoman debug breakpoints` lists those there are."),
        )
    if everything:
        return {"clear_all": True}
    if which.isascii() and which.isdigit():
        return {"breakpoint_id": int(which)}
    file, line, _ = place_of(which)
    return {"location": {"file_path": file, "line_number": line}}
