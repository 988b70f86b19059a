"""The debug tools as an MCP client sees them: the object in full, errors marked, progress while it waits."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import anyio
import pytest
from mcp import Client

from dragoman.servers.mcp.server import build_server
from tests.tools.tool_fixture import Bench, opened

pytestmark = pytest.mark.anyio


def client_of(bench: Bench) -> Client:
    return Client(build_server(bench.toolbox, bench.caller, "1.0"))


async def test_an_error_is_marked_and_is_the_documented_object(tmp_path: Path) -> None:
    async with opened(tmp_path) as bench, client_of(bench) as client:
        refused = await client.call_tool("continue_debugging", {})
        wrong = await client.call_tool("set_breakpoint", {"file_path": "app.py", "surely_not": 3})
    for result, code in ((refused, "no_session"), (wrong, "bad_arguments")):
        assert result.is_error
        assert result.structured_content is not None
        assert (result.structured_content["status"], result.structured_content["code"]) == ("error", code)
        assert result.structured_content["message"]


async def test_a_session_from_the_first_stop_to_the_end_keeps_every_schema(tmp_path: Path) -> None:
    async with opened(tmp_path) as bench, client_of(bench) as client:
        bench.adapter.when("configurationDone", bench.adapter.stop)
        bench.adapter.when("continue", bench.adapter.die)
        await client.list_tools()
        calls: list[tuple[str, dict[str, Any], str]] = [
            ("set_breakpoint", {"file_path": "app.py", "line_number": 5}, "success"),
            ("start_debugging", {"program": "app.py"}, "stopped"),
            ("get_scopes", {}, "success"),
            ("evaluate_expression", {"expression": "n"}, "success"),
            ("continue_debugging", {}, "completed"),
            ("list_sessions", {}, "success"),
        ]
        for name, arguments, status in calls:
            result = await client.call_tool(name, arguments)
            assert not result.is_error
            assert result.structured_content is not None
            assert result.structured_content["status"] == status


async def test_progress_reaches_a_client_that_asks_for_it(tmp_path: Path) -> None:
    received: list[str] = []

    async def receive(progress: float, total: float | None, message: str | None) -> None:
        assert total is not None
        assert progress < total
        received.append(message or "")
        bench.adapter.stop()

    async with opened(tmp_path, every_s=0.001) as bench, client_of(bench) as client:
        with anyio.fail_after(10):
            result = await client.call_tool("start_debugging", {"program": "app.py"}, progress_callback=receive)
    assert result.structured_content is not None
    assert result.structured_content["status"] == "stopped"
    assert received[0].startswith("start_debugging waits for debug-")
