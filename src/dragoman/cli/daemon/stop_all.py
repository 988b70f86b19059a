"""`dragoman stop --all`: stops everything that agents do, here or on several machines at once. It starts no daemon."""

from __future__ import annotations

from typing import Annotated, Any

from cyclopts import Parameter

from dragoman.cli.daemon.lifecycle import down
from dragoman.cli.output import ExitCode, render, report_error, show_json, show_message, warn
from dragoman.cli.remote.connection import require_person_here
from dragoman.cli.remote.options import is_remote, refuse_remote
from dragoman.cli.remote.status import RemoteAnswer, ask_all
from dragoman.core.localization import LocalizedText, localize

_ANSWER_TIMEOUT_S = 20.0  # a session has 8 s to end


def stop(
    *,
    all: Annotated[
        bool, Parameter(negative="", help=render(localize("Stop all agent activity instead of the daemon.")))
    ] = False,
    undo: Annotated[bool, Parameter(negative="", help=render(localize("Resume agents (with --all).")))] = False,
    yes: Annotated[
        bool,
        Parameter(negative="", help=render(localize("Stop the daemon even if sessions are open, without asking."))),
    ] = False,
    json: Annotated[bool, Parameter(negative="", help=render(localize("Print JSON.")))] = False,
) -> int:
    if not all:
        refuse_remote("stop")
        return down(yes=yes, json=json)
    if undo:
        require_person_here("stop_check")
    found = ask_all("agents_continue" if undo else "stop_all", within_s=_ANSWER_TIMEOUT_S)
    if json:
        _show_json(found)
    else:
        for it in found:
            _show(it, undo=undo)
    return max(_exit_code(it) for it in found)


def _exit_code(found: RemoteAnswer) -> int:
    return found.exit_code or (ExitCode.FAILED if _unconfirmed(found.answer or {}) else ExitCode.OK)


def _unconfirmed(answer: dict[str, Any]) -> list[dict[str, Any]]:
    return [it for it in answer.get("sessions", []) if it.get("confirmed") is False]


def _show_json(found: list[RemoteAnswer]) -> None:
    each = {it.name: it.answer or {"error": it.error_json()} for it in found}
    show_json(each if len(found) > 1 else next(iter(each.values())))


def _show(found: RemoteAnswer, *, undo: bool) -> None:
    if is_remote():
        show_message(localize("On {target}:", target=found.name))
    if found.answer is None:
        assert found.error is not None
        report_error(found.error)
        return
    show_message(*(_lifted_lines(found.answer) if undo else _stopped_lines(found.answer)))
    for it in _unconfirmed(found.answer):
        warn(
            localize(
                "{title} ({id}) did not end in time, so its debugger was closed.",
                title=it["title"],
                id=it["session_id"],
            ),
            localize("  Check the program yourself."),
        )


def _lifted_lines(answer: dict[str, Any]) -> list[LocalizedText]:
    if answer["was_paused"]:
        return [localize("Agents are resumed. Sessions and calls that were ended are not restarted.")]
    return [localize("Agents are not paused.")]


def _stopped_lines(answer: dict[str, Any]) -> list[LocalizedText]:
    return [
        localize("All agents are paused. Resume them with `dragoman stop --all --undo`, or on the page."),
        localize(
            "Ended: {calls} calls, {chats} chat runs, {terminals} terminals.",
            calls=answer["calls"],
            chats=answer["chats"],
            terminals=answer["terminals"],
        ),
        *(_session_line(it) for it in answer["sessions"]),
    ]


def _session_line(session: dict[str, Any]) -> LocalizedText:
    title, id = session["title"], session["session_id"]
    if session["program"] == "detached":
        return localize("Detached from {title} ({id}); the program runs on.", title=title, id=id)
    return localize("Ended {title} ({id}).", title=title, id=id)
