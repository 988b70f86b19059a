"""`dragoman up`, `down` and `restart` with their options explained; in their plain form they do without this."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

from cyclopts import Parameter
from cyclopts.validators import Number

from dragoman.cli import up as plain
from dragoman.cli.output import shown
from dragoman.phrases import say

Port = Annotated[
    int | None,
    Parameter(validator=Number(gte=0, lte=65535), help=shown(say("Take exactly this port, or any free one with 0."))),
]
Workspace = Annotated[Path, Parameter(help=shown(say("The folder that it works for.")))]
Yes = Annotated[bool, Parameter(negative="", help=shown(say("Do not ask whether live sessions may end.")))]
Json = Annotated[bool, Parameter(negative="", help=shown(say("Answer with JSON.")))]


def up(
    *,
    port: Port = None,
    workspace: Workspace = Path(),
    foreground: Annotated[bool, Parameter(negative="", help=shown(say("Stay in this terminal.")))] = False,
    take_over: Annotated[bool, Parameter(negative="", help=shown(say("End a running daemon first.")))] = False,
    yes: Yes = False,
    verbose: Annotated[bool, Parameter(negative="", help=shown(say("Log more.")))] = False,
    json: Json = False,
) -> int:
    return plain.up(
        port=port,
        workspace=workspace,
        foreground=foreground,
        take_over=take_over,
        yes=yes,
        verbose=verbose,
        json=json,
    )


def down(*, yes: Yes = False, json: Json = False) -> int:
    return plain.down(yes=yes, json=json)


def restart(*, yes: Yes = False, json: Json = False) -> int:
    return plain.restart(yes=yes, json=json)
