"""The entry point of the `dragoman` command.

It imports almost nothing at first, so that Ctrl-C during start-up exits quietly and a recorded shell opens at once.
"""

from __future__ import annotations

import os
import signal
import sys

_INTERRUPTED = 130


def main() -> None:
    try:
        status = _run_plain_shell(sys.argv[1:])
        if status is None:
            from dragoman.cli.dispatch import serve

            status = serve(sys.argv[1:])
    except KeyboardInterrupt:
        status = _INTERRUPTED
    signal.signal(signal.SIGINT, signal.SIG_IGN)  # a Ctrl-C while the interpreter exits would print a traceback
    _discard_unread_errors()
    sys.exit(status)


def _discard_unread_errors() -> None:
    """Drop error output that nobody reads: the interpreter's final flush would fail and turn the exit code into 120."""
    try:
        sys.stderr.flush()
    except OSError:
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stderr.fileno())


def _run_plain_shell(arguments: list[str]) -> int | None:
    """Open a shell without importing what only other commands need: the user is waiting for a prompt."""
    if arguments[:1] != ["shell"]:
        return None
    from dragoman.cli.parser.fast_commands import find_fast

    open_shell = find_fast(arguments)
    if open_shell is None:
        return None
    try:
        return open_shell()
    except OSError as error:
        return _report_os_error(error)


def _report_os_error(error: OSError) -> int:
    from dragoman.cli.output import report_error
    from dragoman.core.errors import system_refused

    return report_error(system_refused(error))


if __name__ == "__main__":
    main()
