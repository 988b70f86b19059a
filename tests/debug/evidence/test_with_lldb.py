"""The tools for evidence over LLDB: data that it watches itself, and values that it shows as addresses."""

from __future__ import annotations

import subprocess
from pathlib import Path

import pytest

from tests.debug.evidence.evidence_tools import Agent, agent_in

pytestmark = [pytest.mark.anyio, pytest.mark.timeout(120), pytest.mark.needs("lldb", "c")]

ACCOUNT = """\
#include <stdio.h>

struct state { int count; int total; };

static int balance = 10;

static void pay(int amount) {
    int before = balance;
    balance = before - amount;
    printf("paid %d\\n", amount);
}

int main(void) {
    struct state s = {0, 0};
    for (int i = 1; i <= 5; i++) {
        s.count++;
        s.total += i;
        pay(i);
    }
    return 0;
}
"""


def built(agent: Agent) -> dict[str, str]:
    source = agent.write("account.c", ACCOUNT)
    subprocess.run(["gcc", "-g", "-O0", "-o", source.with_suffix(""), source], check=True)
    return {"program": "account", "file_path": "account.c"}


async def test_the_line_that_changes_a_value_is_found_wherever_it_is(tmp_path: Path) -> None:
    async with agent_in(tmp_path) as agent:
        account = built(agent)
        found = await agent.call(
            "find_change", **account, line_number=15, expression="balance", invariant="balance > 4"
        )
    assert (found["verdict"], found["by"], found["place"]) == ("changed", "data breakpoint", "account.c:9")
    assert (found["old"], found["new"], found["source"]) == ("7", "4", "balance = before - amount;")
    assert [(it["function"], it["line"]) for it in found["frames"][:2]] == [("pay", 9), ("main", 18)]


async def test_a_struct_is_shown_by_its_members_and_a_wrong_name_by_what_lldb_says_of_it(tmp_path: Path) -> None:
    async with agent_in(tmp_path) as agent:
        account = built(agent)
        point = {"file_path": "account.c", "line_number": 18, "expressions": ["s", "nope"]}
        traced = await agent.call("trace", program="account", points=[point])
        claim = await agent.call("check", **account, line_number=18, claim="s.total < 6", condition="i > 1")
    assert [row.get("values") for row in traced["rows"]] == [
        {"s": f"{{count: {count}, total: {total}}}"} for count, total in ((1, 1), (2, 3), (3, 6), (4, 10), (5, 15))
    ]
    assert traced["rows"][0]["errors"] == {"nope": "use of undeclared identifier 'nope'"}
    assert traced["ended"]["exit_code"] == 0
    assert (claim["verdict"], claim["hits"]) == ("broken", 2)
    assert (claim["before"], claim["at_break"]) == ({"s.total": "3"}, {"s.total": "6"})
