"""`dragoman mcp` with its options explained. Clients start it in its plain form, without what this needs."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

from cyclopts import Parameter

from dragoman.cli import mcp as plain
from dragoman.cli.output import shown
from dragoman.phrases import say


def mcp(
    *,
    workspace: Annotated[Path, Parameter(help=shown(say("The folder that the client works in.")))] = Path(),
    tools: Annotated[str, Parameter(help=shown(say("Only these sets of tools, with commas; all without it.")))] = "",
) -> int:
    return plain.mcp(workspace=workspace, tools=tools)
