"""Programs that fail inside a runtime or a library are looked at where their own code led there."""

from __future__ import annotations

import subprocess
from dataclasses import dataclass
from pathlib import Path

import pytest

from dragoman.debug.backends.adapters import BUILT_IN, AdapterSpec
from dragoman.debug.model import LaunchRequest
from tests.conformance.test_python import client_of, service_in, stop_of, values

pytestmark = [pytest.mark.anyio, pytest.mark.timeout(120)]


@dataclass(frozen=True, slots=True)
class Failing:
    """In each the function that fails has a local `n` of 9."""

    adapter: str
    file: str
    text: str
    line: int
    build: tuple[str, ...] = ()

    @property
    def spec(self) -> AdapterSpec:
        return next(spec for spec in BUILT_IN if spec.name == self.adapter)


C = "#include <stdlib.h>\nint fail(int n) {\n  if (n > 2) abort();\n  return n;\n}\nint main(void) { fail(9); }\n"
RUST = "fn fail(n: usize) -> i32 {\n    vec![1, 2][n]\n}\nfn main() {\n    fail(9);\n}\n"
GO = "package main\n\nfunc fail(n int) int {\n\treturn []int{1, 2}[n]\n}\n\nfunc main() {\n\tprintln(fail(9))\n}\n"
RUBY = "def fail_with(n)\n  n / 0\nend\nfail_with(9)\n"
PROGRAMS = [
    Failing("lldb", "a.c", C, 3, ("gcc", "-g", "-O0", "a.c", "-o", "a")),
    Failing("lldb", "a.rs", RUST, 2, ("rustc", "-g", "a.rs", "-o", "a")),
    Failing("go", "a.go", GO, 4),
    Failing("ruby", "a.rb", RUBY, 2),
]


@pytest.mark.parametrize("failing", PROGRAMS, ids=lambda it: it.file)
async def test_locals_and_evaluations_are_those_of_the_own_frame(tmp_path: Path, failing: Failing) -> None:
    (tmp_path / failing.file).write_text(failing.text)
    if failing.build:
        subprocess.run(failing.build, cwd=tmp_path, check=True, capture_output=True)  # noqa: ASYNC221
    program = str(tmp_path / ("a" if failing.build else failing.file))
    launch_request = LaunchRequest(
        configuration={"type": failing.adapter, "request": "launch", "name": "x", "program": program}
    )
    client = client_of(tmp_path)
    async with service_in(tmp_path, failing.spec) as service:
        stop = stop_of(await service.start(client, launch_request, within_s=60))
        assert stop.frame is not None
        assert (stop.frame.path, stop.frame.line) == (str(tmp_path / failing.file), failing.line)
        assert (stop.reason, stop.at > 0, values(stop)["n"]) == ("exception", True, "9")
        found = await service.evaluate(client, "", "n", frame=None, context="repl", within_s=10)
        assert "9" in found.result
