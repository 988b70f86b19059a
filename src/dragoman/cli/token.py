"""`dragoman token`: the tokens of HTTP clients.

The daemon does the work, because revoking a token also closes the connections that use it.
"""

from __future__ import annotations

from typing import Annotated, Literal

from cyclopts import Parameter

from dragoman.cli import completion
from dragoman.cli.columns import show_columns
from dragoman.cli.output import ExitCode, render, show_json, show_message, show_text
from dragoman.cli.terminals.history import Json
from dragoman.core.localization import localize
from dragoman.core.paths import find_paths
from dragoman.io.drivers.control_client import ControlClient

Purpose = Literal["mcp", "page", "gateway", "omnish", "editor"]
ClientPurpose = Literal["mcp", "gateway"]

_Name = Annotated[
    str,
    Parameter(help=render(localize("Name of the client token, of your choice.")), completer=completion.client_tokens),
]
_NewName = Annotated[str, Parameter(help=render(localize("Name of the client token, of your choice.")))]
_Shown = Annotated[Purpose, Parameter(help=render(localize("Purpose of the token.")))]
_Rotated = Annotated[
    Purpose | None, Parameter(help=render(localize("Purpose of the token to replace; all of them if omitted.")))
]
_Revoked = Annotated[
    ClientPurpose | None,
    Parameter(help=render(localize("Purpose of the token, if the client has several.")), show_default=False),
]
_For = Annotated[ClientPurpose, Parameter(help=render(localize("Purpose of the token.")))]


def show(purpose: _Shown, name: _Name = "default", /) -> int:
    with ControlClient.open(find_paths()) as link:
        show_text(link.call("token_show", {"purpose": purpose, "name": name})["token"])
    return ExitCode.OK


def create(name: _NewName, /, *, purpose: _For = "mcp") -> int:
    """Print only the token on standard output, so that it can be stored in a file or a variable."""
    with ControlClient.open(find_paths()) as link:
        show_text(link.call("token_create", {"purpose": purpose, "name": name})["token"])
    return ExitCode.OK


def list_(*, json: Json = False) -> int:
    with ControlClient.open(find_paths()) as link:
        found = link.call("token_list")["tokens"]
    if json:
        show_json(found)
        return ExitCode.OK
    header = (
        localize("purpose"),
        localize("name"),
        localize("created"),
        localize("last used"),
        localize("connections"),
    )
    rows = [
        (
            it["purpose"],
            it["name"],
            it["created_at"],
            it["last_used_at"] or render(localize("never used")),
            str(it["open"]),
        )
        for it in found
    ]
    show_columns(header, rows)
    return ExitCode.OK


def revoke(name: _Name, /, *, purpose: _Revoked = None) -> int:
    with ControlClient.open(find_paths()) as link:
        asked = {"name": name} | ({"purpose": purpose} if purpose else {})
        revoked = link.call("token_revoke", asked)["revoked"]
    for it in revoked:
        ended = localize(
            "Revoked: {purpose} {name}. Clients using it are disconnected.", purpose=it["purpose"], name=name
        )
        show_message(ended)
    return ExitCode.OK


def rotate(purpose: _Rotated = None) -> int:
    """Rotate one token or all of them. Tokens of single clients are revoked by name."""
    with ControlClient.open(find_paths()) as link:
        rotated = link.call("token_rotate", {"purpose": purpose} if purpose else {})["rotated"]
        others = [it["name"] for it in link.call("token_list")["tokens"] if it["name"] != "default"]
    show_message(
        localize(
            "Replaced tokens: {purposes}. Clients using the old tokens are disconnected.", purposes=", ".join(rotated)
        )
    )
    if others:
        show_message(
            localize(
                "These client tokens are unchanged; revoke one with `dragoman token revoke NAME`: {names}",
                names=", ".join(others),
            )
        )
    return ExitCode.OK
