"""`dragoman client-config`: print, copy or write one MCP client's configuration. Needs no daemon."""

from __future__ import annotations

import sys
from collections.abc import Callable
from datetime import datetime
from typing import Annotated

from cyclopts import Group, Parameter
from cyclopts.validators import mutually_exclusive

from dragoman.cli import completers
from dragoman.cli.output import ExitCode, show_json, show_text, shown, tell, warn
from dragoman.cli.written_files import WrittenFile, remember
from dragoman.clients.clipboard import copy_text
from dragoman.clients.command import Command, find_command
from dragoman.clients.edits import snippet
from dragoman.clients.entries import HTTP_PLACEHOLDER, TOKEN_PLACEHOLDER, HttpEndpoint
from dragoman.clients.listing import describe, describe_all
from dragoman.clients.machine import Machine, this_machine
from dragoman.clients.sentences import around, token_notes, told
from dragoman.clients.table import CLIENTS
from dragoman.clients.wishes import Wish, find_client, http_wish, require_unshared, stdio_wish
from dragoman.clients.write import Writer
from dragoman.errors import DragomanError
from dragoman.phrases import Phrase, preferred_language, say
from dragoman.places import find_places
from dragoman.transport.control_link import ControlLink

EndpointSource = Callable[[str], HttpEndpoint]
"""By the client's id, whose own token it has; without one, the address alone."""

_TRANSPORT = Group(shown(say("Transport")), validator=mutually_exclusive)
_ACTION = Group(shown(say("What to do")), validator=mutually_exclusive)


def _flag(about: Phrase, *, name: str | None = None, group: Group | None = None) -> Parameter:
    plain = Parameter(name=name, negative="", show_default=False, help=shown(about))
    # A group of None would mean "in no group", and help would leave it out.
    return Parameter.combine(plain, Parameter(group=group)) if group else plain


def daemon_endpoint(client: str) -> HttpEndpoint:
    """Asked of the running daemon: port and address may be others than the settings say.

    Each client has a token of its own, named after it: one can be revoked without the others.
    """
    with ControlLink.open(find_places()) as link:
        address = link.call("status")["address"]
        token = TOKEN_PLACEHOLDER
        if client:
            token = link.call("token_create", {"purpose": "mcp", "name": client, "or_show": True})["token"]
    return HttpEndpoint(f"{address}/mcp", token)


def client_config(
    client: Annotated[
        str,
        Parameter(help=shown(say("The client's id; without one all are listed.")), completer=completers.clients),
    ] = "",
    /,
    *,
    stdio: Annotated[bool, _flag(say("It starts us itself (the default)."), group=_TRANSPORT)] = False,  # noqa: ARG001
    http: Annotated[bool, _flag(say("It connects to the running daemon."), group=_TRANSPORT)] = False,
    print_: Annotated[bool, _flag(say("Print it (the default)."), name="--print", group=_ACTION)] = False,  # noqa: ARG001
    copy: Annotated[bool, _flag(say("Put it on the clipboard."), group=_ACTION)] = False,
    write: Annotated[bool, _flag(say("Merge it into the client's file."), group=_ACTION)] = False,
    project: Annotated[bool, _flag(say("For this project alone, in a file that can be shared."))] = False,
    json: Annotated[bool, _flag(say("Answer with JSON."), group=_ACTION)] = False,
    endpoint: Annotated[EndpointSource, Parameter(parse=False)] = daemon_endpoint,
) -> int:
    machine = this_machine()
    command = find_command(machine)
    if json or not (client or copy or write):
        return _list(client, machine, command, endpoint, as_json=json)
    known = find_client(client)
    if command.note and not http and not project:
        warn(command.note)
    if not http:
        wish = stdio_wish(known, machine, command, project=project)
    else:
        found = endpoint(known.id) if write else _without_token(endpoint, known.id)
        wish = http_wish(known, machine, found, project=project)
    if write:
        return _write(wish, machine, project=project)
    return _copy(wish, machine) if copy else _print(wish, machine)


def _list(id: str, machine: Machine, command: Command, endpoint: EndpointSource, *, as_json: bool) -> int:
    if not as_json:
        for client in CLIENTS:
            mark = "✓" if client.is_installed(machine) else " "
            show_text(f"{mark} {client.id:<15} {client.title:<30} {client.file(machine) or ''}")
        return ExitCode.OK
    shown_endpoint = _without_token(endpoint)
    rows = (
        [describe(find_client(id), machine, command, shown_endpoint)]
        if id
        else describe_all(machine, command, shown_endpoint)
    )
    language = preferred_language()
    show_json([{**row, "note": row["note"].in_language(language) if row["note"] else None} for row in rows])
    return ExitCode.OK


def _print(wish: Wish, machine: Machine) -> int:
    """Sentences go to the error stream, so that the snippet alone can be piped into a file."""
    warn(*around(wish, machine))
    show_text(snippet(wish.client, wish.shown))
    return ExitCode.OK


def _copy(wish: Wish, machine: Machine) -> int:
    by = copy_text(snippet(wish.client, wish.shown), machine, sys.stderr)
    if by is None:
        raise DragomanError(
            "no_clipboard",
            say("No clipboard was found."),
            hint=say("`dragoman client-config {id} --print` shows the same text.", id=wish.client.id),
        )
    tell(say("Copied ({by}).", by=by), *around(wish, machine))
    return ExitCode.OK


def _write(wish: Wish, machine: Machine, *, project: bool) -> int:
    writer = Writer(machine=machine, now=datetime.now)
    if project:
        require_unshared(wish)
        if writer.plan(wish).edited.change != "unchanged":
            remember(find_places(), WrittenFile(str(wish.file.absolute()), wish.client.id))
    done = writer.write(wish)
    tell(*told(done), *(token_notes(wish) if wish.entry == wish.shown else []))
    if done.change in {"added", "updated"}:
        tell(say("Restart {client}, or reload its MCP servers, to use it.", client=wish.client.title))
    return ExitCode.OK


def _without_token(endpoint: EndpointSource, client: str = "") -> HttpEndpoint:
    """What may be shown: the address where it is known, and never the token. A client that is named gets one made."""
    try:
        return HttpEndpoint(endpoint(client).url, TOKEN_PLACEHOLDER)
    except DragomanError:
        return HTTP_PLACEHOLDER
