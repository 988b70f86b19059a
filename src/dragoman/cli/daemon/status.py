"""`dragoman status`. Standard library only, because it is called often and should feel instant."""

from __future__ import annotations

from typing import Any

from dragoman import __version__
from dragoman.cli.output import ExitCode, report_error, show_json, show_message
from dragoman.cli.remote.options import is_remote
from dragoman.core.errors import DragomanError, write_fault_lines
from dragoman.core.labels import label_of
from dragoman.core.localization import LocalizedText, localize
from dragoman.core.paths import find_paths
from dragoman.io.drivers.control_client import ControlClient
from dragoman.io.files.lock import is_held

_ANSWER_TIMEOUT_S = 3.0


def status(*, json: bool = False) -> int:
    if is_remote():
        return _remote_status(as_json=json)
    paths = find_paths()
    try:
        with ControlClient.open(paths, within_s=_ANSWER_TIMEOUT_S) as link:
            answer: dict[str, Any] = link.call("status", within_s=_ANSWER_TIMEOUT_S)
    except DragomanError as error:
        return _show_not_running(error, starting=error.code == "not_running" and is_held(paths.lock_file), as_json=json)
    if json:
        show_json(answer)
    else:
        show_message(*_lines(answer))
    return ExitCode.OK


def _remote_status(*, as_json: bool) -> int:
    from dragoman.cli.remote.status import ask_all

    found = ask_all()
    if as_json and len(found) == 1 and (only := found[0].answer) is not None:
        show_json(only)
        return ExitCode.OK
    if as_json and len(found) > 1:
        show_json({it.name: it.answer or {"error": it.error_json()} for it in found})
        return max(it.exit_code for it in found)
    for it in found:
        if it.error is not None:
            report_error(it.error, as_json=as_json)
        elif it.answer is not None:
            show_message(localize("On {target}:", target=it.name), *_lines(it.answer))
    return max(it.exit_code for it in found)


def _show_not_running(error: DragomanError, *, starting: bool, as_json: bool) -> int:
    if error.code != "not_running":
        return report_error(error, as_json=as_json)
    state = "starting_or_ending" if starting else "stopped"
    if as_json:
        show_json({"state": state, "version": __version__})
    elif starting:
        show_message(localize("The daemon is starting or stopping."))
    else:
        show_message(localize("No daemon is running. Start one with `dragoman up`."))
    return ExitCode.NOT_RUNNING


def _lines(answer: dict[str, Any]) -> list[LocalizedText]:
    lines = [
        localize(
            "Running: {address}, pid {pid}, version {version}.",
            address=answer["address"],
            pid=answer["pid"],
            version=answer["version"],
        ),
        localize("Workspace: {workspace}", workspace=answer["workspace"]),
        localize(
            "Uptime {uptime}, memory {memory} MB.",
            uptime=_format_duration(answer["uptime_s"]),
            memory=answer["resident_mb"],
        ),
    ]
    if answer.get("agents_paused_since"):
        lines.append(localize("Agents are paused. Resume them with `dragoman stop --all --undo`."))
    lines += write_fault_lines(answer.get("write_fault")) + _port_note(answer) + _version_note(answer)
    if connected := answer.get("terminals", {}).get("connected"):
        lines.append(localize("Terminals: {count} connected.", count=connected))
    if named := [f"{it['purpose']}/{it['name']}" for it in answer.get("tokens", []) if it["name"] != "default"]:
        lines.append(localize("Client tokens: {names}", names=", ".join(named)))
    outer = answer.get("gateway", {"state": "disconnected"})
    if outer["state"] != "disconnected":
        lines.append(localize("Gateway: {address}, {state}.", address=outer["address"], state=label_of(outer["state"])))
    lines += [_session_message(session) for session in answer["sessions"]]
    return lines if answer["sessions"] else [*lines, localize("No active sessions.")]


def _session_message(session: dict[str, Any]) -> LocalizedText:
    kind, title, id = label_of(session["kind"]), session["title"], session["id"]
    if session.get("ends", True):
        return localize("Session: {kind} {title} ({id})", kind=kind, title=title, id=id)
    return localize("Session: {kind} {title} ({id}), started by a person in an editor", kind=kind, title=title, id=id)


def _port_note(answer: dict[str, Any]) -> list[LocalizedText]:
    if answer["wanted_port"] in {0, answer["port"]}:
        return []
    return [
        localize(
            "Port {wanted} is in use; using port {port} instead.", wanted=answer["wanted_port"], port=answer["port"]
        )
    ]


def _version_note(answer: dict[str, Any]) -> list[LocalizedText]:
    if answer["version"] == __version__:
        return []
    return [
        localize(
            "This CLI is version {ours}. Run `dragoman restart` to update the daemon.",
            ours=__version__,
        )
    ]


def _format_duration(seconds: int) -> str:
    minutes, seconds = divmod(int(seconds), 60)
    hours, minutes = divmod(minutes, 60)
    return f"{hours}:{minutes:02}:{seconds:02}"
