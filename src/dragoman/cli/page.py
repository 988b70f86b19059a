"""`dragoman page`: a fresh login link. The code travels in the fragment, which no server, log or Referer sees."""

from __future__ import annotations

from dragoman.cli.output import ExitCode, show_json, show_text, warn
from dragoman.phrases import say
from dragoman.places import find_places
from dragoman.transport.control_link import ControlLink


def page(*, json: bool = False) -> int:
    with ControlLink.open(find_places()) as link:
        answer = link.call("login_link")
    if json:
        show_json(answer)
    else:
        show_text(answer["link"])
        warn(say("It works once, within a minute."))
    return ExitCode.OK
