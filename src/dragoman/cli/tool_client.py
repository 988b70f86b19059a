"""Call the daemon's tools from a command, show the answer, and let Ctrl-C end the wait.

Standard library only: `dragoman debug next` and similar commands use it.
"""

from __future__ import annotations

import contextlib
import signal
import sys
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from dragoman.cli.caller import caller_info, find_workspace
from dragoman.cli.output import ExitCode, show_json, show_status_line, warn
from dragoman.cli.remote.connection import open_daemon
from dragoman.cli.remote.options import chosen_names, is_remote
from dragoman.core.errors import DragomanError, ErrorSpec
from dragoman.core.localization import LocalizedText, localize
from dragoman.core.paths import Paths, find_paths
from dragoman.core.safe_text import printable
from dragoman.io.drivers.control_client import WELCOME_WITHIN_S, ControlClient
from dragoman.protocols.control import LINE_CAP, ControlAnswer, ControlItem, encode_line

# The daemon sends a message at least every five seconds while a call is open.
_IDLE_TIMEOUT_S = 30.0
_CALL_OVERHEAD = 1 << 10
_ABSENT = {"not_running", "daemon_gone"}


@dataclass(frozen=True, slots=True)
class ToolReply:
    """A tool's answer: its structured content unchanged, and the lines for a person."""

    data: Mapping[str, Any]
    lines: list[str]
    is_error: bool

    @property
    def status(self) -> str:
        return str(self.data.get("status", ""))


@dataclass(slots=True)
class ToolClient:
    """A connection to the daemon that calls tools for one command.

    It shows on a terminal how long the call has taken. The first Ctrl-C ends the wait in the daemon, and the answer
    says so; the second exits. It never retries a call.
    """

    link: ControlClient
    workspace: Path
    all_workspaces: bool = False
    """Whether results may come from any workspace."""
    idle_timeout_s: float = _IDLE_TIMEOUT_S
    _interrupts: int = 0

    def call(self, tool: str, **arguments: Any) -> ToolReply:
        """Call a tool. Arguments that are None are left to the tool's default."""
        given = {name: value for name, value in arguments.items() if value is not None}
        return self.request("call", {"tool": tool, "arguments": given, "all_workspaces": self.all_workspaces})

    def request(self, method: str, params: Mapping[str, Any]) -> ToolReply:
        if len(encode_line(params)) > LINE_CAP - _CALL_OVERHEAD:
            raise _call_too_large()
        with _status_line() as show, self._interruptible(show):
            for reply in self.link.stream(method, params, idle_s=self.idle_timeout_s):
                if isinstance(reply, ControlItem):
                    show(_waiting(reply.value.get("waited_s", 0)))
                elif isinstance(reply, ControlAnswer):
                    result = reply.result
                    return ToolReply(result["data"], result["lines"], result["is_error"])
        raise AssertionError("a stream without an answer")

    @contextmanager
    def _interruptible(self, show: Callable[[LocalizedText], None]) -> Iterator[None]:
        """Handle Ctrl-C: the first ends the wait, the second exits, which also cancels a start."""

        def interrupt(*_: object) -> None:
            self._interrupts += 1
            if self._interrupts > 1:
                raise KeyboardInterrupt
            self.link.post("stop_waiting", {"own": True})
            show(localize("The wait ends once the program has started. Press Ctrl-C again to exit."))

        before = signal.signal(signal.SIGINT, interrupt)
        try:
            yield
        finally:
            signal.signal(signal.SIGINT, before)


@contextmanager
def open_tool_client(
    workspace: Path | None,
    *,
    starts_daemon: bool = False,
    all_workspaces: bool = False,
    within_s: float | None = None,
) -> Iterator[ToolClient]:
    """Connect to the daemon. `within_s` limits how long it may be silent, for callers that cannot wait long."""
    folder, paths = find_workspace(workspace), find_paths()
    with _open(paths, folder, starts_daemon=starts_daemon, within_s=within_s or WELCOME_WITHIN_S) as link:
        yield ToolClient(link, folder, all_workspaces, within_s or _IDLE_TIMEOUT_S)


def _open(paths: Paths, workspace: Path, *, starts_daemon: bool, within_s: float) -> ControlClient:
    hello = caller_info(workspace)
    try:
        return open_daemon(within_s=within_s, role="tools", about=hello, starts_daemon=starts_daemon)
    except DragomanError as error:
        if error.code == "unknown_role":
            raise _older_daemon() from error
        if error.code not in _ABSENT or not starts_daemon or is_remote():
            raise
    _start_daemon(paths, workspace)
    return ControlClient.open(paths, role="tools", about=hello)


def _start_daemon(paths: Paths, workspace: Path) -> None:
    """Start a daemon, or wait for one that is starting or stopping."""
    from dragoman.cli.daemon import launcher
    from dragoman.cli.output import progress

    found = launcher.check_daemon(paths)
    found.require_answering()
    if found.status is None:
        with progress(localize("Starting the daemon")):
            launcher.start(paths, launcher.DaemonStartOptions(workspace))


@contextmanager
def _status_line() -> Iterator[Callable[[LocalizedText], None]]:
    """A status line with the elapsed time, only on a terminal; it is erased when the answer arrives."""
    if not sys.stderr.isatty():
        yield lambda _: None
        return
    is_shown = False

    def show(localized: LocalizedText) -> None:
        nonlocal is_shown
        is_shown = True
        with contextlib.suppress(RuntimeError):  # called from a signal handler, in the middle of a write
            show_status_line(localized)

    try:
        yield show
    finally:
        if is_shown:
            show_status_line()


def _waiting(seconds: int) -> LocalizedText:
    return localize("Waiting, {seconds} s so far. Ctrl-C stops the wait; the program keeps running.", seconds=seconds)


# Results.

_EXIT_CODES = {"timeout": ExitCode.TIMEOUT, "interrupted": ExitCode.INTERRUPTED, "error": ExitCode.FAILED}


def show_reply(reply: ToolReply, *, as_json: bool) -> int:
    """Print the structured content or the lines, and return the exit code for scripts."""
    if as_json:
        show_json(reply.data)
    else:
        show_lines(reply.lines, to_stderr=reply.is_error)
        if reply.data.get("code") == "needs_trust" and is_remote():
            warn(
                localize(
                    "Only that machine can trust the folder: `dragoman trust FOLDER --on {target}`.",
                    target=chosen_names()[0],
                )
            )
    if reply.is_error:
        return ExitCode.FAILED
    ended = reply.data.get("ended", reply.data if reply.status == "completed" else {})
    if ended.get("exit_code") or ended.get("signal") or ended.get("exception"):
        return ExitCode.PROGRAM_FAILED
    return _EXIT_CODES.get(reply.status, ExitCode.OK)


def show_lines(lines: list[str], *, to_stderr: bool = False) -> None:
    """Print lines from the daemon. They are escaped again here instead of trusted."""
    stream = sys.stderr if to_stderr else sys.stdout
    stream.writelines(f"{printable(line)}\n" for line in lines)


_call_too_large = ErrorSpec(
    "too_much",
    "The request exceeds the daemon's limit of 1 MB per call.",
    "For large input, let the program read a file.",
)


_older_daemon = ErrorSpec(
    "unknown_role",
    "The running daemon is an older version that cannot debug from the command line.",
    "Run `dragoman restart` to update the daemon.",
)
