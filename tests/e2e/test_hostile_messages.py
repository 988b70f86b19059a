"""Messages built to harm whoever reads them, at the real `dragoman mcp`: refused, cheap, and the next one is served."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from tests.daemons import Cli
from tests.hostile import Agent, agent_with, hostile_home, within_bounds

pytestmark = pytest.mark.timeout(120)

DEEP = 100_000
MILLION = 1_000_000


@pytest.fixture(scope="module")
def cli(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Cli]:
    with hostile_home(tmp_path_factory.mktemp("h")) as cli:
        yield cli


@pytest.fixture
def agent(cli: Cli, tmp_path: Path) -> Iterator[Agent]:
    with agent_with(cli, tmp_path / "project", "python") as agent:
        yield agent


def called(arguments: bytes, id: bytes = b'"x"', tool: bytes = b"start_debugging") -> bytes:
    head = b'{"jsonrpc":"2.0","id":%b,"method":"tools/call","params":{"name":"%b","arguments":' % (id, tool)
    return head + arguments + b"}}"


def keys() -> bytes:
    return b"{" + b",".join(b'"k%d":0' % number for number in range(MILLION)) + b"}"


def nested(begin: bytes, end: bytes, core: bytes = b"") -> bytes:
    return begin * DEEP + core + end * DEEP


# Each is answered with an error of either kind; none is worth more memory than a few times its bytes. Made when it is
# sent: everybody who runs tests reads this file.
MESSAGES: dict[str, Callable[[], bytes]] = {
    "nested arguments": lambda: called(b'{"configuration":{"a":' + nested(b"[", b"]") + b"}}"),
    "nested objects": lambda: called(b'{"configuration":' + nested(b'{"a":', b"}", b"1") + b"}"),
    "a million unknown arguments": lambda: called(keys()),
    "a million variables": lambda: called(b'{"program":"x.py","env":' + keys() + b"}"),
    "duplicate members": lambda: called(b'{"program":"a.py","program":"missing.py"}'),
    "lone surrogates": lambda: called(b'{"program":"\\ud800.py"}'),
    "zero bytes": lambda: called(b'{"program":"a\\u0000b.py"}'),
    "a number without end": lambda: called(b'{"program":"a.py","timeout_s":' + b"9" * 5000 + b"}"),
    "not a number": lambda: called(b'{"program":"a.py","timeout_s":NaN}'),
}


@pytest.mark.parametrize("name", MESSAGES)
def test_a_message_built_to_harm_is_refused_and_the_next_is_served(agent: Agent, name: str) -> None:
    with within_bounds(agent, memory_mb=60, lag_ms=1000):
        agent.client.send(MESSAGES[name]())
        answer = agent.client.next(within_s=30)
        assert "error" in answer or answer["result"]["isError"], str(answer)[:500]
        assert len(str(answer)) < 20_000
        assert agent.client.ask("ping")["result"] == {}


@pytest.mark.parametrize("id", [2**63, -(2**63), 2**200])
def test_an_id_of_any_size_comes_back_as_it_was_or_is_refused(agent: Agent, id: int) -> None:
    agent.client.send({"jsonrpc": "2.0", "id": id, "method": "ping"})
    answer = agent.client.next()
    assert answer["id"] in {id, None}
    assert ("error" in answer) == (answer["id"] is None)
    assert agent.client.ask("ping")["result"] == {}


def test_a_gigabyte_that_never_ends_its_line_costs_the_daemon_nothing(agent: Agent) -> None:
    with within_bounds(agent, memory_mb=20, lag_ms=1000):
        agent.client.send_bytes(b'{"jsonrpc":"2.0","id":"big","method":"ping","params":{"x":"')
        for _ in range(200):
            agent.client.send_bytes(b"z" * (1 << 20))
        agent.client.send_bytes(b'"}}\n')
        assert agent.client.answer("big")["error"]["data"]["code"] == "line_too_long"
        assert agent.client.ask("ping")["result"] == {}
