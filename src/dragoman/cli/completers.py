"""What a shell offers for a word that is begun: names that the program knows, and ids that the daemon does.

A Tab never waits for long and never shows an error: where nobody answers, nothing is offered.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

from dragoman.errors import DragomanError
from dragoman.phrases import preferred_language

if TYPE_CHECKING:
    from cyclopts.completion import CompletionContext

_WITHIN_S = 1.0

Offers = Mapping[str, str]
"""Each with what it is."""


def settings(_: CompletionContext) -> Offers:
    from dragoman.settings import describe

    return {it.key: it.about.in_language(preferred_language()) for it in describe()}


def setting_values(context: CompletionContext) -> Offers:
    """Of the setting that stands before."""
    from dragoman.settings import choices

    return dict.fromkeys(choices(str(context["key"].value)), "")


def clients(_: CompletionContext) -> Offers:
    from dragoman.clients.table import CLIENTS

    return {it.id: it.title for it in CLIENTS}


def adapters(_: CompletionContext) -> Offers:
    from dragoman.cli.adapters import names

    return dict.fromkeys(names(), "")


def terminals(_: CompletionContext) -> Offers:
    return {it["terminal"]: it["cwd"] for it in _told("list_terminals", ended=True).get("terminals", ())}


def debug_sessions(_: CompletionContext) -> Offers:
    return {it["session_id"]: it["state"] for it in _told("list_sessions").get("sessions", ())}


def client_tokens(_: CompletionContext) -> Offers:
    from dragoman.places import find_places
    from dragoman.transport.control_link import ControlLink

    try:
        with ControlLink.open(find_places(), within_s=_WITHIN_S) as link:
            tokens = link.call("token_list", within_s=_WITHIN_S)["tokens"]
    except DragomanError:
        return {}
    return {it["name"]: it["purpose"] for it in tokens if it["name"] != "default"}


def _told(tool: str, **arguments: Any) -> dict[str, Any]:
    from dragoman.cli.debug.asking import asking

    try:
        with asking(None, all_workspaces=True, within_s=_WITHIN_S) as asker:
            return dict(asker.call(tool, **arguments).data)
    except DragomanError:
        return {}
