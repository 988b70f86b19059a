"""The demo on the page: its agent works with this daemon, in a folder of its own, and the page shows what it does.

The agent is a process, started like any other MCP client. One runs at a time. It ends with the page's request, at the
latest after `DEADLINE_S`.
"""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import tempfile
from collections.abc import AsyncGenerator
from dataclasses import dataclass, field
from pathlib import Path

import anyio
import anyio.abc
import anyio.to_thread
from starlette.requests import Request
from starlette.responses import Response

from dragoman.core.errors import ErrorSpec
from dragoman.core.localization import Language
from dragoman.servers.web.bodies import RequestBody, StreamedText, read_request
from dragoman.servers.web.errors import request_language

AGENT_NAME = "dragoman-demo"
"""The name under which the demo's agent connects."""
DEADLINE_S = 90.0
PACE_S = 1.2
"""How long the agent pauses after each step, so that a person can follow."""
_INTERRUPT_TIMEOUT_S = 5.0
_PREFIX = "dragoman-page-demo-"

_demo_runs = ErrorSpec("demo_runs", "The demo is running already.", "Wait until it has ended, or stop it.")


def is_demo_folder(folder: str) -> bool:
    return Path(folder).name.startswith(_PREFIX)


class _DemoRequest(RequestBody):
    pass


@dataclass(slots=True)
class DemoApi:
    """Owns the folder of the last demo. It stays until the next one or the daemon's end, so that the page can show the
    source of what happened.
    """

    _folder: tempfile.TemporaryDirectory[str] | None = field(default=None, init=False)
    _is_running: bool = field(default=False, init=False)

    async def run(self, request: Request) -> Response:
        """Run the demo. The response is what the agent does, a line of JSON for each thing."""
        await read_request(request, _DemoRequest)
        if self._is_running:
            raise _demo_runs()
        return StreamedText(self._lines(request_language(request)))

    def _new_folder(self) -> Path:
        if self._folder is not None:
            self._folder.cleanup()
        self._folder = tempfile.TemporaryDirectory(prefix=_PREFIX, ignore_cleanup_errors=True)
        return Path(self._folder.name).resolve()

    async def _lines(self, language: Language) -> AsyncGenerator[str, None]:
        if self._is_running:  # another request came first
            raise _demo_runs()
        self._is_running = True
        try:
            agent = await _start_agent(await anyio.to_thread.run_sync(self._new_folder), language)
            try:
                async for piece in _output(agent):
                    yield piece
            finally:
                await _end(agent)
        finally:
            self._is_running = False


async def _start_agent(folder: Path, language: Language) -> anyio.abc.Process:
    # -P keeps the working folder off the import path.
    command = [sys.executable, "-P", "-m", "dragoman.cli.page_demo", str(folder), str(PACE_S)]
    # If this daemon ends, the agent must not start another one.
    environment = {**os.environ, "DRAGOMAN_LANG": language, "DRAGOMAN_MCP_STARTS_DAEMON": "false"}
    return await anyio.open_process(
        command,
        stdin=subprocess.DEVNULL,
        stderr=subprocess.DEVNULL,
        env=environment,
        cwd=folder,
        start_new_session=True,
    )


async def _output(agent: anyio.abc.Process) -> AsyncGenerator[str, None]:
    """What it prints, until it exits or its time is over."""
    assert agent.stdout is not None
    deadline = anyio.current_time() + DEADLINE_S
    while True:
        with anyio.move_on_after(deadline - anyio.current_time()) as waiting:
            try:
                piece = await agent.stdout.receive()
            except anyio.EndOfStream:
                return
        if waiting.cancelled_caught:
            return
        yield piece.decode(errors="replace")


async def _end(agent: anyio.abc.Process) -> None:
    """Interrupt it, so that it ends its debug session; kill it if it does not exit."""
    with anyio.CancelScope(shield=True):
        if agent.returncode is None:
            agent.send_signal(signal.SIGINT)
            with anyio.move_on_after(_INTERRUPT_TIMEOUT_S):
                await agent.wait()
        if agent.returncode is None:
            agent.kill()
        await agent.aclose()
