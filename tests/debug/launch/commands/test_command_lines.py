"""Command lines as people type them, read as what a debugger would start."""

from __future__ import annotations

import json
import tracemalloc
from pathlib import Path
from typing import Any

import pytest

from dragoman.core.errors import DragomanError
from dragoman.debug.launch.commands.command_line import CommandTarget, read_command_line
from dragoman.debug.launch.commands.node import command_of_test


def read(line: str, cwd: Path) -> CommandTarget:
    return read_command_line(line, cwd, {"PATH": f"{cwd}/bin"})


def facts(found: CommandTarget) -> dict[str, Any]:
    return {
        name: value for name, value in found.launch_request.configuration.items() if name not in {"request", "name"}
    }


PY: dict[str, Any] = {"type": "debugpy"}
NODE: dict[str, Any] = {"type": "pwa-node"}
TESTS: dict[str, Any] = {"args": [], "skipFiles": []}


@pytest.mark.parametrize(
    ("line", "runner", "result"),
    [
        ("python app.py -v", "", PY | {"program": "{cwd}/app.py", "args": ["-v"]}),
        ("python3 -X dev app.py", "", PY | {"program": "{cwd}/app.py", "args": [], "pythonArgs": ["-X", "dev"]}),
        ("uv run --with x --no-sync app.py 1", "", PY | {"program": "{cwd}/app.py", "args": ["1"]}),
        ("uv run -m pkg 1", "", PY | {"module": "pkg", "args": ["1"]}),
        ("nice -n 5 /o/bin/python3 a.py", "", PY | {"program": "{cwd}/a.py", "args": [], "python": "/o/bin/python3"}),
        ("tsx app.ts 1", "", NODE | {"program": "{cwd}/app.ts", "runtimeArgs": ["--import", "tsx"], "args": ["1"]}),
        ("tsx --test a.ts", "node", NODE | {"program": "{cwd}/a.ts", "runtimeArgs": ["--import", "tsx"]} | TESTS),
        ("python manage.py test shop", "unittest", PY | {"program": "{cwd}/manage.py", "args": ["test", "shop"]}),
        ("python manage.py runserver", "", PY | {"program": "{cwd}/manage.py", "args": ["runserver"]}),
        ("python -m django test", "unittest", PY | {"module": "django", "args": ["test"]}),
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
        (
            "go test -v -run '^TestSum$' ./sums",
            "go",
            {"type": "go", "mode": "test", "program": "{cwd}/sums", "cwd": "{cwd}/sums"}
            | {"args": ["-test.v", "-test.run=^TestSum$"]},
        ),
        ("go run main.go 3", "", {"type": "go", "mode": "debug", "program": "{cwd}/main.go", "args": ["3"]}),
    ],
)  # fmt: skip
def test_a_command_is_what_it_would_start(tmp_path: Path, line: str, runner: str, result: dict[str, Any]) -> None:
    (tmp_path / "tools").mkdir()
    (tmp_path / "tools/check").write_text("#!/opt/py/bin/python3\n")
    for name in ("one.py", "two.py"):
        (tmp_path / name).touch()
    found = read(line, tmp_path)
    wanted = {"cwd": str(tmp_path)} | {
        name: value.replace("{cwd}", str(tmp_path)) if isinstance(value, str) else value
        for name, value in result.items()
    }
    assert (found.runner, facts(found)) == (runner, wanted)


