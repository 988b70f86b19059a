"""One change to one configuration text, in either format, and the proof that it changed nothing else."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from types import ModuleType
from typing import Any, Literal

from dragoman.clients import jsonc_text, toml_text
from dragoman.clients.command import NAME
from dragoman.clients.entries import Entry, Transport, laid_over
from dragoman.clients.refusals import RefusedError, unusual_form, wrong_type
from dragoman.clients.table import Client, Format

Change = Literal["added", "updated", "unchanged", "removed", "absent"]

_EDITORS: Mapping[Format, ModuleType] = {"jsonc": jsonc_text, "toml": toml_text}


@dataclass(frozen=True, slots=True)
class Edited:
    change: Change
    text: str
    before: object = None
    """Our entry as it was."""


def with_entry(client: Client, text: str, entry: Entry, transport: Transport) -> Edited:
    servers = _servers(client, text)
    if NAME not in servers:
        return _proven(client, text, Edited("added", _put(client, text, entry)), {**servers, NAME: entry})
    before = servers[NAME]
    wanted = laid_over(before, entry, transport)
    if before == wanted:
        return Edited("unchanged", text, before)
    edited = Edited("updated", _put(client, text, wanted), before)
    return _proven(client, text, edited, {**servers, NAME: wanted})


def without_entry(client: Client, text: str) -> Edited:
    """The container stays, even when it is empty now: we cannot know whether it was there before us."""
    servers = _servers(client, text)
    if NAME not in servers:
        return Edited("absent", text)
    edited = Edited("removed", _EDITORS[client.format].drop(text, client.container, NAME), servers[NAME])
    return _proven(client, text, edited, {name: value for name, value in servers.items() if name != NAME})


def snippet(client: Client, entry: Entry) -> str:
    """A whole small file with our entry alone: what a person pastes."""
    shown: str = _EDITORS[client.format].written(client.container, NAME, entry)
    return shown


def _put(client: Client, text: str, entry: Entry) -> str:
    changed: str = _EDITORS[client.format].put(text, client.container, NAME, entry)
    return changed


def _parse(client: Client, text: str) -> dict[str, Any]:
    parsed: dict[str, Any] = _EDITORS[client.format].parse(text)
    return parsed


def _servers(client: Client, text: str) -> dict[str, Any]:
    servers = _parse(client, text).get(client.container, {})
    if not isinstance(servers, dict):
        raise wrong_type(f'"{client.container}"')
    return servers


def _proven(client: Client, text: str, edited: Edited, servers: dict[str, Any]) -> Edited:
    """Read the result as the client will: whatever the text looked like, nothing but our entry may differ.

    A container that held nothing but us may go with us where it has no text of its own (a TOML header).
    """
    wanted = {**_parse(client, text), client.container: servers}
    try:
        result = {client.container: {}, **_parse(client, edited.text)}
    except RefusedError:
        result = {}
    if result != wanted:
        raise unusual_form(f'"{client.container}"')
    return edited
