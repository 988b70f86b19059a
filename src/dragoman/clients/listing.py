"""Every template at once, as plain data: what an editor extension shows in its copy menu."""

from __future__ import annotations

from typing import Any

from dragoman.clients.command import Command
from dragoman.clients.edits import snippet
from dragoman.clients.entries import Entry, HttpEndpoint, http_entry, own_command, stdio_entry
from dragoman.clients.machine import Machine
from dragoman.clients.table import CLIENTS, Client


def describe_all(machine: Machine, command: Command, endpoint: HttpEndpoint) -> list[dict[str, Any]]:
    return [describe(client, machine, command, endpoint) for client in CLIENTS]


def describe(client: Client, machine: Machine, command: Command, endpoint: HttpEndpoint) -> dict[str, Any]:
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


def _template(client: Client, entry: Entry) -> dict[str, Any]:
    return {"entry": entry, "container": client.container, "text": snippet(client, entry)}