@pytest.mark.parametrize(
    ("line", "file", "result"),
    [
        ("env -u B A=1 timeout -s 9 5 python a.py", "a.py", {"env": {"A": "1", "B": None}}),
        ("env -C sub python a.py 1", "sub/a.py", {"args": ["1"], "cwd": "{cwd}/sub"}),
        ("uv run --directory sub --cache-dir c a.py", "sub/a.py", {"cwd": "{cwd}/sub"}),
        ("uv run --env-file .env a.py", "a.py", {"envFile": ["{cwd}/.env"]}),
        ("python -um pkg -m x", "", {"module": "pkg", "args": ["-m", "x"], "pythonArgs": ["-u"]}),
        ("python -mpkg", "", {"module": "pkg", "args": []}),
        ("python -BX dev -Wi a.py -c", "a.py", {"args": ["-c"], "pythonArgs": ["-BX", "dev", "-Wi"]}),
        ("python a.py 1 2 > out", "a.py", {"args": ["1", "2"]}),
        ("python a.py 1 2>out < /dev/null &", "a.py", {"args": ["1"]}),
        ("tsx watch --tsconfig t a.ts watch", "a.ts", {"args": ["watch"], "env": {"TSX_TSCONFIG_PATH": "t"}}),
        ("ts-node -T a.ts -T", "a.ts", {"args": ["-T"], "env": {"TS_NODE_TRANSPILE_ONLY": "true"}}),
        ("node --watch-path src --title t -- a.js --x", "a.js", {"runtimeArgs": ["--title", "t"], "args": ["--x"]}),
        ("node --inspect-port 9230 a.js", "a.js", {"runtimeArgs": [], "args": []}),
    ],
)
def test_words_before_a_program_keep_their_meaning_and_those_behind_it_are_its_own(
    tmp_path: Path, line: str, file: str, result: dict[str, Any]
) -> None:
    found = facts(read(line, tmp_path))
    wanted = json.loads(json.dumps({"program": f"{{cwd}}/{file}", **result}).replace("{cwd}", str(tmp_path)))
    assert {name: found.get(name) for name in wanted} == wanted | ({} if file else {"program": None})


@pytest.mark.parametrize(
    ("line", "program", "args", "flags"),
    [
        ("go run . --config ./conf.yaml -v", "", ["--config", "./conf.yaml", "-v"], None),
        ("go run main.go -in ./x.txt y.go", "main.go", ["-in", "./x.txt", "y.go"], None),
        ("go run main.go more.go x", "main.go", ["x"], "{cwd}/more.go"),
        ("go run example.com/shop/cmd/api -port 80", "cmd/api", ["-port", "80"], None),
        ("go run example.com/tools", "tools", [], None),
        ("go run -race --tags integration -ldflags='-s -w -X main.v=\"1 2\"' ./cmd/api", "cmd/api", [],
         "-race -tags=integration '-ldflags=-X main.v=\"1 2\"'"),
        ("go run -trimpath -ldflags=-s -modfile=other.mod . -race", "", ["-race"], "-modfile={cwd}/other.mod"),
        ("go -C cmd run ./api -- 1", "cmd/api", ["--", "1"], None),
        ("go test -tags integration -coverprofile c.out -short ./sums", "sums", ["-test.short"], "-tags=integration"),
        ("go test ./sums -up -gold dir -race -args -x 1", "sums", ["-up", "-gold", "dir", "-x", "1"], "-race"),
        ("go test -json -run=Sum example.com/shop/sums", "sums", ["-test.v", "-test.run=Sum"], None),
        ("go test -cpuprofile p.out ./sums", "sums", ["-test.cpuprofile=p.out", "-test.outputdir={cwd}"], None),
        ("go test sums/x.go sums/x_test.go", "sums/x_test.go", [], "{cwd}/sums/x.go"),
    ],
)  # fmt: skip
def test_words_of_go_are_for_the_build_or_for_the_program_as_go_reads_them(
    tmp_path: Path, line: str, program: str, args: list[str], flags: str | None
) -> None:
    for folder, module in ((".", "example.com/shop"), ("tools", "example.com/tools")):
        (tmp_path / folder).mkdir(exist_ok=True)
        (tmp_path / folder / "go.mod").write_text(f"module {module} // here\n")
    (tmp_path / "go.work").write_text("go 1.18\n\nuse (\n\t. // the root\n\t./tools\n)\n")
    result = facts(read(line, tmp_path))
    assert (result["program"], result.get("buildFlags")) == (
        str(tmp_path / program),
        flags and flags.replace("{cwd}", str(tmp_path)),
    )
    assert result["args"] == [it.replace("{cwd}", str(tmp_path)) for it in args]


