"""Programs that only start another, as configurations name them: what they start is what is debugged."""

from __future__ import annotations

import json
from collections.abc import Sequence
from functools import partial
from pathlib import Path
from typing import Any

import pytest

from dragoman.debug.backends.starter import _unwrap_command
from dragoman.debug.launch.errors import LaunchError
from dragoman.debug.launch.programs import is_launcher
from dragoman.debug.launch.resolution import LaunchEnvironment, ResolvedConfiguration, resolve
from dragoman.debug.model import LaunchRequest
from dragoman.workspace.caller import Caller as Asker
from tests.debug.launch.workspaces import Workspace


def resolved(workspace: Workspace, **request: Any) -> ResolvedConfiguration:
    folder = workspace.folder
    asker = Asker(id="a", workspace=folder, cwd=folder, environment={"PATH": str(folder / "bin")})
    client = LaunchEnvironment(workspace=folder, environment=asker.environment)
    return resolve(LaunchRequest(**request), client, unwrap=partial(_unwrap_command, asker)).sessions[0]


WAYS: list[tuple[Sequence[str], str, dict[str, Any]]] = [
    (["python3", "app.py", "1"], "debugpy", {"program": "{ws}/app.py", "args": ["1"]}),
    (["python3", "-m", "pkg"], "debugpy", {"module": "pkg", "args": []}),
    (["env", "A=1", "python3", "app.py"], "debugpy", {"program": "{ws}/app.py", "env": {"A": "1"}}),
    (["uv", "run", "python", "app.py"], "debugpy", {"program": "{ws}/app.py"}),
    (["uv", "run", "app.py", "2"], "debugpy", {"program": "{ws}/app.py", "args": ["2"]}),
    (["poetry", "run", "pytest", "-x"], "debugpy", {"module": "pytest", "args": ["-x"]}),
    (["pipenv", "run", "python", "-m", "pkg"], "debugpy", {"module": "pkg"}),
    (["/usr/bin/python3", "app.py"], "debugpy", {"program": "{ws}/app.py", "python": "/usr/bin/python3"}),
    ([".venv/bin/python", "app.py"], "debugpy", {"program": "{ws}/app.py", "python": "{ws}/.venv/bin/python"}),
    (["node", "--no-warnings", "app.js"], "pwa-node", {"program": "{ws}/app.js", "runtimeArgs": ["--no-warnings"]}),
    (["npm", "start"], "pwa-node", {"program": "{ws}/app.js", "args": ["4"]}),
    (["npm", "run", "go", "--", "5"], "pwa-node", {"program": "{ws}/app.js", "args": ["5"]}),
    (["npx", "tsx", "app.ts"], "pwa-node", {"program": "{ws}/app.ts", "runtimeArgs": ["--import", "tsx"]}),
    (["go", "run", ".", "3"], "go", {"mode": "debug", "program": "{ws}", "args": ["3"]}),
    (["go", "test", "./lib"], "go", {"mode": "test", "program": "{ws}/lib"}),
    (["cargo", "run", "--release", "--", "3"], "native", {"program": "{ws}/target/release/my-app", "args": ["3"]}),
    (["lua", "app.lua", "1"], "lua", {"program": "{ws}/app.lua", "args": ["1"]}),
]


@pytest.fixture
def project(workspace: Workspace) -> Workspace:
    for name in ("app.py", "app.js", "app.ts", "app.lua", "src/main.rs", "lib/x_test.go", ".venv/bin/python"):
        workspace.write(name, "")
    workspace.write("package.json", '{"scripts": {"start": "node app.js 4", "go": "node app.js"}}')
    workspace.write("Cargo.toml", '[package]\nname = "my-app"\n')
    return workspace


@pytest.mark.parametrize(("words", "type", "result"), WAYS, ids=lambda it: it[0] if isinstance(it, list) else "")
def test_a_launcher_is_what_it_starts_however_it_is_named(
    project: Workspace, words: list[str], type: str, result: dict[str, Any]
) -> None:
    program, *args = words
    ways = (
        {"program": program, "args": args},
        {"configuration": {"program": program, "args": args}},
        {"configuration": {"name": "x", "type": type, "request": "launch", "program": program, "args": args}},
    )
    for way in ways if type != "native" else ways[:2]:
        session = resolved(project, **way)
        expected = {
            key: it.replace("{ws}", str(project.folder)) if isinstance(it, str) else it for key, it in result.items()
        }
        assert session.type == type
        assert {key: session.arguments.get(key) for key in expected} == expected


