"""The endpoint of `dragoman mcp`: role `mcp` of the control socket.

It imports nothing of the SDK, which is slow to load and needs tens of megabytes: a daemon without MCP clients never
pays for it.
"""

from __future__ import annotations

import logging
import os
from collections.abc import Awaitable, Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any, Protocol

import anyio.to_thread
from anyio.abc import ByteStream

from dragoman.access.tokens import AccessLinks
from dragoman.core.errors import DragomanError
from dragoman.core.events import Event
from dragoman.core.ids import new_id
from dragoman.protocols.control import Hello
from dragoman.servers.mcp.client_options import ClientOptions
from dragoman.servers.mcp.client_usage import ClientUsage
from dragoman.tools import ToolRegistry
from dragoman.tools.resources import ResourceProvider
from dragoman.workspace.caller import Caller, RemoteCaller

log = logging.getLogger(__name__)

_RECORD_TIMEOUT_S = 2.0


class EventAppender(Protocol):
    async def append(self, events: list[Event]) -> int: ...


@dataclass(frozen=True, slots=True)
class McpEndpoint:
    """Serves MCP clients: the toolbox, the journal, and the open links that every session needs."""

    toolbox: ToolRegistry
    record: EventAppender
    links: AccessLinks
    version: str
    resource_provider: ResourceProvider | None = None
    on_disconnect: Callable[[str], None] = lambda _: None
    """Called with the id of each caller that has disconnected."""
    defaults: ClientOptions = field(default_factory=ClientOptions)
    """For clients that choose nothing themselves."""
    usage: dict[str, ClientUsage] = field(default_factory=dict)
    """Of the clients that are connected, by the ids of their callers."""

    def usage_of(self, caller: Caller) -> ClientUsage:
        return self.usage.setdefault(caller.id, ClientUsage())

    def end_client(self, caller: Caller) -> None:
        self.usage.pop(caller.id, None)
        self.on_disconnect(caller.id)

    def check_access(self, hello: Hello) -> None:
        """Refuse before the welcome, so that the pump can report it to its client and to a person."""
        self.options_of(hello)

    async def __call__(self, hello: Hello, stream: ByteStream, rest: bytes) -> None:
        serve_session = await anyio.to_thread.run_sync(_load_session, self.toolbox)
        options, caller = self.options_of(hello), caller_of(hello)
        with self.links.note("mcp"):
            try:
                await serve_session(self, options, caller, stream, rest)
            finally:
                self.end_client(caller)

    def options_of(self, hello: Hello) -> ClientOptions:
        about = hello.about
        options = self.choose(
            _string_list(about.get("tools")), _string(about.get("structured")), _string(about.get("schemas"))
        )
        return replace(options, is_routed=about.get("routed") is True)

    def choose(self, tools: Sequence[str], structured: str, schemas: str) -> ClientOptions:
        """What a client is sent, by its own choices and else by the settings; a DragomanError for an unknown one."""
        options = self.defaults.chosen(tools, structured, schemas)
        options.listed(self.toolbox)
        return options

    async def record_event(self, event: Event) -> None:
        """Record an event, shielded from cancellation. If the journal fails, the session continues."""
        try:
            with anyio.move_on_after(_RECORD_TIMEOUT_S, shield=True):
                await self.record.append([event])
        except DragomanError as error:
            log.warning("%s was not recorded: %s", event.kind, error)


def _load_session(
    toolbox: ToolRegistry,
) -> Callable[[McpEndpoint, ClientOptions, Caller, ByteStream, bytes], Awaitable[None]]:
    """Load the SDK in a worker thread, so that the event loop continues."""
    from dragoman.servers.mcp.stdio_session import serve_stdio  # noqa: PLC0415

    toolbox.describe()
    return serve_stdio


def caller_of(hello: Hello) -> Caller:
    """Read the caller. It comes from another process: values of the wrong type are left out."""
    about = hello.about
    environment = about.get("environment")
    workspace = _path(about, "workspace")
    remote = RemoteCaller.of(about)
    return Caller(
        id=new_id("mcp"),
        workspace=workspace,
        cwd=_path(about, "cwd"),
        language="zh" if hello.language == "zh" else "en",
        environment=_texts(environment) if isinstance(environment, dict) else {},
        is_agent=True,
        reconnected=about.get("reconnected") is True,
        trusts_workspace=_is_own(workspace) and remote is None,
        remote=remote,
    )


def _is_own(workspace: Path) -> bool:
    """Whether the folder is the person's own: the pump runs where its owner started the client.

    A folder of another user is not. Neither is the root, which is where an unreadable path resolves to.
    """
    try:
        return workspace != workspace.parent and workspace.stat().st_uid == os.getuid()
    except OSError:
        return False


def _path(about: Mapping[str, Any], name: str) -> Path:
    value = about.get(name)
    return Path(value) if isinstance(value, str) and value.startswith("/") and "\0" not in value else Path("/")


def _texts(values: Mapping[Any, Any]) -> dict[str, str]:
    return {name: value for name, value in values.items() if isinstance(name, str) and isinstance(value, str)}


def _string_list(value: object) -> list[str]:
    return [name for name in value if isinstance(name, str)] if isinstance(value, list) else []


def _string(value: object) -> str:
    return value if isinstance(value, str) else ""
