"""The whole way of an agent through a bug, by each transport in each era, and by all of them at once."""

from __future__ import annotations

import os
import sys
from collections.abc import AsyncIterator, Iterator
from contextlib import AbstractAsyncContextManager, asynccontextmanager
from pathlib import Path
from typing import Any

import anyio
import pytest
from mcp import ClientSession
from mcp.client.client import Client
from mcp.client.stdio import StdioServerParameters, stdio_client

from tests.daemons import PATIENCE, Cli, call, cli_with_home
from tests.servers.mcp.conftest import ANY_PORT
from tests.servers.mcp.http_clients import MODERN, asker_of, session_of
from tests.sizes import sized

pytestmark = [pytest.mark.anyio, pytest.mark.timeout(180)]

PROGRAM = """\
def scaled(values, factor):
    out = []
    for value in values:
        out.append(value * factor)
        factor = factor + 1
    return out


print(scaled([1, 2, 3], 10))
"""
LOOP = "import time\nprint('started', flush=True)\nwhile True:\n    time.sleep(0.01)\n"


@pytest.fixture(scope="module")
def running(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Cli]:
    with cli_with_home(tmp_path_factory.mktemp("h"), ANY_PORT) as cli:
        assert cli("up").returncode == 0
        yield cli


@pytest.fixture
def workspace(running: Cli, tmp_path: Path) -> Path:
    """Trusted, since over HTTP nobody has started a client in it."""
    (tmp_path / "scale.py").write_text(PROGRAM)
    (tmp_path / "loop.py").write_text(LOOP)
    trust(running, tmp_path)
    return tmp_path


def trust(cli: Cli, folder: Path) -> None:
    call(cli.paths, "trust_add", {"folder": str(folder)})


def _parameters(cli: Cli, workspace: str) -> StdioServerParameters:
    """Its Python is the one behind this environment: dragoman's own is never used for a program."""
    variables = {**cli.variables(), "PATH": f"{Path(sys.base_prefix) / 'bin'}:{os.environ['PATH']}"}
    variables.pop("VIRTUAL_ENV", None)
    command, *rest = cli.command("mcp", "--workspace", workspace)
    return StdioServerParameters(command=command, args=rest, env=variables)


@asynccontextmanager
async def _piped_session(cli: Cli, workspace: str) -> AsyncIterator[ClientSession]:
    async with stdio_client(_parameters(cli, workspace)) as (read, write), ClientSession(read, write) as session:
        await session.initialize()
        yield session


@asynccontextmanager
async def _piped_asker(cli: Cli, workspace: str) -> AsyncIterator[Client]:
    async with Client(stdio_client(_parameters(cli, workspace)), mode=MODERN) as client:
        yield client


WAYS: dict[str, Any] = {
    "stdio with a handshake": _piped_session,
    "stdio without": _piped_asker,
    "HTTP with a handshake": session_of,
    "HTTP without": asker_of,
}


def agent_by(way: str, cli: Cli, workspace: Path) -> AbstractAsyncContextManager[Any]:
    return WAYS[way](cli, workspace=str(workspace))  # type: ignore[no-any-return]


async def asked(agent: Any, tool: str, **arguments: Any) -> dict[str, Any]:
    result = await agent.call_tool(tool, arguments)
    assert isinstance(result.structured_content, dict), result
    return result.structured_content


def locals_of(stopped: dict[str, Any]) -> dict[str, str]:
    return {it["name"]: it["value"] for it in stopped["stop_event_data"]["top_frame_variables"]["variables"]}


async def find_the_bug(agent: Any) -> list[str]:
    """A condition, a stop, steps, an evaluation, the end; the factors that the loop really used."""
    await asked(agent, "set_breakpoint", file_path="scale.py", line_number=4, condition="value > 1")
    stopped = await asked(agent, "start_debugging", program="scale.py")
    assert stopped["status"] == "stopped", stopped
    session_id = stopped["session_id"]
    seen = [locals_of(stopped)["factor"]]
    stepped = await asked(agent, "step_execution", step_type="over", session_id=session_id)
    assert (stepped["status"], stepped["stop_event_data"]["line"]) == ("stopped", 5)
    value = await asked(agent, "evaluate_expression", expression="out[-1] / value", session_id=session_id)
    assert value["result"] == "11.0"
    again = await asked(agent, "continue_debugging", session_id=session_id)
    seen.append(locals_of(again)["factor"])
    ended = await asked(agent, "continue_debugging", session_id=session_id)
    assert (ended["status"], ended["exit_code"]) == ("completed", 0)
    return seen


