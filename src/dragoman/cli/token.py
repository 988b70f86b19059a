"""`dragoman token`: for clients that speak HTTP. Asked of the daemon, because rotation ends what is open."""

from __future__ import annotations

from typing import Literal

from dragoman.cli.output import ExitCode, show_text, tell
from dragoman.phrases import say
from dragoman.places import find_places
from dragoman.transport.control_link import ControlLink

Purpose = Literal["mcp", "page", "gateway", "omnish", "editor"]


def show(purpose: Purpose) -> int:
    with ControlLink.open(find_places()) as link:
        show_text(link.call("token_show", {"purpose": purpose})["token"])
    return ExitCode.OK


def rotate(purpose: Purpose | None = None) -> int:
    """All of them unless one is named."""
    with ControlLink.open(find_places()) as link:
        rotated = link.call("token_rotate", {"purpose": purpose} if purpose else {})["rotated"]
    tell(say("New tokens for: {purposes}. Whatever was open with the old ones has ended.", purposes=", ".join(rotated)))
    return ExitCode.OK
