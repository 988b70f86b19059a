"""Where code that is started may lie: in a trusted workspace, or where programs are installed.

All other places need a person's consent. A path is walked name by name. Every folder that contains a link counts as
much as the place where the path ends: whoever can write there decides what runs, also after the check.
"""

from __future__ import annotations

import os
import sys
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from pathlib import Path

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
