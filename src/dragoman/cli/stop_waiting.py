"""`dragoman stop-waiting`: whoever waits in a debug tool gets `interrupted`; the programs go on."""

from __future__ import annotations

from typing import Annotated

from cyclopts import Parameter

from dragoman.cli.debug.asking import asking
from dragoman.cli.output import ExitCode, show_json, shown, tell
from dragoman.phrases import say


def stop_waiting(
    *,
    session: Annotated[str, Parameter(help=shown(say("Only of this session.")))] = "",
    json: Annotated[bool, Parameter(negative="", help=shown(say("Answer with JSON.")))] = False,
) -> int:
    with asking(None) as asker:
        count = asker.link.call("stop_waiting", {"session_id": session})["count"]
    if json:
        show_json({"count": count})
    else:
        tell(say("{count} waits ended.", count=count) if count else say("Nobody was waiting."))
    return ExitCode.OK
