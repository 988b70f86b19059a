"""Describe clients and changes: as plain data for the editor extension, and as messages for a person."""

from __future__ import annotations

import shlex
from collections.abc import Callable, Mapping
from typing import Any

from dragoman.clients.catalog import CLIENTS, TOKEN_VARIABLE, McpClient
from dragoman.clients.edits import Change, snippet
from dragoman.clients.entries import (
    TOKEN_PLACEHOLDER,
    DesiredEntry,
    Entry,
    HttpEndpoint,
    http_entry,
    own_command,
    stdio_entry,
)
from dragoman.clients.machine import Machine, ServerCommand
from dragoman.clients.writer import WriteOutcome
from dragoman.core.localization import LocalizedText, localize


def describe_all(machine: Machine, command: ServerCommand, endpoint: HttpEndpoint) -> list[dict[str, Any]]:
    return [describe(client, machine, command, endpoint) for client in CLIENTS]


def describe(client: McpClient, machine: Machine, command: ServerCommand, endpoint: HttpEndpoint) -> dict[str, Any]:
    path = client.file(machine)
    return {
        "id": client.id,
        "title": client.title,
        "path": str(path) if path else None,
        "project_path": client.project_file or None,
        "exists": bool(path and path.exists()),
        "installed": client.is_installed(machine),
        "format": client.format,
        "stdio": _template(client, stdio_entry(client, command)),
        "http": _template(client, http_entry(client, endpoint)) if client.http else None,
        "cli": own_command(client, "stdio", command, endpoint) or None,
        "note": client.note,
    }


def _template(client: McpClient, entry: Entry) -> dict[str, Any]:
    return {"entry": entry, "container": client.container, "text": snippet(client, entry)}


_CHANGES: Mapping[Change, Callable[[WriteOutcome], LocalizedText]] = {
    "added": lambda done: localize("{client}: added to {path}.", client=done.client.title, path=done.path),
    "updated": lambda done: localize("{client}: updated in {path}.", client=done.client.title, path=done.path),
    "unchanged": lambda done: localize("{client}: already in {path}.", client=done.client.title, path=done.path),
    "removed": lambda done: localize("{client}: removed from {path}.", client=done.client.title, path=done.path),
    "absent": lambda done: localize("{client}: not in {path}.", client=done.client.title, path=done.path),
}


def outcome_messages(done: WriteOutcome) -> list[LocalizedText]:
    phrases = [_CHANGES[done.change](done)]
    command = shlex.join(done.own_command)
    if done.own_failure:
        phrases.append(
            localize(
                "`{command}` failed ({reason}), so Dragoman edited the file directly.",
                command=command,
                reason=done.own_failure,
            )
        )
    elif command:
        phrases.append(localize("Done with `{command}`.", command=command))
    if done.backup:
        phrases.append(localize("Backup of the original file: {backup}", backup=done.backup))
    return phrases


def snippet_messages(desired: DesiredEntry, machine: Machine) -> list[LocalizedText]:
    """Where to paste a snippet, and what else it needs."""
    phrases = (
        [localize("Add this to {path} for {client}:", client=desired.client.title, path=desired.path)]
        if desired.path
        else []
    )
    phrases += [desired.client.note] if desired.client.note else []
    phrases += token_notes(desired)
    if desired.own_command:
        phrases.append(localize("Or run: `{command}`", command=shlex.join(desired.own_command)))
    return phrases + _wsl_notes(desired, machine)


def token_notes(desired: DesiredEntry) -> list[LocalizedText]:
    if TOKEN_VARIABLE in desired.entry.values():
        return [
            localize(
                "The client reads the token from {variable}. Before you start it, run `export "
                "{variable}=$(dragoman token show mcp {client})`.",
                variable=TOKEN_VARIABLE,
                client=desired.client.id,
            )
        ]
    if desired.entry != desired.redacted or TOKEN_PLACEHOLDER in str(desired.entry):
        return [
            localize("The token is hidden; print it with `dragoman token show mcp {client}`.", client=desired.client.id)
        ]
    return []


def _wsl_notes(desired: DesiredEntry, machine: Machine) -> list[LocalizedText]:
    if not machine.wsl or not desired.client.windows_file or desired.transport != "stdio":
        return []
    return [
        localize(
            'If {client} runs on Windows, edit {file}: set the command to "wsl.exe", and put "-e" and the '
            "original command before the arguments.",
            client=desired.client.title,
            file=desired.client.windows_file,
        )
    ]
