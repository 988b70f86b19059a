"""What a step costs on another machine: through a real sshd, over a link that is 0, 20 and 100 ms long and back.

The far daemon is the same as the near one, on this machine: the difference is the link alone. Steps go in turn to an
agent of `dragoman mcp` and to one of `dragoman mcp --on`.
"""

from __future__ import annotations

import statistics
import tempfile
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from pathlib import Path

from bench.agent import Agent, agent_in
from bench.claims import Claim
from tests.daemons import Cli
from tests.support.ssh_machine import SshMachine, ssh_machine

ROUND_TRIPS_MS = (0, 20, 100)
STEPS = 60
_MORE_MS = 3.0
_WARM_UPS = 10
_PROGRAM = "total = 0\nwhile True:\n    total += 1\n    total += 2\n    total += 3\n"


class Stepper:
    """A session that is stopped in an endless loop."""

    def __init__(self, agent: Agent) -> None:
        self.agent = agent
        agent.call("set_breakpoint", file_path="app.py", line_number=3)
        self._session = str(agent.call("start_debugging", program="app.py")["session_id"])
        agent.call("remove_breakpoint", clear_all=True)
        for _ in range(_WARM_UPS):
            self.step_ms()

    def step_ms(self) -> float:
        self.agent.call("step_execution", step_type="over", session_id=self._session)
        return self.agent.took_s * 1000

    def end(self) -> None:
        self.agent.call("stop_debugging", session_id=self._session)


def run() -> list[Claim]:
    with tempfile.TemporaryDirectory(prefix="bench") as folder, ssh_machine(Path(folder) / "m") as machine:
        (machine.project / "app.py").write_text(_PROGRAM)
        there = machine.there
        assert there("up", cwd=machine.far).returncode == 0
        assert there("trust", str(machine.project)).returncode == 0
        with ExitStack() as stack:
            near = stack.enter_context(agent_in(there.variables(), machine.project))
            stepper = Stepper(near)
            return [claim for delay in ROUND_TRIPS_MS for claim in _measured(machine, stepper, delay)]


def _measured(machine: SshMachine, near: Stepper, delay_ms: int) -> list[Claim]:
    with _far(machine, delay_ms) as agent:
        far = Stepper(agent)
        pairs = [(near.step_ms(), far.step_ms()) for _ in range(STEPS)]
        pings = [(near.agent.ping_s() * 1000, agent.ping_s() * 1000) for _ in range(STEPS)]
        far.end()
    step, ping = (_more_ms(it) for it in (pairs, pings))
    name, goal = f"{delay_ms} ms round trip", delay_ms + _MORE_MS
    return [
        Claim(f"{name}: a step, more than a local step", step, "ms", goal, "lower"),
        Claim(f"{name}: a ping, more than a local ping", ping, "ms", goal, "lower"),
    ]


def _more_ms(pairs: list[tuple[float, float]]) -> float:
    return statistics.median(far for _, far in pairs) - statistics.median(near for near, _ in pairs)


@contextmanager
def _far(machine: SshMachine, delay_ms: int) -> Iterator[Agent]:
    target = machine.link(f"d{delay_ms}", "--round-trip-ms", str(delay_ms)) if delay_ms else machine.name
    near = Cli(machine.folder / "n", machine.variables())
    with agent_in(near.variables(), machine.project, "--on", target) as agent:
        yield agent
