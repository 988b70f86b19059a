"""`dragoman ask`: a question about what happened in terminals, answered as the answer comes."""

from __future__ import annotations

import os
import sys
from typing import Annotated

from cyclopts import Parameter

from dragoman.cli.output import ExitCode, show_json, show_text, shown
from dragoman.errors import DragomanError
from dragoman.phrases import say
from dragoman.places import find_places
from dragoman.transport.control_link import ControlLink
from dragoman.visible import visible
from dragoman.wire.control import Item

# A model may think for long before its first word.
_SILENT_AT_MOST_S = 180.0
_HERE = "DRAGOMAN_SESSION_ID"


def ask(
    question: Annotated[str, Parameter(help=shown(say("In your own words.")), allow_leading_hyphen=True)],
    /,
    *,
    scope: Annotated[
        str, Parameter(help=shown(say("all, this (the terminal you are in), or ids of terminals with commas between.")))
    ] = "all",
    json: Annotated[bool, Parameter(negative="", help=shown(say("Answer with JSON.")))] = False,
) -> int:
    told: list[str] = []
    with ControlLink.open(find_places()) as link:
        params = {"query": question, "terminals": _terminals(scope)}
        for item in link.stream("terminal_ask", params, idle_s=_SILENT_AT_MOST_S):
            if isinstance(item, Item):
                told.append(visible(str(item.value["text"])))
                if not json:
                    sys.stdout.write(told[-1])
                    sys.stdout.flush()
    if json:
        show_json({"answer": "".join(told)})
    elif not "".join(told[-1:]).endswith("\n"):
        show_text("")
    return ExitCode.OK


def _terminals(scope: str) -> list[str]:
    if scope == "all":
        return []
    if scope != "this":
        return [name for name in scope.split(",") if name]
    here = os.environ.get(_HERE, "")
    if not here:
        raise DragomanError(
            "not_in_a_terminal",
            say("This shell is not recorded, so there is no terminal that `this` could mean."),
            hint=say("`dragoman shell` starts one that is; `dragoman terminals` lists those there are."),
        )
    return [here]
