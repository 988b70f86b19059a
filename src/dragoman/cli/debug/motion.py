"""`dragoman debug step|next|out|continue|pause|wait|restart|stop`: let the program run, and say what came of it."""

from __future__ import annotations

from collections.abc import Callable
from typing import Annotated, Any

from cyclopts import Parameter

from dragoman.cli.debug import options as take
from dragoman.cli.debug.moves import move
from dragoman.cli.debug.places import place_of
from dragoman.cli.output import shown
from dragoman.phrases import say


def _stepping(name: str) -> Callable[..., int]:
    def step(
        *,
        session: take.Session = None,
        thread: take.Thread = None,
        timeout: take.Timeout = None,
        workspace: take.Workspace = None,
        json: take.Json = False,
    ) -> int:
        return move(name, workspace, as_json=json, session_id=session, thread_id=thread, timeout_s=timeout)

    return step


step, next_, out = map(_stepping, ("step", "next", "out"))


def continue_(
    *,
    until: Annotated[str | None, Parameter(help=shown(say("Stop at FILE:LINE too, this once.")))] = None,
    session: take.Session = None,
    thread: take.Thread = None,
    timeout: take.Timeout = None,
    workspace: take.Workspace = None,
    json: take.Json = False,
) -> int:
    said = {"session_id": session, "thread_id": thread, "timeout_s": timeout, "until": _place(until)}
    return move("continue", workspace, as_json=json, **said)


def _place(until: str | None) -> dict[str, Any] | None:
    if until is None:
        return None
    file, line, _ = place_of(until)
    return {"file_path": file, "line_number": line}


def pause(
    *,
    session: take.Session = None,
    timeout: take.Timeout = None,
    workspace: take.Workspace = None,
    json: take.Json = False,
) -> int:
    return move("pause", workspace, as_json=json, session_id=session, timeout_s=timeout)


def wait(
    *,
    session: take.Session = None,
    timeout: take.Timeout = None,
    workspace: take.Workspace = None,
    json: take.Json = False,
) -> int:
    return move("wait", workspace, as_json=json, session_id=session, timeout_s=timeout)


def restart(
    *,
    session: take.Session = None,
    timeout: take.Timeout = None,
    workspace: take.Workspace = None,
    json: take.Json = False,
) -> int:
    return move("restart", workspace, as_json=json, session_id=session, timeout_s=timeout)


def stop(*, session: take.Session = None, workspace: take.Workspace = None, json: take.Json = False) -> int:
    return move("stop", workspace, as_json=json, session_id=session)
