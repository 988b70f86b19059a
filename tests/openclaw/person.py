"""Our real client, as the daemon composes it, on a real gateway."""

from __future__ import annotations

import stat
from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import anyio
import msgspec

from dragoman.canvas.service import CanvasService
from dragoman.chat.gateway_client.remote_run import RemoteRun
from dragoman.core.paths import Paths
from dragoman.core.settings.schema import Settings
from dragoman.daemon.upstream_gateway import UpstreamGateway, open_upstream_gateway
from dragoman.protocols.gateway.chat_events import ChatEvent, ChatTextDelta, Done
from tests.canvas.canvas_fixture import studio
from tests.daemons import PATIENCE
from tests.openclaw.lab import TOKEN, Lab

WITHIN_S = 90.0 * PATIENCE


@dataclass
class Person:
    lab: Lab
    link: UpstreamGateway
    canvas: CanvasService

    async def until(self, condition: Callable[[], bool], within_s: float = WITHIN_S) -> None:
        with anyio.fail_after(within_s):
            while not condition():  # noqa: ASYNC110  what is waited for is told in many ways
                await anyio.sleep(0.02)

    async def ask(self, method: str, params: Any) -> Any:
        answer = await self.link.client().request(method, params)
        assert isinstance(answer, msgspec.Raw)
        return msgspec.json.decode(answer)

    def talk(self, session: str, text: str) -> RemoteRun:
        return RemoteRun(self.link.client(), self.link.router, session, text)

    async def complete_run(self, session: str, text: str) -> tuple[list[ChatEvent], str]:
        """Every event of the run, and the text as a chat shows it at the end."""
        with anyio.fail_after(WITHIN_S):
            events = [event async for event in self.talk(session, text).events()]
        return events, shown(events)


def shown(events: list[ChatEvent]) -> str:
    segments: list[str] = []
    for event in events:
        if isinstance(event, ChatTextDelta):
            if event.replace:
                del segments[event.segment :]
            segments += [""] * (event.segment + 1 - len(segments))
            segments[event.segment] += event.content
    return "".join(segments)


def ended(events: list[ChatEvent]) -> Done:
    (end,) = [event for event in events if isinstance(event, Done)]
    assert events[-1] is end
    return end


@asynccontextmanager
async def person(lab: Lab, folder: Path) -> AsyncIterator[Person]:
    """With the folder of before, the device of before."""
    secret = _token_file(folder)
    paths = Paths(config=folder / "config", state=folder / "state", runtime=folder / "runtime")
    settings = Settings(gateway_address=lab.url, gateway_token_file=str(secret), gateway_unlimited=True)
    async with (
        studio(folder / "canvas") as (canvas, journal),
        open_upstream_gateway(settings, paths, canvas, journal) as link,
    ):
        it = Person(lab, link, canvas)
        await link.connect("")
        await it.until(lambda: link.gateway_status.state == "connected")
        yield it
        link.disconnect()
        await it.until(lambda: link.gateway_status.state == "disconnected")


def _token_file(folder: Path) -> Path:
    folder.mkdir(parents=True, exist_ok=True)
    secret = folder / "token"
    secret.touch(stat.S_IRUSR | stat.S_IWUSR)
    secret.write_text(TOKEN)
    return secret
