"""Runs a failed test once more, in the same process, with the tracer on the function that matters.

The second run has fresh fixtures and is reported to nobody: the result, `--lf` and the counts are those of the first.
The block becomes a section of the report, so pytest-xdist carries it from the worker to the terminal.
"""

from __future__ import annotations

import os
from typing import Any

import pytest
from _pytest.runner import runtestprotocol

from .call_target import CallTarget
from .call_text import call_lines
from .call_tracer import CallTracer
from .secret_names import HidingCopier, hide_secrets
from .subjects import subjects_of

MOST_LINES = 30
_CHARACTERS = 2400
_SECONDS = 10.0
_AGENTS = ("CLAUDECODE", "CURSOR_AGENT", "CODEX_SANDBOX", "GEMINI_CLI", "AI_AGENT", "AGENT")
_failure = pytest.StashKey[Any]()
_tracer = pytest.StashKey[Any]()


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


def _is_interactive(config: pytest.Config) -> bool:
    """Whether a person debugs the tests: pytest would enter pdb again, at every run of ours."""
    return bool(config.getoption("usepdb", False) or config.getoption("trace", False))


@pytest.hookimpl(hookwrapper=True)
def pytest_runtest_makereport(item: pytest.Item, call: pytest.CallInfo[None]) -> Any:
    outcome = yield
    if call.when == "call" and call.excinfo is not None and outcome.get_result().failed:
        item.stash[_failure] = call.excinfo


@pytest.hookimpl(hookwrapper=True)
def pytest_runtest_call(item: pytest.Item) -> Any:
    """The test alone: fixtures and the report of the failure run as fast as ever."""
    tracer = item.stash.get(_tracer, None)
    if tracer is None:
        yield
        return
    tracer.start()
    try:
        yield
    finally:
        tracer.stop()


@pytest.hookimpl(tryfirst=True)
def pytest_runtest_protocol(item: pytest.Item, nextitem: pytest.Item | None) -> object:
    config = item.config
    if not is_on(config) or _is_interactive(config) or config.pluginmanager.hasplugin("rerunfailures"):
        return None
    item.ihook.pytest_runtest_logstart(nodeid=item.nodeid, location=item.location)
    reports = runtestprotocol(item, nextitem=nextitem, log=False)
    failed = next((it for it in reports if it.when == "call" and it.failed), None)
    excinfo = item.stash.get(_failure, None)
    if failed is not None and excinfo is not None:
        failed.sections += [("why", "\n".join(it)) for it in _explained(item, nextitem, excinfo) if it]
    for report in reports:
        item.ihook.pytest_runtest_logreport(report=report)
    item.ihook.pytest_runtest_logfinish(nodeid=item.nodeid, location=item.location)
    item.stash[_failure] = None
    return True


def _explained(item: pytest.Item, nextitem: pytest.Item | None, excinfo: Any) -> list[list[str]]:
    codes, call = subjects_of(excinfo.tb, getattr(item, "obj", None))
    found = []
    for code in codes:
        block = _traced(item, nextitem, code, call)
        if block and block not in found:
            found.append(block)
    return found


def _traced(item: pytest.Item, nextitem: pytest.Item | None, code: Any, call: str) -> list[str]:
    renew = getattr(item, "_initrequest", None)
    if renew is None:
        return []  # not a Python function: nothing that could run again
    renew()
    tracer = CallTracer(CallTarget(codes=(code,)), call=call, max_seconds=_SECONDS)
    tracer.values = HidingCopier()
    item.stash[_tracer] = tracer
    try:
        reports = runtestprotocol(item, nextitem=nextitem, log=False)
    finally:
        item.stash[_tracer] = None
    if all(it.passed for it in reports):
        return ["The test passed when it ran again: it is not deterministic."]
    record = tracer.record()
    if "function" not in record:
        return []
    record = hide_secrets(record)
    record["file"] = os.path.relpath(record["file"], str(item.config.rootpath))
    lines = call_lines(record, limit=_CHARACTERS)
    return lines if len(lines) <= MOST_LINES else [*lines[: MOST_LINES - 7], "…", *lines[-6:]]
