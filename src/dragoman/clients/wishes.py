"""From "this client, over that transport" to what should stand in which file."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

from dragoman.clients.command import SHARED_COMMAND, Command
from dragoman.clients.entries import (
    TOKEN_PLACEHOLDER,
    Entry,
    HttpEndpoint,
    Transport,
    http_entry,
    own_command,
    stdio_entry,
)
from dragoman.clients.machine import Machine
from dragoman.clients.table import BY_ID, CLIENTS, Client
from dragoman.errors import DragomanError
from dragoman.phrases import say


@dataclass(frozen=True, slots=True)
class Wish:
    """What should stand in which file. `shown` is the same entry without secrets, for whoever reads along."""

    client: Client
    path: Path | None
    transport: Transport
    entry: Entry
    shown: Entry
    own_command: tuple[str, ...] = ()

    @property
    def file(self) -> Path:
        if self.path is None:
            raise DragomanError(
                "client_has_no_file",
                say("{client} has no file for this that we know of.", client=self.client.title),
                hint=say("`dragoman client-config {id} --print` shows what to paste.", id=self.client.id),
            )
        return self.path

    def public_strings(self, before: object) -> frozenset[str]:
        """What a diff may show: what we write without its secrets, and which program stood there."""
        old = before.get("command") if isinstance(before, dict) else None
        return frozenset([*_strings(self.shown), *([old] if isinstance(old, str) else [])])


def find_client(id: str) -> Client:
    client = BY_ID.get(id)
    if client is None:
        raise DragomanError(
            "unknown_client",
            say("No MCP client is called {id}.", id=id) if id else say("Say which MCP client."),
            hint=say("Known are: {ids}.", ids=", ".join(BY_ID)),
        )
    return client


def stdio_wish(client: Client, machine: Machine, command: Command, *, project: bool = False) -> Wish:
    entry = stdio_entry(client, SHARED_COMMAND if project else command)
    own = () if project else tuple(own_command(client, "stdio", command, HttpEndpoint("", "")))
    return Wish(client, client.file(machine, project=project), "stdio", entry, entry, own)


def http_wish(client: Client, machine: Machine, endpoint: HttpEndpoint, *, project: bool = False) -> Wish:
    entry = http_entry(client, endpoint)
    shown = http_entry(client, HttpEndpoint(endpoint.url, TOKEN_PLACEHOLDER))
    own = () if project else tuple(own_command(client, "http", SHARED_COMMAND, endpoint))
    return Wish(client, client.file(machine, project=project), "http", entry, shown, own)


def require_unshared(wish: Wish) -> None:
    """A project's file is made to be committed; a token in it would be published with it."""
    if wish.entry != wish.shown:
        raise DragomanError(
            "token_in_project_file",
            say("{path} belongs to the project, so the token is not written into it.", path=wish.path),
            hint=say("Use stdio, which needs no token, or leave `--project` away."),
        )


def installed_wishes(machine: Machine, command: Command) -> list[Wish]:
    wishes = (stdio_wish(client, machine, command) for client in CLIENTS if client.is_installed(machine))
    return [wish for wish in wishes if wish.path]


def _strings(value: object) -> Iterator[str]:
    if isinstance(value, str):
        yield value
    elif isinstance(value, dict | list):
        for part in value.values() if isinstance(value, dict) else value:
            yield from _strings(part)
