"""A shell, wrapped. The shell is started first; what records it is imported while it starts."""

from __future__ import annotations

import contextlib
import os
import sys

from dragoman.shell.arguments import Options
from dragoman.shell.child import Child, exit_code_of
from dragoman.shell.launching import Launch, plan
from dragoman.shell.nesting import ELSEWHERE, HERE, saying, tell_around, word_in
from dragoman.shell.outer import OuterTerminal
from dragoman.shell.signals import Signals, die_of

TYPE_CHECKING = False  # who starts a shell does not wait for `typing`
if TYPE_CHECKING:
    from dragoman.shell.pump import Pump
    from dragoman.shell.side import Side

_IDS = ("DRAGOMAN_SESSION_ID", "OMNISH_SESSION_ID")
_HOLDER = "DRAGOMAN_HOLDER"
_NOT_FOUND, _CANNOT_RUN, _HUNG_UP = 127, 126, 129


def run(options: Options) -> int:
    """The shell's own exit status; where a signal ended it, the same signal ends us."""
    environment = dict(os.environ)
    if not (os.isatty(0) and os.isatty(1)):
        return _unwrapped(plan(options.command, login=options.login, environment=environment, nonce=""))
    began = environment.pop("DRAGOMAN_BEGAN", "")
    options.holder = environment.pop(_HOLDER, "") if options.agent else ""
    parent = next((environment[name] for name in _IDS if environment.get(name)), None)
    session_id = os.urandom(8).hex()
    environment.update(dict.fromkeys(_IDS, session_id))
    launch = plan(options.command, login=options.login, environment=environment, nonce=os.urandom(16).hex())
    tell_around(os.environ, os.ttyname(0))
    word = word_in(os.environ, os.ttyname(0))
    signals, outer = Signals(), OuterTerminal(opening=saying(ELSEWHERE, word), closing=saying(HERE, word))
    try:
        outer.enter_raw()
        child = Child.start(launch, outer.attributes, outer.size())
        pump = _opened(outer, child, signals, launch, options, session_id, parent)
        if child.runs:
            _tell_begun(began)
        pump.run()
    finally:
        outer.leave()
    pump.settle()
    return _ended(pump, child)


def _opened(
    outer: OuterTerminal,
    child: Child,
    signals: Signals,
    launch: Launch,
    options: Options,
    session_id: str,
    parent: str | None,
) -> Pump:
    """Imported in two steps while the shell starts: what its first words need, and the rest."""
    from dragoman.shell.opening import first_shown  # noqa: PLC0415
    from dragoman.shell.passing import Passing  # noqa: PLC0415
    from dragoman.shell.pump import Pump  # noqa: PLC0415

    def side() -> Side:
        from dragoman.shell.wrapping import side_for  # noqa: PLC0415

        return side_for(options, launch, child, outer.size(), session_id=session_id, parent=parent)

    pump = Pump(outer, child, signals)
    passing = Passing(launch.nonce, strip=options.strip_marks, nested=parent is not None, holder=options.holder)
    pump.open(lambda data: first_shown(data, launch.nonce, passing), side)
    return pump


def _unwrapped(launch: Launch) -> int:
    """In a pipe, in a script, over a connection without a terminal: as if we were not there."""
    sys.stdout.flush()
    try:
        os.execvpe(launch.program, launch.arguments, launch.environment)  # noqa: S606  a shell is what is asked for
    except OSError as error:
        sys.stderr.write(f"dragoman shell: {launch.program}: {error.strerror}\n")
        return _NOT_FOUND if isinstance(error, FileNotFoundError) else _CANNOT_RUN


def _tell_begun(file: str) -> None:
    """Whoever put us in a shell's place waits for this file to go; where it stays, that shell runs itself."""
    if file:
        with contextlib.suppress(OSError):
            os.unlink(file)  # noqa: PTH108  before pathlib is worth its import


def _ended(pump: Pump, child: Child) -> int:
    if pump.fault is not None:
        _tell_fault(pump.fault)
    if pump.ended_by is not None:
        die_of(pump.ended_by)
    if child.status is None:
        return _HUNG_UP
    if os.WIFSIGNALED(child.status):
        die_of(os.WTERMSIG(child.status))
    return exit_code_of(child.status)


def _tell_fault(fault: Exception) -> None:
    from dragoman.phrases import preferred_language, say  # noqa: PLC0415  hardly ever

    told = say("The recording of this shell ended early by a fault of ours: {fault}", fault=repr(fault))
    sys.stderr.write(told.in_language(preferred_language()) + "\n")
