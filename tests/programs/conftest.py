"""Real projects take minutes and packages from the network: only `make test-programs` runs these."""

from __future__ import annotations

import os

import pytest

from tests.programs.report import Report

IS_WANTED = bool(os.environ.get("TEST_PROGRAMS"))
collect_ignore = ["projects"]
collect_ignore_glob = [] if IS_WANTED else ["test_*.py"]


def pytest_configure(config: pytest.Config) -> None:
    """Of a run of all of them, by the process that is told of every result."""
    if IS_WANTED and not hasattr(config, "workerinput") and config.args == ["tests/programs"]:
        config.pluginmanager.register(Report())
