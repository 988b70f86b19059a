"""Failing Python tests: a runner that catches what they raise must not hide it."""

from __future__ import annotations

import sys
from pathlib import Path

import pytest

from dragoman.debug.model import LaunchRequest
from dragoman.workspace.breakpoints import Breakpoint
from tests.conformance.test_python import client_of, end_of, service_in, stop_of, values

pytestmark = [pytest.mark.anyio, pytest.mark.timeout(120)]

TESTS = """\
import unittest

def add(a, b):
    return a - b

class Sums(unittest.TestCase):
    def test_a_skipped_one(self):
        self.skipTest("not today")

    def test_adding(self):
        got = add(1, 2)
        assert got == 3
"""
LINE_OF_ASSERTION = 12


def module(name: str) -> LaunchRequest:
    """No `cwd`, as most people have it. The interpreter is the one that has pytest."""
    return LaunchRequest(
        configuration={"type": "python", "request": "launch", "name": "t", "module": name, "python": sys.executable}
    )


@pytest.mark.parametrize("runner", ["pytest", "unittest"])
async def test_a_failing_test_stops_at_its_assertion_and_a_skipped_one_does_not(tmp_path: Path, runner: str) -> None:
    (tmp_path / "test_sums.py").write_text(TESTS)
    client = client_of(tmp_path)
    async with service_in(tmp_path) as service:
        stop = stop_of(await service.start(client, module(runner), within_s=60))
        assert (stop.reason, stop.frames[0].line, stop.frames[0].name.rpartition(".")[2]) == (
            "exception",
            LINE_OF_ASSERTION,
            "test_adding",
        )
        assert stop.raised is not None
        assert (stop.raised.type, values(stop)["got"]) == ("AssertionError", "-1")
        ended = end_of(await service.resume(client, "", thread_id=None, within_s=30))
        assert ended.exit_code == 1


async def test_the_filter_for_tests_can_be_switched_off(tmp_path: Path) -> None:
    (tmp_path / "test_sums.py").write_text(TESTS)
    client = client_of(tmp_path)
    async with service_in(tmp_path) as service:
        await service.set_breakpoint(client, Breakpoint(id=0, kind="exception", filter="userUnhandled", enabled=False))
        ended = end_of(await service.start(client, module("unittest"), within_s=60))
        assert ended.exit_code == 1


async def test_a_module_runs_in_the_workspace_if_no_folder_is_given(tmp_path: Path) -> None:
    (tmp_path / "here.py").write_text("import os\nprint(os.getcwd())\n")
    async with service_in(tmp_path) as service:
        ended = end_of(await service.start(client_of(tmp_path), module("here"), within_s=60))
        assert (ended.exit_code, tmp_path.name in ended.output) == (0, True)
