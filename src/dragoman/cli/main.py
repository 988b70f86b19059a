"""The entry point. It imports next to nothing by itself: a Ctrl-C before a command is known ends quietly like any."""

from __future__ import annotations

import os
import signal
import sys

_INTERRUPTED = 130


def main() -> None:
    try:
        status = _plain_shell(sys.argv[1:])
        if status is None:
            from dragoman.cli.dispatch import serve

            status = serve(sys.argv[1:])
    except KeyboardInterrupt:
        status = _INTERRUPTED
    signal.signal(signal.SIGINT, signal.SIG_IGN)  # the interpreter's own end would answer it with a traceback
    _forget_unread_errors()
    sys.exit(status)


def _forget_unread_errors() -> None:
    """Whoever read them may have gone: the interpreter flushes once more at its end, and would leave with 120."""
    try:
        sys.stderr.flush()
    except OSError:
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stderr.fileno())


def _plain_shell(arguments: list[str]) -> int | None:
    """A shell is opened many times a day, and somebody waits for its prompt: not for what only other commands need."""
    if arguments[:1] != ["shell"]:
        return None
    from dragoman.shell.arguments import parse

    options = parse(arguments[1:])
    if options is None:
        return None
    from dragoman.shell.main import run

    try:
        return run(options)
    except OSError as error:
        return _refused(error)


def _refused(error: OSError) -> int:
    from dragoman.cli.output import report
    from dragoman.errors import system_refused

    return report(system_refused(error))


if __name__ == "__main__":
    main()
