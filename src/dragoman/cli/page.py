"""`dragoman page`: opens the page in the browser, by a fresh login link.

The code travels in the fragment, which no server, log or Referer sees. The browser's command line shows the link to
whoever looks at processes; it works once, and the daemon takes it from this user alone.
"""

from __future__ import annotations

import os
import sys
from typing import Annotated

from cyclopts import Parameter

from dragoman.cli.output import ExitCode, show_json, show_text, shown, tell, warn
from dragoman.phrases import say
from dragoman.places import find_places
from dragoman.transport.control_link import ControlLink

_DISPLAYS = ("BROWSER", "DISPLAY", "WAYLAND_DISPLAY")


def page(
    *,
    print_: Annotated[
        bool, Parameter(name="--print", negative="", help=shown(say("Print the link instead of opening it.")))
    ] = False,
    json: Annotated[bool, Parameter(negative="", help=shown(say("Answer with JSON.")))] = False,
) -> int:
    with ControlLink.open(find_places()) as link:
        answer = link.call("login_link")
    if json:
        show_json(answer)
    elif not print_ and sys.stdout.isatty() and _opened(answer["link"]):
        tell(say("The page opens in your browser. If it does not, `dragoman page --print` prints the link."))
    else:
        show_text(answer["link"])
        warn(say("It works once, within two minutes."))
    return ExitCode.OK


def _opened(link: str) -> bool:
    """Not where the only browser would be one that takes this terminal."""
    if sys.platform != "darwin" and not any(map(os.environ.get, _DISPLAYS)):
        return False
    import webbrowser

    return webbrowser.open(link)
