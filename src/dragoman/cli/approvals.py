"""`dragoman approvals`: what the chat's agent waits for, and in a person's terminal the answer to it."""

from __future__ import annotations

import sys
from typing import Any

from dragoman.cli.history import Json
from dragoman.cli.output import ExitCode, ask_yes, show_json, show_text, tell, warn
from dragoman.phrases import Phrase, say
from dragoman.places import find_places
from dragoman.transport.control_link import ControlLink
from dragoman.visible import visible


def approvals(*, json: Json = False) -> int:
    """Without a terminal, and with `--json`, they are listed and nothing is asked."""
    with ControlLink.open(find_places()) as link:
        found = link.call("approvals")
    if json:
        show_json(found["approvals"])
        return ExitCode.OK
    if not found["approvals"]:
        warn(say("Nothing waits for approval."))
    for one in found["approvals"]:
        show(one, is_here=True)
    return ExitCode.OK


def show(approval: dict[str, Any], *, is_here: bool) -> None:
    """What the person decides on, whole: each line set in, so that none passes for one of ours. Then the question,
    where it `is_here` that it waits and this is a terminal of theirs."""
    tell(_about(approval))
    show_text("".join(f"    {line}\n" for line in visible(str(approval["subject"])).splitlines()) or "    -\n")
    sys.stdout.flush()
    if is_here and all(it.isatty() for it in (sys.stdin, sys.stdout, sys.stderr)) and _may_answer():
        _answer(approval)
    else:
        tell(say("Answer on the page, in the editor, or with `dragoman approvals` in a terminal of your own."))


def _may_answer() -> bool:
    with ControlLink.open(find_places()) as link:
        return bool(link.call("approvals")["may_answer"])


def _answer(approval: dict[str, Any]) -> None:
    allowed = ask_yes(say("Allow it?"))
    with ControlLink.open(find_places()) as link:
        asked = {"id": approval["id"], "decision": "allow" if allowed else "deny"}
        counted = link.call("approval_answer", asked)["counted"]
    if not counted:
        warn(say("It was answered already, or waits no longer."))
    else:
        tell(say("Allowed.") if allowed else say("Denied."))


def _about(approval: dict[str, Any]) -> Phrase:
    if approval["kind"] == "trust":
        return say("Waits for your trust in this folder:")
    return say("Waits for your approval, {tool}:", tool=visible(str(approval["tool"])).replace("\n", " "))
