"""The one place where commands open a connection to a daemon: this machine's, or that of the target of `--on`."""

from __future__ import annotations

import sys
from collections.abc import Mapping
from functools import partial
from typing import TYPE_CHECKING, Any

from dragoman.cli.remote.options import chosen_target, is_remote
from dragoman.core.errors import DragomanError
from dragoman.core.paths import find_paths
from dragoman.io.drivers.control_client import WELCOME_WITHIN_S, ControlClient, DaemonPeer

if TYPE_CHECKING:
    from dragoman.cli.remote.translation import Translation
    from dragoman.io.net.targets import Target

_LEAST_S = 12.0
"""Longer than the connection itself needs to notice that it hangs, which is then the better answer."""


def open_daemon(
    *,
    within_s: float = WELCOME_WITHIN_S,
    role: str = "control",
    about: Mapping[str, Any] | None = None,
    starts_daemon: bool = False,
) -> ControlClient:
    """Connect to the daemon. `starts_daemon` counts for a target: there, only `dragoman pipe` can start one."""
    target = chosen_target()
    if target is None:
        return ControlClient.open(find_paths(), within_s=within_s, role=role, about=about)
    return open_target(target, role=role, about=about, starts_daemon=starts_daemon)


def open_target(
    target: Target, *, role: str = "control", about: Mapping[str, Any] | None = None, starts_daemon: bool = False
) -> ControlClient:
    from dragoman.io.net.remote_errors import far_daemon_silent, foreign_far_side
    from dragoman.io.net.remote_link import RemoteLink

    translation = _translation(target, role, about or {})
    link = RemoteLink.open(
        target, starts_daemon=starts_daemon, translator=translation, notice=partial(_show_printed, target.name)
    )
    peer = DaemonPeer(
        fault=lambda: link.fault,
        late=lambda: far_daemon_silent(target=target.name),
        unreadable=lambda error: foreign_far_side(target=target.name, reason=error),
        is_far=True,
    )
    return ControlClient.over(link.socket, peer=peer, least_s=_LEAST_S, role=role, about=about)


def require_person_here(check: str) -> None:
    """Before a call that no agent may make. The machine of the target sees only who logged in there, so this machine's
    daemon is asked who calls. Without one, no agent's terminal or program is open here.
    """
    if not is_remote():
        return
    try:
        with ControlClient.open(find_paths()) as client:
            client.call(check)
    except DragomanError as error:
        if error.code != "not_running":
            raise


def _show_printed(target: str, line: str) -> None:
    """What ssh prints while it is waited for may be for a person, such as a key to touch or a page to log in on."""
    if sys.stderr.isatty():
        sys.stderr.write(f"{target}: {line}\n")


def _translation(target: Target, role: str, about: Mapping[str, Any]) -> Translation | None:
    """For the roles in which paths cross: what a person wrote with `--map`, or checkouts of one repository."""
    if role not in {"mcp", "dap", "tools"}:
        return None
    from dragoman.cli.remote.folder_maps import folder_maps
    from dragoman.cli.remote.translation import Translation

    return Translation(target.name, role, folder_maps(target.name), str(about.get("workspace", "")))
