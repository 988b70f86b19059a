"""`dragoman debug step|next|out|continue|pause|wait|restart|stop`: let the program run, and say what came of it."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Annotated, Any

from cyclopts import Parameter

from dragoman.cli.debug import options as take
from dragoman.cli.debug.asking import asking, tell_outcome
from dragoman.cli.debug.places import place_of
from dragoman.cli.output import shown
from dragoman.phrases import say


def _stepping(kind: str) -> Callable[..., int]:
    def step(
        *,
        session: take.Session = None,
        thread: take.Thread = None,
        timeout: take.Timeout = None,
        workspace: take.Workspace = None,
        json: take.Json = False,
    ) -> int:
        asked = {"step_type": kind, "session_id": session, "thread_id": thread, "timeout_s": timeout}
        return _asked(workspace, "step_execution", asked, as_json=json)

    return step


step, next_, out = map(_stepping, ("into", "over", "out"))


def continue_(
    *,
    until: Annotated[str | None, Parameter(help=shown(say("Stop at FILE:LINE too, this once.")))] = None,
    session: take.Session = None,
    thread: take.Thread = None,
    timeout: take.Timeout = None,
    workspace: take.Workspace = None,
    json: take.Json = False,
) -> int:
    asked: dict[str, Any] = {"session_id": session, "thread_id": thread, "timeout_s": timeout}
    if until is not None:
        file, line, _ = place_of(until)
        asked["until"] = {"file_path": file, "line_number": line}
    return _asked(workspace, "continue_debugging", asked, as_json=json)


def pause(
    *,
    session: take.Session = None,
    timeout: take.Timeout = None,
    workspace: take.Workspace = None,
    json: take.Json = False,
) -> int:
    return _asked(workspace, "pause_debugging", {"session_id": session, "timeout_s": timeout}, as_json=json)


def wait(
    *,
    session: take.Session = None,
    timeout: take.Timeout = None,
    workspace: take.Workspace = None,
    json: take.Json = False,
) -> int:
    return _asked(workspace, "wait_for_stop", {"session_id": session, "timeout_s": timeout}, as_json=json)


def restart(
    *,
    session: take.Session = None,
    timeout: take.Timeout = None,
    workspace: take.Workspace = None,
    json: take.Json = False,
) -> int:
    return _asked(workspace, "restart_debugging", {"session_id": session, "timeout_s": timeout}, as_json=json)


def stop(*, session: take.Session = None, workspace: take.Workspace = None, json: take.Json = False) -> int:
    return _asked(workspace, "stop_debugging", {"session_id": session}, as_json=json)


def _asked(workspace: Path | None, tool: str, asked: dict[str, Any], *, as_json: bool) -> int:
    with asking(workspace) as asker:
        told = asker.call(tool, **asked)
    return tell_outcome(told, as_json=as_json)
