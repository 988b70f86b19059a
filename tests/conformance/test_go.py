"""Debugging real Go programs through the engine and Delve."""

from __future__ import annotations

import shutil
import subprocess
from pathlib import Path

import pytest

from dragoman.debug.adapters import GO
from dragoman.debug.launch.faults import LaunchError
from dragoman.debug.service import Wish
from dragoman.errors import DragomanError
from dragoman.workspace.breakpoints import Breakpoint
from tests.conformance.scenario import PROGRAMS, Behaviours, Language, Stage, n_of, running_program
from tests.conformance.test_python import client_of, end_of, service_in, stop_of

pytestmark = [pytest.mark.anyio, pytest.mark.timeout(180), pytest.mark.needs("go")]

LANGUAGE = Language("go", GO, "go/main.go", computes=10, calls=21, prints=22)


@pytest.fixture
def stage(tmp_path: Path) -> Stage:
    return Stage(LANGUAGE, tmp_path, Path(shutil.copy(PROGRAMS / LANGUAGE.source, tmp_path)))


class TestGo(Behaviours):
    """What every language does."""


def module(folder: Path, **files: str) -> Path:
    (folder / "go.mod").write_text("module example.com/app\n\ngo 1.18\n")
    for name, text in files.items():
        (folder / f"{name}.go").write_text(text)
    return folder


def names_in(folder: Path) -> set[str]:
    return {it.name for it in folder.iterdir()}


def built(folder: Path, what: str) -> None:
    build = ["go", "build", "-gcflags", "all=-N -l", "-o", "app", what]
    subprocess.run(build, check=True, capture_output=True, cwd=folder)


MAIN = "package main\n\nfunc main() {\n\tprintln(value())\n}\n"
VALUE = "package main\n\nfunc value() int {\n\treturn 42\n}\n"
TEST = """package main

import "testing"

func TestValue(t *testing.T) {
	if value() != 43 {
		t.Fatal(value())
	}
}
"""
PANICS = 'package main\n\nfunc main() {\n\tvar m map[string]int\n\tm["a"] = 1\n}\n'


@pytest.mark.parametrize("program", [".", "main.go"])
async def test_a_file_stands_for_its_package(tmp_path: Path, program: str) -> None:
    client = client_of(module(tmp_path, main=MAIN, value=VALUE))
    async with service_in(tmp_path, GO) as service:
        await service.set_breakpoint(client, Breakpoint(id=0, path=str(tmp_path / "value.go"), line=4))
        stop = stop_of(await service.start(client, Wish(program=program), within_s=90))
        assert stop.frames[0].name == "main.value"
    assert names_in(tmp_path) - {"journal"} == {"go.mod", "main.go", "value.go"}


async def test_a_file_beside_other_programs_is_built_alone(tmp_path: Path) -> None:
    module(tmp_path, one=MAIN.replace("value()", "1"), two=MAIN.replace("value()", "2"))
    async with service_in(tmp_path, GO) as service:
        ended = end_of(await service.start(client_of(tmp_path), Wish(program="two.go"), within_s=90))
        assert (ended.exit_code, ended.output) == (0, "2\n")


async def test_tests_are_debugged_by_their_file(tmp_path: Path) -> None:
    client = client_of(module(tmp_path, main=MAIN, value=VALUE, value_test=TEST))
    async with service_in(tmp_path, GO) as service:
        await service.set_breakpoint(client, Breakpoint(id=0, path=str(tmp_path / "value_test.go"), line=7))
        stop = stop_of(await service.start(client, Wish(program="value_test.go"), within_s=90))
        assert stop.frames[0].name == "example.com/app.TestValue"
        ended = end_of(await service.resume(client, "", thread_id=None, within_s=20))
        assert (ended.exit_code, "value_test.go:7: 42" in ended.output) == (1, True)


async def test_a_built_program_is_run_as_it_is(stage: Stage) -> None:
    binary = stage.workspace / "app"
    built(stage.workspace, stage.source.name)
    async with service_in(stage.workspace, GO) as service:
        await service.set_breakpoint(stage.client, stage.at(LANGUAGE.computes, condition="n == 3"))
        wanted = {"type": "go", "request": "launch", "name": "x", "program": str(binary)}
        assert n_of(stop_of(await service.start(stage.client, Wish(configuration=wanted), within_s=60))) == 3


@pytest.mark.requirement("debug:start:error-compile")
async def test_a_program_that_does_not_compile_is_an_error_with_the_compilers_lines(tmp_path: Path) -> None:
    module(tmp_path, main=MAIN)
    async with service_in(tmp_path, GO) as service:
        with pytest.raises(DragomanError) as caught:
            await service.start(client_of(tmp_path), Wish(program="main.go"), within_s=90)
    error = caught.value
    assert isinstance(error, LaunchError)
    assert (error.code, error.message.in_language("zh")) == ("build_failed", "编译错误导致无法启动。")
    assert any("undefined: value" in line for line in error.details["last_lines"])


async def test_a_panic_stops_the_program_where_it_is(tmp_path: Path) -> None:
    module(tmp_path, main=PANICS)
    async with service_in(tmp_path, GO) as service:
        stop = stop_of(await service.start(client_of(tmp_path), Wish(program="main.go"), within_s=90))
        assert stop.reason == "exception"
        assert stop.raised is not None
        assert "assignment to entry in nil map" in stop.raised.message
        assert any(frame.name == "main.main" and frame.line == 5 for frame in stop.frames)


async def test_a_running_program_is_attached_to_and_lives_on(tmp_path: Path) -> None:
    source = module(tmp_path, main=WAITS) / "main.go"
    built(tmp_path, ".")
    client = client_of(tmp_path)
    with running_program(str(tmp_path / "app")) as running:
        async with service_in(tmp_path, GO) as service:
            await service.set_breakpoint(client, Breakpoint(id=0, path=str(source), line=8))
            wanted = {"type": "go", "request": "attach", "name": "x", "mode": "local", "processId": running.pid}
            started = await service.start(client, Wish(configuration=wanted), within_s=60)
            assert stop_of(started).frames[0].line == 8
            await service.stop(client, "")
            await service.wait(client, started.session.id, within_s=10)
            assert running.poll() is None


WAITS = """package main

import "time"

func main() {
	for n := 0; n < 600; n++ {
		time.Sleep(100 * time.Millisecond)
		println(n)
	}
}
"""
