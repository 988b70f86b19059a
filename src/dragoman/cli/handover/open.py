"""`dragoman open`: verify a shared session and show it, as somebody else's data."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Annotated

from cyclopts import Parameter

from dragoman.cli.caller import find_workspace
from dragoman.cli.handover.display import show_session
from dragoman.cli.handover.rerun import rerun_session
from dragoman.cli.handover.share import Yes
from dragoman.cli.output import ExitCode, render, show_message
from dragoman.cli.tool_client import open_tool_client
from dragoman.core.errors import DragomanError
from dragoman.core.localization import LocalizedText, localize
from dragoman.core.paths import find_paths
from dragoman.core.settings.loader import load_settings
from dragoman.io.drivers.control_client import ControlClient
from dragoman.io.files.bounded_read import read_at_most
from dragoman.protocols.share import FILE_BYTES, SharedSession, read_share

Rerun = Annotated[
    bool,
    Parameter(
        negative="",
        help=render(
            localize("Run the program again in this folder, with the same breakpoints, after showing what runs.")
        ),
    ),
]


def open_(
    file: Annotated[Path, Parameter(help=render(localize("File from `dragoman share`.")))],
    /,
    *,
    rerun: Rerun = False,
    yes: Yes = False,
) -> int:
    shared = read_share(read_at_most(file, FILE_BYTES))
    signer = known_signer(shared, load_settings(find_paths()).known_keys)
    show_session(shared, signer)
    id = _show_to_daemon(file, shared)
    show_message(*_next_lines(id))
    return rerun_session(shared, signer, yes=yes) if rerun else ExitCode.OK


def known_signer(shared: SharedSession, known_keys: Mapping[str, str]) -> str:
    """The name that the user gave to the key; empty for an unknown one."""
    return next((name for name, key in known_keys.items() if key == shared.signature.fingerprint), "")


def _show_to_daemon(file: Path, shared: SharedSession) -> str:
    """The daemon reads and verifies the file itself, for agents and the page."""
    workspace = find_workspace(None).resolve()
    with open_tool_client(workspace, starts_daemon=True):
        pass
    with ControlClient.open(find_paths()) as link:
        opened = link.call("share_open", {"path": str(file.absolute()), "workspace": str(workspace)})
    if opened["id"] != shared.id:
        raise DragomanError(
            "file_changed",
            localize("{file} changed while it was read.", file=str(file)),
            hint=localize("Open it again."),
        )
    return str(opened["id"])


def _next_lines(id: str) -> Iterator[LocalizedText]:
    yield localize("Agents read it with stop_history, search_journal and get_output, session_id {id}.", id=id)
    yield localize(
        "The daemon keeps it in memory until you run `dragoman forget --session {id}` or the daemon stops.", id=id
    )
