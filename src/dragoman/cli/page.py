"""`dragoman page`: a fresh login link. The code travels in the fragment, which no server, log or Referer sees."""

from __future__ import annotations

from typing import Annotated

from cyclopts import Parameter

from dragoman.cli.output import ExitCode, show_json, show_text, shown, warn
from dragoman.phrases import say
from dragoman.places import find_places
from dragoman.transport.control_link import ControlLink


def page(*, json: Annotated[bool, Parameter(negative="", help=shown(say("Answer with JSON.")))] = False) -> int:
    with ControlLink.open(find_places()) as link:
        answer = link.call("login_link")
    if json:
        show_json(answer)
    else:
        show_text(answer["link"])
        warn(say("It works once, within two minutes."))
    return ExitCode.OK
