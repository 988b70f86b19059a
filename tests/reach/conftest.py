"""Everything of `--on` at length takes minutes and other users: only `make test-reach` runs these."""

from __future__ import annotations

import os
from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.daemons import Cli, cli_with_home
from tests.reach.machines import Podman, install, other_user, podman, public_folder
from tests.reach.report import Report
from tests.support.ssh_machine import SshMachine, ssh_machine

IS_WANTED = bool(os.environ.get("TEST_REACH"))
collect_ignore_glob = [] if IS_WANTED else ["test_*.py"]


def pytest_configure(config: pytest.Config) -> None:
    """Of a run of all of them, by the process that is told of every result."""
    if IS_WANTED and not hasattr(config, "workerinput") and "tests/reach" in config.args:
        config.pluginmanager.register(Report())


@pytest.fixture(scope="session")
def place() -> Iterator[Path]:
    with public_folder() as folder:
        yield folder


@pytest.fixture(scope="session")
def installed(place: Path) -> Path | None:
    return install(place)


@pytest.fixture(scope="session")
def machine(place: Path, installed: Path | None) -> Iterator[SshMachine]:
    """The other machine, with its daemon, and a folder that it trusts."""
    with other_user(place, installed) as user, ssh_machine(place / "m", user) as machine:
        up = machine.there("up", cwd=machine.far)
        assert up.returncode == 0, up.stderr
        assert machine.there("trust", str(machine.project), cwd=machine.far).returncode == 0
        yield machine


@pytest.fixture(scope="session")
def container(place: Path, installed: Path | None, machine: SshMachine) -> Iterator[Podman | None]:
    with podman(place, installed, machine.project) as container:
        yield container


@pytest.fixture(scope="session")
def here(machine: SshMachine, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Cli]:
    with cli_with_home(tmp_path_factory.mktemp("n"), machine.variables()) as cli:
        yield cli
