"""`dragoman trust`: a person's word that what a folder holds may run. Asked of the daemon, which remembers it."""

from __future__ import annotations

from datetime import UTC, datetime
from pathlib import Path
from typing import Annotated, Any

from cyclopts import Parameter

from dragoman.cli.output import ExitCode, show_json, show_text, shown, tell, warn
from dragoman.phrases import say
from dragoman.places import find_places
from dragoman.transport.control_link import ControlLink
from dragoman.visible import visible


def trust(
    folder: Annotated[Path, Parameter(help=shown(say("The folder; the present one unless named.")))] = Path(),
    *,
    revoke: Annotated[bool, Parameter(negative="", help=shown(say("Take the word back.")))] = False,
    list_: Annotated[bool, Parameter(name="--list", negative="", help=shown(say("Show the trusted folders.")))] = False,
    yes: Annotated[bool, Parameter(negative="", help=shown(say("Also where it is as wide as a home folder.")))] = False,
    json: Annotated[bool, Parameter(negative="", help=shown(say("The answer as JSON.")))] = False,
) -> int:
    """Clients that a person starts in a folder over standard input and output need none of this."""
    with ControlLink.open(find_places()) as link:
        if list_:
            return _list(link.call("trust_list")["trusted"], as_json=json)
        asked = {"folder": str(folder.expanduser().absolute())}
        answer = link.call("trust_revoke", asked) if revoke else link.call("trust_add", {**asked, "however_wide": yes})
    if json:
        show_json(answer)
    elif revoke:
        tell(say("{folder} is no longer trusted. What runs already goes on.", folder=answer["folder"]))
    else:
        tell(say("Trusted: {folder}. What it holds may run as you when an agent asks for it.", folder=answer["folder"]))
    return ExitCode.OK


def _list(trusted: list[dict[str, Any]], *, as_json: bool) -> int:
    if as_json:
        show_json(trusted)
        return ExitCode.OK
    for one in trusted:
        since = datetime.fromtimestamp(one["since_ns"] / 1e9, UTC).isoformat(timespec="seconds").replace("+00:00", "Z")
        show_text(visible(f"{one['folder']}  {since}").replace("\n", "\\n"))
    if not trusted:
        warn(say("No folder is trusted yet."))
    return ExitCode.OK