def test_what_a_configuration_says_besides_is_kept(project: Workspace) -> None:
    """The type too, where it is of the same debugger."""
    given = {"name": "x", "type": "python", "request": "launch", "program": "python3", "args": ["app.py"]}
    session = resolved(project, configuration={**given, "justMyCode": False, "env": {"B": "2"}, "stopOnEntry": True})
    assert (session.name, session.type, session.env) == ("x", "python", {"B": "2"})
    assert (session.arguments["justMyCode"], session.arguments["stopOnEntry"]) == (False, True)


def test_cargo_builds_before_it_runs(project: Workspace) -> None:
    session = resolved(project, program="cargo", args=["run", "--features", "x"])
    assert session.before is not None
    assert session.before.command is not None
    assert session.before.command.line == "cargo build --features=x"


def test_tests_of_cargo_that_are_not_built_are_refused_with_what_builds_them(project: Workspace) -> None:
    with pytest.raises(LaunchError) as refused:
        resolved(project, program="cargo", args=["test", "name"])
    assert (refused.value.code, "cargo test --no-run" in str(refused.value.hint)) == ("needs_build", True)


def test_tests_of_cargo_run_one_after_another_and_say_at_once_why_they_panic(project: Workspace) -> None:
    test = project.folder / "target/debug/deps/my_app-0123456789abcdef"
    test.parent.mkdir(parents=True)
    test.write_bytes(b"\x7fELF")
    test.chmod(0o755)
    for words in (["test", "name"], ["test", "name", "--profile", "dev", "-pmy-app"]):
        result = resolved(project, program="cargo", args=words).arguments["args"]
        assert result == ["name", "--test-threads=1", "--nocapture"]
    result = resolved(project, program="cargo", args=["test", "--", "--show-output", "--nocapture"]).arguments["args"]
    assert result == ["--show-output", "--nocapture", "--test-threads=1"]


def test_behind_the_options_of_cargo_run_all_is_the_programs(project: Workspace) -> None:
    words = ["+nightly", "run", "-F", "a", "-pmy-app", "x", "--", "+5", "--release"]
    session = resolved(project, program="cargo", args=words)
    assert session.arguments["args"] == ["x", "--", "+5", "--release"]
    assert session.before is not None
    assert session.before.command is not None
    assert session.before.command.line == "cargo +nightly build -F a -p my-app"


def test_what_npm_runs_first_is_a_task_before_what_it_starts(project: Workspace) -> None:
    scripts = {"prestart": "tsc", "start": "node app.js"}
    (project.folder / "package.json").write_text(json.dumps({"scripts": scripts}))
    ways = ({"program": "npm", "args": ["start"]}, {"configuration": {"program": "npm", "args": ["start"]}})
    for way in ways:
        session = resolved(project, **way)
        assert session.before is not None
        assert session.before.command is not None
        assert (session.before.command.line, session.before.command.cwd) == ("npm run prestart", str(project.folder))
        assert "preLaunchTask" not in session.arguments


@pytest.mark.parametrize(
    ("given", "there", "is_one"),
    [
        ({"program": "node"}, "", True),
        ({"program": "node"}, "node", False),
        ({"program": "node"}, "node/app.test.js", True),
        ({"program": "go"}, "go/main.go", False),
        ({"program": "python"}, "python/app.py", True),
        ({"program": "./go"}, "go", False),
        ({"program": "/usr/bin/node"}, "", True),
        ({"program": "node_modules/.bin/mocha"}, "node_modules/.bin/mocha", True),
        ({"program": "app.py"}, "app.py", False),
        ({"program": "/usr/bin/python3", "type": "lldb"}, "", False),
        ({"program": "cargo", "type": "lldb"}, "", True),
        ({"program": "bash"}, "", False),
    ],
)
def test_a_file_of_the_project_is_not_a_launcher(
    tmp_path: Path, given: dict[str, str], there: str, *, is_one: bool
) -> None:
    if there:
        (tmp_path / there).parent.mkdir(parents=True, exist_ok=True)
        (tmp_path / there).touch()
    assert is_launcher(given, tmp_path, tmp_path) is is_one
