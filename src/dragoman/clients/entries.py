"""Our entry in a client's configuration: built from the client's template for one transport, and merged with an
existing one.
"""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Literal

from dragoman.clients.catalog import BY_ID, CLIENTS, McpClient
from dragoman.clients.machine import SERVER_NAME, SHARED_COMMAND, Machine, ServerCommand
from dragoman.core.errors import DragomanError
from dragoman.core.localization import localize

TOKEN_PLACEHOLDER = "PASTE-THE-TOKEN-HERE"
URL_PLACEHOLDER = "http://127.0.0.1:PORT/mcp"

Transport = Literal["stdio", "http"]
Entry = dict[str, Any]


# Keys of one transport that would contradict an entry of the other.
_TRANSPORT_KEYS: Mapping[Transport, frozenset[str]] = {
    "stdio": frozenset({"command", "args"}),
    "http": frozenset({
        "url", "serverUrl", "httpUrl", "headers", "http_headers", "env_http_headers", "bearer_token_env_var"
    }),
}  # fmt: skip
_KIND_KEYS = frozenset({"type", "transport"})
_STDIO_KINDS = frozenset({"stdio", "local"})


@dataclass(frozen=True, slots=True)
class HttpEndpoint:
    """The URL of MCP over HTTP, and its token."""

    url: str
    token: str = field(repr=False)


HTTP_PLACEHOLDER = HttpEndpoint(URL_PLACEHOLDER, TOKEN_PLACEHOLDER)


def stdio_entry(client: McpClient, command: ServerCommand) -> Entry:
    return dict(fill_template(client.stdio, _values(command=command)))


def http_entry(client: McpClient, endpoint: HttpEndpoint) -> Entry:
    if client.http is None:
        raise DragomanError(
            "client_has_no_http",
            localize("{client} does not support HTTP servers in its configuration file.", client=client.title),
            hint=localize("Omit `--http`: stdio offers every feature."),
        )
    return dict(fill_template(client.http, _values(endpoint=endpoint)))


def own_command(client: McpClient, transport: Transport, command: ServerCommand, endpoint: HttpEndpoint) -> list[str]:
    """The client's own command to add Dragoman, or an empty list. Arguments are visible to all, so they never have a
    secret.
    """
    if transport == "http":
        return list(fill_template(client.add_http, _values(endpoint=endpoint)))
    described = json.dumps({"name": SERVER_NAME, **stdio_entry(client, command)})
    return list(fill_template(client.add_stdio, {**_values(command=command), "json": described}))


def merge_entry(existing: object, entry: Entry, transport: Transport) -> Entry:
    """Merge entries: our values win, contradicting keys are removed, and the user's own (`env`, `disabled`, …) stay."""
    if not isinstance(existing, Mapping):
        return entry
    kept = {key: value for key, value in existing.items() if not _contradicts(key, value, transport)}
    return {**kept, **entry}


def fill_template(template: Any, values: Mapping[str, Any]) -> Any:
    """Replace each string that is "{name}"; a list value is spliced into the surrounding list."""
    if isinstance(template, str):
        return values.get(template[1:-1], template) if template.startswith("{") else template
    if isinstance(template, Mapping):
        return {key: fill_template(value, values) for key, value in template.items()}
    filled = (fill_template(part, values) for part in template)
    return [item for part in filled for item in (part if isinstance(part, list) else [part])]


def _values(*, command: ServerCommand | None = None, endpoint: HttpEndpoint | None = None) -> dict[str, Any]:
    values: dict[str, Any] = {"name": SERVER_NAME}
    if command:
        values |= {"command": command.program, "args": list(command.args), "argv": command.argv}
    if endpoint:
        values |= {"url": endpoint.url, "bearer": f"Bearer {endpoint.token}"}
    return values


def _contradicts(key: str, value: object, transport: Transport) -> bool:
    if key in _KIND_KEYS:
        return (value in _STDIO_KINDS) != (transport == "stdio")
    return key in _TRANSPORT_KEYS["http" if transport == "stdio" else "stdio"]


@dataclass(frozen=True, slots=True)
class DesiredEntry:
    """The entry that a client's file should have. `redacted` is the same entry without secrets, for printing."""

    client: McpClient
    path: Path | None
    transport: Transport
    entry: Entry
    redacted: Entry
    own_command: tuple[str, ...] = ()

    @property
    def file(self) -> Path:
        if self.path is None:
            raise DragomanError(
                "client_has_no_file",
                localize("{client} has no known configuration file for this.", client=self.client.title),
                hint=localize("Run `dragoman client-config {id} --print` for the text to paste.", id=self.client.id),
            )
        return self.path

    def public_strings(self, before: object) -> frozenset[str]:
        """The strings that a diff may show: ours without secrets, and the previous program."""
        old = before.get("command") if isinstance(before, dict) else None
        return frozenset([*_strings(self.redacted), *([old] if isinstance(old, str) else [])])


def find_client(id: str) -> McpClient:
    client = BY_ID.get(id)
    if client is None:
        raise DragomanError(
            "unknown_client",
            localize("Unknown MCP client: {id}.", id=id) if id else localize("Missing MCP client."),
            hint=localize("Supported clients: {ids}.", ids=", ".join(BY_ID)),
        )
    return client


def desired_stdio_entry(
    client: McpClient, machine: Machine, command: ServerCommand, *, project: bool = False
) -> DesiredEntry:
    entry = stdio_entry(client, command.shared if project else command)
    own = () if project else tuple(own_command(client, "stdio", command, HttpEndpoint("", "")))
    return DesiredEntry(client, client.file(machine, project=project), "stdio", entry, entry, own)


def desired_http_entry(
    client: McpClient, machine: Machine, endpoint: HttpEndpoint, *, project: bool = False
) -> DesiredEntry:
    entry = http_entry(client, endpoint)
    redacted = http_entry(client, HttpEndpoint(endpoint.url, TOKEN_PLACEHOLDER))
    own = () if project else tuple(own_command(client, "http", SHARED_COMMAND, endpoint))
    return DesiredEntry(client, client.file(machine, project=project), "http", entry, redacted, own)


def require_no_token(desired: DesiredEntry) -> None:
    """Refuse a token in a project file: such files are committed, which would publish the token."""
    if desired.entry != desired.redacted:
        raise DragomanError(
            "token_in_project_file",
            localize("{path} is a project file, so Dragoman does not write the token to it.", path=desired.path),
            hint=localize("Use stdio, which needs no token, or omit `--project`."),
        )


def installed_client_entries(machine: Machine, command: ServerCommand) -> list[DesiredEntry]:
    desired_entries = (
        desired_stdio_entry(client, machine, command) for client in CLIENTS if client.is_installed(machine)
    )
    return [desired for desired in desired_entries if desired.path]


def _strings(value: object) -> Iterator[str]:
    if isinstance(value, str):
        yield value
    elif isinstance(value, dict | list):
        for part in value.values() if isinstance(value, dict) else value:
            yield from _strings(part)
