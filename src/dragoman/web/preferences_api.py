"""What a person chose at the page and keeps: the page's origin changes with each start, so a browser cannot keep it."""

from __future__ import annotations

import logging
from pathlib import Path
from typing import Annotated, Literal

import anyio.to_thread
import msgspec
from starlette.requests import Request
from starlette.responses import Response

from dragoman.errors import DragomanError
from dragoman.transport.private_files import read_private, replace_private
from dragoman.web.bodies import Body, as_json, read_as

log = logging.getLogger(__name__)

Expression = Annotated[str, msgspec.Meta(max_length=2000)]


class Preferences(msgspec.Struct, frozen=True):
    language: Literal["", "en", "zh"] = ""
    """Empty: the browser's."""
    watches: Annotated[tuple[Expression, ...], msgspec.Meta(max_length=200)] = ()
    """Expressions that the debugger keeps an eye on."""


class _Change(Body):
    """What is not named stays as it is."""

    language: Literal["", "en", "zh"] | None = None
    watches: Annotated[tuple[Expression, ...], msgspec.Meta(max_length=200)] | None = None


class PreferencesApi:
    """Owns the file. One that cannot be read is no reason not to start: then nothing was chosen yet."""

    def __init__(self, file: Path) -> None:
        self._file = file
        self._kept = _read(file)

    def language(self) -> str:
        return self._kept.language

    async def show(self, _: Request) -> Response:
        return as_json(self._kept)

    async def change(self, request: Request) -> Response:
        wanted = await read_as(request, _Change)
        changed = {name: value for name, value in msgspec.structs.asdict(wanted).items() if value is not None}
        self._kept = msgspec.structs.replace(self._kept, **changed)
        await anyio.to_thread.run_sync(replace_private, self._file, msgspec.json.encode(self._kept))
        return as_json(self._kept)


def _read(file: Path) -> Preferences:
    try:
        return msgspec.json.decode(read_private(file), type=Preferences)
    except FileNotFoundError:
        return Preferences()
    except (OSError, msgspec.DecodeError, UnicodeError, DragomanError) as error:
        log.warning("what was chosen at the page cannot be read: %s", error)
        return Preferences()