def test_the_interpreter_of_a_runner_is_the_one_its_script_names(tmp_path: Path) -> None:
    script = tmp_path / "bin/pytest"
    script.parent.mkdir()
    script.write_text("#!/opt/tests/bin/python3.11\nimport pytest\n")
    script.chmod(0o755)
    assert facts(read("pytest", tmp_path))["python"] == "/opt/tests/bin/python3.11"


def test_a_command_is_of_the_environment_that_python_means(tmp_path: Path) -> None:
    """Of the workspace, where nobody activated it; the PATH may have another."""
    for folder in (tmp_path / "bin", tmp_path / ".venv/bin", tmp_path / "v/bin"):
        folder.mkdir(parents=True)
        for name in ("python", "pytest", "celery", "django-admin"):
            (folder / name).write_text(f"#!{folder}/python\n")
            (folder / name).chmod(0o755)
    for prefix, own in {"": ".venv/bin", ". v/bin/activate; ": "v/bin"}.items():
        assert facts(read(f"{prefix}pytest t.py", tmp_path)).get("python") == f"{tmp_path}/{own}/python"
        result = facts(read(f"{prefix}celery -A shop worker", tmp_path))
        assert (result["program"], result["python"]) == (f"{tmp_path}/{own}/celery", f"{tmp_path}/{own}/python")
        assert read(f"{prefix}django-admin test", tmp_path).runner == "unittest"
    (tmp_path / ".venv/bin/pytest").unlink()
    assert facts(read("pytest t.py", tmp_path))["python"] == f"{tmp_path}/bin/python"


@pytest.mark.parametrize(
    ("line", "libraries"),
    [
        ("ruby t.rb x", None),
        ("ruby -w -Itest:lib t.rb x", "{cwd}/test:{cwd}/lib"),
        ("ruby -I test t.rb x", "{cwd}/test"),
    ],
)
def test_a_test_of_ruby_finds_the_folders_that_it_is_given(tmp_path: Path, line: str, libraries: str | None) -> None:
    found = read(line, tmp_path)
    env = {"RUBYLIB": libraries.replace("{cwd}", str(tmp_path))} if libraries else {}
    assert (found.runner, found.launch_request.program, found.launch_request.args, found.launch_request.env) == (
        "ruby",
        str(tmp_path / "t.rb"),
        ("x",),
        env,
    )


def test_of_many_packages_the_one_that_has_tests(tmp_path: Path) -> None:
    (tmp_path / "sums").mkdir()
    (tmp_path / "sums" / "x_test.go").touch()
    assert facts(read("go test ./...", tmp_path))["program"] == str(tmp_path / "sums")


def interpreter(folder: Path, *installed: str, settings: str = "") -> Path:
    site = folder / "lib/python3.11/site-packages"
    for name in installed:
        (site / name).mkdir(parents=True)
    (folder / "bin").mkdir(parents=True)
    (folder / "pyvenv.cfg").write_text(settings)
    python = folder / "bin/python"
    python.write_text("")
    python.chmod(0o755)
    return python


@pytest.mark.parametrize(
    ("written", "line"),
    [
        ("[tool:pytest]\naddopts = --cov\n", "pytest t.py"),
        ("[tool:pytest]\naddopts =\n  -q\n  --cov=app\ntestpaths = tests\n", "pytest t.py"),
        ("", "pytest t.py --cov=app"),
        ("", "PYTEST_ADDOPTS=--cov pytest t.py"),
    ],
)
def test_coverage_is_switched_off_where_it_is_measured_and_only_where_it_could_be(
    tmp_path: Path, written: str, line: str
) -> None:
    (tmp_path / "setup.cfg").write_text(written)
    (tmp_path / "sub").mkdir()
    has, lacks = interpreter(tmp_path / "has", "pytest", "pytest_cov"), interpreter(tmp_path / "lacks", "pytest")
    system = interpreter(tmp_path / "v", settings=f"home = {has.parent}\ninclude-system-site-packages = true\n")
    for python, is_off in ((has, True), (lacks, False), (system, True)):
        args = facts(read(f"cd sub && {line.replace('pytest t', f'{python} -m pytest t')}", tmp_path))["args"]
        assert ("--no-cov" in args) is is_off


