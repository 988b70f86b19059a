"""`dragoman token`: for clients that speak HTTP. Asked of the daemon, because taking one back ends what is open."""

from __future__ import annotations

from typing import Annotated, Literal

from cyclopts import Parameter

from dragoman.cli import completers
from dragoman.cli.columns import show_columns
from dragoman.cli.history import Json
from dragoman.cli.output import ExitCode, show_json, show_text, shown, tell
from dragoman.phrases import say
from dragoman.places import find_places
from dragoman.transport.control_link import ControlLink

Purpose = Literal["mcp", "page", "gateway", "omnish", "editor"]
ClientPurpose = Literal["mcp", "gateway"]

_Name = Annotated[
    str,
    Parameter(help=shown(say("The client's token; names are your own choice.")), completer=completers.client_tokens),
]
_NewName = Annotated[str, Parameter(help=shown(say("The client's token; names are your own choice.")))]
_For = Annotated[ClientPurpose, Parameter(help=shown(say("What the client uses it for.")))]


def show(purpose: Purpose, name: _Name = "default", /) -> int:
    with ControlLink.open(find_places()) as link:
        show_text(link.call("token_show", {"purpose": purpose, "name": name})["token"])
    return ExitCode.OK


def create(name: _NewName, /, *, purpose: _For = "mcp") -> int:
    """The token alone on standard output, so that a file or a variable can take it."""
    with ControlLink.open(find_places()) as link:
        show_text(link.call("token_create", {"purpose": purpose, "name": name})["token"])
    return ExitCode.OK


def list_(*, json: Json = False) -> int:
    with ControlLink.open(find_places()) as link:
        found = link.call("token_list")["tokens"]
    if json:
        show_json(found)
        return ExitCode.OK
    header = (say("purpose"), say("name"), say("created"), say("last used"), say("open now"))
    rows = [
        (it["purpose"], it["name"], it["created_at"], it["last_used_at"] or shown(say("never used")), str(it["open"]))
        for it in found
    ]
    show_columns(header, rows)
    return ExitCode.OK


def revoke(name: _Name, /, *, purpose: Annotated[ClientPurpose | None, Parameter(show_default=False)] = None) -> int:
    with ControlLink.open(find_places()) as link:
        asked = {"name": name} | ({"purpose": purpose} if purpose else {})
        revoked = link.call("token_revoke", asked)["revoked"]
    for it in revoked:
        ended = say("Revoked: {purpose} {name}. Whatever was open with it has ended.", purpose=it["purpose"], name=name)
        tell(ended)
    return ExitCode.OK


def rotate(purpose: Purpose | None = None) -> int:
    """All of them unless one is named. Tokens of single clients are revoked by name."""
    with ControlLink.open(find_places()) as link:
        rotated = link.call("token_rotate", {"purpose": purpose} if purpose else {})["rotated"]
        others = [it["name"] for it in link.call("token_list")["tokens"] if it["name"] != "default"]
    tell(say("New tokens for: {purposes}. Whatever was open with the old ones has ended.", purposes=", ".join(rotated)))
    if others:
        tell(say("Clients' own tokens stay; `dragoman token revoke NAME` ends one: {names}", names=", ".join(others)))
    return ExitCode.OK
