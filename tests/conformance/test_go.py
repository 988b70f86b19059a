"""Debugging real Go programs through the engine and Delve."""

from __future__ import annotations

from pathlib import Path

import pytest

from dragoman.core.errors import DragomanError
from dragoman.debug.backends.adapters import GO
from dragoman.debug.launch.errors import LaunchError
from dragoman.debug.model import LaunchRequest
from dragoman.workspace.breakpoints import Breakpoint
from tests.conformance.test_python import client_of, end_of, service_in, stop_of

pytestmark = [pytest.mark.anyio, pytest.mark.timeout(180), pytest.mark.needs("go")]


def module(folder: Path, **files: str) -> Path:
    (folder / "go.mod").write_text("module example.com/app\n\ngo 1.18\n")
    for name, text in files.items():
        (folder / f"{name}.go").write_text(text)
    return folder


def names_in(folder: Path) -> set[str]:
    return {it.name for it in folder.iterdir()}


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


@pytest.mark.parametrize("program", [".", "main.go"])
async def test_a_file_means_its_package(tmp_path: Path, program: str) -> None:
    client = client_of(module(tmp_path, main=MAIN, value=VALUE))
    async with service_in(tmp_path, GO) as service:
        await service.set_breakpoint(client, Breakpoint(id=0, path=str(tmp_path / "value.go"), line=4))
        stop = stop_of(await service.start(client, LaunchRequest(program=program), within_s=90))
        assert stop.frames[0].name == "main.value"
    assert names_in(tmp_path) - {"journal"} == {"go.mod", "main.go", "value.go"}


async def test_a_file_beside_other_programs_is_built_alone(tmp_path: Path) -> None:
    module(tmp_path, one=MAIN.replace("value()", "1"), two=MAIN.replace("value()", "2"))
    async with service_in(tmp_path, GO) as service:
        ended = end_of(await service.start(client_of(tmp_path), LaunchRequest(program="two.go"), within_s=90))
        assert (ended.exit_code, ended.output) == (0, "2\n")


async def test_tests_are_debugged_by_their_file(tmp_path: Path) -> None:
    client = client_of(module(tmp_path, main=MAIN, value=VALUE, value_test=TEST))
    async with service_in(tmp_path, GO) as service:
        await service.set_breakpoint(client, Breakpoint(id=0, path=str(tmp_path / "value_test.go"), line=7))
        stop = stop_of(await service.start(client, LaunchRequest(program="value_test.go"), within_s=90))
        assert stop.frames[0].name == "example.com/app.TestValue"
        ended = end_of(await service.resume(client, "", thread_id=None, within_s=20))
        assert (ended.exit_code, "value_test.go:7: 42" in ended.output) == (1, True)


LOOPS = """package main

func main() {
	total := 0
	for i := 0; i < 3; i++ {
		n := i * 2
		total += n
	}
	println(total)
}
"""


async def test_a_condition_on_a_name_out_of_scope_is_false_and_says_so(tmp_path: Path) -> None:
    client = client_of(module(tmp_path, main=LOOPS))
    main = str(tmp_path / "main.go")
    async with service_in(tmp_path, GO) as service:
        out_of_scope, _ = await service.set_breakpoint(client, Breakpoint(id=0, path=main, line=4, condition="n == 2"))
        await service.set_breakpoint(client, Breakpoint(id=0, path=main, line=7, condition="n == 2"))
        first = await service.start(client, LaunchRequest(program="."), within_s=90)
        stop = stop_of(first)
        assert (stop.reason, stop.frames[0].line, stop.raised, stop.output) == ("breakpoint", 7, None, "")
        unbound = {it.id: binding.message for it, binding in first.session.breakpoint_sync.unbound()}
        assert unbound == {out_of_scope.id: "The condition failed: could not find symbol value for n"}
        assert end_of(await service.resume(client, "", thread_id=None, within_s=20)).output == "6\n"


async def test_a_folder_means_its_program_or_the_only_one_below_it(tmp_path: Path) -> None:
    module(tmp_path)
    for folder, text in (("cmd/app", MAIN.replace("value()", "7")), ("lib", "package lib\n")):
        (tmp_path / folder).mkdir(parents=True)
        (tmp_path / folder / "x.go").write_text(text)
    async with service_in(tmp_path, GO) as service:
        for program in ("cmd/app", "."):
            ended = end_of(await service.start(client_of(tmp_path), LaunchRequest(program=program), within_s=90))
            assert (ended.exit_code, ended.output) == (0, "7\n")
        with pytest.raises(DragomanError, match="no Go program") as caught:
            await service.start(client_of(tmp_path), LaunchRequest(program="lib"), within_s=90)
        assert caught.value.code == "no_such_program"


@pytest.mark.requirement("debug:start:error-compile")
async def test_a_program_that_does_not_compile_is_an_error_with_the_compilers_lines(tmp_path: Path) -> None:
    module(tmp_path, main=MAIN)
    async with service_in(tmp_path, GO) as service:
        with pytest.raises(DragomanError) as caught:
            await service.start(client_of(tmp_path), LaunchRequest(program="main.go"), within_s=90)
    error = caught.value
    assert isinstance(error, LaunchError)
    assert (error.code, error.message.in_language("zh")) == ("build_failed", "编译错误导致无法启动。")
    assert any("undefined: value" in line for line in error.details["last_lines"])


COUNTS = 'package main\n\nimport "os"\n\nfunc main() {\n\tprintln(value(), len(os.Args))\n}\n'
READS = """package main

import (
	"os"
	"testing"
)

func TestData(t *testing.T) {
	if _, err := os.Stat("data.txt"); err != nil {
		t.Fatal(err)
	}
}
"""


async def test_words_of_a_command_reach_the_build_and_the_program(tmp_path: Path) -> None:
    for folder in (inside := tmp_path / "inside", outside := tmp_path / "outside"):
        folder.mkdir()
        module(folder, main=COUNTS, extra=VALUE.replace("package", "//go:build extra\n\npackage"), data_test=READS)
        (folder / "data.txt").touch()
    (outside / "go.mod").unlink()
    ways = {
        "run -tags extra -ldflags=-s ./inside --config ./x -v": "42 4\n",
        "run -tags extra outside/main.go outside/extra.go x.txt": "42 2\n",
        "test -tags=extra -run Data example.com/app": "PASS\n",
    }
    async with service_in(tmp_path, GO) as service:
        for line, output in ways.items():
            cwd = str(inside) if "example.com" in line else ""
            launch_request = LaunchRequest(program="go", args=tuple(line.split()), cwd=cwd)
            ended = end_of(await service.start(client_of(tmp_path), launch_request, within_s=90))
            assert (line, ended.exit_code, ended.output) == (line, 0, output)
