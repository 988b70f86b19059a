"""`dragoman status`: standard library alone, because it is asked often and should feel instant."""

from __future__ import annotations

from typing import Any

from dragoman import __version__
from dragoman.cli.output import ExitCode, report, show_json, tell
from dragoman.errors import DragomanError, write_fault_lines
from dragoman.phrases import Phrase, say
from dragoman.places import find_places
from dragoman.transport.control_link import ControlLink
from dragoman.transport.lock import is_held
from dragoman.words import word_of

_ANSWERS_WITHIN_S = 3.0


def status(*, json: bool = False) -> int:
    places = find_places()
    try:
        with ControlLink.open(places, within_s=_ANSWERS_WITHIN_S) as link:
            answer: dict[str, Any] = link.call("status", within_s=_ANSWERS_WITHIN_S)
    except DragomanError as error:
        return _without_answer(error, starting=error.code == "not_running" and is_held(places.lock_file), as_json=json)
    if json:
        show_json(answer)
    else:
        tell(*_lines(answer))
    return ExitCode.OK


def _without_answer(error: DragomanError, *, starting: bool, as_json: bool) -> int:
    if error.code != "not_running":
        return report(error, as_json=as_json)
    state = "starting_or_ending" if starting else "stopped"
    if as_json:
        show_json({"state": state, "version": __version__})
    elif starting:
        tell(say("The daemon is starting or ending."))
    else:
        tell(say("No daemon is running. Start one with `dragoman up`."))
    return ExitCode.NOT_RUNNING


def _lines(answer: dict[str, Any]) -> list[Phrase]:
    lines = [
        say(
            "Running: {address}, pid {pid}, version {version}.",
            address=answer["address"],
            pid=answer["pid"],
            version=answer["version"],
        ),
        say("Workspace: {workspace}", workspace=answer["workspace"]),
        say(
            "Up for {uptime}, {memory} MB resident, event loop at most {lag} ms late.",
            uptime=_span(answer["uptime_s"]),
            memory=answer["resident_mb"],
            lag=answer["worst_lag_ms"],
        ),
    ]
    lines += write_fault_lines(answer.get("write_fault")) + _port_note(answer) + _version_note(answer)
    if connected := answer.get("terminals", {}).get("connected"):
        lines.append(say("Terminals: {count} connected.", count=connected))
    if named := [f"{it['purpose']}/{it['name']}" for it in answer.get("tokens", []) if it["name"] != "default"]:
        lines.append(say("Tokens of clients: {names}", names=", ".join(named)))
    outer = answer.get("gateway", {"state": "disconnected"})
    if outer["state"] != "disconnected":
        lines.append(say("Gateway: {address}, {state}.", address=outer["address"], state=word_of(outer["state"])))
    lines += [_live(life) for life in answer["sessions"]]
    return lines if answer["sessions"] else [*lines, say("No live sessions.")]


def _live(life: dict[str, Any]) -> Phrase:
    kind, title, id = word_of(life["kind"]), life["title"], life["id"]
    if life.get("ends", True):
        return say("Live: {kind} {title} ({id})", kind=kind, title=title, id=id)
    return say("Live: {kind} {title} ({id}), a person's own in an editor", kind=kind, title=title, id=id)


def _port_note(answer: dict[str, Any]) -> list[Phrase]:
    if answer["wanted_port"] in {0, answer["port"]}:
        return []
    return [say("Port {wanted} was taken, so it serves {port}.", wanted=answer["wanted_port"], port=answer["port"])]


def _version_note(answer: dict[str, Any]) -> list[Phrase]:
    if answer["version"] == __version__:
        return []
    return [
        say(
            "This command is version {ours}: `dragoman restart` puts the daemon in step.",
            ours=__version__,
        )
    ]


def _span(seconds: int) -> str:
    minutes, seconds = divmod(int(seconds), 60)
    hours, minutes = divmod(minutes, 60)
    return f"{hours}:{minutes:02}:{seconds:02}"
