"""Runs a wrapped shell. The shell starts first; the recorder is imported while it starts."""

from __future__ import annotations

import contextlib
import os
import sys

from dragoman.shell.arguments import ShellOptions
from dragoman.shell.launch import (
    ELSEWHERE,
    HERE,
    ShellLaunch,
    nesting_token_in,
    notify_enclosing_terminal,
    plan_launch,
    recorded_mark,
)
from dragoman.shell.outer_terminal import OuterTerminal
from dragoman.shell.pty import ShellProcess, exit_code_of
from dragoman.shell.signals import SignalPipe, exit_by_signal

TYPE_CHECKING = False  # the shell must not wait for `typing`
if TYPE_CHECKING:
    from dragoman.shell.pump import TerminalPump
    from dragoman.shell.sidecar import Sidecar

_IDS = ("DRAGOMAN_SESSION_ID", "OMNISH_SESSION_ID")
_HOLDER = "DRAGOMAN_HOLDER"
_NOT_FOUND, _CANNOT_RUN, _HUNG_UP = 127, 126, 129


def run(options: ShellOptions) -> int:
    """Return the shell's exit status. If a signal ended it, the same signal ends us."""
    environment = dict(os.environ)
    if not (os.isatty(0) and os.isatty(1)):
        return _exec_unwrapped(plan_launch(options.command, login=options.login, environment=environment, nonce=""))
    began = environment.pop("DRAGOMAN_BEGAN", "")
    options.holder = environment.pop(_HOLDER, "") if options.agent else ""
    parent = next((environment[name] for name in _IDS if environment.get(name)), None)
    session_id = os.urandom(8).hex()
    environment.update(dict.fromkeys(_IDS, session_id))
    launch = plan_launch(options.command, login=options.login, environment=environment, nonce=os.urandom(16).hex())
    notify_enclosing_terminal(os.environ, os.ttyname(0))
    word = nesting_token_in(os.environ, os.ttyname(0))
    signals, outer = (
        SignalPipe(),
        OuterTerminal(opening=recorded_mark(ELSEWHERE, word), closing=recorded_mark(HERE, word)),
    )
    try:
        outer.enter_raw()
        child = ShellProcess.start(launch, outer.attributes, outer.size())
        pump = _open_pump(outer, child, signals, launch, options, session_id, parent)
        if child.is_executed:
            _report_start(began)
        pump.run()
    finally:
        outer.leave()
    pump.settle()
    return _exit_status(pump, child)


def _open_pump(
    outer: OuterTerminal,
    child: ShellProcess,
    signals: SignalPipe,
    launch: ShellLaunch,
    options: ShellOptions,
    session_id: str,
    parent: str | None,
) -> TerminalPump:
    """Import in two steps while the shell starts: what its first output needs, then the rest."""
    from dragoman.shell.first_output import filter_first_output  # noqa: PLC0415
    from dragoman.shell.mark_filter import MarkFilter  # noqa: PLC0415
    from dragoman.shell.pump import TerminalPump  # noqa: PLC0415

    def sidecar() -> Sidecar:
        from dragoman.shell.sidecar import create_sidecar  # noqa: PLC0415

        return create_sidecar(options, launch, child, outer.size(), session_id=session_id, parent=parent)

    pump = TerminalPump(outer, child, signals)
    mark_filter = MarkFilter(launch.nonce, strip=options.strip_marks, nested=parent is not None, holder=options.holder)
    pump.open(lambda data: filter_first_output(data, launch.nonce, mark_filter), sidecar)
    return pump


def _exec_unwrapped(launch: ShellLaunch) -> int:
    """In a pipe, in a script, or over a connection without a terminal, run the shell as if we were not there."""
    sys.stdout.flush()
    try:
        os.execvpe(launch.program, launch.arguments, launch.environment)  # noqa: S606  running a shell is the purpose
    except OSError as error:
        sys.stderr.write(f"dragoman shell: {launch.program}: {error.strerror}\n")
        return _NOT_FOUND if isinstance(error, FileNotFoundError) else _CANNOT_RUN


def _report_start(file: str) -> None:
    """The shell that replaced itself with us waits for this file to disappear; if it stays, that shell runs itself."""
    if file:
        with contextlib.suppress(OSError):
            os.unlink(file)  # noqa: PTH108  before pathlib is worth its import


def _exit_status(pump: TerminalPump, child: ShellProcess) -> int:
    if pump.fault is not None:
        _report_fault(pump.fault)
    if pump.ended_by is not None:
        exit_by_signal(pump.ended_by)
    if child.status is None:
        return _HUNG_UP
    if os.WIFSIGNALED(child.status):
        exit_by_signal(os.WTERMSIG(child.status))
    return exit_code_of(child.status)


def _report_fault(fault: Exception) -> None:
    from dragoman.core.localization import localize, preferred_language  # noqa: PLC0415  rarely needed

    message = localize("An internal error ended the recording of this shell early: {fault}", fault=repr(fault))
    sys.stderr.write(message.in_language(preferred_language()) + "\n")
