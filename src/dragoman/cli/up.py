"""`dragoman up`, `down`, `restart`: the daemon's life, by the rules for several windows.

`up` is the automatic start: with a daemon running it says where. `up --take-over` is a person's start: the other ends
in order, then this one starts. The lock sees to it that there is no moment with two.
"""

from __future__ import annotations

import os
import sys
from pathlib import Path
from typing import Annotated, Any

from cyclopts import Parameter

from dragoman import __version__
from dragoman.cli import launcher
from dragoman.cli.output import ExitCode, ask_yes, show_json, shown, tell, warn
from dragoman.cli.progress import working
from dragoman.errors import DragomanError
from dragoman.phrases import Phrase, say
from dragoman.places import Places, find_places
from dragoman.transport.control_link import ControlLink, not_running
from dragoman.transport.lock import is_held

Port = Annotated[int | None, Parameter(help=shown(say("Take exactly this port, or any free one with 0.")))]
Workspace = Annotated[Path, Parameter(help=shown(say("The folder that it works for.")))]
Yes = Annotated[bool, Parameter(negative="", help=shown(say("Do not ask whether live sessions may end.")))]
Json = Annotated[bool, Parameter(negative="", help=shown(say("Answer with JSON.")))]


def up(
    *,
    port: Port = None,
    workspace: Workspace = Path(),
    foreground: Annotated[bool, Parameter(negative="", help=shown(say("Stay in this terminal.")))] = False,
    take_over: Annotated[bool, Parameter(negative="", help=shown(say("End a running daemon first.")))] = False,
    yes: Yes = False,
    verbose: Annotated[bool, Parameter(negative="", help=shown(say("Log more.")))] = False,
    json: Json = False,
) -> int:
    places = find_places()
    wish = launcher.Wish(_folder(workspace), port, verbose)
    running = _running(places)
    if running is not None and not take_over and not _replaceable(running):
        return _tell_running(running, as_json=json)
    if (running is not None or is_held(places.lock_file)) and not _end_running(places, running, yes=yes):
        return ExitCode.DECLINED
    if foreground:
        _become_daemon(wish)
    with working(say("Starting the daemon")):
        started = launcher.start(places, wish)
    return _tell_started(started, as_json=json)


def down(*, yes: Yes = False, json: Json = False) -> int:
    places = find_places()
    running = _running(places)
    if running is None and not is_held(places.lock_file):
        raise not_running()
    if not _end_running(places, running, yes=yes):
        return ExitCode.DECLINED
    if json:
        show_json({"state": "stopped"})
    else:
        tell(say("The daemon has ended."))
    return ExitCode.OK


def restart(*, yes: Yes = False, json: Json = False) -> int:
    """The same workspace; the settings' port, since a changed setting is what most restarts are for."""
    places = find_places()
    running = _running(places)
    workspace = Path(running["workspace"]) if running else Path.cwd()
    if (running is not None or is_held(places.lock_file)) and not _end_running(places, running, yes=yes):
        return ExitCode.DECLINED
    with working(say("Starting the daemon")):
        started = launcher.start(places, launcher.Wish(_folder(workspace)))
    return _tell_started(started, as_json=json)


def _running(places: Places) -> dict[str, Any] | None:
    try:
        with ControlLink.open(places) as link:
            status: dict[str, Any] = link.call("status")
            return status
    except DragomanError as error:
        if error.code in {"not_running", "daemon_gone", "not_answering"}:
            return None
        raise


def _replaceable(running: dict[str, Any]) -> bool:
    """A daemon of another version is replaced while nothing lives in it; a busy one is kept, and `status` names it."""
    return running["version"] != __version__ and not running["sessions"]


def _end_running(places: Places, running: dict[str, Any] | None, *, yes: bool) -> bool:
    if running is not None and running["sessions"] and not yes and not _agreed(running["sessions"]):
        return False
    with working(say("Ending the daemon")):
        _end(places, running)
    return True


def _end(places: Places, running: dict[str, Any] | None) -> None:
    if running is not None:
        with ControlLink.open(places) as link:
            return launcher.end(places, link)
    state = launcher.read_state(places)
    if state is not None and is_held(places.lock_file):
        launcher.kill(places, state)
    return None


def _agreed(sessions: list[dict[str, str]]) -> bool:
    warn(say("These would end:"))
    warn(*(say("  {kind} {title} ({id})", kind=it["kind"], title=it["title"], id=it["id"]) for it in sessions))
    if ask_yes(say("End them?")):
        return True
    warn(say("Nothing was changed. With --yes it is not asked."))
    return False


def _become_daemon(wish: launcher.Wish) -> None:
    """No second process to watch over: this one turns into the daemon, and Ctrl-C is its own."""
    command = [*wish.command(), "--foreground", "--wait-for-lock", "5"]
    sys.stdout.flush()
    os.execv(sys.executable, command)  # noqa: S606  our own interpreter, a list of arguments


def _tell_running(running: dict[str, Any], *, as_json: bool) -> int:
    if as_json:
        show_json(running)
        return ExitCode.OK
    tell(say("Already running: {address}, pid {pid}.", address=running["address"], pid=running["pid"]))
    if running["version"] != __version__:
        warn(_other_version(running))
    return ExitCode.OK


def _other_version(running: dict[str, Any]) -> Phrase:
    return say(
        "It is version {theirs} and busy; this command is {ours}. `dragoman restart` replaces it.",
        theirs=running["version"],
        ours=__version__,
    )


def _tell_started(started: launcher.Started, *, as_json: bool) -> int:
    state = started.state
    if as_json:
        show_json({"state": "running", "address": state.address, "port": state.port, "pid": state.pid})
        return ExitCode.OK
    tell(say("Running: {address}, pid {pid}.", address=state.address, pid=state.pid))
    if state.wanted_port not in {0, state.port}:
        warn(say("Port {wanted} was taken, so it serves {port}.", wanted=state.wanted_port, port=state.port))
    if started.login_code:
        tell(
            say("Page: {address}/#code={code}", address=state.address, code=started.login_code),
            say("      (works once, within a minute; `dragoman page` makes another)"),
        )
    return ExitCode.OK


def _folder(workspace: Path) -> Path:
    folder = workspace.expanduser().absolute()
    if not folder.is_dir():
        raise DragomanError(
            "no_such_folder",
            say("The workspace {path} is not a folder.", path=folder),
            hint=say("Name one that exists with --workspace."),
        )
    return folder
