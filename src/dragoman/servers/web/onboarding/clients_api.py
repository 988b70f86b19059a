"""MCP clients on the page: what each needs to find Dragoman, and writing it into the client's configuration.

The page names a client of our table and nothing else: neither the file nor the command comes from it.
"""

from __future__ import annotations

from dataclasses import dataclass
from datetime import datetime
from typing import TYPE_CHECKING, Any

import anyio
import anyio.to_thread
from starlette.requests import Request
from starlette.responses import Response

from dragoman.core.errors import DragomanError, ErrorSpec
from dragoman.servers.web.bodies import RequestBody, json_response, read_request
from dragoman.servers.web.errors import request_language

if TYPE_CHECKING:
    from dragoman.clients.entries import DesiredEntry
    from dragoman.clients.writer import WriteOutcome

_config_changed = ErrorSpec(
    "client_config_changed",
    "The configuration of {client} has changed since it was shown. Nothing was written.",
    "Look at the change again.",
)


class _ClientName(RequestBody):
    client: str


class _ConfirmedChange(RequestBody):
    client: str
    lines: list[str]
    """The change as the person saw it: any other one is not written."""


@dataclass(frozen=True, slots=True)
class ClientsApi:
    address: str
    """Where this daemon listens."""

    async def list(self, request: Request) -> Response:
        """The entries without the token: a page shows no secret, and what is copied from it may end up anywhere."""
        language = request_language(request)
        rows = await anyio.to_thread.run_sync(_client_entries, f"{self.address}/mcp")
        notes = [row["note"].in_language(language) if row["note"] else "" for row in rows]
        return json_response({"clients": [{**row, "note": note} for row, note in zip(rows, notes, strict=True)]})

    async def plan(self, request: Request) -> Response:
        """What writing would change. Nothing is written."""
        wanted = await read_request(request, _ClientName)
        return json_response(await anyio.to_thread.run_sync(_planned_change, wanted.client))

    async def write(self, request: Request) -> Response:
        """Write as `dragoman client-config --write` does."""
        from dragoman.clients.descriptions import outcome_messages  # noqa: PLC0415

        wanted = await read_request(request, _ConfirmedChange)
        done = await anyio.to_thread.run_sync(_write, wanted.client, wanted.lines)
        language = request_language(request)
        messages = [message.in_language(language) for message in outcome_messages(done)]
        return json_response({"change": done.change, "messages": messages})


def _client_entries(url: str) -> list[dict[str, Any]]:
    from dragoman.clients.descriptions import describe_all  # noqa: PLC0415
    from dragoman.clients.entries import TOKEN_PLACEHOLDER, HttpEndpoint  # noqa: PLC0415
    from dragoman.clients.machine import find_command, this_machine  # noqa: PLC0415  few ever look

    machine = this_machine()
    rows = describe_all(machine, find_command(machine), HttpEndpoint(url, TOKEN_PLACEHOLDER))
    return [{**row, "configured": row["path"] is not None and _is_configured(row["id"])} for row in rows]


def _is_configured(client: str) -> bool:
    """Whether its file has an entry of ours. One that cannot be parsed counts as having none."""
    try:
        return _change(_desired_entry(client))[0] != "added"
    except DragomanError:
        return False


def _planned_change(client: str) -> dict[str, Any]:
    desired = _desired_entry(client)
    change, lines = _change(desired)
    return {"path": str(desired.file), "change": change, "lines": lines}


def _write(client: str, lines: list[str]) -> WriteOutcome:
    from dragoman.clients.machine import this_machine  # noqa: PLC0415
    from dragoman.clients.writer import ConfigWriter  # noqa: PLC0415

    desired = _desired_entry(client)
    if _change(desired)[1] != lines:
        raise _config_changed(client=desired.client.title)
    return ConfigWriter(machine=this_machine(), now=datetime.now).write(desired)


def _change(desired: DesiredEntry) -> tuple[str, list[str]]:
    from dragoman.clients.edits import diff  # noqa: PLC0415
    from dragoman.clients.machine import this_machine  # noqa: PLC0415
    from dragoman.clients.writer import ConfigWriter  # noqa: PLC0415

    plan = ConfigWriter(machine=this_machine(), now=datetime.now).plan(desired)
    public = desired.public_strings(plan.edited.before)
    return plan.edited.change, diff(plan.file.text, plan.edited.text, public=public)


def _desired_entry(client: str) -> DesiredEntry:
    from dragoman.clients.entries import desired_stdio_entry, find_client  # noqa: PLC0415
    from dragoman.clients.machine import find_command, this_machine  # noqa: PLC0415

    machine = this_machine()
    return desired_stdio_entry(find_client(client), machine, find_command(machine))
