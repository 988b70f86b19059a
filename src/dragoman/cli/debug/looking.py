"""`dragoman debug eval|vars|set|stack|threads|output|sessions`: look at the stopped program."""

from __future__ import annotations

from typing import Annotated, Any, Literal

from cyclopts import Parameter

from dragoman.cli.debug import options as take
from dragoman.cli.debug.asking import Asker, Told, asking, show_lines, tell_outcome
from dragoman.cli.output import ExitCode, shown
from dragoman.errors import DragomanError
from dragoman.phrases import say
from dragoman.words import word_of

Expression = Annotated[str, Parameter(help=shown(say("In the program's language.")), allow_leading_hyphen=True)]


def eval_(
    expression: Expression,
    /,
    *,
    frame: take.Frame = None,
    session: take.Session = None,
    workspace: take.Workspace = None,
    json: take.Json = False,
) -> int:
    with asking(workspace) as asker:
        frame_id = _frame_id(asker, session, frame)
        told = asker.call("evaluate_expression", expression=expression, frame_id=frame_id, session_id=session)
    return tell_outcome(told, as_json=json)


def vars_(
    name: Annotated[str, Parameter(help=shown(say("What to look into; the locals without it.")))] = "",
    /,
    *,
    filter: Annotated[str | None, Parameter(help=shown(say("Only names that contain this.")))] = None,
    start: Annotated[int | None, Parameter(help=shown(say("Leave out so many before.")))] = None,
    count: Annotated[int | None, Parameter(help=shown(say("How many at most (100).")))] = None,
    frame: take.Frame = None,
    session: take.Session = None,
    workspace: take.Workspace = None,
    json: take.Json = False,
) -> int:
    with asking(workspace) as asker:
        frame_id = _frame_id(asker, session, frame)
        holder = _inside(asker, name, session, frame_id) if name else _locals(asker, session, frame_id)
        if holder.is_error or not _reference(holder):
            return tell_outcome(holder, as_json=json)
        told = asker.call(
            "get_variables",
            variables_reference=_reference(holder), filter=filter, start=start, count=count, session_id=session,
        )  # fmt: skip
    return tell_outcome(told, as_json=json)


def _inside(asker: Asker, name: str, session: str | None, frame_id: int | None) -> Told:
    asked = {"expression": name, "context": "watch", "frame_id": frame_id, "session_id": session}
    return asker.call("evaluate_expression", **asked)


def _locals(asker: Asker, session: str | None, frame_id: int | None) -> Told:
    return asker.call("get_scopes", frame_id=frame_id, session_id=session)


def _reference(told: Told) -> int:
    """Of the value, or of the first scope that costs nothing: what a program calls its locals differs."""
    if "scopes" not in told.data:
        return int(told.data.get("variables_reference", 0))
    return next((int(it["variables_reference"]) for it in told.data["scopes"] if not it["expensive"]), 0)


def set_(
    name: Annotated[str, Parameter(help=shown(say("A variable of the frame.")))],
    value: Expression,
    /,
    *,
    frame: take.Frame = None,
    session: take.Session = None,
    workspace: take.Workspace = None,
    json: take.Json = False,
) -> int:
    with asking(workspace) as asker:
        frame_id = _frame_id(asker, session, frame)
        told = asker.call("set_variable", name=name, value=value, frame_id=frame_id, session_id=session)
    return tell_outcome(told, as_json=json)


def stack(*, session: take.Session = None, workspace: take.Workspace = None, json: take.Json = False) -> int:
    with asking(workspace) as asker:
        told = _present(asker, session)
    if told.status != "stopped" or json:
        return tell_outcome(told, as_json=json)
    stop = told.data["stop_event_data"]
    show_lines([f"{at:3}  {_placed(frame)}" for at, frame in enumerate(stop["call_stack"])])
    if (more := stop["total_frames"] - len(stop["call_stack"])) > 0:
        show_lines([shown(say("and {count} more", count=more))])
    return ExitCode.OK


def threads(*, session: take.Session = None, workspace: take.Workspace = None, json: take.Json = False) -> int:
    """Of one session; the tool that knows them lists all sessions."""
    with asking(workspace) as asker:
        told = asker.call("list_sessions")
    if told.is_error or json:
        return tell_outcome(told, as_json=json)
    chosen = [it for it in told.data["sessions"] if (it["session_id"] == session if session else it["active"])]
    if not chosen:
        raise _no_session() if session or not _are_several_live(told) else _which_session()
    show_lines([_thread(it, chosen[0].get("thread_id")) for it in chosen[0].get("threads", ())])
    return ExitCode.OK


def output(
    *,
    cursor: Annotated[int | None, Parameter(help=shown(say("Only what came since this cursor of an answer.")))] = None,
    category: Annotated[
        Literal["stdout", "stderr", "console"] | None, Parameter(help=shown(say("Only this kind.")))
    ] = None,
    session: take.Session = None,
    workspace: take.Workspace = None,
    json: take.Json = False,
) -> int:
    with asking(workspace) as asker:
        told = asker.call("get_output", cursor=cursor, category=category, session_id=session)
    return tell_outcome(told, as_json=json)


def sessions(*, workspace: take.Workspace = None, json: take.Json = False) -> int:
    with asking(workspace) as asker:
        told = asker.call("list_sessions")
    return tell_outcome(told, as_json=json)


def _present(asker: Asker, session: str | None) -> Told:
    """The stop there is, at once; without one, what state it is in instead."""
    return asker.call("wait_for_stop", timeout_s=0, session_id=session)


def _frame_id(asker: Asker, session: str | None, frame: int | None) -> int | None:
    """`stack` counts from 0; the ids of frames are for programs, and change with each stop."""
    if not frame:
        return None
    stop = _present(asker, session).data.get("stop_event_data")
    frames = stop["call_stack"] if stop else []
    if not 0 <= frame < len(frames):
        raise DragomanError(
            "no_such_frame",
            say("There is no frame {frame}.", frame=frame),
            hint=say("`dragoman debug stack` lists those there are."),
        )
    return int(frames[frame]["frame_id"])


def _placed(frame: dict[str, Any]) -> str:
    return f"{frame['file_path'] or '?'}:{frame['line_number']} {frame['function_name']}"


def _thread(thread: dict[str, Any], stopped: int | None) -> str:
    mark = "*" if thread["thread_id"] == stopped else " "
    place = f"{thread['file_path']}:{thread.get('line_number', 0)}" if thread.get("file_path") else ""
    words = [
        str(thread["thread_id"]),
        shown(word_of(thread["state"])),
        thread["name"],
        place,
        thread.get("function_name", ""),
    ]
    return f"{mark} " + "  ".join(word for word in words if word)


def _are_several_live(told: Told) -> bool:
    live = [it for it in told.data["sessions"] if it["state"] != "Terminated"]
    return len(live) > 1


def _which_session() -> DragomanError:
    return DragomanError(
        "which_session",
        say("Several debug sessions are live."),
        hint=say("Choose one with `--session ID`; `dragoman debug sessions` lists them."),
    )


def _no_session() -> DragomanError:
    return DragomanError(
        "no_session",
        say("There is no such debug session."),
        hint=say("`dragoman debug sessions` lists those there are."),
    )
