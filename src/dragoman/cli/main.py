"""The entry point. It imports next to nothing by itself: a Ctrl-C before a command is known ends quietly like any."""

from __future__ import annotations

import signal
import sys

_INTERRUPTED = 130


def main() -> None:
    try:
        from dragoman.cli.dispatch import serve

        status = serve(sys.argv[1:])
    except KeyboardInterrupt:
        status = _INTERRUPTED
    signal.signal(signal.SIGINT, signal.SIG_IGN)  # the interpreter's own end would answer it with a traceback
    sys.exit(status)


if __name__ == "__main__":
    main()
