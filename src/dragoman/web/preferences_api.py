"""What a person chose at the page and keeps: the page's origin changes with each start, so a browser cannot keep it."""

from __future__ import annotations

import logging
from pathlib import Path
from typing import Annotated, Literal

import anyio
import anyio.to_thread
import msgspec
from starlette.requests import Request
from starlette.responses import Response

from dragoman.errors import DragomanError
from dragoman.transport.private_files import read_private, replace_private
from dragoman.web.bodies import Body, as_json, read_as

log = logging.getLogger(__name__)

WATCHES_AT_MOST = 200
Expression = Annotated[str, msgspec.Meta(max_length=2000)]


class Preferences(msgspec.Struct, frozen=True):
    language: Literal["", "en", "zh"] = ""
    """Empty: the browser's."""
    watches: Annotated[tuple[Expression, ...], msgspec.Meta(max_length=WATCHES_AT_MOST)] = ()
    """Expressions that the debugger keeps an eye on."""


class _Change(Body):
    """What is not named stays as it is. Watches come and go one by one: two tabs that change them take nothing from
    each other."""

    language: Literal["", "en", "zh"] | None = None
    watch: Expression | None = None
    unwatch: Expression | None = None


class PreferencesApi:
    """Owns the file. One that cannot be read is no reason not to start: then nothing was chosen yet."""

    def __init__(self, file: Path) -> None:
        self._file = file
        self._kept = _read(file)
        self._writing = anyio.Lock()  # the file is as the last change left it, whichever thread is quicker

    def language(self) -> str:
        return self._kept.language

    async def show(self, _: Request) -> Response:
        return as_json(self._kept)

    async def change(self, request: Request) -> Response:
        wanted = await read_as(request, _Change)
        self._kept = _changed(self._kept, wanted)
        async with self._writing:
            await anyio.to_thread.run_sync(replace_private, self._file, msgspec.json.encode(self._kept))
        return as_json(self._kept)


def _changed(kept: Preferences, wanted: _Change) -> Preferences:
    watches = [it for it in kept.watches if it != wanted.unwatch]
    if wanted.watch and wanted.watch not in watches and len(watches) < WATCHES_AT_MOST:
        watches.append(wanted.watch)
    language = kept.language if wanted.language is None else wanted.language
    return Preferences(language, tuple(watches))


def _read(file: Path) -> Preferences:
    try:
        return msgspec.json.decode(read_private(file), type=Preferences)
    except FileNotFoundError:
        return Preferences()
    except (OSError, msgspec.DecodeError, UnicodeError, DragomanError) as error:
        log.warning("what was chosen at the page cannot be read: %s", error)
        return Preferences()
