"""The product in one test: an agent with nothing but MCP finds the bug of the example, and nothing outlives it."""

from __future__ import annotations

import os
import sys
from collections.abc import AsyncIterator, Iterator
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any

import pytest
from mcp import ClientSession
from mcp.client.stdio import StdioServerParameters, stdio_client

from tests.daemons import Cli, cli_with_home, eventually

pytestmark = [pytest.mark.anyio, pytest.mark.timeout(120)]

EXAMPLES = Path(__file__).parents[2] / "examples"
LINE = "    return round(price * (1 - rate), 2)"


@pytest.fixture
def cli(tmp_path: Path) -> Iterator[Cli]:
    with cli_with_home(tmp_path / "home") as cli:
        yield cli


@asynccontextmanager
async def agent_in(cli: Cli) -> AsyncIterator[ClientSession]:
    """Its Python is the one behind this environment: dragoman's own is never used for a program."""
    path = f"{Path(sys.base_prefix) / 'bin'}:{os.environ['PATH']}"
    environment = {**cli.variables(), "PATH": path}
    environment.pop("VIRTUAL_ENV", None)
    arguments = ["-P", "-m", "dragoman.cli.main", "mcp", "--workspace", str(EXAMPLES)]
    parameters = StdioServerParameters(command=sys.executable, args=arguments, env=environment)
    async with stdio_client(parameters) as (reading, writing), ClientSession(reading, writing) as session:
        await session.initialize()
        yield session


async def asked(agent: ClientSession, tool: str, **arguments: Any) -> dict[str, Any]:
    result = await agent.call_tool(tool, arguments)
    assert isinstance(result.structured_content, dict), result
    return result.structured_content


@pytest.mark.requirement("foundation:server:mcp", "debug:configurations:tool", "debug:start:launch")
async def test_the_wrong_total_is_traced_to_the_list_that_all_calls_share(cli: Cli) -> None:
    async with agent_in(cli) as agent:
        listed = await asked(agent, "get_debugger_configurations")
        assert listed["configurations"][0]["name"] == "orders"
        line = (EXAMPLES / "orders.py").read_text().splitlines().index(LINE) + 1
        await asked(agent, "set_breakpoint", file_path="orders.py", line_number=line, condition="not codes")

        stopped = await asked(agent, "start_debugging", configuration_name="orders")
        assert stopped["status"] == "stopped"
        stop = stopped["stop_event_data"]
        values = {it["name"]: it["value"] for it in stop["top_frame_variables"]["variables"]}
        assert (stop["line"], values["codes"], values["rate"]) == (line, "[]", "0.1")
        shared = await asked(agent, "evaluate_expression", expression="collect_discounts.__defaults__")
        assert shared["result"] == "([0.1],)"
        assert [life["kind"] for life in cli.status()["sessions"]] == ["debug"]

        ended = await asked(agent, "continue_debugging")
        assert (ended["status"], ended["exit_code"]) == ("completed", 0)
        late = await asked(agent, "step_execution", step_type="over")
        assert (late["status"], late["code"]) == ("error", "no_session")


async def test_breakpoints_outlive_the_daemon_and_a_killed_daemon_leaves_no_program(cli: Cli, tmp_path: Path) -> None:
    async with agent_in(cli) as agent:
        await asked(agent, "set_breakpoint", file_path="orders.py", line_number=21)
        stopped = await asked(agent, "start_debugging", program="orders.py")
        assert stopped["status"] == "stopped"
        cli.kill()
        eventually(lambda: not _programs(cli))
        kept = await asked(agent, "get_breakpoints")
        assert [it["line"] for it in kept["breakpoints"]] == [21]


def _programs(cli: Cli) -> list[int]:
    """Whatever still runs with this home in its environment, but for the pump and the daemon."""
    import psutil

    found = []
    for process in psutil.process_iter():
        try:
            words = " ".join(process.cmdline())
            if process.environ().get("DRAGOMAN_HOME") == str(cli.home) and "orders.py" in words:
                found.append(process.pid)
        except psutil.Error:
            continue
    return found
