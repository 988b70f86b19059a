"""`python -m dragoman.daemon`: started by the launcher, or in the foreground by `dragoman up --foreground`.

In the background, the first and only line on standard output is JSON for the launcher: the running daemon's state, or
the error.
"""

from __future__ import annotations

import gc
import signal

from dragoman.daemon.signals import ending_signals

_ENDED_BY = ending_signals()

# Nothing has been opened while the rest is imported: Ctrl-C exits at once and without a traceback.
for _number in _ENDED_BY:
    signal.signal(_number, signal.SIG_DFL)
signal.pthread_sigmask(signal.SIG_UNBLOCK, _ENDED_BY)  # `up --foreground` blocked it while Python itself started

# Nearly a thousand modules stay loaded: the garbage collector need not scan them, now or later.
gc.disable()

import argparse  # noqa: E402
import logging  # noqa: E402
import os  # noqa: E402
import sys  # noqa: E402
import threading  # noqa: E402
from pathlib import Path  # noqa: E402

import anyio  # noqa: E402

from dragoman.core.errors import DragomanError  # noqa: E402
from dragoman.core.paths import Paths, find_paths  # noqa: E402
from dragoman.daemon.instance import Instance  # noqa: E402
from dragoman.daemon.startup_report import ForegroundReporter, LauncherReporter, StartupReporter, as_dragoman_error  # noqa: E402

log = logging.getLogger(__name__)

_ENDS_WITHIN_S = 10.0


def main() -> int:
    arguments = _parse()
    paths = find_paths()
    reporter: StartupReporter = ForegroundReporter() if arguments.foreground else LauncherReporter(paths.log_file)
    try:
        anyio.run(_run, arguments, paths, reporter)
    except DragomanError as error:
        return reporter.failed(error)
    except Exception as error:
        log.exception("the daemon failed")
        return reporter.failed(as_dragoman_error(error))
    finally:
        _start_exit_watchdog()
    return 0


async def _run(arguments: argparse.Namespace, paths: Paths, reporter: StartupReporter) -> None:
    """Take the lock before the heavy imports: of several simultaneous starts, all but one exit quickly.

    A start that waits for another daemon to stop imports meanwhile, so that it can take over sooner.
    """
    instance = None if arguments.wait_for_lock else Instance(paths)
    if instance is not None:
        await instance.acquire()
    from dragoman.daemon.app import DaemonOptions, run  # noqa: PLC0415  what is heavy

    gc.freeze()
    gc.enable()
    options = DaemonOptions(
        workspace=arguments.workspace,
        port=arguments.port,
        terminal_logs=arguments.foreground,
        verbose=arguments.verbose,
        wait_for_lock_s=arguments.wait_for_lock,
    )
    await run(options, paths, reporter.ready, instance=instance)


def _parse() -> argparse.Namespace:
    parser = argparse.ArgumentParser(prog="dragoman.daemon")
    parser.add_argument("--workspace", type=lambda folder: Path(folder).absolute(), required=True)
    parser.add_argument("--port", type=int)
    parser.add_argument("--foreground", action="store_true")
    parser.add_argument("--verbose", action="store_true")
    parser.add_argument("--wait-for-lock", type=float, default=0.0)
    return parser.parse_args()


def _start_exit_watchdog() -> None:
    """Exit even if a thread hangs, for example in a dead file system: it must not keep the lock."""
    for number in _ENDED_BY:
        signal.signal(number, signal.SIG_IGN)
    watchdog = threading.Timer(_ENDS_WITHIN_S, os._exit, [70])
    watchdog.daemon = True
    watchdog.start()


if __name__ == "__main__":
    sys.exit(main())
