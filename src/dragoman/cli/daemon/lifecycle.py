"""`dragoman up`, `down` and `restart`, without cyclopts.

`up` with a running daemon only shows where it runs. `up --take-over` stops the running daemon first and then starts a
new one. The lock ensures that there are never two at once.
"""

from __future__ import annotations

import os
import signal
import sys
from pathlib import Path
from typing import Any

from dragoman import __version__
from dragoman.cli.daemon import launcher
from dragoman.cli.output import ExitCode, confirm, progress, show_json, show_message, warn
from dragoman.core.labels import label_of
from dragoman.core.localization import LocalizedText, localize
from dragoman.core.paths import Paths, find_paths
from dragoman.io.drivers.control_client import ControlClient
from dragoman.io.errors import daemon_not_running


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
    paths = find_paths()
    options = launcher.DaemonStartOptions(launcher.require_folder(workspace), port, verbose)
    checked = launcher.check_daemon(paths)
    if not take_over:
        checked.require_answering()
        if checked.status is not None and not launcher.is_replaceable(checked.status):
            return _show_running(checked.status, port, as_json=json)
    if not _stop_running(paths, checked, options, yes=yes):
        return ExitCode.DECLINED
    if foreground:
        _become_daemon(options)
    return _start(paths, options, as_json=json)


def down(*, yes: bool = False, json: bool = False) -> int:
    paths = find_paths()
    checked = launcher.check_daemon(paths)
    checked.require_answering()
    if checked.status is None:
        raise daemon_not_running()
    if not _end(paths, checked.status, yes=yes):
        return ExitCode.DECLINED
    if json:
        show_json({"state": "stopped"})
    else:
        show_message(localize("The daemon has stopped."))
    return ExitCode.OK


def restart(*, yes: bool = False, json: bool = False) -> int:
    """Restart with the same workspace. Keep the port if the user named it; otherwise read it from the settings
    again.
    """
    paths = find_paths()
    checked = launcher.check_daemon(paths)
    options = launcher.DaemonStartOptions(
        launcher.require_folder(_workspace_of(paths, checked)), _port_of(paths, checked)
    )
    if not _stop_running(paths, checked, options, yes=yes):
        return ExitCode.DECLINED
    return _start(paths, options, as_json=json)


def _start(paths: Paths, options: launcher.DaemonStartOptions, *, as_json: bool) -> int:
    with progress(localize("Starting the daemon")):
        started = launcher.start(paths, options)
    return _show_started(started, as_json=as_json)


def _workspace_of(paths: Paths, checked: launcher.DaemonCheck) -> Path:
    if checked.status is not None:
        return Path(checked.status["workspace"])
    state = launcher.read_state(paths) if checked.hung else None
    return Path(state.workspace) if state else Path.cwd()


def _port_of(paths: Paths, checked: launcher.DaemonCheck) -> int | None:
    if checked.status is not None:
        return checked.status["wanted_port"] if checked.status.get("port_was_named") else None
    state = launcher.read_state(paths) if checked.hung else None
    return state.wanted_port if state and state.port_was_named else None


def _stop_running(
    paths: Paths, checked: launcher.DaemonCheck, options: launcher.DaemonStartOptions, *, yes: bool
) -> bool:
    if not checked.any:
        return True
    _require_startable(paths, checked, options)
    if checked.status is not None:
        return _end(paths, checked.status, yes=yes)
    with progress(localize("Stopping the daemon")):
        launcher.kill_hung(paths)
    return True


def _require_startable(paths: Paths, checked: launcher.DaemonCheck, options: launcher.DaemonStartOptions) -> None:
    """Check that the new daemon can start before the old one is stopped, so that a failed restart changes nothing."""
    from dragoman.core.settings.loader import load_settings
    from dragoman.io.net.tcp_listener import listen_tcp

    settings = load_settings(paths)
    if options.port and checked.status is not None and options.port != checked.status["port"]:
        with listen_tcp(settings.bind, options.port):
            pass


def _end(paths: Paths, running: dict[str, Any], *, yes: bool) -> bool:
    if launcher.ending_sessions(running) and not yes and not _confirm_end(running):
        return False
    with progress(localize("Stopping the daemon")):
        launcher.end(paths)
    return True


def _confirm_end(running: dict[str, Any]) -> bool:
    would_end = launcher.ending_sessions(running)
    warn(localize("These sessions will be terminated:"), *map(_session_message, would_end))
    if stays := [it for it in running["sessions"] if it not in would_end]:
        warn(
            localize("These sessions continue in their editor; agents cannot use them until the daemon is back:"),
            *map(_session_message, stays),
        )
    if confirm(localize("Continue?")):
        return True
    warn(localize("Cancelled. Pass --yes to skip confirmation."))
    return False


def _session_message(session: dict[str, Any]) -> LocalizedText:
    return localize("  {kind} {title} ({id})", kind=label_of(session["kind"]), title=session["title"], id=session["id"])


def _become_daemon(options: launcher.DaemonStartOptions) -> None:
    """Replace this process with the daemon, so that there is no second process to watch and Ctrl-C reaches the
    daemon.
    """
    command = [*options.command(), "--foreground", "--wait-for-lock", "5"]
    sys.stdout.flush()
    signal.pthread_sigmask(signal.SIG_BLOCK, {signal.SIGINT})  # a Ctrl-C while Python starts would print a traceback
    os.execv(sys.executable, command)  # noqa: S606  our own interpreter, a list of arguments


def _show_running(running: dict[str, Any], port: int | None, *, as_json: bool) -> int:
    if port not in {None, 0, running["port"]}:
        warn(
            localize("Already running on port {port}; ignoring --port {wanted}.", port=running["port"], wanted=port),
            localize("To move it: `dragoman up --take-over --port {wanted}`", wanted=port),
        )
    if as_json:
        show_json(running)
        return ExitCode.OK
    show_message(localize("Already running: {address}, pid {pid}.", address=running["address"], pid=running["pid"]))
    with ControlClient.open(find_paths()) as link:
        _show_page_link(link.call("login_link")["link"])
    if running["version"] != __version__:
        warn(_other_version(running))
    return ExitCode.OK


def _other_version(running: dict[str, Any]) -> LocalizedText:
    return localize(
        "The daemon is {theirs} and busy; this CLI is {ours}. Run `dragoman restart` to update the daemon.",
        theirs=running["version"],
        ours=__version__,
    )


def _show_started(started: launcher.StartedDaemon, *, as_json: bool) -> int:
    state = started.state
    if as_json:
        show_json({"state": "running", "address": state.address, "port": state.port, "pid": state.pid})
        return ExitCode.OK
    show_message(localize("Running: {address}, pid {pid}.", address=state.address, pid=state.pid))
    if state.wanted_port not in {0, state.port}:
        warn(localize("Port {wanted} is in use; using port {port} instead.", wanted=state.wanted_port, port=state.port))
    if started.login_code:
        _show_page_link(f"{state.page_address}/#code={started.login_code}")
    return ExitCode.OK


def _show_page_link(link: str) -> None:
    show_message(
        localize("Page: {link}", link=link),
        localize("      The link works once and expires in two minutes. For a new one, run `dragoman page`."),
    )
