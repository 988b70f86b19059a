"""`dragoman history`: commands that ran in recorded terminals, newest last, as a shell lists them."""

from __future__ import annotations

import os
from collections.abc import Mapping
from datetime import datetime
from typing import Annotated, Any

from cyclopts import Parameter
from cyclopts.validators import Number

from dragoman.cli.columns import aligned, show_columns
from dragoman.cli.debug.asking import asking, show_lines
from dragoman.cli.journal import AllWorkspaces
from dragoman.cli.output import ExitCode, show_json, shown, warn
from dragoman.phrases import say

Json = Annotated[bool, Parameter(negative="", help=shown(say("Answer with JSON.")))]
_MOST = 100
_HEADER = (say("ID"), say("BEGAN"), say("EXIT"), say("TOOK"), say("FOLDER"), say("COMMAND"))


def history(
    query: Annotated[str, Parameter(help=shown(say("Words of the command or of what it printed.")))] = "",
    /,
    *,
    failed: Annotated[bool, Parameter(negative="", help=shown(say("Only those that failed.")))] = False,
    cwd: Annotated[str, Parameter(help=shown(say("Only in this folder and below; . is the present one.")))] = "",
    since: Annotated[
        str, Parameter(help=shown(say("Only since this date, or this long ago: 30m, 2h, 7d, today, yesterday.")))
    ] = "",
    terminal: Annotated[str, Parameter(help=shown(say("Only of this terminal.")))] = "",
    limit: Annotated[
        int, Parameter(alias="-n", validator=Number(gte=1, lte=_MOST), help=shown(say("How many at most.")))
    ] = 20,
    all_workspaces: AllWorkspaces = False,
    json: Json = False,
) -> int:
    with asking(None, all_workspaces=all_workspaces) as asker:
        wanted = {"query": query, "failed": failed, "cwd": cwd, "since": since, "terminal": terminal, "limit": limit}
        found = asker.call("search_commands", **wanted).data
    if json:
        show_json(found)
        return ExitCode.OK
    show_columns(_HEADER, [_columns(it) for it in reversed(found["commands"])])
    _show_hits(found)
    if not found["commands"] and not found["output_hits"]:
        warn(say("Nothing found."))
    return ExitCode.OK


def _show_hits(found: Mapping[str, Any]) -> None:
    if found["output_hits"]:
        warn(say("In output:"))
        show_lines([f"{hit['command_id'] or hit['terminal']}: {hit['line']}" for hit in found["output_hits"]])
    searched = found["output_search"]
    if searched and not searched["complete"]:
        warn(say("Output was searched back to about {time}; there may be older lines.", time=searched["back_to"]))


def command_lines(it: dict[str, Any]) -> list[str]:
    return list(aligned([_columns(it)], None))


def _columns(it: dict[str, Any]) -> list[str]:
    """Its id for who wants its output, when, how it ended, how long it took, where, and which."""
    doubt = "" if it["verified"] else "? "
    line = doubt + it["command"].strip("\n")
    return [it["command_id"], _local(it["started_at"]), f"{_exit(it):>4}", f"{_took(it):>7}", _folder(it["cwd"]), line]


def _local(at: str) -> str:
    return datetime.fromisoformat(at).astimezone().strftime("%Y-%m-%d %H:%M:%S")


def _exit(it: dict[str, Any]) -> str:
    return "…" if it["command_id"].endswith(":running") else "?" if it["exit_code"] is None else str(it["exit_code"])


def _took(it: dict[str, Any]) -> str:
    seconds = it["duration_s"]
    if seconds is None:
        return ""
    return f"{seconds:.1f}s" if seconds < 60 else f"{int(seconds // 60)}m{int(seconds % 60):02}s"


def _folder(cwd: str) -> str:
    home = os.environ.get("HOME", "").rstrip("/")
    within = home and (cwd == home or cwd.startswith(home + "/"))
    return "~" + cwd[len(home) :] if within else cwd
