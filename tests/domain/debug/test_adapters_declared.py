"""Adapters that a user declares: which one is taken, how it is started, and what a wrong declaration is told."""

from __future__ import annotations

import sys
from pathlib import Path

import pytest

from dragoman.debug.adapters import BUILT_IN, AdapterSpec, Situation
from dragoman.debug.adapters.declared import with_declared
from dragoman.debug.service import Wish
from dragoman.errors import DragomanError
from dragoman.places import Places, find_places
from dragoman.setting_table import Settings
from dragoman.settings import explain, load_settings
from tests.conformance.test_python import client_of, service_in, stop_of


@pytest.fixture
def places(home: Path) -> Places:
    return find_places()


def loaded(places: Places, text: str) -> Settings:
    places.config.mkdir(parents=True, exist_ok=True)
    places.settings_file.write_text(text)
    return load_settings(places, {})


def declared(places: Places, text: str) -> AdapterSpec:
    return with_declared((), loaded(places, text).adapters)[0]


def situation(workspace: Path, at: str = "", **environment: str) -> Situation:
    return Situation("launch", {"program": "x"}, environment, workspace, at=at)


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


def test_a_declaration_becomes_an_adapter(places: Places, tmp_path: Path) -> None:
    spec = declared(places, ZIG)
    assert (spec.name, spec.adapter_id, spec.transport) == ("zig", "zig", "tcp")
    assert sorted(spec.types) == ["zig", "zig-debug"]
    assert spec.exception_filters == ("panic",)
    dialect = spec.dialect
    assert ([*dialect.hit_forms], dialect.takes_log_messages, dialect.or_word) == (["=="], False, "or")
    command = spec.command(situation(tmp_path, at="4711"))
    assert (list(command.argv), command.cwd) == (["/bin/sh", "--port=4711", "-v"], tmp_path)
    assert spec.arguments(situation(tmp_path)) == {"program": "x"}


def test_a_command_is_found_on_the_clients_path_and_never_in_the_workspace(places: Places, tmp_path: Path) -> None:
    spec = declared(places, '[adapters.own]\ncommand = ["own-dap"]\ntypes = ["own"]\n')
    (tmp_path / "own-dap").write_text("#!/bin/sh\n")
    (tmp_path / "own-dap").chmod(0o755)
    with pytest.raises(DragomanError) as caught:
        spec.command(situation(tmp_path, PATH="."))
    assert caught.value.code == "adapter_missing"
    assert spec.command(situation(tmp_path, PATH=str(tmp_path))).argv[0] == str(tmp_path / "own-dap")


def test_a_declared_one_wins_over_ours(places: Places) -> None:
    specs = with_declared(BUILT_IN, loaded(places, '[adapters.p]\ncommand = ["x"]\ntypes = ["python"]\n').adapters)
    by_type = {type: spec.name for spec in specs for type in spec.types}
    assert (by_type["python"], by_type["debugpy"]) == ("p", "python")


def test_a_path_alone_declares_nothing_new(places: Places) -> None:
    assert with_declared(BUILT_IN, loaded(places, '[adapters.go]\npath = "/opt/dlv"\n').adapters) == BUILT_IN


@pytest.mark.parametrize(
    ("text", "key", "problem"),
    [
        ('[adapters.x]\ncommand = ["a"]\n', "adapters.x", "types"),
        ('[adapters.x]\ntypes = ["x"]\n', "adapters.x", "either path"),
        ('[adapters.x]\npath = "/a"\n', "adapters.x.path", "only one of"),
        ('[adapters.x]\ncommand = "a"\ntypes = ["x"]\n', "adapters.x.command", "list of words"),
        ('[adapters.x]\ncommand = []\ntypes = ["x"]\n', "adapters.x.command", "list of words"),
        ('[adapters.x]\ncommand = ["a"]\ntypes = ["x"]\ntransport = "udp"\n', "adapters.x.transport", "stdio, unix"),
        ('[adapters.x]\ncommand = ["a"]\ntypes = ["x"]\ntransport = "tcp"\n', "adapters.x", "{port}"),
        ('[adapters.x]\ncommand = ["a"]\ntypes = ["x"]\ntransport = "unix"\n', "adapters.x", "{socket}"),
        ('[adapters.x]\ncommand = ["a"]\ntypes = ["x y"]\n', "adapters.x.types", "list of names"),
        ('[adapters.x]\ncommand = ["a"]\ntypes = ["x"]\nspeed = 1\n', "adapters.x.speed", "no such key"),
        (
            '[adapters.x]\ncommand = ["a"]\ntypes = ["x"]\nquirks = {log_prefix = "("}\n',
            "adapters.x.quirks",
            "a pattern",
        ),
        (
            '[adapters.x]\ncommand = ["a"]\ntypes = ["x"]\nquirks = {or_word = 1}\n',
            "adapters.x.quirks.or_word",
            "table",
        ),
        ("adapters = 3\n", "adapters", "table for each adapter"),
    ],
)
def test_a_wrong_declaration_is_told_with_its_place(places: Places, text: str, key: str, problem: str) -> None:
    with pytest.raises(DragomanError) as caught:
        loaded(places, f"port = 1\n{text}")
    assert caught.value.code == "bad_settings"
    assert f"line 2: {key} is wrong" in str(caught.value)
    assert problem in str(caught.value)


def test_declarations_are_listed_with_the_other_settings(places: Places) -> None:
    loaded(places, ZIG)
    assert "zig" in str(explain(places, {})["adapters"].value)


@pytest.mark.anyio
async def test_a_workspace_cannot_declare_one(places: Places, tmp_path: Path) -> None:
    (tmp_path / ".vscode").mkdir()
    (tmp_path / ".vscode" / "settings.json").write_text('{"adapters": {"x": {"command": ["x"], "types": ["x"]}}}')
    (tmp_path / "settings.toml").write_text('[adapters.x]\ncommand = ["x"]\ntypes = ["x"]\n')
    wanted = {"type": "x", "request": "launch", "name": "x", "program": "x", "command": ["/bin/true"]}
    async with service_in(tmp_path) as service:
        with pytest.raises(DragomanError) as caught:
            await service.start(client_of(tmp_path), Wish(configuration=wanted), within_s=10)
        assert caught.value.code == "no_adapter"


@pytest.mark.anyio
@pytest.mark.timeout(120)
async def test_a_program_runs_under_a_declared_adapter(places: Places, tmp_path: Path) -> None:
    (tmp_path / "main.py").write_text("x = 1\nraise ValueError(x)\n")
    python = str(Path(sys.base_prefix) / "bin" / "python3")
    spec = declared(
        places,
        f'[adapters.mine]\ncommand = ["{sys.executable}", "-m", "debugpy.adapter"]\ntypes = ["mine"]\n'
        'adapter_id = "debugpy"\nexception_filters = ["uncaught"]\nquirks = {or_word = "or"}\n',
    )
    wanted = {"type": "mine", "request": "launch", "name": "m", "program": str(tmp_path / "main.py"), "python": python}
    async with service_in(tmp_path, spec) as service:
        started = await service.start(client_of(tmp_path), Wish(configuration=wanted), within_s=60)
        assert (stop_of(started).reason, started.session.facts) == ("exception", {"adapter": "mine"})
