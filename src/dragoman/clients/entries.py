"""Our entry in a client's configuration: made from its template, and laid over the one that is there."""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any, Literal

from dragoman.clients.command import NAME, Command
from dragoman.clients.table import Client
from dragoman.errors import DragomanError
from dragoman.phrases import say

Transport = Literal["stdio", "http"]
Entry = dict[str, Any]

TOKEN_PLACEHOLDER = "PASTE-THE-TOKEN-HERE"
URL_PLACEHOLDER = "http://127.0.0.1:PORT/mcp"

# What belongs to one transport alone and would contradict an entry of the other.
_ONLY: Mapping[Transport, frozenset[str]] = {
    "stdio": frozenset({"command", "args"}),
    "http": frozenset({
        "url", "serverUrl", "httpUrl", "headers", "http_headers", "env_http_headers", "bearer_token_env_var"
    }),
}  # fmt: skip
_KIND_KEYS = frozenset({"type", "transport"})
_STDIO_KINDS = frozenset({"stdio", "local"})


@dataclass(frozen=True, slots=True)
class HttpEndpoint:
    """Where the daemon answers MCP over HTTP, and the secret that opens it."""

    url: str
    token: str = field(repr=False)


HTTP_PLACEHOLDER = HttpEndpoint(URL_PLACEHOLDER, TOKEN_PLACEHOLDER)


def stdio_entry(client: Client, command: Command) -> Entry:
    return dict(fill(client.stdio, _values(command=command)))


def http_entry(client: Client, endpoint: HttpEndpoint) -> Entry:
    if client.http is None:
        raise DragomanError(
            "client_has_no_http",
            say("{client} cannot be given an HTTP server by configuration.", client=client.title),
            hint=say("Leave `--http` away: over stdio it has everything."),
        )
    return dict(fill(client.http, _values(endpoint=endpoint)))


def own_command(client: Client, transport: Transport, command: Command, endpoint: HttpEndpoint) -> list[str]:
    """The client's own way to add us, or an empty list. Arguments are visible to all, so no secret is ever in one."""
    if transport == "http":
        return list(fill(client.add_http, _values(endpoint=endpoint)))
    described = json.dumps({"name": NAME, **stdio_entry(client, command)})
    return list(fill(client.add_stdio, {**_values(command=command), "json": described}))


def laid_over(existing: object, entry: Entry, transport: Transport) -> Entry:
    """Our values win, what contradicts them goes, and what the user added (`env`, `disabled`, …) stays."""
    if not isinstance(existing, Mapping):
        return entry
    kept = {key: value for key, value in existing.items() if not _contradicts(key, value, transport)}
    return {**kept, **entry}


def fill(template: Any, values: Mapping[str, Any]) -> Any:
    """Put values for "{name}" wherever it stands alone; a list for one in a list is spliced into it."""
    if isinstance(template, str):
        return values.get(template[1:-1], template) if template.startswith("{") else template
    if isinstance(template, Mapping):
        return {key: fill(value, values) for key, value in template.items()}
    filled = (fill(part, values) for part in template)
    return [item for part in filled for item in (part if isinstance(part, list) else [part])]


def _values(*, command: Command | None = None, endpoint: HttpEndpoint | None = None) -> dict[str, Any]:
    values: dict[str, Any] = {"name": NAME}
    if command:
        values |= {"command": command.program, "args": list(command.args), "argv": command.argv}
    if endpoint:
        values |= {"url": endpoint.url, "bearer": f"Bearer {endpoint.token}"}
    return values


def _contradicts(key: str, value: object, transport: Transport) -> bool:
    if key in _KIND_KEYS:
        return (value in _STDIO_KINDS) != (transport == "stdio")
    return key in _ONLY["http" if transport == "stdio" else "stdio"]
