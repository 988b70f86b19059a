"""`explain_failure` of a failing test of each runner, as people call it: one call, and the values that explain it."""

from __future__ import annotations

import time
from dataclasses import dataclass
from pathlib import Path

import pytest

from tests.daemons import PATIENCE
from tests.programs.agent import agent_in

pytestmark = [pytest.mark.anyio, pytest.mark.timeout(int(120 * PATIENCE))]
MOST_CHARACTERS = 4000
# Of `price`, in every language: the argument, and what it made of it.
PRICE = ("price", "count", "total", "21")


@dataclass(frozen=True)
class Failure:
    project: str
    given: dict[str, str]
    shows: tuple[str, ...] = PRICE
    has_calls: bool = True


def command(project: str, line: str, *shows: str) -> Failure:
    return Failure(project, {"command": line}, shows or PRICE)


SUITE = "suite/test_stock.py"
FAILURES = {
    "pytest with conftest and a plugin": command(
        "python", f"pytest -q {SUITE} -k fixture", "stock.py", "left = 2", "21"
    ),
    "pytest with a test id": Failure(
        "python", {"test": f"{SUITE}::test_order_with_fixture"}, ("order", "count = 3", "left = 2")
    ),
    "a parametrised id with a slash and brackets": Failure(
        "python", {"test": f"{SUITE}::test_costs[a/b [two]]"}, ("order", "count = 2", "14")
    ),
    "a comparison that a plugin explains": command(
        "python", f"pytest -q {SUITE} -k labels", "lists of 2 and 2", "labels", "label = 'appl'"
    ),
    "a class of unittest": command("python", f"pytest -q {SUITE}::StockTest", "order", "count = 1", "7"),
    "a doctest": command("python", "pytest -q --doctest-modules suite/stock.py", "20", "21", "count = 3"),
    "pytest with xdist": command("python", f"pytest -q -n 2 {SUITE} -k fixture", "order", "count = 3", "left = 2"),
    # The view is called through Django, which the test does not name.
    "manage.py test": Failure(
        "python", {"command": "python manage.py test"}, ("21 != 20", "total = 21"), has_calls=False
    ),
    "jest": command("javascript", "npx jest -t 'of three is twenty$'"),
    "vitest": command("javascript", "npx vitest run -t 'of three is twenty$'"),
    "mocha": command("javascript", "npx mocha mocha/price.spec.js -g 'of three is twenty$'"),
    "node --test": command("javascript", "node --test node/"),
    "go test": command("go", "go test -run TestThree ./price", "Of", "count", "total", "21"),
}


@pytest.mark.parametrize("failure", FAILURES.values(), ids=FAILURES)
async def test_one_call_shows_the_values_behind_it(failure: Failure, home: Path) -> None:
    async with agent_in(failure.project, home) as agent:
        result = await agent.session.call_tool("explain_failure", {**failure.given, "timeout_s": 100})
        text = "\n".join(getattr(it, "text", "") for it in result.content)
        assert not result.is_error, text
        assert isinstance(result.structured_content, dict)
        assert result.structured_content["verdict"] == "failed", text
        missing = [it for it in failure.shows if it not in text]
        assert not missing, text
        assert bool(result.structured_content.get("calls")) is failure.has_calls, text
        assert len(text) <= MOST_CHARACTERS
        agent.leaves_nothing()


@pytest.mark.parametrize(("project", "program"), [("python", "endless.py"), ("javascript", "endless.js")])
async def test_a_hang_is_explained_within_the_time_that_a_call_has_by_default(
    project: str, program: str, home: Path
) -> None:
    async with agent_in(project, home) as agent:
        began_s = time.monotonic()
        result = await agent.session.call_tool("explain_failure", {"program": program})
        took_s = time.monotonic() - began_s
        text = "\n".join(getattr(it, "text", "") for it in result.content)
        assert isinstance(result.structured_content, dict)
        assert result.structured_content["verdict"] == "limit", text
        assert f"rounds  {program}:" in text
        assert "cents = 1" in text
        assert took_s <= 50 + 3 * PATIENCE
        agent.leaves_nothing()
