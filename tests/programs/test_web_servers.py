"""A breakpoint in a request handler of each web server, also where a reloader or a worker runs it."""

from __future__ import annotations

import json
import socket
import urllib.error
import urllib.request
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import anyio
import pytest

from tests.daemons import PATIENCE, eventually
from tests.programs.agent import Agent, agent_in, values

pytestmark = [pytest.mark.anyio, pytest.mark.timeout(int(120 * PATIENCE))]

CALL = "total = price(count)"


@dataclass(frozen=True)
class Server:
    program: str
    args: tuple[str, ...]
    file: str
    line: str = CALL
    hang: str = "/hang"


def _flask(*more: str) -> Server:
    return Server("flask", ("--app", "flask_shop", *more[:1], "run", "--port", "PORT", *more[1:]), "flask_shop.py")


def _django(*more: str) -> Server:
    return Server("manage.py", ("runserver", *more, "127.0.0.1:PORT"), "shop/views.py")


def _uvicorn(*more: str, program: str = "uvicorn") -> Server:
    line = "await asyncio.sleep(0)"
    return Server(program, ("fastapi_shop:app", "--port", "PORT", *more), "fastapi_shop.py", line)


def _gunicorn(*more: str) -> Server:
    line = "total = price(int("
    return Server(".venv/bin/gunicorn", ("--bind", "127.0.0.1:PORT", *more, "wsgi_shop:app"), "wsgi_shop.py", line)


SERVERS = {
    "flask": _flask(),
    "flask with its reloader": _flask("--debug"),
    "django": _django("--noreload"),
    "django with its reloader": _django(),
    "uvicorn": _uvicorn(),
    "uvicorn with two workers": _uvicorn("--workers", "2"),
    "uvicorn with its reloader": _uvicorn("--reload"),
    "gunicorn": _gunicorn("--workers", "2"),
    "gunicorn with threads": _gunicorn("--workers", "1", "--threads", "4"),
}
SERVED = pytest.mark.parametrize("server", SERVERS.values(), ids=SERVERS)


@asynccontextmanager
async def served(agent: Agent, server: Server) -> AsyncIterator[str]:
    """Started, and listening at this address."""
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        port = free.getsockname()[1]
    args = [it.replace("PORT", str(port)) for it in server.args]
    started = await agent.ask("start_debugging", program=server.program, args=args, wait=False)
    assert (started["status"], started["state"]) == ("success", "Running"), started
    await anyio.to_thread.run_sync(lambda: eventually(lambda: _listens(port), within_s=30))
    yield f"http://127.0.0.1:{port}"
    await agent.ends()


def _listens(port: int) -> bool:
    try:
        socket.create_connection(("127.0.0.1", port), 1).close()
    except OSError:
        return False
    return True


async def fetched(url: str) -> Any:
    """What it answers; None: it was ended before it could."""

    def fetch() -> Any:
        try:
            with urllib.request.urlopen(url, timeout=60 * PATIENCE) as answer:
                return json.load(answer)
        except (OSError, urllib.error.URLError):
            return None

    return await anyio.to_thread.run_sync(fetch, abandon_on_cancel=True)


@SERVED
async def test_a_request_stops_in_its_handler_and_is_answered_after_steps(server: Server, home: Path) -> None:
    async with agent_in("python", home) as agent:
        line = await agent.breakpoint(server.file, server.line)
        async with served(agent, server) as address:
            for count in (3, 4):
                answers: list[Any] = []
                async with anyio.create_task_group() as group:

                    async def ask(path: str = f"/price/{count}", answers: list[Any] = answers) -> None:
                        answers.append(await fetched(address + path))

                    group.start_soon(ask)
                    stop = await agent.ask("wait_for_stop", timeout_s=30 * PATIENCE)
                    assert (stop["status"], stop["stop_event_data"]["line"]) == ("stopped", line), stop
                    assert str(count) in (values(stop).get("count") or values(stop)["rest"]), stop
                    inside = await agent.ask("set_breakpoint", file_path="pricing.py", line_text="return total")
                    stop = await agent.ask("continue_debugging", timeout_s=30 * PATIENCE)
                    assert stop["stop_event_data"]["line"] == inside["breakpoint"]["line"], stop
                    assert (values(stop)["count"], values(stop)["total"]) == (str(count), str(7 * count))
                    stop = await agent.ask("step_execution", step_type="out", timeout_s=30 * PATIENCE)
                    assert stop["stop_event_data"]["source"]["path"].endswith(server.file), stop
                    evaluated = await agent.ask("evaluate_expression", expression="price.__name__")
                    assert evaluated["result"] == "'price'"
                    await agent.ask("remove_breakpoint", breakpoint_id=inside["breakpoint"]["id"])
                    await agent.ask("continue_debugging", wait=False)
                assert answers == [{"total": 7 * count}]


@SERVED
async def test_a_pause_shows_where_a_request_hangs_and_no_process_of_the_server_remains(
    server: Server, home: Path
) -> None:
    async with agent_in("python", home) as agent, anyio.create_task_group() as group:
        async with served(agent, server) as address:
            group.start_soon(fetched, f"{address}{server.hang}")
            with anyio.fail_after(30 * PATIENCE):
                while not (hung := _hung(await agent.ask("pause_debugging", timeout_s=5), server)):
                    await agent.ask("continue_debugging", wait=False)
            if server.file != "fastapi_shop.py":
                assert "deadlock" in hung, hung
        group.cancel_scope.cancel()


def _hung(paused: dict[str, Any], server: Server) -> str:
    """What is said of the thread or task that never goes on; empty as long as the request is not there yet."""
    told = json.dumps(paused.get("thread_dump") or paused)
    return told if "hang" in told or "deadlock" in told else ""
