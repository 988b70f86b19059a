"""`dragoman debug eval|vars|set|stack|threads|output|sessions`: inspect the stopped program."""

from __future__ import annotations

from typing import Annotated, Any, Literal

from cyclopts import Parameter

from dragoman.cli.debug import options as opt
from dragoman.cli.output import ExitCode, render
from dragoman.cli.tool_client import ToolClient, ToolReply, open_tool_client, show_lines, show_reply
from dragoman.core.errors import DragomanError, ErrorSpec
from dragoman.core.labels import label_of
from dragoman.core.localization import localize

Expression = Annotated[
    str, Parameter(help=render(localize("Expression in the program's language.")), allow_leading_hyphen=True)
]


def eval_(
    expression: Expression,
    /,
    *,
    frame: opt.Frame = None,
    session: opt.Session = None,
    workspace: opt.Workspace = None,
    json: opt.Json = False,
) -> int:
    with open_tool_client(workspace) as client:
        frame_id = _frame_id(client, session, frame)
        reply = client.call("evaluate_expression", expression=expression, frame_id=frame_id, session_id=session)
    return show_reply(reply, as_json=json)


def vars_(
    name: Annotated[str, Parameter(help=render(localize("Variable to expand; the locals if omitted.")))] = "",
    /,
    *,
    filter: Annotated[str | None, Parameter(help=render(localize("Only names containing this text.")))] = None,
    start: Annotated[int | None, Parameter(help=render(localize("Skip this many variables.")))] = None,
    count: Annotated[int | None, Parameter(help=render(localize("Maximum number of variables (100).")))] = None,
    frame: opt.Frame = None,
    session: opt.Session = None,
    workspace: opt.Workspace = None,
    json: opt.Json = False,
) -> int:
    with open_tool_client(workspace) as client:
        frame_id = _frame_id(client, session, frame)
        holder = _evaluate(client, name, session, frame_id) if name else _scopes(client, session, frame_id)
        if holder.is_error or not _reference(holder):
            return show_reply(holder, as_json=json)
        reply = client.call(
            "get_variables",
            variables_reference=_reference(holder), filter=filter, start=start, count=count, session_id=session,
        )  # fmt: skip
    return show_reply(reply, as_json=json)


def _evaluate(client: ToolClient, name: str, session: str | None, frame_id: int | None) -> ToolReply:
    asked = {"expression": name, "context": "watch", "frame_id": frame_id, "session_id": session}
    return client.call("evaluate_expression", **asked)


def _scopes(client: ToolClient, session: str | None, frame_id: int | None) -> ToolReply:
    return client.call("get_scopes", frame_id=frame_id, session_id=session)


def _reference(reply: ToolReply) -> int:
    """The reference of the value, or of the first cheap scope: adapters name the scope of the locals differently."""
    if "scopes" not in reply.data:
        return int(reply.data.get("variables_reference", 0))
    return next((int(it["variables_reference"]) for it in reply.data["scopes"] if not it["expensive"]), 0)


def set_(
    name: Annotated[str, Parameter(help=render(localize("Variable in the frame.")))],
    value: Expression,
    /,
    *,
    frame: opt.Frame = None,
    session: opt.Session = None,
    workspace: opt.Workspace = None,
    json: opt.Json = False,
) -> int:
    with open_tool_client(workspace) as client:
        frame_id = _frame_id(client, session, frame)
        reply = client.call("set_variable", name=name, value=value, frame_id=frame_id, session_id=session)
    return show_reply(reply, as_json=json)


def stack(*, session: opt.Session = None, workspace: opt.Workspace = None, json: opt.Json = False) -> int:
    with open_tool_client(workspace) as client:
        reply = _current_stop(client, session)
    if reply.status != "stopped" or json:
        return show_reply(reply, as_json=json)
    stop = reply.data["stop_event_data"]
    show_lines([f"{at:3}  {_frame_line(frame)}" for at, frame in enumerate(stop["call_stack"])])
    if (more := stop["total_frames"] - len(stop["call_stack"])) > 0:
        show_lines([render(localize("and {count} more", count=more))])
    return ExitCode.OK


def threads(*, session: opt.Session = None, workspace: opt.Workspace = None, json: opt.Json = False) -> int:
    """Show the threads of one session; the tool lists those of all sessions."""
    with open_tool_client(workspace) as client:
        reply = client.call("list_sessions")
    if reply.is_error or json:
        return show_reply(reply, as_json=json)
    chosen = [it for it in reply.data["sessions"] if (it["session_id"] == session if session else it["active"])]
    if not chosen:
        raise _no_session() if session or not _are_several_live(reply) else _which_session()
    show_lines([_thread_line(it, chosen[0].get("thread_id")) for it in chosen[0].get("threads", ())])
    return ExitCode.OK


def output(
    *,
    cursor: Annotated[int | None, Parameter(help=render(localize("Only output after this cursor.")))] = None,
    category: Annotated[
        Literal["stdout", "stderr", "console"] | None, Parameter(help=render(localize("Only this kind.")))
    ] = None,
    session: opt.Session = None,
    workspace: opt.Workspace = None,
    json: opt.Json = False,
) -> int:
    with open_tool_client(workspace) as client:
        reply = client.call("get_output", cursor=cursor, category=category, session_id=session)
    return show_reply(reply, as_json=json)


def sessions(*, workspace: opt.Workspace = None, json: opt.Json = False) -> int:
    with open_tool_client(workspace) as client:
        reply = client.call("list_sessions")
    return show_reply(reply, as_json=json)


def _current_stop(client: ToolClient, session: str | None) -> ToolReply:
    """Return the current stop without waiting, or the state if the program is not stopped."""
    return client.call("wait_for_stop", timeout_s=0, session_id=session)


def _frame_id(client: ToolClient, session: str | None, frame: int | None) -> int | None:
    """Convert a frame number, counted from 0 as `stack` prints it, to the frame's id, which changes with every stop."""
    if not frame:
        return None
    stop = _current_stop(client, session).data.get("stop_event_data")
    frames = stop["call_stack"] if stop else []
    if not 0 <= frame < len(frames):
        raise DragomanError(
            "no_such_frame",
            localize("No frame {frame}.", frame=frame),
            hint=localize("`dragoman debug stack` lists the frames."),
        )
    return int(frames[frame]["frame_id"])


def _frame_line(frame: dict[str, Any]) -> str:
    return f"{frame['file_path'] or '?'}:{frame['line_number']} {frame['function_name']}"


def _thread_line(thread: dict[str, Any], stopped: int | None) -> str:
    mark = "*" if thread["thread_id"] == stopped else " "
    place = f"{thread['file_path']}:{thread.get('line_number', 0)}" if thread.get("file_path") else ""
    words = [
        str(thread["thread_id"]),
        render(label_of(thread["state"])),
        thread["name"],
        place,
        thread.get("function_name", ""),
    ]
    return f"{mark} " + "  ".join(word for word in words if word)


def _are_several_live(reply: ToolReply) -> bool:
    live = [it for it in reply.data["sessions"] if it["state"] != "Terminated"]
    return len(live) > 1


_which_session = ErrorSpec(
    "which_session",
    "Several debug sessions are active.",
    "Choose one with `--session ID`; `dragoman debug sessions` lists them.",
)


_no_session = ErrorSpec("no_session", "Debug session not found.", "`dragoman debug sessions` lists them.")
