"""`dragoman history`, `last` and `ask`: find commands that ran, show their output, and ask questions about them."""

from __future__ import annotations

import os
import sys
from collections.abc import Iterator, Mapping
from datetime import datetime
from typing import Annotated, Any

from cyclopts import Parameter
from cyclopts.validators import Number

from dragoman.cli.columns import align_columns, show_columns
from dragoman.cli.journal import AllWorkspaces
from dragoman.cli.output import ExitCode, render, show_json, show_text, warn
from dragoman.cli.remote.connection import open_daemon
from dragoman.cli.remote.options import is_remote
from dragoman.cli.tool_client import ToolClient, open_tool_client, show_lines
from dragoman.core.errors import DragomanError
from dragoman.core.localization import localize
from dragoman.core.safe_text import printable
from dragoman.protocols.control import ControlItem

_MAX_LIMIT = 100
_PAGE_SIZE = 100_000
# A model may take long before its first word.
_IDLE_TIMEOUT_S = 180.0
_TERMINAL_ID_VARIABLE = "DRAGOMAN_SESSION_ID"

Json = Annotated[bool, Parameter(negative="", help=render(localize("Print JSON.")))]
_HEADER = (
    localize("ID"),
    localize("STARTED"),
    localize("EXIT"),
    localize("DURATION"),
    localize("FOLDER"),
    localize("COMMAND"),
)


def history(
    query: Annotated[str, Parameter(help=render(localize("Words in the command or its output.")))] = "",
    /,
    *,
    failed: Annotated[bool, Parameter(negative="", help=render(localize("Only failed commands.")))] = False,
    cwd: Annotated[
        str, Parameter(help=render(localize("Only in this folder and its subfolders; . is the current folder.")))
    ] = "",
    since: Annotated[
        str, Parameter(help=render(localize("Only since this date or time span: 30m, 2h, 7d, today, yesterday.")))
    ] = "",
    terminal: Annotated[str, Parameter(help=render(localize("Only this terminal.")))] = "",
    limit: Annotated[
        int,
        Parameter(
            alias="-n", validator=Number(gte=1, lte=_MAX_LIMIT), help=render(localize("Maximum number of results."))
        ),
    ] = 20,
    all_workspaces: AllWorkspaces = False,
    json: Json = False,
) -> int:
    with open_tool_client(None, all_workspaces=all_workspaces or is_remote()) as client:
        wanted = {"query": query, "failed": failed, "cwd": cwd, "since": since, "terminal": terminal, "limit": limit}
        found = client.call("search_commands", **wanted).data
    if json:
        show_json(found)
        return ExitCode.OK
    show_columns(_HEADER, [_columns(it) for it in reversed(found["commands"])])
    _show_hits(found)
    if not found["commands"] and not found["output_hits"]:
        warn(localize("No results."))
    return ExitCode.OK


def _show_hits(found: Mapping[str, Any]) -> None:
    if found["output_hits"]:
        warn(localize("Matches in output:"))
        show_lines([f"{hit['command_id'] or hit['terminal']}: {hit['line']}" for hit in found["output_hits"]])
    searched = found["output_search"]
    if searched and not searched["complete"]:
        warn(localize("Output was searched back to about {time}; older matches may exist.", time=searched["back_to"]))


def command_lines(it: dict[str, Any]) -> list[str]:
    return list(align_columns([_columns(it)], None))


def _columns(it: dict[str, Any]) -> list[str]:
    """The columns: id, start, exit code, duration, folder and command."""
    warning = "" if it["verified"] else "? "
    line = warning + it["command"].strip("\n")
    return [
        it["command_id"],
        _local_time(it["started_at"]),
        f"{_exit_text(it):>4}",
        f"{_format_duration(it):>7}",
        _short_folder(it["cwd"]),
        line,
    ]


def _local_time(at: str) -> str:
    return datetime.fromisoformat(at).astimezone().strftime("%Y-%m-%d %H:%M:%S")


def _exit_text(it: dict[str, Any]) -> str:
    return "…" if it["command_id"].endswith(":running") else "?" if it["exit_code"] is None else str(it["exit_code"])


