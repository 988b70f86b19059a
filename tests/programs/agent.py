"""An agent at a real daemon, in the folder of a real project: MCP over stdio, and nothing else."""

from __future__ import annotations

import contextlib
import os
import re
import sys
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import psutil
from mcp import ClientSession
from mcp.client.stdio import StdioServerParameters, stdio_client

from tests.daemons import Cli, cli_with_home, eventually
from tests.peers import give_adapters

PLACE = (Path(__file__).parents[2] / ".peers" / "programs").resolve()
Answer = dict[str, Any]
_OURS = re.compile(r"^dragoman\.|\bfrom dragoman\.io\.processes\.fork_server\b")


@dataclass
class Agent:
    session: ClientSession
    cli: Cli
    folder: Path

    async def ask(self, tool: str, **arguments: Any) -> Answer:
        result = await self.session.call_tool(tool, arguments)
        assert isinstance(result.structured_content, dict), result
        return result.structured_content

    async def breakpoint(self, file: str, text: str) -> int:
        """At the line with this text, which is in the file once."""
        line = line_of(self.folder / file, text)
        await self.ask("set_breakpoint", file_path=file, line_number=line)
        return line

    async def ends(self) -> None:
        """Stops debugging; no process of the session is left."""
        await self.ask("stop_debugging")
        self.leaves_nothing()

    def leaves_nothing(self) -> None:
        """An answer does not wait for the last process to be gone."""
        eventually(lambda: not self.programs(), within_s=10)

    def programs(self) -> list[psutil.Process]:
        """What runs on behalf of this agent, apart from the daemon with its guard, and the pump."""
        found = []
        for process in psutil.process_iter():
            with contextlib.suppress(psutil.Error):
                is_ours = process.environ().get("DRAGOMAN_HOME") == str(self.cli.home)
                if is_ours and not any(_OURS.search(it) for it in process.cmdline()):
                    found.append(process)
        return found


def line_of(file: Path, text: str) -> int:
    (line,) = [at for at, it in enumerate(file.read_text().splitlines(), 1) if text in it]
    return line


@asynccontextmanager
async def agent_in(project: str, home: Path) -> AsyncIterator[Agent]:
    """Its Python is the one of the project: dragoman's own is never used for a program."""
    folder = PLACE / project
    assert folder.is_dir(), "run `python3 tools/programs.py` first"
    give_adapters(home)
    with cli_with_home(home) as cli:
        environment = {**cli.variables(), "PATH": f"{Path(sys.base_prefix) / 'bin'}:{os.environ['PATH']}"}
        environment.pop("VIRTUAL_ENV", None)
        arguments = ["-P", "-m", "dragoman.cli.main", "mcp", "--workspace", str(folder)]
        parameters = StdioServerParameters(command=sys.executable, args=arguments, env=environment, cwd=folder)
        async with stdio_client(parameters) as (reading, writing), ClientSession(reading, writing) as session:
            await session.initialize()
            yield Agent(session, cli, folder)


def values(stop: Answer) -> dict[str, str]:
    """The local variables of where it stopped."""
    return {it["name"]: it["value"] for it in stop["stop_event_data"]["top_frame_variables"]["variables"]}
