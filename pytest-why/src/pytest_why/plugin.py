"""Explains a failed test by what its functions did: it runs once more, in a child process, with the tracer on them.

The second run is reported to nobody: the result, `--lf` and the counts are those of the first. The text becomes a
section of the report, so pytest-xdist carries it from the worker to the terminal.
"""

from __future__ import annotations

import contextlib
import os
from collections.abc import Iterator
from typing import Any

import pytest
from _pytest.runner import runtestprotocol

from .blocks import shown
from .second_run import TRACERS, SecondRunError, run_again
from .subjects import callees_of, is_preparation, targets_of

_LEVELS = 3
_ENOUGH = 4
"""Functions: more do not fit into thirty lines."""
_LONGEST_S = 30.0
"""A test that takes longer is not run again."""
_SECONDS = 10.0
_SLOWER = 5.0
_AGENTS = ("CLAUDECODE", "CURSOR_AGENT", "CODEX_SANDBOX", "GEMINI_CLI", "AI_AGENT", "AGENT")
_failure: pytest.StashKey[pytest.ExceptionInfo[BaseException]] = pytest.StashKey()


def pytest_addoption(parser: pytest.Parser) -> None:
    group = parser.getgroup("why")
    group.addoption("--why", action="store_true", help="Show under a failed assertion what the function did.")
    group.addoption("--no-why", action="store_true", help="Do not, even if the project asks for it under CI.")
    parser.addini("why_in_ci", "Turn --why on under CI and under coding agents.", type="bool", default=False)


def is_on(config: pytest.Config) -> bool:
    if config.getoption("no_why"):
        return False
    asked = config.getini("why_in_ci") and any(os.environ.get(it) for it in ("CI", *_AGENTS))
    return bool(config.getoption("why") or asked)


def _is_left_to_others(item: pytest.Item) -> bool:
    """Whether a person debugs the tests, where pytest would enter pdb at every run of ours, or another plugin decides
    how a test runs.
    """
    config = item.config
    if config.getoption("usepdb", False) or config.getoption("trace", False) or config.getoption("forked", False):
        return True
    if not config.pluginmanager.hasplugin("rerunfailures"):
        return False
    return bool(config.getoption("reruns", None) or _ini(config, "reruns") or item.get_closest_marker("flaky"))


def _ini(config: pytest.Config, name: str) -> Any:
    try:
        return config.getini(name)
    except (KeyError, ValueError):
        return None


@pytest.hookimpl(hookwrapper=True)
def pytest_runtest_makereport(item: pytest.Item, call: pytest.CallInfo[None]) -> Iterator[None]:
    outcome: Any = yield
    if call.when == "call" and call.excinfo is not None and outcome.get_result().failed:
        item.stash[_failure] = call.excinfo


@pytest.hookimpl(hookwrapper=True)
def pytest_runtest_call(item: pytest.Item) -> Iterator[None]:
    """The test alone is traced: fixtures and the report of the failure run as fast as ever."""
    started = []
    try:
        for tracer in item.stash.get(TRACERS, []):
            tracer.start()
            started.append(tracer)
        yield
    finally:
        for tracer in reversed(started):
            tracer.stop()


@pytest.hookimpl(tryfirst=True)
def pytest_runtest_protocol(item: pytest.Item, nextitem: pytest.Item | None) -> object:
    if not is_on(item.config) or _is_left_to_others(item):
        return None
    item.ihook.pytest_runtest_logstart(nodeid=item.nodeid, location=item.location)
    reports = runtestprotocol(item, nextitem=nextitem, log=False)
    failed = next((it for it in reports if it.when == "call" and it.failed), None)
    excinfo = item.stash.get(_failure, None)
    if failed is not None and excinfo is not None:
        try:
            lines = _explained(item, nextitem, excinfo, sum(it.duration for it in reports))
        except Exception as error:  # noqa: BLE001  no descriptors are left, or a program lies: not worth the run
            lines = [f"The failure could not be explained: {type(error).__name__}."]
        failed.sections += [("why", "\n".join(lines))] if lines else []
        del item.stash[_failure]
    for report in reports:
        item.ihook.pytest_runtest_logreport(report=report)
    item.ihook.pytest_runtest_logfinish(nodeid=item.nodeid, location=item.location)
    return True


def _explained(
    item: pytest.Item, nextitem: pytest.Item | None, excinfo: pytest.ExceptionInfo[BaseException], took_s: float
) -> list[str]:
    targets = targets_of(excinfo)
    if not targets:
        return []
    if took_s > _LONGEST_S:
        return [f"The test took {took_s:.0f} s, so it was not run again."]
    _stop_timer(item)
    longest = max(_SECONDS, took_s * (1 if _is_timeout(excinfo) else _SLOWER))
    records: list[dict[str, Any]] = []
    for level in range(_LEVELS):
        try:
            answer = run_again(item, nextitem, targets, longest)
        except SecondRunError as error:
            return shown(records, str(item.config.rootpath)) if records else [str(error)]
        finally:
            _drop_output(item.config)
        if answer["passed"] and level == 0:
            return ["The test passed when it ran again: it is not deterministic, or depends on what ran before."]
        records += answer["records"]
        if not answer["has_ended"]:
            if not records:
                return [f"The test did not end within {longest:.0f} s when it ran again."]
            break
        targets = callees_of(answer["records"], {(it["file"], it["first"]) for it in records})
        if not targets or sum(not is_preparation(it) for it in records) >= _ENOUGH:
            break
    return shown(records, str(item.config.rootpath))


def _is_timeout(excinfo: pytest.ExceptionInfo[BaseException]) -> bool:
    """Whether pytest-timeout ended the test: one that does not end takes as long as it is given."""
    return isinstance(excinfo.value, pytest.fail.Exception) and str(excinfo.value).startswith("Timeout")


def _stop_timer(item: pytest.Item) -> None:
    """Of pytest-timeout, which would count our runs too and then end the test or the process."""
    cancel = getattr(item.ihook, "pytest_timeout_cancel_timer", None)
    if cancel is not None:
        cancel(item=item)


def _drop_output(config: pytest.Config) -> None:
    """What a child left in the files that pytest captures the output in, which it shares with us."""
    manager = config.pluginmanager.getplugin("capturemanager")
    if manager is not None and manager.is_globally_capturing():
        with contextlib.suppress(Exception):
            manager.read_global_capture()
