"""Adapters that a user declares: which one is taken, how it is started, and what is said of a wrong declaration."""

from __future__ import annotations

import sys
from pathlib import Path

import pytest

from dragoman.core.errors import DragomanError
from dragoman.core.paths import Paths, find_paths
from dragoman.core.settings.loader import explain_settings, load_settings
from dragoman.core.settings.schema import Settings
from dragoman.debug.backends.adapters import BUILT_IN, AdapterSpec, LaunchContext
from dragoman.debug.backends.adapters.user_adapters import with_user_adapters
from dragoman.debug.model import LaunchRequest
from tests.conformance.test_python import client_of, service_in, stop_of


@pytest.fixture
def paths(home: Path) -> Paths:
    return find_paths()


def loaded(paths: Paths, text: str) -> Settings:
    paths.config.mkdir(parents=True, exist_ok=True)
    paths.settings_file.write_text(text)
    return load_settings(paths, {})


def declared(paths: Paths, text: str) -> AdapterSpec:
    return with_user_adapters((), loaded(paths, text).adapters)[0]


def situation(workspace: Path, at: str = "", **environment: str) -> LaunchContext:
    return LaunchContext("launch", {"program": "x"}, environment, workspace, at=at)


ZIG = """
[adapters.zig]
command = ["/bin/sh", "--port={port}", "-v"]
transport = "tcp"
types = ["zig", "zig-debug"]
exception_filters = ["panic"]

[adapters.zig.quirks]
hit_forms = ["=="]
takes_log_messages = false
or_word = "or"
"""


def test_a_declaration_becomes_an_adapter(paths: Paths, tmp_path: Path) -> None:
    spec = declared(paths, ZIG)
    assert (spec.name, spec.adapter_id, spec.transport) == ("zig", "zig", "tcp")
    assert sorted(spec.types) == ["zig", "zig-debug"]
    assert spec.exception_filters == ("panic",)
    quirks = spec.quirks
    assert ([*quirks.hit_forms], quirks.takes_log_messages, quirks.or_word) == (["=="], False, "or")
    command = spec.command(situation(tmp_path, at="4711"))
    assert (list(command.argv), command.cwd) == (["/bin/sh", "--port=4711", "-v"], tmp_path)
    assert spec.arguments(situation(tmp_path)) == {"program": "x"}


def test_a_command_is_found_on_the_clients_path_and_never_in_the_workspace(paths: Paths, tmp_path: Path) -> None:
    spec = declared(paths, '[adapters.own]\ncommand = ["own-dap"]\ntypes = ["own"]\n')
    (tmp_path / "own-dap").write_text("#!/bin/sh\n")
    (tmp_path / "own-dap").chmod(0o755)
    with pytest.raises(DragomanError) as caught:
        spec.command(situation(tmp_path, PATH="."))
    assert caught.value.code == "adapter_missing"
    assert spec.command(situation(tmp_path, PATH=str(tmp_path))).argv[0] == str(tmp_path / "own-dap")


def test_a_declared_one_wins_over_ours(paths: Paths) -> None:
    specs = with_user_adapters(BUILT_IN, loaded(paths, '[adapters.p]\ncommand = ["x"]\ntypes = ["python"]\n').adapters)
    by_type = {type: spec.name for spec in specs for type in spec.types}
    assert (by_type["python"], by_type["debugpy"]) == ("p", "python")


def test_a_path_alone_declares_nothing_new(paths: Paths) -> None:
    assert with_user_adapters(BUILT_IN, loaded(paths, '[adapters.go]\npath = "/opt/dlv"\n').adapters) == BUILT_IN


