"""`dragoman why`: explain why a test or a command fails, as `explain_failure` does for agents."""

from __future__ import annotations

import os
import re
import shlex
import sys
from typing import Annotated

from cyclopts import Parameter

from dragoman.cli.debug import options as opt
from dragoman.cli.output import ExitCode, render, show_json
from dragoman.cli.tool_client import ToolReply, open_tool_client, show_lines
from dragoman.core.localization import localize
from dragoman.core.safe_text import printable

_DIM, _RED, _GREEN, _BOLD, _OFF = "\033[2m", "\033[31m", "\033[32m", "\033[1m", "\033[0m"
# The style of a line by its start, in any language: source and output are dim, errors red, the places of calls bold.
_STYLES = (
    (re.compile(r" *\d+  |\| "), _DIM),
    (re.compile(r"(?:\w+\.)*\w*(?:Error|Exception|Interrupt|Exit)(?:: |$)"), _RED),
    (re.compile(r"\S+  \S+:\d+(?:  \(.*)?$"), _BOLD),
)
_COMMAND = "$ "


def why(
    test: Annotated[str, Parameter(help=render(localize("Test id; the last failed command if omitted.")))] = "",
    /,
    *command: Annotated[
        str,
        Parameter(help=render(localize("Command line to run instead of a test, after --.")), allow_leading_hyphen=True),
    ],
    repeat: Annotated[int, Parameter(help=render(localize("Run up to this many times, until it fails.")))] = 1,
    timeout: opt.Timeout = None,
    workspace: opt.Workspace = None,
    json: opt.Json = False,
) -> int:
    words = (test, *command) if test else command
    is_command = len(words) > 1 or "--" in sys.argv
    subject = {"command": shlex.join(words)} if is_command else {"test": test or None}
    with open_tool_client(workspace, starts_daemon=True) as client:
        reply = client.call("explain_failure", **subject, repeat=repeat, timeout_s=timeout)
    if json:
        show_json(reply.data)
    elif reply.is_error:
        show_lines(reply.lines, to_stderr=True)
    else:
        _show(reply)
    verdict = reply.data.get("verdict")
    if reply.is_error or verdict == "no tests":
        return ExitCode.FAILED
    return ExitCode.OK if verdict == "passed" else ExitCode.PROGRAM_FAILED


def _show(reply: ToolReply) -> None:
    if not sys.stdout.isatty() or os.environ.get("NO_COLOR") or os.environ.get("TERM") == "dumb":
        show_lines(reply.lines)
        return
    # The first line says how the run ended.
    head = next((at for at, line in enumerate(reply.lines) if not line.startswith(_COMMAND)), 0)
    verdict = _GREEN if reply.data.get("verdict") == "passed" else _RED
    sys.stdout.writelines(f"{_styled(line, verdict if at == head else '')}\n" for at, line in enumerate(reply.lines))


def _styled(line: str, style: str = "") -> str:
    style = style or next((it for pattern, it in _STYLES if pattern.match(line)), "")
    return f"{style}{printable(line)}{_OFF}" if style else printable(line)