@pytest.mark.parametrize(
    ("written", "line"),
    [
        ("[testenv]\ncommands = pytest --cov=app\n", "pytest"),
        ("[tool:pytest]\naddopts = -q\n[coverage:run]\nsource = --cov\n", "pytest"),
        ("[tool:pytest]\naddopts = --cov\n", "pytest -p no:cov"),
        ("[tool:pytest]\naddopts = --cov\n", "PYTEST_DISABLE_PLUGIN_AUTOLOAD=1 pytest"),
        ("", "pytest --cover"),
    ],
)
def test_coverage_that_is_not_measured_is_not_switched_off(tmp_path: Path, written: str, line: str) -> None:
    (tmp_path / "setup.cfg").write_text(written)
    python = interpreter(tmp_path / ".venv", "pytest", "pytest_cov")
    assert "--no-cov" not in facts(read(line.replace("pytest", f"{python} -m pytest", 1), tmp_path))["args"]


def test_the_interpreter_of_the_workspace_is_asked_whether_it_measures(tmp_path: Path) -> None:
    (tmp_path / "sub").mkdir()
    (tmp_path / "pytest.ini").write_text("[pytest]\naddopts = --cov\n")
    interpreter(tmp_path / ".venv", "pytest_cov")
    found = read_command_line("pytest", tmp_path / "sub", {"PATH": ""}, workspace=tmp_path)
    assert facts(found)["args"] == ["--no-cov"]


@pytest.mark.parametrize(
    ("written", "line", "is_off"),
    [
        ("[tool:pytest]\naddopts = -n auto\n", "pytest", True),
        ("[tool:pytest]\naddopts = -q --dist=loadfile\n", "pytest t.py", True),
        ("", "pytest -n 4 t.py", True),
        ("", "pytest -n4", True),
        ("", "pytest -k auto t.py", False),
        ("[tool:pytest]\naddopts = --no-header\n", "pytest -x", False),
    ],
)
def test_the_tests_of_pytest_run_in_the_process_that_is_debugged(
    tmp_path: Path, written: str, line: str, *, is_off: bool
) -> None:
    (tmp_path / "setup.cfg").write_text(written)
    has, lacks = interpreter(tmp_path / "has", "pytest", "xdist"), interpreter(tmp_path / "lacks", "pytest")
    assert ("-n0" in facts(read(line.replace("pytest", f"{has} -m pytest", 1), tmp_path))["args"]) is is_off
    assert "-n0" not in facts(read(line.replace("pytest", f"{lacks} -m pytest", 1), tmp_path))["args"]


MAKEFILE = """\
PYTEST ?= python -m pytest
FLAGS := -q \\
    -x
.PHONY: test check
test:
\t@echo testing
\t@$(PYTEST) ${FLAGS} tests

check: build
\tpytest tests
\truff check
build:
\tcc a.c
"""


def test_a_target_of_make_is_the_command_that_it_runs(tmp_path: Path) -> None:
    (tmp_path / "Makefile").write_text(MAKEFILE)
    for line in ("make test", "make", "make test 2>&1 | tail"):
        found = read(line, tmp_path)
        assert (found.runner, facts(found)["args"]) == ("pytest", ["-q", "-x", "tests"])
    assert facts(read("make test FLAGS=-v", tmp_path))["args"] == ["-v", "tests"]
    with pytest.raises(DragomanError) as several:
        read("make check", tmp_path)
    assert str(several.value.hint) == "Pass the one that fails: pytest tests; ruff check."
    with pytest.raises(DragomanError, match="no such target"):
        read("make nothing", tmp_path)


