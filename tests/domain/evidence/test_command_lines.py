"""Command lines as people type them, read as what a debugger would start."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from dragoman.debug.evidence.command_lines import Runnable, read_command
from dragoman.errors import DragomanError


def read(line: str, cwd: Path) -> Runnable:
    return read_command(line, cwd, {"PATH": f"{cwd}/bin"})


def facts(found: Runnable) -> dict[str, Any]:
    return {name: value for name, value in found.wish.configuration.items() if name not in {"request", "name"}}


PY: dict[str, Any] = {"type": "debugpy"}
NODE: dict[str, Any] = {"type": "pwa-node"}


@pytest.mark.parametrize(
    ("line", "runner", "told"),
    [
        ("python app.py -v", "", PY | {"program": "{cwd}/app.py", "args": ["-v"]}),
        ("python3 -X dev -u app.py", "", PY | {"program": "{cwd}/app.py", "args": []}),
        ("e/bin/python -m pkg 1", "", PY | {"module": "pkg", "args": ["1"], "python": "{cwd}/e/bin/python"}),
        ("python -m unittest a.B.c", "unittest", PY | {"module": "unittest", "args": ["a.B.c"]}),
        ("pytest -x 'tests/t.py::t[a b]'", "pytest", PY | {"module": "pytest", "args": ["-x", "tests/t.py::t[a b]"]}),
        ("pytest t.py 2>&1 | tail -20", "pytest", PY | {"module": "pytest", "args": ["t.py"]}),
        ("pytest t.py > out.txt 2>&1", "pytest", PY | {"module": "pytest", "args": ["t.py"]}),
        ("uv run pytest t.py | grep -v x | head", "pytest", PY | {"module": "pytest", "args": ["t.py"]}),
        ("A=1 timeout 10 python app.py", "", PY | {"program": "{cwd}/app.py", "args": [], "env": {"A": "1"}}),
        ("cd sub && python app.py", "", PY | {"program": "{cwd}/sub/app.py", "args": [], "cwd": "{cwd}/sub"}),
        (". v/bin/activate; pytest", "pytest", PY | {"module": "pytest", "args": [], "python": "{cwd}/v/bin/python"}),
        ("tools/check 1", "", PY | {"program": "{cwd}/tools/check", "args": ["1"], "python": "/opt/py/bin/python3"}),
        ("pytest *.py", "pytest", PY | {"module": "pytest", "args": ["one.py", "two.py"]}),
        ("node app.js 1", "", NODE | {"program": "{cwd}/app.js", "runtimeArgs": [], "args": ["1"]}),
        ("node --test a.js", "node", NODE | {"program": "{cwd}/a.js", "runtimeArgs": [], "args": [], "skipFiles": []}),
        ("node -r x a.js -y", "", NODE | {"program": "{cwd}/a.js", "runtimeArgs": ["-r", "x"], "args": ["-y"]}),
        ("python app.py '' a", "", PY | {"program": "{cwd}/app.py", "args": ["", "a"]}),
        ("pytest --cov=app", "pytest", PY | {"module": "pytest", "args": ["--cov=app", "--no-cov"]}),
        (
            "go test -v -run '^TestSum$' ./sums",
            "go",
            {"type": "go", "mode": "test", "program": "{cwd}/sums", "args": ["-test.v", "-test.run", "^TestSum$"]},
        ),
        ("go run main.go 3", "", {"type": "go", "mode": "debug", "program": "{cwd}/main.go", "args": ["3"]}),
    ],
)  # fmt: skip
def test_a_command_is_what_it_would_start(tmp_path: Path, line: str, runner: str, told: dict[str, Any]) -> None:
    (tmp_path / "tools").mkdir()
    (tmp_path / "tools/check").write_text("#!/opt/py/bin/python3\n")
    for name in ("one.py", "two.py"):
        (tmp_path / name).touch()
    found = read(line, tmp_path)
    wanted = {"cwd": str(tmp_path)} | {
        name: value.replace("{cwd}", str(tmp_path)) if isinstance(value, str) else value for name, value in told.items()
    }
    assert (found.runner, facts(found)) == (runner, wanted)


def test_the_interpreter_of_a_runner_is_the_one_its_script_names(tmp_path: Path) -> None:
    script = tmp_path / "bin/pytest"
    script.parent.mkdir()
    script.write_text("#!/opt/tests/bin/python3.11\nimport pytest\n")
    script.chmod(0o755)
    assert facts(read("pytest", tmp_path))["python"] == "/opt/tests/bin/python3.11"


def test_of_many_packages_the_one_that_has_tests(tmp_path: Path) -> None:
    (tmp_path / "sums").mkdir()
    (tmp_path / "sums" / "x_test.go").touch()
    assert facts(read("go test ./...", tmp_path))["program"] == str(tmp_path / "sums")


def test_coverage_is_switched_off_where_the_project_asks_for_it(tmp_path: Path) -> None:
    (tmp_path / "setup.cfg").write_text("[tool:pytest]\naddopts = --cov\n")
    (tmp_path / "sub").mkdir()
    assert facts(read("cd sub && pytest t.py", tmp_path))["args"] == ["t.py", "--no-cov"]


def test_a_compiled_program_and_files_of_interpreters_are_programs(tmp_path: Path) -> None:
    (tmp_path / "prog").write_bytes(b"\x7fELF...")
    for line in ("./prog 1 2", "lua prog 1 2", "ruby -w prog 1 2"):
        wish = read(line, tmp_path).wish
        assert (Path(wish.program), wish.args, wish.cwd) == (tmp_path / "prog", ("1", "2"), str(tmp_path))


@pytest.mark.parametrize(
    ("line", "why"),
    [
        ("python -c 'print(1)'", "no file"),
        ("python", "no file"),
        ("pytest $FILES", "computed by the shell"),
        ("pytest `ls`", "computed by the shell"),
        ("make test", "no file that can be read"),
        ("./script.sh", "no debugger for"),
        ("a | python app.py", "another command"),
        ("./prog || true", "more than one command"),
        ("make && pytest", "more than one command"),
        ("python 'app.py", "does not end"),
        ("go vet ./...", "Of go"),
        ("node --test", "names no file"),
        ("node -e 1 app.js", "names no file"),
        ("go test ./...", "2 packages"),
        ("  ", "no command"),
    ],
)
def test_what_cannot_be_debugged_is_refused_with_the_reason_and_what_can(tmp_path: Path, line: str, why: str) -> None:
    (tmp_path / "script.sh").write_text("#!/bin/sh\n")
    for name in ("a", "b"):
        (tmp_path / name).mkdir()
        (tmp_path / name / "x_test.go").touch()
    with pytest.raises(DragomanError) as refused:
        read(line, tmp_path)
    assert (refused.value.code, why in str(refused.value), bool(refused.value.hint)) == ("cannot_debug", True, True)
