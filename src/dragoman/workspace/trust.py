"""Which folders the user has trusted. A launch.json is a program: it came with the folder."""

from __future__ import annotations

import os
from collections.abc import Iterable
from pathlib import Path

import anyio.to_thread
import msgspec

from dragoman.core.clock import Clock
from dragoman.core.errors import DragomanError
from dragoman.core.events import Event
from dragoman.core.localization import localize
from dragoman.core.safe_text import escape_invisible
from dragoman.journal import EverythingScope, Journal, JsonStore, Scope, Statement
from dragoman.workspace.errors import folder_moved, folder_too_wide, no_folder

_READABLE = 500
"""The longest folder name that a person is asked about."""


class TrustedFolder(msgspec.Struct, frozen=True, kw_only=True):
    folder: str
    since_ns: int


class _TrustStore(JsonStore[TrustedFolder]):
    def forget(self, scope: Scope) -> Iterable[Statement]:
        """Trust does not expire with the events around it; only `forget --all` removes it."""
        return super().forget(scope) if isinstance(scope, EverythingScope) else ()


STORE = _TrustStore("trust", TrustedFolder, verbatim=True)


class TrustedFolders:
    """The trusted folders. Every check reads the store, so a folder that was just revoked is not trusted."""

    def __init__(self, journal: Journal, clock: Clock) -> None:
        self._journal = journal
        self._clock = clock

    async def folders(self) -> list[TrustedFolder]:
        rows = await self._journal.query(STORE.everything())
        return list(STORE.decoded(rows.rows).values())

    async def trusts(self, workspace: Path) -> bool:
        """Whether the real path is a trusted folder or below one."""
        place = await anyio.to_thread.run_sync(real_folder, workspace)
        return any(place.is_relative_to(trusted.folder) for trusted in await self.folders())

    async def trust(self, folder: Path, *, however_wide: bool = False, seen: Path | None = None) -> TrustedFolder:
        """Trust a folder.

        `seen` is its real path when a person was asked: a link that was changed since is not trusted.
        """
        place = real_folder(folder)
        if seen not in (None, place):
            raise folder_moved(folder=folder, place=place)
        if not place.is_dir():
            raise no_folder(folder=place)
        if not however_wide and is_wide(place):
            raise folder_too_wide(folder=place)
        word = TrustedFolder(folder=str(place), since_ns=self._clock.wall_ns())
        write = STORE.put(word.folder, word, at_ns=word.since_ns)
        await self._journal.append([_trust_event("workspace.trusted", word.folder)], writes=[write])
        return word

    async def revoke(self, folder: Path) -> str:
        place = str(real_folder(folder))
        known = [trusted.folder for trusted in await self.folders()]
        if place not in known:
            raise _not_trusted(place, known)
        await self._journal.append([_trust_event("workspace.distrusted", place)], writes=[STORE.remove(place)])
        return place


def real_folder(folder: Path) -> Path:
    return Path(os.path.realpath(folder))


def is_wide(folder: Path) -> bool:
    """Whether it is the home folder or a parent of it: most code there was not written by its owner."""
    return Path(os.path.realpath(Path.home())).is_relative_to(folder)


def can_be_asked_about(folder: Path) -> bool:
    """Whether the user can be asked: a name that cannot be displayed, or a broad folder, is left to the command
    line.
    """
    shown = str(folder)
    return folder.is_dir() and not is_wide(folder) and escape_invisible(shown) == shown and len(shown) <= _READABLE


def _trust_event(kind: str, folder: str) -> Event:
    return Event(kind=kind, text=f"{kind.replace('.', ' ')} {folder}", body={"folder": folder}, workspace=folder)


def _not_trusted(folder: str, known: list[str]) -> DragomanError:
    return DragomanError(
        "not_trusted",
        localize("{folder} itself is not trusted.", folder=folder),
        hint=localize("Trusted folders: {known}.", known=", ".join(known))
        if known
        else localize("No trusted folders."),
    )
