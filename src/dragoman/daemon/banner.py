"""What a person sees when the daemon starts in the foreground."""

from __future__ import annotations

import os
import shlex
import shutil
import sys
from pathlib import Path
from typing import TYPE_CHECKING

from dragoman.phrases import Language, Phrase, say

if TYPE_CHECKING:
    from dragoman.daemon.app import Running  # and all that it puts together


def banner(running: Running, language: Language) -> str:
    state = running.state
    lines: list[Phrase] = [
        say("Dragoman {version} is running for {workspace}.", version=state.version, workspace=state.workspace),
        say("  Page:        {address}/#code={code}", address=state.page_address, code=running.login_code),
        say("               It works once, within two minutes. For a new link, run this in another terminal:"),
        say("               {command}", command=_prefixed("page")),
        say("  Claude Code: {line}", line=_claude()),
        say("  Cursor:      {line}", line=_prefixed("client-config cursor --write")),
        say("  Ctrl-C ends it."),
    ]
    if state.wanted_port not in {0, state.port}:
        lines.insert(1, say("  Port {wanted} was taken, so this is {port}.", wanted=state.wanted_port, port=state.port))
    return "".join(line.in_language(language) + "\n" for line in lines)


def _claude() -> str:
    home = os.environ.get("DRAGOMAN_HOME")
    variable = f" -e {shlex.quote(f'DRAGOMAN_HOME={home}')}" if home else ""
    return f"claude mcp add -s user dragoman{variable} -- {_command()} mcp"


def _prefixed(arguments: str) -> str:
    """As it must be typed in another terminal to reach this very daemon."""
    home = os.environ.get("DRAGOMAN_HOME")
    variable = f"DRAGOMAN_HOME={shlex.quote(home)} " if home else ""
    return f"{variable}{_command()} {arguments}"


def _command() -> str:
    """The plain name where the shell finds this installation by it, the full path elsewhere."""
    own = Path(sys.executable).with_name("dragoman")
    found = shutil.which("dragoman")
    return "dragoman" if found and Path(found).resolve() == own.resolve() else shlex.quote(str(own))
