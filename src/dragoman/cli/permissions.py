"""`dragoman trust` and `dragoman approvals`: what a person allows agents to run."""

from __future__ import annotations

import sys
from datetime import UTC, datetime
from pathlib import Path
from typing import Annotated, Any

from cyclopts import Parameter

from dragoman.cli.output import ExitCode, confirm, render, show_json, show_message, show_text, warn
from dragoman.cli.remote.connection import open_daemon, require_person_here
from dragoman.cli.remote.options import is_remote
from dragoman.cli.terminals.history import Json
from dragoman.core.errors import DragomanError
from dragoman.core.localization import LocalizedText, localize
from dragoman.core.safe_text import printable


def trust(
    folder: Annotated[Path, Parameter(help=render(localize("Folder; the current folder if omitted.")))] = Path(),
    *,
    revoke: Annotated[bool, Parameter(negative="", help=render(localize("Stop trusting the folder.")))] = False,
    list_: Annotated[
        bool, Parameter(name="--list", negative="", help=render(localize("List the trusted folders.")))
    ] = False,
    yes: Annotated[
        bool,
        Parameter(
            negative="", help=render(localize("Skip the confirmation for broad folders such as your home folder."))
        ),
    ] = False,
    json: Annotated[bool, Parameter(negative="", help=render(localize("Print JSON.")))] = False,
) -> int:
    """Trust or list folders. Clients that a user starts in a folder over standard input and output do not need this."""
    if not (list_ or revoke):
        require_person_here("trust_check")
    with open_daemon() as link:
        if list_:
            return _show_trusted(link.call("trust_list")["trusted"], as_json=json)
        asked = {"folder": _folder_text(folder)}
        answer = link.call("trust_revoke", asked) if revoke else link.call("trust_add", {**asked, "however_wide": yes})
    if json:
        show_json(answer)
    elif revoke:
        show_message(
            localize("{folder} is no longer trusted. Programs already running continue.", folder=answer["folder"])
        )
    else:
        show_message(localize("Trusted: {folder}. Agents may run its code as you.", folder=answer["folder"]))
    return ExitCode.OK


def _folder_text(folder: Path) -> str:
    """A folder on another machine is passed as it is: what is relative or `~` here means nothing there."""
    if not is_remote():
        return str(folder.expanduser().absolute())
    if not folder.is_absolute():
        raise DragomanError(
            "bad_folder",
            localize("On another machine, a folder needs its whole path."),
            hint=localize("For example: dragoman trust /srv/shop --on ssh:build1"),
        )
    return str(folder)


def _show_trusted(trusted: list[dict[str, Any]], *, as_json: bool) -> int:
    if as_json:
        show_json(trusted)
        return ExitCode.OK
    for one in trusted:
        since = datetime.fromtimestamp(one["since_ns"] / 1e9, UTC).isoformat(timespec="seconds").replace("+00:00", "Z")
        show_text(printable(f"{one['folder']}  {since}").replace("\n", "\\n"))
    if not trusted:
        warn(localize("No trusted folders."))
    return ExitCode.OK


def approvals(*, json: Json = False) -> int:
    """Answer pending approvals. Without a terminal, or with `--json`, only list them."""
    with open_daemon() as link:
        found = link.call("approvals")
    if json:
        show_json(found["approvals"])
        return ExitCode.OK
    if not found["approvals"]:
        warn(localize("No pending approvals."))
    for one in found["approvals"]:
        show_approval(one, is_here=True)
    return ExitCode.OK


def show_approval(approval: dict[str, Any], *, is_here: bool) -> None:
    """Show the whole request, indented so that no line looks like one of ours, then ask if this is the user's terminal.

    `is_here`: whether the request waits in this daemon.
    """
    show_message(_approval_message(approval))
    show_text("".join(f"    {line}\n" for line in printable(str(approval["subject"])).splitlines()) or "    -\n")
    sys.stdout.flush()
    if is_here and all(it.isatty() for it in (sys.stdin, sys.stdout, sys.stderr)) and _may_answer():
        _answer(approval)
    else:
        show_message(localize("Answer on the page, in the editor, or with `dragoman approvals` in your own terminal."))


def _may_answer() -> bool:
    with open_daemon() as link:
        return bool(link.call("approvals")["may_answer"])


def _answer(approval: dict[str, Any]) -> None:
    allowed = confirm(localize("Allow it?"))
    with open_daemon() as link:
        asked = {"id": approval["id"], "decision": "allow" if allowed else "deny"}
        counted = link.call("approval_answer", asked)["counted"]
    if not counted:
        warn(localize("This request was already answered or has expired."))
    else:
        show_message(localize("Allowed.") if allowed else localize("Denied."))


def _approval_message(approval: dict[str, Any]) -> LocalizedText:
    if approval["kind"] == "trust":
        return localize("Needs you to trust this folder:")
    return localize("{tool} needs your approval:", tool=printable(str(approval["tool"])).replace("\n", " "))