@pytest.mark.parametrize("places", ["recipe", "needs"])
def test_a_makefile_whose_variables_multiply_is_not_expanded(tmp_path: Path, places: str) -> None:
    recipe, needs = ("$(A)", "") if places == "recipe" else ("pytest", "$(A)")
    (tmp_path / "Makefile").write_text(f"A = {'$(A)' * 6}\ntest: {needs}\n\t{recipe}\n")
    tracemalloc.start()
    with pytest.raises(DragomanError) as refused:
        read("make test", tmp_path)
    most = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    assert str(refused.value.hint) == f"Pass the one that fails: {recipe}."
    assert most < 4 << 20


def test_a_script_that_runs_its_own_tests_is_a_run_of_unittest(tmp_path: Path) -> None:
    (tmp_path / "t.py").write_text("import unittest\n\nif __name__ == '__main__':\n    unittest.main()\n")
    (tmp_path / "a.py").write_text("print('unittest')\n")
    assert [read(f"python {it}.py", tmp_path).runner for it in ("t", "a")] == ["unittest", ""]


def test_a_compiled_program_and_files_of_interpreters_are_programs(tmp_path: Path) -> None:
    (tmp_path / "prog").write_bytes(b"\x7fELF...")
    for line in ("./prog 1 2", "lua prog 1 2", "ruby -w prog 1 2"):
        launch_request = read(line, tmp_path).launch_request
        assert (Path(launch_request.program), launch_request.args, launch_request.cwd) == (
            tmp_path / "prog",
            ("1", "2"),
            str(tmp_path),
        )


@pytest.mark.parametrize(
    ("line", "why"),
    [
        ("python -c 'print(1)'", "not in a file"),
        ("python", "not in a file"),
        ("pytest $FILES", "shell expansion"),
        ("pytest `ls`", "shell expansion"),
        ("make test", "no such target"),
        ("./script.sh", "no debugger for"),
        ("a | python app.py", "another command"),
        ("./prog || true", "several commands"),
        ("make && pytest", "several commands"),
        ("npm run nothing", "no script 'nothing'"),
        ("npm run round", "does not run code of this project"),
        ("npm install", "does not run code of this project"),
        ("npx", "does not run code of this project"),
        ("yarn nothing", "no script 'nothing'"),
        ("node --test empty", "has no tests"),
        ("python 'app.py", "Unclosed quote"),
        ("go vet ./...", "Only `go test`"),
        ("go run", "No package is given"),
        ("go run ./...", "several packages"),
        ("go run -exec sudo .", "flag '-exec'"),
        ("go run -unknown x .", "flag '-unknown'"),
        ("go run example.com/other/cmd", "No module here has the package"),
        ("go run example.com/other/cmd@latest", "No module here has the package"),
        ("go test -c ./a", "flag '-c'"),
        ("go test -fuzz=F ./a", "flag '-fuzz=F'"),
        ("npm test -w packages/app", "flag '-w'"),
        ("pnpm --filter app test", "flag '--filter'"),
        ("npx --unknown value jest", "flag '--unknown'"),
        ("uv run --project sub app.py", "flag '--project'"),
        ("env -i python app.py", "flag '-i'"),
        ("lua -l lib app.lua", "flag '-l'"),
        ("ruby -r lib app.rb", "flag '-r'"),
        ("node -pe 1", "No file is given"),
        ("python app.py < in.txt", "input is redirected"),
        ("python app.py & python b.py", "several commands"),
        ("env -u A cargo test", "flag '-u'"),
        ("node", "No file is given"),
        ("node -e 1 app.js", "No file is given"),
        ("go test ./...", "2 packages"),
        ("  ", "no command"),
    ],
)
def test_what_cannot_be_debugged_is_refused_with_the_reason_and_what_can(tmp_path: Path, line: str, why: str) -> None:
    (tmp_path / "script.sh").write_text("#!/bin/sh\n")
    (tmp_path / "empty").mkdir()
    (tmp_path / "package.json").write_text('{"scripts": {"round": "npm run round"}}')
    for name in ("a", "b"):
        (tmp_path / name).mkdir()
        (tmp_path / name / "x_test.go").touch()
    with pytest.raises(DragomanError) as refused:
        read(line, tmp_path)
    assert (refused.value.code, why in str(refused.value), bool(refused.value.hint)) == ("cannot_debug", True, True)


