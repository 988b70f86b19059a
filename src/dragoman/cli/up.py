"""`dragoman up`, `down`, `restart`: the daemon's life, by the rules for several windows.

`up` is the automatic start: with a daemon running it says where. `up --take-over` is a person's start: the other ends
in order, then this one starts. The lock sees to it that there is no moment with two.
"""

from __future__ import annotations

import os
import signal
import sys
from pathlib import Path
from typing import Any

from dragoman import __version__
from dragoman.cli import launcher
from dragoman.cli.output import ExitCode, ask_yes, show_json, tell, warn
from dragoman.cli.progress import working
from dragoman.phrases import Phrase, say
from dragoman.places import Places, find_places
from dragoman.transport.control_link import ControlLink, not_running
from dragoman.words import word_of


def up(
    *,
    port: int | None = None,
    workspace: Path = Path(),
    foreground: bool = False,
    take_over: bool = False,
    yes: bool = False,
    verbose: bool = False,
    json: bool = False,
) -> int:
    places = find_places()
    wish = launcher.Wish(launcher.folder(workspace), port, verbose)
    found = launcher.find(places)
    if not take_over:
        found.require_answering()
        if found.status is not None and not launcher.replaceable(found.status):
            return _tell_running(found.status, port, as_json=json)
    if not _made_room(places, found, wish, yes=yes):
        return ExitCode.DECLINED
    if foreground:
        _become_daemon(wish)
    return _start(places, wish, as_json=json)


def down(*, yes: bool = False, json: bool = False) -> int:
    places = find_places()
    found = launcher.find(places)
    found.require_answering()
    if found.status is None:
        raise not_running()
    if not _end(places, found.status, yes=yes):
        return ExitCode.DECLINED
    if json:
        show_json({"state": "stopped"})
    else:
        tell(say("The daemon has ended."))
    return ExitCode.OK


def restart(*, yes: bool = False, json: bool = False) -> int:
    """The same workspace, and the port if a person named it; else the settings' port, which may have been changed."""
    places = find_places()
    found = launcher.find(places)
    wish = launcher.Wish(launcher.folder(_workspace_of(places, found)), _port_of(places, found))
    if not _made_room(places, found, wish, yes=yes):
        return ExitCode.DECLINED
    return _start(places, wish, as_json=json)


def _start(places: Places, wish: launcher.Wish, *, as_json: bool) -> int:
    with working(say("Starting the daemon")):
        started = launcher.start(places, wish)
    return _tell_started(started, as_json=as_json)


def _workspace_of(places: Places, found: launcher.Found) -> Path:
    if found.status is not None:
        return Path(found.status["workspace"])
    state = launcher.read_state(places) if found.hung else None
    return Path(state.workspace) if state else Path.cwd()


def _port_of(places: Places, found: launcher.Found) -> int | None:
    if found.status is not None:
        return found.status["wanted_port"] if found.status.get("port_was_named") else None
    state = launcher.read_state(places) if found.hung else None
    return state.wanted_port if state and state.port_was_named else None


def _made_room(places: Places, found: launcher.Found, wish: launcher.Wish, *, yes: bool) -> bool:
    if not found.any:
        return True
    _require_startable(places, found, wish)
    if found.status is not None:
        return _end(places, found.status, yes=yes)
    with working(say("Ending the daemon")):
        launcher.end_hung(places)
    return True


def _require_startable(places: Places, found: launcher.Found, wish: launcher.Wish) -> None:
    """What would keep the next from starting is found while the last still runs: a failed change changes nothing."""
    from dragoman.settings import load_settings
    from dragoman.transport.tcp import listen

    settings = load_settings(places)
    if wish.port and found.status is not None and wish.port != found.status["port"]:
        with listen(settings.bind, wish.port):
            pass


def _end(places: Places, running: dict[str, Any], *, yes: bool) -> bool:
    if launcher.ending(running) and not yes and not _agreed(running):
        return False
    with working(say("Ending the daemon")):
        launcher.end(places)
    return True


def _agreed(running: dict[str, Any]) -> bool:
    would_end = launcher.ending(running)
    warn(say("These would end:"), *map(_named, would_end))
    if stays := [it for it in running["sessions"] if it not in would_end]:
        warn(say("These go on in their editor, without agents until the daemon is back:"), *map(_named, stays))
    if ask_yes(say("End them?")):
        return True
    warn(say("Nothing was changed. With --yes it is not asked."))
    return False


def _named(life: dict[str, Any]) -> Phrase:
    return say("  {kind} {title} ({id})", kind=word_of(life["kind"]), title=life["title"], id=life["id"])


def _become_daemon(wish: launcher.Wish) -> None:
    """No second process to watch over: this one turns into the daemon, and Ctrl-C is its own."""
    command = [*wish.command(), "--foreground", "--wait-for-lock", "5"]
    sys.stdout.flush()
    signal.pthread_sigmask(signal.SIG_BLOCK, {signal.SIGINT})  # or a Ctrl-C meets Python half started: a traceback
    os.execv(sys.executable, command)  # noqa: S606  our own interpreter, a list of arguments


def _tell_running(running: dict[str, Any], port: int | None, *, as_json: bool) -> int:
    if port not in {None, 0, running["port"]}:
        warn(
            say("It serves port {port}; --port {wanted} was passed over.", port=running["port"], wanted=port),
            say("`dragoman up --take-over --port {wanted}` starts it again there.", wanted=port),
        )
    if as_json:
        show_json(running)
        return ExitCode.OK
    tell(say("Already running: {address}, pid {pid}.", address=running["address"], pid=running["pid"]))
    with ControlLink.open(find_places()) as link:
        _tell_page(link.call("login_link")["link"])
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
        _tell_page(f"{state.page_address}/#code={started.login_code}")
    return ExitCode.OK


def _tell_page(link: str) -> None:
    tell(
        say("Page: {link}", link=link),
        say("      It works once, within two minutes. For a new link, run `dragoman page`."),
    )
