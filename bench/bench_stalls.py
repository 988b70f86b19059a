"""Small-packet delay anywhere: a reply that waits for a delayed acknowledgement takes 38 to 46 ms, whatever it says.

Each way that a request can take is measured request by request, and the share of those that took so long is told. A
busy machine makes requests slow, but spreads them: what the neighbours of the window hold is no stall. That stock
debugpy has them shows that they would be seen.
"""

from __future__ import annotations

import http.client
import itertools
import json
import os
import shutil
import subprocess
import tempfile
import time
from collections.abc import Callable, Iterator
from contextlib import closing
from pathlib import Path
from typing import Any
from urllib.parse import urlsplit

from bench.agent import INTRODUCTION, PROGRAMS, Agent, agent_in, home_with_daemon
from bench.claims import Claim
from bench.raw_dap import js_debug, stock_python
from dragoman.core.paths import find_paths
from dragoman.debug.backends.adapters.discovery import find_adapter
from dragoman.io.drivers.control_client import ControlClient

_FROM_MS, _TO_MS = 38.0, 46.0
_WIDTH_MS = _TO_MS - _FROM_MS
_REQUESTS = 100
_STEPS = 40
_MOST = 0.05
# Program, the adapter that debugs it, and what builds or runs it.
_OTHERS = (("rounds.go", "go", "go"), ("rounds.c", "lldb", "cc"), ("rounds.rb", "ruby", "ruby"))
_ids = itertools.count()


def run() -> list[Claim]:
    with tempfile.TemporaryDirectory(prefix="bench") as folder, home_with_daemon() as environment:
        workspace = Path(shutil.copytree(PROGRAMS, f"{folder}/project"))
        with agent_in(environment, workspace) as agent:
            measured = {
                "over MCP stdio": [agent.ping_s() for _ in range(_REQUESTS)],
                "over the control socket": _control(environment),
                "over HTTP": _http(agent, environment),
                **{f"of {name}": _debugged(agent, name) for name in _programs(workspace)},
            }
        stock = _stock(workspace)
    claims = [Claim(f"stalls {way}", 100 * stalled(took), "%", 100 * _MOST, "lower") for way, took in measured.items()]
    return [*claims, Claim("stalls of stock debugpy, which must be seen", 100 * stalled(stock), "%", 25, "higher")]


def stalled(took_s: list[float]) -> float:
    """The share of requests in the window that a spread of slow ones does not explain."""
    inside = _between(took_s, _FROM_MS, _TO_MS)
    around = _between(took_s, _FROM_MS - _WIDTH_MS, _FROM_MS) + _between(took_s, _TO_MS, _TO_MS + _WIDTH_MS)
    return max(0.0, inside - around / 2) / len(took_s)


def _between(took_s: list[float], low_ms: float, high_ms: float) -> int:
    return sum(low_ms <= took * 1000 < high_ms for took in took_s)


def _timed(work: Callable[[], object]) -> float:
    begun = time.perf_counter()
    work()
    return time.perf_counter() - begun


def _control(environment: dict[str, str]) -> list[float]:
    with ControlClient.open(find_paths(environment)) as link:
        return [_timed(lambda: link.call("status", {})) for _ in range(_REQUESTS)]


def _http(agent: Agent, environment: dict[str, str]) -> list[float]:
    """On one connection, as a client keeps it."""
    address = urlsplit(agent.call("dragoman_status")["address"])
    token = find_paths(environment).token_file("mcp").read_text().strip()
    headers = {
        "Authorization": f"Bearer {token}",
        "Accept": "application/json, text/event-stream",
        "Content-Type": "application/json",
    }
    with closing(http.client.HTTPConnection(str(address.hostname), address.port or 0, timeout=30)) as connection:
        headers["Mcp-Session-Id"] = _posted(connection, headers, "initialize", INTRODUCTION) or ""
        return [_timed(lambda: _posted(connection, headers, "ping", {})) for _ in range(_REQUESTS)]


def _posted(
    connection: http.client.HTTPConnection, headers: dict[str, str], method: str, params: dict[str, Any]
) -> str | None:
    """The session that the answer names."""
    body = json.dumps({"jsonrpc": "2.0", "id": next(_ids), "method": method, "params": params})
    connection.request("POST", "/mcp", body, headers)
    answer = connection.getresponse()
    result = answer.read()
    assert b'"result"' in result, result
    return answer.headers.get("Mcp-Session-Id")


def _programs(workspace: Path) -> Iterator[str]:
    """Those whose debugger is here."""
    yield "orders.py"
    if js_debug() is not None:
        yield "orders.js"
    for program, adapter, tool in _OTHERS:
        if find_adapter(adapter, os.environ) is not None and shutil.which(tool):
            yield program


def _debugged(agent: Agent, program: str) -> list[float]:
    """Steps and evaluations: a step is four requests to the adapter, an evaluation is one."""
    if program.endswith(".c"):
        subprocess.run(["cc", "-g", "-O0", program, "-o", Path(program).stem], cwd=agent.workspace, check=True)
    agent.call("set_breakpoint", file_path=program, line_text="doubled = ")
    session = agent.call("start_debugging", program=program)["session_id"]
    took = []
    for _ in range(_STEPS):
        agent.call("evaluate_expression", expression="result", session_id=session)
        took.append(agent.took_s)
        agent.call("step_execution", step_type="over", session_id=session)
        took.append(agent.took_s)
    agent.call("stop_debugging", session_id=session)
    return took


def _stock(workspace: Path) -> list[float]:
    with stock_python(workspace / "orders.py", 42) as stock:
        for _ in range(_STEPS):
            stock.step()
    return stock.looks_s
