"""A failing test of each runner, as people call it: the assertion's line in the test, and the values there."""

from __future__ import annotations

import subprocess
from dataclasses import dataclass
from pathlib import Path

import pytest

from tests.daemons import PATIENCE
from tests.programs.agent import PLACE, agent_in, line_of

pytestmark = [pytest.mark.anyio, pytest.mark.timeout(int(120 * PATIENCE))]


@dataclass(frozen=True)
class Case:
    project: str
    command: str
    file: str
    line: str
    failed: str
    local: tuple[str, str] = ("total", "21")


JEST = ("jest/price.test.js", "const total = price(basket.count);", "a price › of three is twenty")
VITEST = ("vitest/price.test.ts", "const total = price(basket.count);", "vitest/price.test.ts > a price > of three is")
MOCHA = ("mocha/price.spec.js", "const total = price(basket.count);", "a price of three is twenty")
NODE = ("node/price.test.js", "const total = price(basket.count);", "of three is twenty")
LATER = "const total = await priceLater(count);"
PYTEST = ("test_shop.py", "total = answer.json", "test_shop.py::test_three_cost_twenty")
DJANGO = ("shop/tests.py", "total = answer.json", "test_three_cost_twenty (shop.tests.PriceTests")
GO = ("price/price_test.go", "if total != 20 {", "TestThreeCostTwenty")
# The line before the assertion is the one that tells it from the others.
CASES = {
    "npx jest": Case("javascript", "npx jest", *JEST),
    "npm test with pretest and jest": Case("javascript", "npm test", *JEST),
    "jest, an async test": Case("javascript", "npx jest -t later", JEST[0], LATER, f"{JEST[2]}, later"),
    "npx vitest": Case("javascript", "npx vitest run", *VITEST),
    "vitest as an npm script": Case("javascript", "npm run test:vitest", *VITEST),
    "vitest, an async test": Case("javascript", "npx vitest -t later", VITEST[0], LATER, f"{VITEST[2]} twenty, l"),
    "npx mocha": Case("javascript", "npx mocha mocha/price.spec.js", *MOCHA),
    "mocha as an npm script": Case("javascript", "npm run test:mocha", *MOCHA),
    "mocha, an async test": Case("javascript", "npm run test:mocha -- -g late", MOCHA[0], LATER, f"{MOCHA[2]}, later"),
    "node --test of a folder": Case("javascript", "node --test node/", *NODE),
    "node --test as an npm script": Case("javascript", "npm run test:node", *NODE),
    "tsx --test as an npm script": Case("javascript", "npm run test:typescript", "node/price.test.ts", *NODE[1:]),
    "pytest": Case("python", "pytest -q", *PYTEST),
    "manage.py test": Case("python", "python manage.py test", *DJANGO),
    "manage.py test of one class": Case("python", "python manage.py test shop.tests.PriceTests", *DJANGO),
    "go test": Case("go", "go test ./...", *GO),
    "go test -run": Case("go", "go test -run TestThree ./price", *GO),
    "minitest": Case("ruby", "ruby -I. test_price.rb", "test_price.rb", "total = price(count)", "PriceTest#test_three"),
    "cargo test": Case("rust", "cargo test", "src/lib.rs", "let total = price(count);", "tests::three_cost_twenty"),
}  # fmt: skip
EACH = pytest.mark.parametrize("case", CASES.values(), ids=CASES)


@pytest.fixture(scope="module")
def _built() -> None:
    """cargo does not say what its tests are called before they are built."""
    subprocess.run(["cargo", "test", "--no-run", "--quiet"], cwd=PLACE / "rust", check=True)


@EACH
@pytest.mark.usefixtures("_built")
async def test_a_failing_test_stops_at_its_assertion_with_the_values(case: Case, home: Path) -> None:
    async with agent_in(case.project, home) as agent:
        answer = await agent.ask("debug_test", command=case.command, timeout_s=110)
        assert (answer["status"], answer.get("verdict")) == ("success", "failed"), answer
        assert any(it.startswith(case.failed) for it in answer["failed"]), answer["failed"]
        line = line_of(agent.folder / case.file, case.line) + 1
        tops = [it["frames"][0] for it in answer["failures"]]
        places = [(agent.folder / it["file_path"], it["line"]) for it in tops]
        assert ((agent.folder / case.file), line) in places, places
        failure = answer["failures"][places.index((agent.folder / case.file, line))]
        name, value = case.local
        assert failure["frames"][0]["locals"][name] == value
        if case.project != "go":
            assert "20" in failure["exception"]["message"] and "21" in failure["exception"]["message"]  # noqa: PT018
        agent.leaves_nothing()


async def test_npm_runs_the_pretest_script_and_not_the_posttest_script(home: Path) -> None:
    async with agent_in("javascript", home) as agent:
        prepared = agent.folder / "prepared.txt"
        prepared.unlink(missing_ok=True)
        answer = await agent.ask("debug_test", command="npm test -- -t nothing", timeout_s=110)
        assert (answer["verdict"], prepared.read_text()) == ("passed", f"prepared in {agent.folder}")


async def test_a_breakpoint_in_code_under_test_stops(home: Path) -> None:
    async with agent_in("javascript", home) as agent:
        line = await agent.breakpoint("pricing.js", "return total;")
        for program, args in {"npx": ["jest"], "npm": ["run", "test:mocha"], "node": ["--test", "node/"]}.items():
            stop = await agent.ask("start_debugging", program=program, args=args, timeout_s=50)
            assert (stop["status"], stop["stop_event_data"]["line"]) == ("stopped", line), stop
            await agent.ends()
