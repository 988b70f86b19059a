"""`python -m dragoman.daemon`: started by the launcher, or in the foreground by `dragoman up --foreground`.

In the background the first and only line on standard output is JSON for the launcher: what runs, or why not.
"""

from __future__ import annotations

import argparse
import json
import os
import sys
import threading
from dataclasses import asdict
from pathlib import Path

import anyio

from dragoman.daemon.app import Options, Running, run
from dragoman.daemon.banner import banner
from dragoman.errors import DragomanError
from dragoman.phrases import preferred_language
from dragoman.places import Places, find_places
from dragoman.transport.private_files import open_private

_ENDS_WITHIN_S = 10.0


def main() -> int:
    arguments = _parse()
    places = find_places()
    options = Options(
        workspace=Path(arguments.workspace).absolute(),
        port=arguments.port,
        terminal_logs=arguments.foreground,
        verbose=arguments.verbose,
        wait_for_lock_s=arguments.wait_for_lock,
    )

    def ready(running: Running) -> None:
        if arguments.foreground:
            sys.stdout.write(banner(running, preferred_language()))
            sys.stdout.flush()
        else:
            _tell_launcher({"state": asdict(running.state), "login_code": running.login_code})
            _let_go_of_the_terminal(places)

    try:
        anyio.run(run, options, places, ready)
    except DragomanError as error:
        return _failed(error, foreground=arguments.foreground)
    finally:
        _end_for_certain()
    return 0


def _parse() -> argparse.Namespace:
    parser = argparse.ArgumentParser(prog="dragoman.daemon")
    parser.add_argument("--workspace", required=True)
    parser.add_argument("--port", type=int)
    parser.add_argument("--foreground", action="store_true")
    parser.add_argument("--verbose", action="store_true")
    parser.add_argument("--wait-for-lock", type=float, default=0.0)
    return parser.parse_args()


def _failed(error: DragomanError, *, foreground: bool) -> int:
    language = preferred_language()
    hint = error.hint.in_language(language) if error.hint else ""
    message = error.message.in_language(language)
    if foreground:
        sys.stderr.write(f"dragoman: {message}\n" + (f"  {hint}\n" if hint else ""))
    else:
        _tell_launcher({"error": {"code": error.code, "message": message, "hint": hint}})
    return 1


def _tell_launcher(line: dict[str, object]) -> None:
    sys.stdout.write(json.dumps(line) + "\n")
    sys.stdout.flush()


def _let_go_of_the_terminal(places: Places) -> None:
    """From here on nobody reads our output: what the interpreter itself has to say goes to the log."""
    fd = open_private(places.log_file, os.O_WRONLY | os.O_APPEND | os.O_CREAT)
    os.dup2(fd, 1)
    os.dup2(fd, 2)
    os.close(fd)


def _end_for_certain() -> None:
    """A thread that hangs in a dead file system must not keep a process that has let go of its lock."""
    watchdog = threading.Timer(_ENDS_WITHIN_S, os._exit, [70])
    watchdog.daemon = True
    watchdog.start()


if __name__ == "__main__":
    sys.exit(main())
