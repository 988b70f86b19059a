"""`pytest --why` with pytest 7 and the newest, in a suite with plugins, and in a project of other people."""

from __future__ import annotations

import os
import re
import shutil
import subprocess
from pathlib import Path

import pytest

from bench.value.ways import build_why
from tests.daemons import PATIENCE
from tests.programs.agent import PLACE, agent_in

pytestmark = [pytest.mark.anyio, pytest.mark.timeout(int(120 * PATIENCE))]
SUITE = "suite/test_stock.py"
WITH_PYTEST = {"pytest 7": "pytest7", "the newest pytest": "python"}
BROKEN = ("number = abs(int(number))", "number = int(number)")
ORDINAL = "test_inflection.py::test_ordinal[-21--21st]"


@pytest.fixture(scope="module")
def plugin(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return build_why(tmp_path_factory.mktemp("why"))


@pytest.fixture
def inflection(tmp_path: Path) -> Path:
    """A library as its authors publish it, with its own tests, and with a fault."""
    [published] = (PLACE / "inflection").glob("inflection-*/")
    folder = Path(shutil.copytree(published, tmp_path / "inflection"))
    module = folder / "inflection" / "__init__.py"
    text = module.read_text("utf-8")
    assert text.count(BROKEN[0]) == 1
    module.write_text(text.replace(*BROKEN), "utf-8")
    return folder


def why(environment: str, folder: Path, plugin: Path, *arguments: str) -> str:
    python = PLACE / environment / ".venv" / "bin" / "python"
    kept = {name: it for name, it in os.environ.items() if not name.startswith(("PYTEST_", "CI"))}
    done = subprocess.run(
        [python, "-m", "pytest", "-q", "-p", "no:cacheprovider", "--why", *arguments], cwd=folder,
        env={**kept, "PYTHONPATH": str(plugin)}, capture_output=True, text=True, timeout=60 * PATIENCE, check=False,
    )  # fmt: skip
    assert "INTERNALERROR" not in done.stdout + done.stderr, done.stdout
    return done.stdout


@pytest.mark.parametrize("environment", WITH_PYTEST.values(), ids=WITH_PYTEST)
def test_why_explains_each_kind_of_test_of_a_suite(environment: str, plugin: Path) -> None:
    shown = why(environment, PLACE / "python", plugin, SUITE)
    sections = re.findall(r"(?ms)^-+ why -+$(.*?)^[=_-]{5}", shown)
    assert len(sections) == 4, shown
    for section in sections:
        assert len(section.splitlines()) <= 31, section
        assert "order  suite/stock.py:" in section or "labels  suite/stock.py:" in section, section
    assert "count = 3" in sections[0], shown


@pytest.mark.parametrize("environment", WITH_PYTEST.values(), ids=WITH_PYTEST)
def test_why_finds_the_fault_in_a_published_library(environment: str, inflection: Path, plugin: Path) -> None:
    shown = why(environment, inflection, plugin, "test_inflection.py", "-k", "ordinal")
    block = shown.partition("-21--21st")[2].partition("-22--22nd")[0]
    assert "arguments: number = '-21'" in block, shown
    assert "number = -21" in block, shown
    assert "returned 'th'" in block, shown


async def test_explain_failure_finds_the_fault_in_a_published_library(inflection: Path, home: Path) -> None:
    path = f"{PLACE / 'pytest7' / '.venv' / 'bin'}:{os.environ['PATH']}"
    async with agent_in(str(inflection), home) as agent:
        assert agent.cli("trust", str(PLACE / "pytest7"), "--yes").returncode == 0
        result = await agent.session.call_tool("explain_failure", {"test": ORDINAL, "env": {"PATH": path}})
        text = "\n".join(getattr(it, "text", "") for it in result.content)
        assert not result.is_error, text
        assert "arguments: number = '-21'" in text
        assert "number = -21" in text
        agent.leaves_nothing()
