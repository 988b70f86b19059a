"""What evidence costs: characters an agent reads for a whole run, and milliseconds a hit, through `dragoman mcp`."""

from __future__ import annotations

import os
import shutil
import statistics
import tempfile
import time
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any

import anyio
import msgspec

from bench.agent import PROGRAMS, Agent, agent_in, home_with_daemon
from bench.claims import Claim
from dragoman.core.clock import SystemClock
from dragoman.debug.backends.starter import AdapterStarter
from dragoman.debug.evidence.run import EvidenceService, EvidenceSource
from dragoman.debug.evidence.trace import run_trace
from dragoman.debug.evidence.tracepoints import TraceLimits, Tracepoint
from dragoman.debug.model import LaunchRequest
from dragoman.debug.service import DebugService
from dragoman.io.processes.supervisor_pool import SupervisorPool
from dragoman.journal import Journal
from dragoman.workspace.breakpoints import STORE, BreakpointRegistry
from dragoman.workspace.caller import Caller

_ROUNDS = 3
_HITS = 2000
_MARK = "# here"
_LINE = "        total -= odd and len(name)  # here"
_BILL = ["i", "price", "discount", "total", "count"]
_SQUARES = ["i", "square", "total", "odd", "name"]
_WIDE: dict[str, Any] = {"max_hits": 5000, "max_chars": 200_000, "timeout_s": 300}


def run() -> list[Claim]:
    with tempfile.TemporaryDirectory(prefix="bench") as folder, home_with_daemon() as environment:
        workspace = Path(shutil.copytree(PROGRAMS, f"{folder}/project"))
        with agent_in(environment, workspace) as agent:
            calls, characters = _bill(agent)
            by_stops, written = _hit_ms(agent)
    return [
        Claim("calls: five values, twelve passes, the failing assertion", calls, "calls", 1, "lower"),
        Claim("characters of that answer", characters, "characters", 1200, "lower"),
        Claim("trace of 2,000 hits x 5 expressions in Python, by stops", by_stops, "ms a hit", 3, "lower"),
        Claim("the same where the program says its rows by itself", written, "ms a hit", 1.5, "lower"),
    ]


def _bill(agent: Agent) -> tuple[int, int]:
    calls, characters = agent.calls, agent.text_bytes
    point = {"line_text": _MARK, "expressions": _BILL}
    answer = agent.call("trace", program="bill.py", points=[point])
    assert answer["hits"] == 12, answer
    assert answer["ended"]["exception"]["message"] == "total is 679.5", answer
    return agent.calls - calls, agent.text_bytes - characters


def _hit_ms(agent: Agent) -> tuple[float, float]:
    """Less what a run costs in which nothing is hit."""
    idle, written, stops = [], [], []
    for _ in range(_ROUNDS):
        idle.append(_traced_s(agent, 1, program="squares.py"))
        written.append(_traced_s(agent, _HITS, program="squares.py"))
        stops.append(anyio.run(_by_stops_s, agent.workspace))
    own_s = statistics.median(idle)
    return statistics.median(stops) / _HITS * 1000, (statistics.median(written) - own_s) / _HITS * 1000


async def _by_stops_s(workspace: Path) -> float:
    """In this process: an agent cannot ask for it, where the program says its rows by itself."""
    caller = Caller("bench", workspace, workspace, environment=dict(os.environ), trusts_workspace=True)
    subject = EvidenceSource(launch_request=LaunchRequest(program="squares.py"))
    limits = TraceLimits(_HITS + 1, 1_000_000, 300.0)
    line = 1 + (workspace / "squares.py").read_text().splitlines().index(_LINE)
    point = Tracepoint(path=str(workspace / "squares.py"), line=line, expressions=tuple(_SQUARES))
    async with evidence_in(workspace) as evidence:
        idle = await _seconds(evidence, caller, subject, msgspec.structs.replace(point, line=line + 1), limits)
        return await _seconds(evidence, caller, subject, point, limits) - idle


async def _seconds(
    evidence: EvidenceService, caller: Caller, subject: EvidenceSource, point: Tracepoint, limits: TraceLimits
) -> float:
    begun = time.perf_counter()
    trace = await run_trace(evidence, caller, subject, [point], limits, by_stops=True)
    assert trace.end.how == "exited", trace.end
    return time.perf_counter() - begun


@asynccontextmanager
async def evidence_in(workspace: Path) -> AsyncIterator[EvidenceService]:
    clock = SystemClock()
    async with (
        Journal.open(workspace / "journal", stores=[STORE]) as journal,
        SupervisorPool() as supervisors,
        anyio.create_task_group() as group,
    ):
        book = BreakpointRegistry(journal, clock)
        await book.load()
        yield EvidenceService(DebugService(group, book, AdapterStarter(supervisors, group), journal, clock), clock)
        group.cancel_scope.cancel("measured")


def _traced_s(agent: Agent, hits: int, **subject: str) -> float:
    text = _MARK if hits > 1 else "return total"
    point = {"file_path": "squares.py", "line_text": text, "expressions": _SQUARES}
    answer = agent.call("trace", points=[point], **subject, **_WIDE)
    assert answer["hits"] == hits, answer["ended"]
    return agent.took_s
