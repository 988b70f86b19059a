"""The line whose work has just been done: watched data stops a program behind the instruction that changed it."""

from __future__ import annotations

import re
from collections.abc import Mapping

import msgspec

from dragoman.debug.model import Frame
from dragoman.debug.session import Session
from dragoman.errors import DragomanError

_ASKED_WITHIN_S = 2.0
# The consoles of those debuggers that watch data: the place of the instruction before.
_CONSOLE: Mapping[str, str] = {
    "lldb-dap": "`image lookup --address $pc-1",
    "codelldb": "image lookup --address $pc-1",
}
_PLACE = re.compile(r" at (?P<file>[^\s:]+):(?P<line>\d+)")


async def line_just_done(session: Session) -> Frame | None:
    """The top frame, at that line; as it is, where the debugger does not say."""
    stop = session.stop
    top = stop.frames[0] if stop and stop.frames else None
    asked = _CONSOLE.get(session.launch.adapter_id)
    if top is None or asked is None:
        return top
    try:
        told = await session.looks.evaluate(asked, top.id, "console", timeout_s=_ASKED_WITHIN_S, thread_id=None)
    except DragomanError:
        return top
    found = _PLACE.search(told.result)
    if found is None or not top.path.endswith(found["file"].rsplit("/", 1)[-1]):
        return top
    return msgspec.structs.replace(top, line=int(found["line"]))
