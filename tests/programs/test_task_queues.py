"""Tasks of Celery in each kind of worker: a breakpoint in one, one that fails, and an end that leaves no process."""

from __future__ import annotations

import os
import subprocess
from pathlib import Path

import anyio
import pytest

from tests.daemons import PATIENCE
from tests.programs.agent import Agent, agent_in, values

pytestmark = [pytest.mark.anyio, pytest.mark.timeout(int(120 * PATIENCE))]

POOLS = {"prefork": ["--concurrency", "2"], "threads": ["--concurrency", "2"], "solo": []}


async def working(agent: Agent, queue: Path, pool: str) -> None:
    for name in ("queue", "control", "results"):
        (queue / name).mkdir()
    args = ["-A", "celery_shop", "worker", "--pool", pool, *POOLS[pool], "--without-mingle", "--without-gossip"]
    started = await agent.ask(
        "start_debugging", program="celery", args=args, env={"SHOP_QUEUE": str(queue)}, wait=False
    )
    assert (started["status"], started["state"]) == ("success", "Running"), started


async def send(agent: Agent, queue: Path, task: str, count: int) -> None:
    command = [str(agent.folder / ".venv/bin/python"), "send_task.py", task, str(count)]
    environment = {**os.environ, "SHOP_QUEUE": str(queue)}
    await anyio.to_thread.run_sync(
        lambda: subprocess.run(command, cwd=agent.folder, env=environment, check=True, timeout=60 * PATIENCE)
    )


@pytest.mark.parametrize("pool", POOLS)
async def test_a_breakpoint_in_a_task_stops_and_the_task_can_be_stepped(pool: str, home: Path, tmp_path: Path) -> None:
    async with agent_in("python", home) as agent:
        line = await agent.breakpoint("celery_shop.py", "total = price(count)")
        await working(agent, tmp_path, pool)
        await send(agent, tmp_path, "price_later", 3)
        stop = await agent.ask("wait_for_stop", timeout_s=50)
        assert (stop["status"], stop["stop_event_data"]["line"], values(stop)["count"]) == ("stopped", line, "3"), stop
        stop = await agent.ask("step_execution", step_type="into")
        assert stop["stop_event_data"]["source"]["path"].endswith("pricing.py")
        stop = await agent.ask("step_execution", step_type="out")
        stop = await agent.ask("step_execution", step_type="over")
        assert values(stop)["total"] == "21"
        await agent.ends()


async def test_a_failing_task_stops_at_the_line_that_raises(home: Path, tmp_path: Path) -> None:
    async with agent_in("python", home) as agent:
        await agent.ask("set_breakpoint", kind="exception", exception="raised", condition="ZeroDivisionError")
        await working(agent, tmp_path, "prefork")
        await send(agent, tmp_path, "fail", 3)
        stop = await agent.ask("wait_for_stop", timeout_s=50)
        assert stop["stop_event_data"]["reason"] == "exception", stop
        assert (values(stop)["count"], values(stop)["rest"]) == ("3", "0")
        await agent.ends()
