"""Which folders the user has trusted, and where code that is started may lie.

A launch.json is a program: it came with the folder. Code may lie in a trusted folder, or where programs are installed;
all other places need a person's consent. A path is walked name by name. Every folder that contains a link counts as
much as the place where the path ends: whoever can write there decides what runs, also after the check.
"""

from __future__ import annotations

import os
import sys
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from pathlib import Path

import anyio.to_thread
import msgspec

from dragoman.core.clock import Clock
from dragoman.core.errors import DragomanError, ErrorSpec
from dragoman.core.events import Event
from dragoman.core.localization import localize
from dragoman.core.safe_text import escape_invisible
from dragoman.journal import EverythingScope, Journal, JsonStore, Scope, Statement

_READABLE = 500
"""The longest folder name that a person is asked about."""


no_folder = ErrorSpec(
    "no_such_folder", "Folder not found: {folder}.", "Pass the folder with the launch.json and tasks.json to trust."
)
folder_moved = ErrorSpec(
    "folder_moved",
    "{folder} now points to {place}; it changed after you were asked.",
    "Nothing was trusted. Check the new target, then try again.",
)
folder_too_wide = ErrorSpec(
    "too_wide",
    "{folder} is broader than one project: anything added to it later could run too.",
    "Pass the project folder, or add --yes to trust all of it.",
)


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


# Folders that an administrator or a package manager writes. One that anybody may write to does not count.
_SYSTEM = (
    *("/usr", "/bin", "/sbin", "/lib", "/lib32", "/lib64", "/etc", "/opt", "/nix/store", "/snap", "/gnu/store"),
    *("/System", "/Library", "/Applications", "/home/linuxbrew/.linuxbrew"),
)
_OF_THE_USER = (
    *("VIRTUAL_ENV", "CONDA_PREFIX", "GOROOT", "JAVA_HOME", "NVM_DIR", "PYENV_ROOT", "CARGO_HOME"),
    *("WORKON_HOME", "PIPX_HOME"),
)
# Where tools keep environments in the home folder. An environment elsewhere may have come with a clone: its layout does
# not show who filled it.
_ENVIRONMENTS = (
    *(".virtualenvs", ".local/share/virtualenvs", ".local/share/pipx", ".local/pipx", ".local/share/uv", ".cache/uv"),
    *(".cache/pypoetry/virtualenvs", ".local/share/hatch", ".rye", ".pyenv", ".asdf", ".local/share/mise", ".conda"),
    *("miniconda3", "anaconda3", "miniforge3", "mambaforge", "micromamba", ".local/share/mamba"),
    *("Library/Caches/pypoetry/virtualenvs", "Library/Application Support/hatch"),
)
# Markers of a folder with source code, which may be somebody else's.
_PROJECT_MARKS = (
    *(".git", ".hg", ".svn", ".vscode", "pyproject.toml", "setup.py", "requirements.txt", "package.json"),
    *("Cargo.toml", "go.mod", "Gemfile", "Makefile", "CMakeLists.txt"),
)
_MAX_LINKS = 64


@dataclass(frozen=True)
class CodeLocations:
    """The places for one client. `environment` is the client's own, never a configuration's."""

    workspace: Path
    environment: Mapping[str, str] = field(default_factory=dict, repr=False)

    def untrusted_places(self, path: Path) -> list[Path]:
        """The places on the way to the path that are neither in the workspace nor where programs are installed."""
        ends, links = _walked(self._from_known(path))
        return [place for place in dict.fromkeys((*links, ends)) if not self._knows(place)]

    def is_of_workspace(self, path: Path) -> bool:
        return Path(os.path.realpath(path)).is_relative_to(self._workspace)

    @cached_property
    def _workspace(self) -> Path:
        return Path(os.path.realpath(self.workspace))

    @cached_property
    def _installed(self) -> Sequence[Path]:
        """What the person has set up: the folders on PATH, and the environments that they belong to."""
        on_path = [Path(it) for it in self.environment.get("PATH", "").split(os.pathsep) if it.startswith("/")]
        variables = [self.environment.get(name, "") for name in _OF_THE_USER]
        named = [Path(it) for it in variables if it.startswith("/")]
        around = [folder.parent for folder in on_path if folder.name in {"bin", "shims"} and not is_home(folder.parent)]
        kept = [Path.home() / it for it in _ENVIRONMENTS]
        every = [*on_path, *named, *around, *kept, Path(sys.prefix), Path(sys.base_prefix)]
        return [Path(os.path.realpath(it)) for it in every if it != Path("/") and not is_home(it)]

    def _from_known(self, path: Path) -> Path:
        """How the workspace itself is reached is up to the person."""
        path = Path(os.path.normpath(path)) if ".." not in path.parts else path
        return self._workspace / path.relative_to(self.workspace) if path.is_relative_to(self.workspace) else path

    def _knows(self, place: Path) -> bool:
        if place.is_relative_to(self._workspace) or any(place.is_relative_to(it) for it in self._installed):
            return True
        system = next((it for it in _SYSTEM if place.is_relative_to(it)), None)
        if system is None:
            return place == Path("/")
        return not any(_is_writable_by_all(it) for it in (place, *place.parents) if it.is_relative_to(system))


def project_of(place: Path) -> Path:
    """The folder that a user would trust for it: the project, else the folder that contains it."""
    folder = place if place.is_dir() else place.parent
    return next((it for it in (folder, *folder.parents) if _is_project(it) and not is_home(it)), folder)


def is_home(folder: Path) -> bool:
    """Whether it is the home folder or contains it."""
    return Path(os.path.realpath(Path.home())).is_relative_to(os.path.realpath(folder))


def _walked(path: Path) -> tuple[Path, Sequence[Path]]:
    """The end of the path, and every folder on the way in which a link was followed. A missing name ends the walk."""
    at, names = Path("/"), list(reversed(path.parts[1:]))
    links: list[Path] = []
    while names and len(links) <= _MAX_LINKS:
        name = names.pop()
        if name == "..":
            at = at.parent
            continue
        try:
            target = (at / name).readlink()
        except (OSError, ValueError):
            at /= name
            continue
        links.append(at)
        at = Path("/") if target.is_absolute() else at
        names += reversed(target.parts[1:] if target.is_absolute() else target.parts)
    return at.joinpath(*reversed(names)), links


def _is_writable_by_all(place: Path) -> bool:
    try:
        status = place.stat()
    except OSError:
        return False
    return bool(status.st_mode & 0o002)


def _is_project(folder: Path) -> bool:
    return any((folder / mark).exists() for mark in _PROJECT_MARKS)
