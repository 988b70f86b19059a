"""Which folders a person has said may run what they hold. A launch file is a program: it came with the folder."""

from __future__ import annotations

import os
from collections.abc import Iterable
from pathlib import Path

import anyio.to_thread
import msgspec

from dragoman.clock import Clock
from dragoman.errors import DragomanError
from dragoman.events import Event
from dragoman.journal import Everything, Journal, JsonStore, Scope, Statement
from dragoman.phrases import say
from dragoman.visible import spelled_out

_READABLE = 500
"""Characters of a folder's name that a person can be asked about."""


class Trusted(msgspec.Struct, frozen=True, kw_only=True):
    folder: str
    since_ns: int


class _TrustStore(JsonStore[Trusted]):
    def forget(self, scope: Scope) -> Iterable[Statement]:
        """A person's word does not wear off with the events around it; only `forget --all` takes it back."""
        return super().forget(scope) if isinstance(scope, Everything) else ()


STORE = _TrustStore("trust", Trusted, verbatim=True)


class TrustBook:
    """Asked of the store each time: what was revoked or forgotten a moment ago is not trusted now."""

    def __init__(self, journal: Journal, clock: Clock) -> None:
        self._journal = journal
        self._clock = clock

    async def folders(self) -> list[Trusted]:
        rows = await self._journal.query(STORE.everything())
        return list(STORE.decoded(rows.rows).values())

    async def trusts(self, workspace: Path) -> bool:
        """A trusted folder or one below it, by where it really lies."""
        place = await anyio.to_thread.run_sync(real_folder, workspace)
        return any(place.is_relative_to(trusted.folder) for trusted in await self.folders())

    async def trust(self, folder: Path, *, however_wide: bool = False, seen: Path | None = None) -> Trusted:
        """`seen` is where it really lay when a person was asked about it: a link turned round since is not trusted."""
        place = real_folder(folder)
        if seen not in (None, place):
            raise _moved(folder, place)
        if not place.is_dir():
            raise _no_folder(place)
        if not however_wide and is_wide(place):
            raise _too_wide(place)
        word = Trusted(folder=str(place), since_ns=self._clock.wall_ns())
        write = STORE.put(word.folder, word, at_ns=word.since_ns)
        await self._journal.append([_told("workspace.trusted", word.folder)], writes=[write])
        return word

    async def revoke(self, folder: Path) -> str:
        place = str(real_folder(folder))
        known = [trusted.folder for trusted in await self.folders()]
        if place not in known:
            raise _not_trusted(place, known)
        await self._journal.append([_told("workspace.distrusted", place)], writes=[STORE.remove(place)])
        return place


def real_folder(folder: Path) -> Path:
    return Path(os.path.realpath(folder))


def is_wide(folder: Path) -> bool:
    """The home folder and whatever holds it: most of what lies there was not written by its owner."""
    return Path(os.path.realpath(Path.home())).is_relative_to(folder)


def can_be_asked_about(folder: Path) -> bool:
    """What cannot be read, or is as wide as a home folder, is for the command line, which says so."""
    shown = str(folder)
    return folder.is_dir() and not is_wide(folder) and spelled_out(shown) == shown and len(shown) <= _READABLE


def _told(kind: str, folder: str) -> Event:
    return Event(kind=kind, text=f"{kind.replace('.', ' ')} {folder}", body={"folder": folder}, workspace=folder)


def _no_folder(folder: Path) -> DragomanError:
    return DragomanError(
        "no_such_folder",
        say("There is no folder {folder}.", folder=folder),
        hint=say("Name the folder whose launch.json and tasks.json may run."),
    )


def _moved(folder: Path, place: Path) -> DragomanError:
    return DragomanError(
        "folder_moved",
        say("{folder} has come to lead to {place} since you were asked about it.", folder=folder, place=place),
        hint=say("Nothing was trusted. Look at what is there, then start again."),
    )


def _too_wide(folder: Path) -> DragomanError:
    return DragomanError(
        "too_wide",
        say("{folder} holds much more than one project: whatever is put there later could run too.", folder=folder),
        hint=say("Name the project's own folder, or say --yes to trust all of it."),
    )


def _not_trusted(folder: str, known: list[str]) -> DragomanError:
    return DragomanError(
        "not_trusted",
        say("{folder} was not trusted by itself.", folder=folder),
        hint=say("Trusted are: {known}.", known=", ".join(known)) if known else say("No folder is trusted yet."),
    )
