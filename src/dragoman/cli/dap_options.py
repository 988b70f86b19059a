"""`dragoman dap` with its options explained. Editors start it in its plain form, without what this needs."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

from cyclopts import Parameter

from dragoman.cli import dap as plain
from dragoman.cli.output import shown
from dragoman.phrases import say


def dap(
    *,
    stdio: Annotated[bool, Parameter(negative="", help=shown(say("Speak on standard input and output.")))] = False,
    attach: Annotated[str, Parameter(help=shown(say("The session to join, by its id.")))] = "",
    read_only: Annotated[bool, Parameter(negative="", help=shown(say("Watch, and change nothing.")))] = False,
    workspace: Annotated[Path, Parameter(help=shown(say("The folder that the editor works in.")))] = Path(),
) -> int:
    return plain.dap(stdio=stdio, attach=attach, read_only=read_only, workspace=workspace)
