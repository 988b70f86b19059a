"""What evidence costs: characters an agent reads for a whole run, and milliseconds a hit, through `dragoman mcp`."""

from __future__ import annotations

import shutil
import statistics
import tempfile
from pathlib import Path
from typing import Any

from bench.agent import PROGRAMS, Agent, agent_in, home_with_daemon
from bench.claims import Claim

_ROUNDS = 3
_HITS = 2000
_MARK = "# here"
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
        stops.append(_by_stops_s(agent))
    own_s = statistics.median(idle)
    return statistics.median(stops) / _HITS * 1000, (statistics.median(written) - own_s) / _HITS * 1000


def _by_stops_s(agent: Agent) -> float:
    """A session that is stopped is asked at stops, where it can be left."""
    agent.call("set_breakpoint", file_path="squares.py", line_text="total = 0")
    stopped = agent.call("start_debugging", program="squares.py")
    agent.call("remove_breakpoint", clear_all=True)
    return _traced_s(agent, _HITS, session_id=stopped["session_id"])


def _traced_s(agent: Agent, hits: int, **subject: str) -> float:
    text = _MARK if hits > 1 else "return total"
    point = {"file_path": "squares.py", "line_text": text, "expressions": _SQUARES}
    answer = agent.call("trace", points=[point], **subject, **_WIDE)
    assert answer["hits"] == hits, answer["ended"]
    return agent.took_s
