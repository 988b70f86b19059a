"""A program that somebody stops is asked to end before it is made to, wherever its process is known."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path

import anyio
import pytest
from _pytest.mark import ParameterSet

from dragoman.debug.backends.adapters import JAVASCRIPT, LLDB, PYTHON, RUBY, AdapterSpec
from dragoman.debug.model import LaunchRequest, ProgramEnd
from dragoman.debug.service import DebugService
from dragoman.debug.session.session import DebugSession
from dragoman.workspace.breakpoints import Breakpoint
from dragoman.workspace.caller import Caller
from tests.conformance.test_python import client_of, eventually, service_in, stop_of
from tests.peers import give_adapters

pytestmark = [pytest.mark.anyio, pytest.mark.timeout(120)]


@dataclass(frozen=True, slots=True)
class Tidy:
    """A program that says `up`, and writes the file `tidied` when it is asked to end."""

    spec: AdapterSpec
    name: str
    source: str
    build: tuple[str, ...] = ()
    program: str = ""

    def __str__(self) -> str:
        return self.spec.name


TIDY = (
    Tidy(
        PYTHON,
        "main.py",
        """\
import pathlib, signal, sys, time
signal.signal(signal.SIGTERM, lambda *_: sys.exit(5))
try:
    print("up", flush=True)
    while True:
        time.sleep(0.02)
finally:
    pathlib.Path("tidied").write_text("x")
""",
    ),
    Tidy(
        JAVASCRIPT,
        "main.js",
        """\
process.on("SIGTERM", () => { require("fs").writeFileSync("tidied", "x"); process.exit(5); });
console.log("up");
setInterval(() => {}, 20);
""",
    ),
    Tidy(
        LLDB,
        "main.c",
        """\
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>
static void tidy(int signal) { FILE *file = fopen("tidied", "w"); fclose(file); exit(signal); }
int main(void) {
  signal(SIGTERM, tidy);
  puts("up");
  for (;;) usleep(20000);
}
""",
        ("cc", "-g", "-O0", "main.c", "-o", "main"),
        "main",
    ),
    Tidy(
        RUBY,
        "main.rb",
        """\
Signal.trap("TERM") { exit 5 }
at_exit { File.write("tidied", "x") }
puts "up"
loop { sleep 0.02 }
""",
    ),
)


@pytest.fixture(autouse=True)
def adapter(home: Path) -> None:
    give_adapters(home)


async def running(service: DebugService, client: Caller, program: Tidy) -> DebugSession:
    (client.workspace / program.name).write_text(program.source)
    if program.build:
        await anyio.run_process(program.build, cwd=client.workspace)
    named = {"type": program.spec.name, "request": "launch", "name": "tidy", "cwd": str(client.workspace)}
    launch_request = LaunchRequest(
        configuration={**named, "program": str(client.workspace / (program.program or program.name))}
    )
    session = (await service.start(client, launch_request, within_s=0)).session
    await eventually(lambda: "up" in session.output.since(0, most=1000)[0].split())
    return session


def needing(program: Tidy) -> ParameterSet:
    marks = [pytest.mark.needs(program.spec.name)] if program.spec is not PYTHON else []
    return pytest.param(program, marks=marks, id=str(program))


@pytest.mark.parametrize("program", [needing(it) for it in TIDY])
async def test_a_running_program_tidies_up_before_it_ends(tmp_path: Path, program: Tidy) -> None:
    client = client_of(tmp_path)
    async with service_in(tmp_path, program.spec) as service:
        session = await running(service, client, program)
        with anyio.fail_after(1):
            await service.stop(client, session.id)
        ended = (await service.wait(client, session.id, within_s=4)).outcome
        assert isinstance(ended, ProgramEnd)
        await eventually((tmp_path / "tidied").exists)


async def test_one_that_does_not_heed_it_is_killed_after_five_seconds(tmp_path: Path) -> None:
    client = client_of(tmp_path)
    deaf = Tidy(PYTHON, "main.py", TIDY[0].source.replace("lambda *_: sys.exit(5)", "signal.SIG_IGN"))
    async with service_in(tmp_path) as service:
        session = await running(service, client, deaf)
        begun_s = anyio.current_time()
        await service.stop(client, session.id)
        ended = (await service.wait(client, session.id, within_s=10)).outcome
        assert isinstance(ended, ProgramEnd)
        assert 4.5 < anyio.current_time() - begun_s < 8


async def test_one_that_stopped_at_a_breakpoint_does_not_run_on_to_its_end(tmp_path: Path) -> None:
    (tmp_path / "main.py").write_text("import pathlib\npathlib.Path('went_on').write_text('x')\n")
    client = client_of(tmp_path)
    async with service_in(tmp_path) as service:
        await service.set_breakpoint(client, Breakpoint(id=0, path=str(tmp_path / "main.py"), line=2))
        stop_of(await service.start(client, LaunchRequest(program="main.py"), within_s=30))
        await service.stop(client, "")
        ended = (await service.wait(client, service.registry.sessions(client)[0].id, within_s=4)).outcome
        assert isinstance(ended, ProgramEnd)
    assert not (tmp_path / "went_on").exists()


ENDS = """\
#include <signal.h>
#include <stdlib.h>
int main(int count, char **words) {
  switch (words[1][0]) {
  case 'k': raise(SIGKILL); break;
  case 'n': return 9;
  case 's': *(volatile int *)0 = 1; break;
  }
  return 0;
}
"""


@pytest.mark.needs("lldb")
@pytest.mark.parametrize(
    ("way", "code", "signal"), [("killed", -9, "SIGKILL"), ("nine", 9, ""), ("segv", -11, "SIGSEGV")]
)
async def test_a_signal_that_ends_a_c_program_is_named_and_a_code_is_not_taken_for_one(
    tmp_path: Path, way: str, code: int, signal: str
) -> None:
    (tmp_path / "main.c").write_text(ENDS)
    await anyio.run_process(("cc", "-g", "-O0", "main.c", "-o", "main"), cwd=tmp_path)
    client = client_of(tmp_path)
    named = {"type": "lldb", "request": "launch", "name": way, "program": str(tmp_path / "main"), "args": [way]}
    async with service_in(tmp_path, LLDB) as service:
        happened = await service.start(client, LaunchRequest(configuration=named), within_s=30)
        if way == "segv":
            assert stop_of(happened).reason == "exception"
            happened = await service.resume(client, "", thread_id=None, within_s=30)
        ended = happened.outcome
        assert isinstance(ended, ProgramEnd)
        assert (ended.exit_code, ended.signal, ended.output) == (code, signal, "")