PACKAGE = """{
  "scripts": {"test": "jest", "unit": "cross-env A=1 mocha -p --reporter dot", "e2e": "npm run unit -- e2e.js",
              "node": "node --test test/", "all": "vitest watch --coverage"},
  "devDependencies": {"vitest": "1"}
}"""
PATIENCE = {"jest": "--testTimeout=30000", "vitest": "--testTimeout=30000", "mocha": "--timeout=30000"}
ALONE = {
    "jest": ["--runInBand", "--coverage=false", PATIENCE["jest"]],
    "vitest": ["--run", "--no-file-parallelism", "--coverage.enabled=false", PATIENCE["vitest"]],
    "mocha": ["--no-parallel", PATIENCE["mocha"]],
}


def project(folder: Path) -> Path:
    """With the commands of its packages as npm links them, and one as pnpm writes it."""
    (folder / "package.json").write_text(PACKAGE)
    commands = folder / "node_modules" / ".bin"
    commands.mkdir(parents=True)
    for runner in ALONE:
        script = folder / "node_modules" / runner / "bin" / f"{runner}.js"
        script.parent.mkdir(parents=True)
        script.write_text("#!/usr/bin/env node\n")
    for runner in ("jest", "mocha"):
        (commands / runner).symlink_to(f"../{runner}/bin/{runner}.js")
    (commands / "vitest").write_text('#!/bin/sh\nexec node  "$basedir/../vitest/bin/vitest.js" "$@"\n')
    (folder / "sub").mkdir()
    for name in ("a.test.js", "b.mjs", "helper.txt"):
        (folder / "test").mkdir(exist_ok=True)
        (folder / "test" / name).touch()
    return folder


@pytest.mark.parametrize(
    ("line", "runner", "args", "env"),
    [
        ("npx jest a.js", "jest", ["a.js"], None),
        ("npx --yes -p jest jest@29 --watch -w 4 --maxWorkers=2 -t adds", "jest", ["-t", "adds"], None),
        ("npm test", "jest", [], None),
        ("npm t -- -t adds", "jest", ["-t", "adds"], None),
        ("npm run --silent e2e", "mocha", ["--reporter", "dot", "e2e.js"], {"A": "1"}),
        ("npm --prefix . run unit x.js --ignored", "mocha", ["--reporter", "dot", "x.js"], {"A": "1"}),
        (
            "npm run unit x.js --prefix . --loglevel silent -- -x",
            "mocha",
            ["--reporter", "dot", "x.js", "-x"],
            {"A": "1"},
        ),
        ("npm exec jest --quiet -- -t adds", "jest", ["-t", "adds"], None),
        ("npm exec -- jest -t adds", "jest", ["-t", "adds"], None),
        ("node --run test -- -t adds", "jest", ["-t", "adds"], None),
        ("yarn unit --bail", "mocha", ["--reporter", "dot", "--bail"], {"A": "1"}),
        ("yarn mocha --bail", "mocha", ["--bail"], None),
        ("pnpm exec vitest", "vitest", [], None),
        ("pnpm all a", "vitest", ["a"], None),
        ("cd sub && npx vitest related x.ts", "vitest", ["related", "x.ts"], None),
        ("node --inspect-brk ./node_modules/.bin/jest a.js", "jest", ["a.js"], None),
        ("./node_modules/.bin/mocha a.js", "mocha", ["a.js"], None),
        ("mocha -j 2 a.js", "mocha", ["a.js"], None),
    ],
)
def test_runners_of_javascript_run_alone_and_to_their_end(
    tmp_path: Path, line: str, runner: str, args: list[str], env: dict[str, str] | None
) -> None:
    found = read(line, project(tmp_path))
    result = facts(found)
    assert (found.runner, result["args"], result.get("env")) == (runner, [*args, *ALONE[runner]], env)
    assert (result["program"], result["skipFiles"], result["runtimeArgs"]) == (
        str(tmp_path / f"node_modules/{runner}/bin/{runner}.js"),
        [],
        [],
    )