@pytest.mark.parametrize(
    ("text", "key", "problem"),
    [
        ('[adapters.x]\ncommand = ["a"]\n', "adapters.x", "types"),
        ('[adapters.x]\ntypes = ["x"]\n', "adapters.x", "either path"),
        ('[adapters.x]\npath = "/a"\n', "adapters.x.path", "can be set with path"),
        ('[adapters.x]\ncommand = "a"\ntypes = ["x"]\n', "adapters.x.command", "list of strings"),
        ('[adapters.x]\ncommand = []\ntypes = ["x"]\n', "adapters.x.command", "list of strings"),
        ('[adapters.x]\ncommand = ["a"]\ntypes = ["x"]\ntransport = "udp"\n', "adapters.x.transport", "stdio, unix"),
        ('[adapters.x]\ncommand = ["a"]\ntypes = ["x"]\ntransport = "tcp"\n', "adapters.x", "{port}"),
        ('[adapters.x]\ncommand = ["a"]\ntypes = ["x"]\ntransport = "unix"\n', "adapters.x", "{socket}"),
        ('[adapters.x]\ncommand = ["a"]\ntypes = ["x y"]\n', "adapters.x.types", "list of names"),
        ('[adapters.x]\ncommand = ["a"]\ntypes = ["x"]\nspeed = 1\n', "adapters.x.speed", "unknown key"),
        (
            '[adapters.x]\ncommand = ["a"]\ntypes = ["x"]\nquirks = {log_prefix = "("}\n',
            "adapters.x.quirks",
            "a regular expression",
        ),
        (
            '[adapters.x]\ncommand = ["a"]\ntypes = ["x"]\nquirks = {or_word = 1}\n',
            "adapters.x.quirks.or_word",
            "table",
        ),
        ("adapters = 3\n", "adapters", "one entry per adapter"),
    ],
)
def test_a_wrong_declaration_is_reported_with_its_place(paths: Paths, text: str, key: str, problem: str) -> None:
    with pytest.raises(DragomanError) as caught:
        loaded(paths, f"port = 1\n{text}")
    assert caught.value.code == "bad_settings"
    assert f"line 2: invalid {key}" in str(caught.value)
    assert problem in str(caught.value)


def test_declarations_are_listed_with_the_other_settings(paths: Paths) -> None:
    loaded(paths, ZIG)
    assert "zig" in str(explain_settings(paths, {})["adapters"].value)


@pytest.mark.anyio
async def test_a_workspace_cannot_declare_one(paths: Paths, tmp_path: Path) -> None:
    (tmp_path / ".vscode").mkdir()
    (tmp_path / ".vscode" / "settings.json").write_text('{"adapters": {"x": {"command": ["x"], "types": ["x"]}}}')
    (tmp_path / "settings.toml").write_text('[adapters.x]\ncommand = ["x"]\ntypes = ["x"]\n')
    wanted = {"type": "x", "request": "launch", "name": "x", "program": "x", "command": ["/bin/true"]}
    async with service_in(tmp_path) as service:
        with pytest.raises(DragomanError) as caught:
            await service.start(client_of(tmp_path), LaunchRequest(configuration=wanted), within_s=10)
        assert caught.value.code == "no_adapter"


@pytest.mark.anyio
@pytest.mark.timeout(120)
async def test_a_program_runs_under_a_declared_adapter(paths: Paths, tmp_path: Path) -> None:
    (tmp_path / "main.py").write_text("x = 1\nraise ValueError(x)\n")
    python = str(Path(sys.base_prefix) / "bin" / "python3")
    spec = declared(
        paths,
        f'[adapters.mine]\ncommand = ["{sys.executable}", "-m", "debugpy.adapter"]\ntypes = ["mine"]\n'
        'adapter_id = "debugpy"\nexception_filters = ["uncaught"]\nquirks = {or_word = "or"}\n',
    )
    wanted = {"type": "mine", "request": "launch", "name": "m", "program": str(tmp_path / "main.py"), "python": python}
    async with service_in(tmp_path, spec) as service:
        started = await service.start(client_of(tmp_path), LaunchRequest(configuration=wanted), within_s=60)
        assert (stop_of(started).reason, started.session.facts) == ("exception", {"adapter": "mine"})
