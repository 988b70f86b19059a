"""What each agent used, while it is connected and afterwards."""

from __future__ import annotations

from typing import Any

from tests.daemons import eventually
from tests.page.agent import Agent
from tests.servers.target_daemon import TargetDaemon


def agents(victim: TargetDaemon, name: str) -> list[dict[str, Any]]:
    return [it for it in victim.ask_page("/api/agents").json()["agents"] if it["client"] == name]


def test_an_agents_calls_and_the_characters_it_was_sent_are_counted(victim: TargetDaemon) -> None:
    agent = Agent.at(victim, name="counted")
    texts = [agent.wire.call("list_sessions").messages[-1]["result"]["content"][0]["text"] for _ in range(2)]
    (found,) = eventually(lambda: agents(victim, "counted"))
    assert (found["is_connected"], found["ended_ns"]) == (True, None)
    assert (found["calls"], found["characters"]) == (2, sum(map(len, texts)))


def test_what_it_used_is_kept_when_it_disconnects(victim: TargetDaemon) -> None:
    agent = Agent.at(victim, name="leaving")
    agent.wire.call("list_sessions")
    agent.wire.ask("DELETE")
    (found,) = eventually(lambda: [it for it in agents(victim, "leaving") if it["ended_ns"]])
    assert (found["is_connected"], found["calls"]) == (False, 1)
    assert found["characters"] > 0
    assert found["ended_ns"] >= found["connected_ns"]
