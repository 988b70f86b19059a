"""A recorded session as one HTML file that replays itself: a page that was built for it, and the recording inside."""

from __future__ import annotations

from collections.abc import Awaitable, Callable
from functools import cache
from importlib.resources import files

import anyio.to_thread
import msgspec

from dragoman.core.errors import DragomanError
from dragoman.core.localization import localize

_PLACE = "@recording@"
_ROOT = '<html lang="en">'

ReadRecording = Callable[[str], Awaitable[msgspec.Struct]]


async def replay_file(read: ReadRecording, session: str, language: str) -> str:
    before, after = _template()
    recording = await read(session)
    return await anyio.to_thread.run_sync(_filled, before, after, recording, language)


def _filled(before: str, after: str, recording: msgspec.Struct, language: str) -> str:
    """Recorded text never becomes markup: without `<` nothing ends the element that holds it."""
    data = msgspec.json.encode(recording).decode().replace("<", "\\u003c")
    head = before.replace(_ROOT, f'<html lang="en" data-language="{language}">', 1)
    return f"{head}{data}{after}"


@cache
def _template() -> tuple[str, str]:
    built = files("dragoman.servers.web").joinpath("built", "replay.html")
    if not built.is_file():
        raise DragomanError(
            "page_not_built",
            localize("The page is not built."),
            hint=localize("Run `make page` in the source folder."),
        )
    before, _, after = built.read_text(encoding="utf-8").partition(_PLACE)
    return before, after
