"""Starts debugpy's launcher, and then debugpy in the program itself, without their environment surveys. Run by its
path.

Before each step of a start, debugpy reads the metadata of every installed package for a log that nobody keeps: more
than half of the cost of a start. Dragoman's interpreter runs this file first, then the program's own interpreter
does, which may be any that debugpy supports and has nothing of ours. debugpy hides a file of this name from the
person who debugs.
"""

from __future__ import annotations

import importlib
import os
import runpy
import sys
import threading
from typing import Any

_LEFT_WITHIN_S = 0.5


def main() -> None:
    # The real folder, with links resolved. `os.path`, because importing pathlib would delay the program's start.
    if sys.path and sys.path[0] == os.path.dirname(os.path.realpath(__file__)):  # noqa: PTH120
        del sys.path[0]
    if os.path.isabs(sys.argv[1]):  # noqa: PTH117  a launcher is given a port first
        _debug(sys.argv.pop(1))
    else:
        _launch()


def _launch() -> None:
    import debugpy  # noqa: PLC0415
    from debugpy.launcher import debuggee  # noqa: PLC0415

    _describe_environment_only_for_a_log()
    spawn: Any = debuggee.spawn
    server = os.path.dirname(debugpy.__file__)  # noqa: PTH120

    def spawn_by_this(name: str, command: list[str], *more: Any) -> None:
        at = command.index(server) if server in command else 0  # without debugging it is not in there
        spawn(name, [*command[:at], __file__, *command[at:]] if at else command, *more)

    debuggee.spawn = spawn_by_this
    _leave_after(debuggee)
    runpy.run_module("debugpy.launcher", run_name="__main__", alter_sys=True)


def _leave_after(debuggee: Any) -> None:
    """The adapter ends the launcher at once when the program has ended, unless that never reached it: then it waits a
    minute for it, and would leave us here as long."""
    wait = debuggee.wait_for_exit

    def wait_and_leave() -> None:
        wait()
        leaving = threading.Timer(_LEFT_WITHIN_S, os._exit, [debuggee.process.returncode & 0xFF])
        leaving.daemon = True
        leaving.start()

    debuggee.wait_for_exit = wait_and_leave


def _debug(server: str) -> None:
    """Like `debugpy/__main__.py`: nothing else is found beside debugpy."""
    sys.path.insert(0, os.path.dirname(server))  # noqa: PTH120
    import debugpy  # noqa: F401, PLC0415

    del sys.path[0]
    _describe_environment_only_for_a_log()
    _dump_threads_on_a_signal()
    from debugpy.server import cli  # noqa: PLC0415

    _warn_of_no_settrace()
    _show_inner_containers()
    if "--pid" in sys.argv:
        _inject_quietly(server)
    else:
        _start_children_quietly()
    run: Any = cli.main
    run()


def _warn_of_no_settrace() -> None:
    """A program that sets a trace function, such as one that measures coverage, would find pydevd's advice on it among
    its own output."""
    tracing: Any = sys.modules.get("pydevd_tracing")
    if tracing is not None:
        tracing.TracingFunctionHolder._warn = False  # noqa: SLF001


def _show_inner_containers() -> None:
    """Three levels of them within a container; pydevd shows one, and of the others only that they are there."""
    safe_repr: Any = importlib.import_module("_pydevd_bundle.pydevd_safe_repr")
    safe_repr.SafeRepr.maxcollection = (60, 20, 5, 3)


_QUIET = "PYDEVD_DISABLE_FILE_VALIDATION"  # otherwise pydevd prints a warning about frozen modules on standard error


def _start_children_quietly() -> None:
    """Also starts children that get an environment of their own, without our variables."""
    import subprocess  # noqa: PLC0415

    module: Any = subprocess if hasattr(subprocess, "_fork_exec") else sys.modules["_posixsubprocess"]
    name = "_fork_exec" if module is subprocess else "fork_exec"
    start: Any = getattr(module, name)

    def start_quietly(args: Any, executables: Any, close: Any, kept: Any, folder: Any, env: Any, *more: Any) -> Any:
        if env is not None and any(b"pydevd" in os.fsencode(it) for it in args):
            env = [*env, f"{_QUIET}=1".encode()]
        return start(args, executables, close, kept, folder, env, *more)

    setattr(module, name, start_quietly)


def _inject_quietly(server: str) -> None:
    """A program that is attached to would show the message in its own terminal. The code may not contain quotes."""
    name = f"bytes({list(_QUIET.encode())}).decode()"
    before, after = f"import os;os.environ.setdefault({name},str(1));", f"os.environ.pop({name},None);"
    sys.path.append(os.path.join(server, "_vendored", "pydevd", "pydevd_attach_to_process"))  # noqa: PTH118
    injecting: Any = importlib.import_module("add_code_to_python_process")
    inject: Any = injecting.run_python_code
    # It also prints that the program has not imported `threading`, although it can handle that.
    attach, silence = "attach_pid_injected.attach(", "attach_pid_injected.print=lambda *_,**__:None;"

    def inject_quietly(pid: int, code: str, **more: Any) -> None:
        inject(pid, before + code.replace(attach, silence + attach) + after, **more)

    injecting.run_python_code = inject_quietly


def _describe_environment_only_for_a_log() -> None:
    from debugpy.common import log  # noqa: PLC0415

    describe: Any = log.describe_environment
    log.describe_environment = lambda header: describe(header) if log.log_dir else None


def _dump_threads_on_a_signal() -> None:
    """Let the daemon see where a program is if its native code never returns (`thread_dump/process_dump.py`).

    The file is in memory and gone with the process; a child process that is another program does not have it.
    """
    import faulthandler  # noqa: PLC0415
    import fcntl  # noqa: PLC0415
    import signal  # noqa: PLC0415

    number = getattr(signal, "SIGRTMAX", 0) - 5
    if not hasattr(os, "memfd_create") or number < 0 or signal.getsignal(number) is not signal.SIG_DFL:
        return
    try:
        low = os.memfd_create("dragoman-threads")
        try:
            file = fcntl.fcntl(low, fcntl.F_DUPFD_CLOEXEC, 200)  # the program's own files keep their usual numbers
        finally:
            os.close(low)
        faulthandler.register(number, file=file, all_threads=True)
    except (OSError, ValueError, RuntimeError):
        return  # debugging works without it


if __name__ == "__main__":
    main()