async def test_a_whole_debug_session_over_every_transport_at_once(running: Cli, tmp_path: Path) -> None:
    """And by two without a handshake over HTTP, who have nothing but their folders to be told apart by."""
    ways = [*WAYS, *sized(brief=["HTTP without"], soak=[*WAYS])]
    async with anyio.create_task_group() as group:
        for number, way in enumerate(ways):
            folder = tmp_path / str(number)
            folder.mkdir()
            (folder / "scale.py").write_text(PROGRAM)
            trust(running, folder)
            group.start_soon(require_the_whole_way, way, running, folder)


async def require_the_whole_way(way: str, running: Cli, workspace: Path) -> None:
    async with agent_by(way, running, workspace) as agent:
        assert await find_the_bug(agent) == ["11", "12"], way
        (session,) = (await asked(agent, "list_sessions"))["sessions"]
        assert session["state"] == "Terminated"
        about = f"dragoman://session/{session['session_id']}"
        assert (await agent.read_resource(f"{about}/output")).contents[0].text == "[10, 22, 36]\n"
        with anyio.fail_after(10 * PATIENCE):  # the record is written beside the session, a moment later
            while "debug.ended" not in (entries := (await agent.read_resource(f"{about}/journal")).contents[0].text):  # noqa: ASYNC110
                await anyio.sleep(0.05)
        assert "debug.started" in entries


async def test_two_agents_in_one_workspace_are_distinguished_by_their_sessions(running: Cli, workspace: Path) -> None:
    async with session_of(running, workspace=str(workspace)) as one, asker_of(running, workspace=str(workspace)) as two:
        await asked(one, "set_breakpoint", file_path="scale.py", line_number=6)
        first = await asked(one, "start_debugging", program="scale.py")
        second = await asked(two, "start_debugging", program="scale.py")
        assert first["session_id"] != second["session_id"]
        for agent, started in ((one, first), (two, second)):
            ended = await asked(agent, "continue_debugging")
            assert (ended["session_id"], ended["status"]) == (started["session_id"], "completed")


@pytest.mark.parametrize("way", ["HTTP with a handshake", "HTTP without"])
async def test_over_http_nothing_of_a_folder_runs_before_somebody_trusts_it(
    running: Cli, tmp_path: Path, way: str
) -> None:
    (tmp_path / "touch.py").write_text("open('ran', 'w').close()\n")
    async with agent_by(way, running, tmp_path) as agent:
        refused = await asked(agent, "start_debugging", program="touch.py")
        assert (refused["status"], refused["code"]) == ("error", "needs_trust")
        assert not (tmp_path / "ran").exists()
        trust(running, tmp_path)
        assert (await asked(agent, "start_debugging", program="touch.py"))["status"] == "completed"
        assert (tmp_path / "ran").exists()


async def test_a_program_of_an_http_client_gets_a_login_like_environment(running: Cli, workspace: Path) -> None:
    (workspace / "env.py").write_text("import os\nprint(*os.environ)\nprint(os.environ['PATH'])\n")
    async with session_of(running, workspace=str(workspace)) as agent:
        await asked(agent, "start_debugging", program="env.py")
        names, path = (await asked(agent, "get_output"))["output"].splitlines()[:2]
    assert {"HOME", "LANG", "PATH", "USER"} <= set(names.split())
    assert not [name for name in names.split() if name.startswith("DRAGOMAN") or name == "VIRTUAL_ENV"]
    assert "/usr/bin" in path.split(":")
    assert str(Path(sys.prefix) / "bin") not in path.split(":")


async def test_progress_comes_as_events_while_a_call_waits(running: Cli, workspace: Path) -> None:
    """In both eras beside each other: a call is not spoken of before it has waited for ten seconds."""
    async with anyio.create_task_group() as group:
        for way in ("HTTP with a handshake", "HTTP without"):
            group.start_soon(require_progress, way, running, workspace)


async def require_progress(way: str, running: Cli, workspace: Path) -> None:
    received: list[str] = []

    async def receive(_: float, __: float | None, message: str | None) -> None:
        received.append(message or "")

    async with agent_by(way, running, workspace) as agent:
        result = await agent.call_tool(
            "start_debugging", {"program": "loop.py", "timeout_s": 11}, progress_callback=receive
        )
        assert result.structured_content["status"] == "timeout"
        await asked(agent, "stop_debugging", session_id=result.structured_content["session_id"])
    assert received[0].startswith("start_debugging waits for debug-"), way
