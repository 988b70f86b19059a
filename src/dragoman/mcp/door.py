"""Where the pump's connection enters: role `mcp` of the daemon's socket. Imports nothing of the SDK, which is slow to
load and needs tens of megabytes: a daemon without MCP clients never pays for it."""

from __future__ import annotations

import logging
import os
from collections.abc import Awaitable, Callable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Protocol

import anyio.to_thread
from anyio.abc import ByteStream

from dragoman.access.links import Links
from dragoman.errors import DragomanError
from dragoman.events import Event
from dragoman.ids import new_id
from dragoman.tools import Caller, Toolbox
from dragoman.tools.readings import Readings
from dragoman.wire.control import Hello

log = logging.getLogger(__name__)

_TOLD_WITHIN_S = 2.0


class Record(Protocol):
    async def append(self, events: list[Event]) -> int: ...


@dataclass(frozen=True, slots=True)
class Door:
    toolbox: Toolbox
    record: Record
    links: Links
    version: str
    readings: Readings | None = None
    left: Callable[[str], None] = lambda _: None
    """Told the id of each caller that has gone."""

    def admit(self, hello: Hello) -> None:
        """Before the welcome, so that the pump can say it both to its client and to a person."""
        self.toolbox_of(_names(hello.about.get("tools")))

    async def __call__(self, hello: Hello, stream: ByteStream, rest: bytes) -> None:
        converse = await anyio.to_thread.run_sync(_load, self.toolbox)
        toolbox = self.toolbox_of(_names(hello.about.get("tools")))
        caller = caller_of(hello)
        with self.links.note("mcp"):
            try:
                await converse(self, toolbox, caller, stream, rest)
            finally:
                self.left(caller.id)

    def toolbox_of(self, sets: Sequence[str]) -> Toolbox:
        """What a client is shown that named its sets; all there is for one that named none."""
        return self.toolbox.of_sets(sets) if sets else self.toolbox

    async def tell(self, event: Event) -> None:
        """A journal that cannot take it is no reason to end a conversation; nor is the end, to leave it out."""
        try:
            with anyio.move_on_after(_TOLD_WITHIN_S, shield=True):
                await self.record.append([event])
        except DragomanError as error:
            log.warning("%s was not recorded: %s", event.kind, error)


def _load(toolbox: Toolbox) -> Callable[[Door, Toolbox, Caller, ByteStream, bytes], Awaitable[None]]:
    """In a worker thread: the event loop goes on meanwhile."""
    from dragoman.mcp.conversation import converse  # noqa: PLC0415

    toolbox.describe()
    return converse


def caller_of(hello: Hello) -> Caller:
    """Everything here came from another process: what is not of the right kind is left out."""
    about = hello.about
    environment = about.get("environment")
    workspace = _path(about, "workspace")
    return Caller(
        id=new_id("mcp"),
        workspace=workspace,
        cwd=_path(about, "cwd"),
        language="zh" if hello.language == "zh" else "en",
        environment=_texts(environment) if isinstance(environment, dict) else {},
        reconnected=about.get("reconnected") is True,
        trusts_workspace=_is_own(workspace),
    )


def _is_own(workspace: Path) -> bool:
    """The pump runs where its owner started the client. A folder of another user's is that one's word, not ours; nor is
    the root, which is where a path that could not be read leads."""
    try:
        return workspace != workspace.parent and workspace.stat().st_uid == os.getuid()
    except OSError:
        return False


def _path(about: Mapping[str, Any], name: str) -> Path:
    value = about.get(name)
    return Path(value) if isinstance(value, str) and value.startswith("/") and "\0" not in value else Path("/")


def _texts(values: Mapping[Any, Any]) -> dict[str, str]:
    return {name: value for name, value in values.items() if isinstance(name, str) and isinstance(value, str)}


def _names(value: object) -> list[str]:
    return [name for name in value if isinstance(name, str)] if isinstance(value, list) else []
