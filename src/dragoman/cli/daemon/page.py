"""`dragoman page`: open the page in the browser with a new one-time login link.

The code is in the fragment, which is not sent to servers, logs or Referer headers. Other processes can see the link in
the browser's command line, but it works only once, and the daemon accepts it only from this user.
"""

from __future__ import annotations

import os
import sys
from typing import Annotated

from cyclopts import Parameter

from dragoman.cli.output import ExitCode, render, show_json, show_message, show_text, warn
from dragoman.cli.remote.options import chosen_target
from dragoman.core.localization import localize
from dragoman.core.paths import find_paths
from dragoman.io.drivers.control_client import ControlClient

_DISPLAYS = ("BROWSER", "DISPLAY", "WAYLAND_DISPLAY")


def page(
    *,
    print_: Annotated[
        bool, Parameter(name="--print", negative="", help=render(localize("Print the link instead of opening it.")))
    ] = False,
    json: Annotated[bool, Parameter(negative="", help=render(localize("Print JSON.")))] = False,
) -> int:
    if (target := chosen_target()) is not None:
        from dragoman.cli.remote.page import forward_page

        return forward_page(target, print_link=print_, as_json=json)
    with ControlClient.open(find_paths()) as link:
        answer = link.call("login_link")
    if json:
        show_json(answer)
    elif not print_ and sys.stdout.isatty() and open_browser(answer["link"]):
        show_message(
            localize("Opening the page in your browser. If nothing happens, run `dragoman page --print` for the link.")
        )
    else:
        show_text(answer["link"])
        warn(localize("The link works once and expires in two minutes."))
    return ExitCode.OK


def open_browser(link: str) -> bool:
    """Open the browser, unless the only one available would take over this terminal."""
    if sys.platform != "darwin" and not any(map(os.environ.get, _DISPLAYS)):
        return False
    import webbrowser

    return webbrowser.open(link)
