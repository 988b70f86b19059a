"""Shared by all tests: own folders for every test, and real peers that are either run or named."""

from __future__ import annotations

import gc
import itertools
import os
import signal
import time
from pathlib import Path

import hypothesis
import pytest

from tests.durations import longest_first, recorded, with_estimates
from tests.peers import missing_peers, on_ci, use_working_gdb
from tests.run_report import RunRecorder

# Thousands of tests stay to the end: a worker need not look for garbage among them again and again.
gc.disable()

# A loaded machine is slow now and then; on CI the same examples every time, fresh ones elsewhere and in the soak.
hypothesis.settings.register_profile("dragoman", deadline=None, derandomize=on_ci(), print_blob=True, max_examples=50)
hypothesis.settings.load_profile("dragoman")


# A runner in the background has Ctrl-C ignored, and every program that a test starts would inherit that.
if signal.getsignal(signal.SIGINT) is signal.SIG_IGN:
    signal.signal(signal.SIGINT, signal.default_int_handler)


def pytest_collection_modifyitems(config: pytest.Config, items: list[pytest.Item]) -> None:
    """Among several workers the longest files begin first; in one process the order stays as it was asked for."""
    if hasattr(config, "workerinput"):
        items.sort(key=longest_first(with_estimates(recorded())))


def pytest_collection_finish() -> None:
    gc.freeze()
    gc.enable()


_NUMBERS = itertools.count()


@pytest.fixture(scope="session")
def _homes(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Numbered by us: the factory looks at all that there are for every new one, and there are thousands."""
    return tmp_path_factory.mktemp("h")


@pytest.fixture(autouse=True)
def _own_home(_homes: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """No test ever sees the folders, the daemon or the language of the person who runs it."""
    home = _homes / str(next(_NUMBERS))
    home.mkdir(mode=0o700)
    monkeypatch.setenv("DRAGOMAN_HOME", str(home))
    monkeypatch.setenv("DRAGOMAN_LANG", "en")


@pytest.fixture
def home() -> Path:
    return Path(os.environ["DRAGOMAN_HOME"])


@pytest.fixture
def anyio_backend() -> str:
    return "asyncio"


@pytest.hookimpl(tryfirst=True)
def pytest_runtest_setup(item: pytest.Item) -> None:
    wanted = [peer for mark in item.iter_markers("needs") for peer in mark.args]
    missing = missing_peers(wanted)
    if not missing:
        return
    if on_ci():
        pytest.fail(f"CI must run this test, and it lacks: {', '.join(missing)}", pytrace=False)
    pytest.skip(f"not run: needs {', '.join(missing)}")


_RECORDER = pytest.StashKey[RunRecorder]()


@pytest.hookimpl(tryfirst=True)
def pytest_configure(config: pytest.Config) -> None:
    """One recorder for a run: in the process that reports, not in each worker."""
    use_working_gdb()
    if config.getoption("--report-to") and not hasattr(config, "workerinput"):
        recorder = config.stash[_RECORDER] = RunRecorder()
        recorder.watch.start()
        config.pluginmanager.register(_RunObserver(recorder, config))


class _RunObserver:
    """Keeps what the runner needs, and names what failed at once: a run takes long, and dots name nothing."""

    def __init__(self, recorder: RunRecorder, config: pytest.Config) -> None:
        self._recorder = recorder
        self._config = config

    def pytest_runtest_logreport(self, report: pytest.TestReport) -> None:
        self._recorder.add(report.nodeid, report.duration, is_over=report.when not in ("setup", "call"))
        reporter = self._config.pluginmanager.get_plugin("terminalreporter")
        if report.failed and reporter is not None:
            reporter.write_line(f"\nFAILED {report.nodeid} ({report.when}, {time.strftime('%H:%M:%S', time.gmtime())})")


def pytest_terminal_summary(terminalreporter: pytest.TerminalReporter, config: pytest.Config) -> None:
    """Name and count in the last lines what could not be run here, and when the machine stood still."""
    if (recorder := config.stash.get(_RECORDER, None)) is not None and (stalls := recorder.watch.stalls):
        terminalreporter.section(f"the machine stood still {len(stalls)} times")
        for stall in stalls:
            terminalreporter.line(
                f"{time.strftime('%H:%M:%S', time.gmtime(stall.began))} for {stall.ended - stall.began:.1f} s"
            )
    not_run = terminalreporter.stats.get("skipped", [])
    if not_run:
        terminalreporter.section(f"{len(not_run)} not run (FULL=1 installs what they need)")
        for report in not_run:
            reason = report.longrepr[2] if isinstance(report.longrepr, tuple) else str(report.longrepr)
            terminalreporter.line(f"{report.nodeid}: {reason}")


def pytest_addoption(parser: pytest.Parser) -> None:
    parser.addoption("--report-to", default="", help="write failures and durations to this file (tests/run_report.py)")


def pytest_sessionfinish(session: pytest.Session, exitstatus: int) -> None:
    """With CI=true a test that did not run is a failure, however it was left out."""
    reporter = session.config.pluginmanager.get_plugin("terminalreporter")
    if reporter is not None and (recorder := session.config.stash.get(_RECORDER, None)) is not None:
        recorder.watch.end()
        failed = [report for kind in ("failed", "error") for report in reporter.stats.get(kind, [])]
        written = recorder.report(failed, reporter.stats.get("skipped", []), session.testscollected)
        written.write(Path(session.config.getoption("--report-to")))
    if on_ci() and reporter is not None and reporter.stats.get("skipped") and exitstatus == 0:
        session.exitstatus = pytest.ExitCode.TESTS_FAILED
