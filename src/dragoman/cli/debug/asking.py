"""One conversation with the daemon about debugging: started if it is not there, and never deaf to Ctrl-C."""

from __future__ import annotations

import contextlib
import signal
import sys
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from dragoman.cli.debug.workspace import find_workspace
from dragoman.cli.hello import about
from dragoman.cli.output import ExitCode, show_json, show_passing
from dragoman.errors import DragomanError
from dragoman.phrases import Phrase, say
from dragoman.places import Places, find_places
from dragoman.transport.control_link import WELCOME_WITHIN_S, ControlLink
from dragoman.visible import visible
from dragoman.wire.control import LINE_CAP, Answer, Item, encode_line

# The daemon says something every five seconds while a call is open.
_SILENT_AT_MOST_S = 30.0
_CALL_REST = 1 << 10
_ABSENT = {"not_running", "daemon_gone"}


@dataclass(frozen=True, slots=True)
class Told:
    """An answer of a tool: its structured content as it is, its lines for who reads."""

    data: Mapping[str, Any]
    lines: list[str]
    is_error: bool

    @property
    def status(self) -> str:
        return str(self.data.get("status", ""))


@dataclass(slots=True)
class Asker:
    link: ControlLink
    workspace: Path
    all_workspaces: bool = False
    """Whether what is found in the record may be of any folder."""
    silent_at_most_s: float = _SILENT_AT_MOST_S
    _interrupts: int = 0

    def call(self, tool: str, **arguments: Any) -> Told:
        """What was not given (None) is left to the tool's own default."""
        given = {name: value for name, value in arguments.items() if value is not None}
        return self.ask("call", {"tool": tool, "arguments": given, "all_workspaces": self.all_workspaces})

    def ask(self, method: str, params: Mapping[str, Any]) -> Told:
        if len(encode_line(params)) > LINE_CAP - _CALL_REST:
            raise _too_much()
        with _patience() as tell, self._breakable(tell):
            for reply in self.link.stream(method, params, idle_s=self.silent_at_most_s):
                if isinstance(reply, Item):
                    tell(_waiting(reply.value.get("waited_s", 0)))
                elif isinstance(reply, Answer):
                    told = reply.result
                    return Told(told["data"], told["lines"], told["is_error"])
        raise AssertionError("a stream without an answer")

    @contextmanager
    def _breakable(self, tell: Callable[[Phrase], None]) -> Iterator[None]:
        """The first Ctrl-C ends the wait, and the answer says so; the second leaves. A start under way ends with us."""

        def interrupt(*_: object) -> None:
            self._interrupts += 1
            if self._interrupts > 1:
                raise KeyboardInterrupt
            self.link.post("stop_waiting", {"own": True})
            tell(say("The wait ends as soon as the program has started. Ctrl-C again leaves."))

        before = signal.signal(signal.SIGINT, interrupt)
        try:
            yield
        finally:
            signal.signal(signal.SIGINT, before)


@contextmanager
def asking(
    workspace: Path | None,
    *,
    starts_daemon: bool = False,
    all_workspaces: bool = False,
    within_s: float | None = None,
) -> Iterator[Asker]:
    """`within_s` bounds each silence of the daemon, where nobody would wait as long as for an answer."""
    folder, places = find_workspace(workspace), find_places()
    with _open(places, folder, starts_daemon=starts_daemon, within_s=within_s or WELCOME_WITHIN_S) as link:
        yield Asker(link, folder, all_workspaces, within_s or _SILENT_AT_MOST_S)


def _open(places: Places, workspace: Path, *, starts_daemon: bool, within_s: float) -> ControlLink:
    hello = about(workspace)
    try:
        return ControlLink.open(places, within_s=within_s, role="tools", about=hello)
    except DragomanError as error:
        if error.code == "unknown_role":
            raise _older_daemon() from error
        if error.code not in _ABSENT or not starts_daemon:
            raise
    _start(places, workspace)
    return ControlLink.open(places, role="tools", about=hello)


def _start(places: Places, workspace: Path) -> None:
    """One that is just ending or starting is waited for."""
    from dragoman.cli import launcher
    from dragoman.cli.progress import working

    found = launcher.find(places)
    found.require_answering()
    if found.status is None:
        with working(say("Starting the daemon")):
            launcher.start(places, launcher.Wish(workspace))


@contextmanager
def _patience() -> Iterator[Callable[[Phrase], None]]:
    """A line that says how long it has been; only a terminal is shown it, and it is gone with the answer."""
    if not sys.stderr.isatty():
        yield lambda _: None
        return
    told = False

    def tell(phrase: Phrase) -> None:
        nonlocal told
        told = True
        with contextlib.suppress(RuntimeError):  # out of a signal handler, in the middle of a line
            show_passing(phrase)

    try:
        yield tell
    finally:
        if told:
            show_passing()


def _waiting(seconds: int) -> Phrase:
    return say("Waiting, {seconds} s so far. Ctrl-C stops the wait; the program goes on.", seconds=seconds)


# What it came to.

_EXITS = {"timeout": ExitCode.TIMEOUT, "interrupted": ExitCode.INTERRUPTED, "error": ExitCode.FAILED}


def tell_outcome(told: Told, *, as_json: bool) -> int:
    """The structured content, or the lines; and the exit code that a script may rely on."""
    if as_json:
        show_json(told.data)
    else:
        show_lines(told.lines, to_stderr=told.is_error)
    if told.is_error:
        return ExitCode.FAILED
    ended = told.data.get("ended", told.data if told.status == "completed" else {})
    if ended.get("exit_code") or ended.get("signal") or ended.get("exception"):
        return ExitCode.PROGRAM_FAILED
    return _EXITS.get(told.status, ExitCode.OK)


def show_lines(lines: list[str], *, to_stderr: bool = False) -> None:
    """The daemon has escaped what programs say; here nothing is trusted to have been."""
    stream = sys.stderr if to_stderr else sys.stdout
    stream.writelines(f"{visible(line)}\n" for line in lines)


def _too_much() -> DragomanError:
    return DragomanError(
        "too_much",
        say("This is more than the daemon takes in one call (1 MB)."),
        hint=say("For a large input let the program read a file."),
    )


def _older_daemon() -> DragomanError:
    return DragomanError(
        "unknown_role",
        say("The running daemon cannot debug from the command line: it is of an older version."),
        hint=say("`dragoman restart` puts them in step."),
    )
