"""Programs that cmake builds with ASan and UBSan: the crash is explained at the line of the program's own."""

from __future__ import annotations

import subprocess
from pathlib import Path

import pytest

from tests.daemons import PATIENCE
from tests.programs.agent import PLACE, agent_in, line_of

pytestmark = [pytest.mark.anyio, pytest.mark.timeout(int(120 * PATIENCE))]

CRASHES = {
    "overflow": ("AddressSanitizer: heap-buffer-overflow", "total += prices[at];", {"at": "4", "total": "10"}),
    "used_after_free": ("AddressSanitizer: heap-use-after-free", "int unit = order->unit;", {}),
    "undefined": ("UndefinedBehaviorSanitizer: ", "int total = count * unit;", {"count": "2147483647", "unit": "7"}),
}


@pytest.fixture(scope="module")
def built() -> Path:
    source, build = PLACE / "sanitizers", PLACE / "sanitizers" / "build"
    for command in (["cmake", "-S", str(source), "-B", str(build)], ["cmake", "--build", str(build)]):
        subprocess.run(command, check=True, stdout=subprocess.DEVNULL)
    return build


@pytest.mark.parametrize("program", CRASHES)
async def test_a_sanitizer_report_is_explained_at_the_faulty_line(program: str, built: Path, home: Path) -> None:
    said, text, wanted = CRASHES[program]
    async with agent_in("sanitizers", home) as agent:
        answer = await agent.ask("explain_crash", program=f"build/{program}", timeout_s=50)
        raised = answer["ended"]["exception"]
        told = f"{raised['type']}: {raised['message']}"
        assert told.startswith(said), told
        top = answer["frames"][0]
        line = line_of(agent.folder / f"{program}.cpp", text)
        assert (Path(top["file_path"]).name, top["line"]) == (f"{program}.cpp", line), top
        assert top["locals"].items() >= wanted.items()
        if program == "used_after_free":
            (freed, *_) = answer["caused_by"]
            line = line_of(agent.folder / "used_after_free.cpp", "delete order;")
            assert freed["at"].startswith(f"used_after_free.cpp:{line} "), freed
        agent.leaves_nothing()