@pytest.mark.parametrize(
    ("line", "first"),
    [
        ("npm test", ["pretest"]),
        ("npm run e2e", ["pree2e", "preunit"]),
        ("yarn unit", ["preunit"]),
        ("npm test --ignore-scripts", []),
        ("npx jest", []),
    ],
)
def test_what_a_package_manager_runs_before_a_script_is_a_task(tmp_path: Path, line: str, first: list[str]) -> None:
    folder = project(tmp_path)
    scripts = {"pretest": "x", "test": "jest", "posttest": "x", "pree2e": "x", "e2e": "npm run unit", "preunit": "x"}
    (folder / "package.json").write_text(json.dumps({"scripts": {**scripts, "unit": "mocha"}}))
    answer = facts(read(line, folder)).get("preLaunchTask") or []
    assert answer == [{"type": "npm", "script": it, "path": str(folder)} for it in first]


def test_a_users_own_timeout_and_process_options_are_kept(tmp_path: Path) -> None:
    folder = project(tmp_path)
    given = "jest -i --testTimeout=5", "mocha -t 5", "vitest run --testTimeout 5"
    assert [facts(read(f"npx {it}", folder))["args"] for it in given] == [
        ["-i", "--testTimeout=5", "--coverage=false"],
        ["-t", "5", "--no-parallel"],
        ["run", "--testTimeout", "5", "--no-file-parallelism", "--coverage.enabled=false"],
    ]


@pytest.mark.parametrize("line", ["node --test test/", "npm run node", "node --test --watch test"])
def test_the_files_of_a_folder_of_tests_are_found_for_any_version_of_node(tmp_path: Path, line: str) -> None:
    found = read(line, project(tmp_path))
    files = [str(tmp_path / "test" / name) for name in ("a.test.js", "b.mjs")]
    result = facts(found)
    assert (found.runner, result["runtimeArgs"], "program" in result) == ("node", ["--test", *files], False)


@pytest.mark.parametrize(
    ("line", "version", "is_run"),
    [
        ("node --test test", "v22.18.0", True),
        ("node --test test", "v20.20.2", False),
        ("node --experimental-strip-types --test test", "v22.6.0", True),
        ("tsx --test test", "v18.0.0", True),
        ("NODE_OPTIONS='--import tsx' node --test test", "v18.0.0", True),
    ],
)
def test_tests_in_typescript_are_found_where_this_node_runs_them(
    tmp_path: Path, line: str, version: str, is_run: bool
) -> None:
    node = tmp_path / "bin/node"
    for file in (node, tmp_path / "test/a.js", tmp_path / "test/b.mts", tmp_path / "test/types.d.ts"):
        file.parent.mkdir(exist_ok=True)
        file.touch()
    node.write_text(f"#!/bin/sh\necho {version}\n")
    node.chmod(0o755)
    result = facts(read(line, tmp_path))
    found = [result["program"]] if "program" in result else [it for it in result["runtimeArgs"] if it.startswith("/")]
    assert [Path(it).name for it in found] == (["a.js", "b.mts"] if is_run else ["a.js"])


def test_without_a_file_node_looks_for_tests_by_itself(tmp_path: Path) -> None:
    assert facts(read("node --test", tmp_path))["runtimeArgs"] == ["--test"]


def test_the_id_of_a_javascript_test_is_run_by_what_its_project_has(tmp_path: Path) -> None:
    folder = project(tmp_path)
    (folder / "own.test.js").write_text("import test from 'node:test'")
    assert command_of_test("a.test.js", folder) == "npx vitest run {id}"
    assert command_of_test("own.test.js", folder) == "node --test {id}"