def _format_duration(it: dict[str, Any]) -> str:
    seconds = it["duration_s"]
    if seconds is None:
        return ""
    return f"{seconds:.1f}s" if seconds < 60 else f"{int(seconds // 60)}m{int(seconds % 60):02}s"


def _short_folder(cwd: str) -> str:
    home = os.environ.get("HOME", "").rstrip("/")
    within = home and (cwd == home or cwd.startswith(home + "/"))
    return "~" + cwd[len(home) :] if within else cwd


def last(
    command_id: Annotated[str, Parameter(help=render(localize("Command id from `dragoman history`.")))] = "",
    /,
    *,
    output: Annotated[bool, Parameter(negative="", help=render(localize("Print only the command's output.")))] = False,
    failed: Annotated[bool, Parameter(negative="", help=render(localize("Show the last failed command.")))] = False,
    terminal: Annotated[str, Parameter(help=render(localize("Only this terminal.")))] = "",
    all_workspaces: AllWorkspaces = False,
    json: Json = False,
) -> int:
    with open_tool_client(None, all_workspaces=all_workspaces or is_remote()) as client:
        if failed and not command_id:
            return _show_last_failure(client, terminal, output=output, as_json=json)
        first = client.call(
            "get_command_output", command_id=command_id, terminal=terminal, part="head", limit=_PAGE_SIZE
        ).data
        return _show_command(client, first, output=output, as_json=json)


def _show_last_failure(client: ToolClient, terminal: str, *, output: bool, as_json: bool) -> int:
    found = client.call("get_last_failure", terminal=terminal).data
    if not found["found"]:
        warn(localize("No failed command is recorded."))
        return ExitCode.FAILED
    if output:
        id = found["command"]["command_id"]
        first = client.call("get_command_output", command_id=id, part="head", limit=_PAGE_SIZE).data
        return _show_command(client, first, output=True, as_json=as_json)
    if as_json:
        show_json(found)
    else:
        show_lines([*command_lines(found["command"]), *(f"  {line}" for line in found["error_lines"])])
    return ExitCode.OK


def _show_command(client: ToolClient, first: Any, *, output: bool, as_json: bool) -> int:
    if as_json:
        show_json({"command": first["command"], **({"output": "\n".join(_pages(client, first))} if output else {})})
    elif output:
        for page in _pages(client, first):
            show_text(printable(page))
    else:
        show_lines(command_lines(first["command"]))
    return ExitCode.OK


def _pages(client: ToolClient, first: Any) -> Iterator[str]:
    page = first
    while True:
        if page["output"]:
            yield page["output"]
        if page["next_offset"] is None:
            return
        id = first["command"]["command_id"]
        page = client.call("get_command_output", command_id=id, offset=page["next_offset"], limit=_PAGE_SIZE).data


def ask(
    question: Annotated[
        str, Parameter(help=render(localize("Your question, in your own words.")), allow_leading_hyphen=True)
    ],
    /,
    *,
    scope: Annotated[
        str,
        Parameter(help=render(localize("all, this (the current terminal), or terminal ids separated by commas."))),
    ] = "all",
    json: Annotated[bool, Parameter(negative="", help=render(localize("Print JSON.")))] = False,
) -> int:
    pieces: list[str] = []
    with open_daemon() as link:
        params = {"query": question, "terminals": _terminals(scope)}
        for item in link.stream("terminal_ask", params, idle_s=_IDLE_TIMEOUT_S, keeps=True):
            if isinstance(item, ControlItem):
                pieces.append(printable(str(item.value["text"])))
                if not json:
                    sys.stdout.write(pieces[-1])
                    sys.stdout.flush()
    if json:
        show_json({"answer": "".join(pieces)})
    elif not "".join(pieces[-1:]).endswith("\n"):
        show_text("")
    return ExitCode.OK


def _terminals(scope: str) -> list[str]:
    if scope == "all":
        return []
    if scope != "this":
        return [name for name in scope.split(",") if name]
    here = os.environ.get(_TERMINAL_ID_VARIABLE, "")
    if not here:
        raise DragomanError(
            "not_in_a_terminal",
            localize("This shell is not recorded, so `this` does not refer to a terminal."),
            hint=localize(
                "Start a recorded shell with `dragoman shell`, or choose a terminal from `dragoman terminals`."
            ),
        )
    return [here]
