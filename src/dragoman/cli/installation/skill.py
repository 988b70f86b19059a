"""The skill for agents: its files in this installation, and the copies that `dragoman setup` writes and removes.

A copy is removed only if every file of ours in it is as it was written: what a person changed is theirs.
"""

from __future__ import annotations

import hashlib
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Literal

from dragoman.cli.installation.written_files import WrittenFile, record_written_file, written_files
from dragoman.clients.catalog import McpClient
from dragoman.clients.machine import Machine
from dragoman.core.errors import DragomanError
from dragoman.core.localization import LocalizedText, localize
from dragoman.core.paths import Paths

SKILL = "dragoman-debugging"
_HERE = Path(__file__).resolve()

SkillChange = Literal["added", "updated", "unchanged", "removed", "absent", "kept"]
"""`kept`: it is not what we wrote, so it is left alone."""


@dataclass(frozen=True, slots=True)
class SkillCopy:
    """One folder with the skill, and the clients that read it."""

    folder: Path
    clients: tuple[McpClient, ...]

    @property
    def titles(self) -> str:
        return ", ".join(it.title for it in self.clients)


def skill_files() -> dict[str, bytes]:
    """By their paths in the skill. `skills/` is in the installed package, or beside `src/` in the repository."""
    for place in (_HERE.parents[2] / "skills" / SKILL, _HERE.parents[4] / "skills" / SKILL):
        if (place / "SKILL.md").is_file():
            return {str(it.relative_to(place)): it.read_bytes() for it in sorted(place.rglob("*.md"))}
    raise DragomanError(
        "skill_missing", localize("The skill is missing from this installation."), hint=localize("Reinstall Dragoman.")
    )


def skill_copies(clients: Iterable[McpClient], machine: Machine) -> list[SkillCopy]:
    """One per folder: some clients share theirs."""
    by_folder: dict[Path, list[McpClient]] = {}
    for client in clients:
        if folder := client.skills_folder(machine):
            by_folder.setdefault(folder / SKILL, []).append(client)
    return [SkillCopy(folder, tuple(found)) for folder, found in by_folder.items()]


def planned_change(copy: SkillCopy, files: Mapping[str, bytes], paths: Paths, *, removing: bool) -> SkillChange:
    folder = copy.folder
    if not folder.is_symlink() and (not folder.exists() or (folder.is_dir() and not any(folder.iterdir()))):
        return "absent" if removing else "added"
    if not _is_ours(folder, files, paths):
        return "kept"
    if removing:
        return "removed"
    is_same = all(_read(folder / name) == data for name, data in files.items())
    return "unchanged" if is_same else "updated"


def write_copy(copy: SkillCopy, files: Mapping[str, bytes], paths: Paths) -> None:
    try:
        for name, data in files.items():
            path = copy.folder / name
            path.parent.mkdir(parents=True, exist_ok=True)
            record_written_file(paths, WrittenFile(str(path), digest=_digest(data)))
            path.write_bytes(data)
    except OSError as error:
        raise DragomanError(
            "skill_not_written",
            localize("Cannot write {path}: {reason}.", path=copy.folder, reason=error.strerror),
            hint=localize("Agents work without the skill; they only know less about when to use Dragoman."),
        ) from error


def remove_copy(copy: SkillCopy, files: Mapping[str, bytes], paths: Paths) -> None:
    """Our files, then the folders that are empty without them, up to the skill's own."""
    for path in _own_files(copy.folder, files, paths):
        path.unlink(missing_ok=True)
    for folder in sorted((it for it in copy.folder.rglob("*") if it.is_dir()), reverse=True):
        _remove_if_empty(folder)
    _remove_if_empty(copy.folder)


def change_message(copy: SkillCopy, change: SkillChange) -> LocalizedText | None:
    if change == "kept":
        return localize("{path} is unchanged: it is not what Dragoman wrote.", path=copy.folder)
    if change in {"added", "updated"}:
        return localize("{clients}: skill written to {path}.", clients=copy.titles, path=copy.folder)
    if change == "removed":
        return localize("{clients}: skill removed from {path}.", clients=copy.titles, path=copy.folder)
    return None


def _is_ours(folder: Path, files: Mapping[str, bytes], paths: Paths) -> bool:
    """Whether each file in it that has the name of one of ours also has its contents, of this or an earlier version."""
    if folder.is_symlink() or not folder.is_dir():
        return False
    written = {(it.path, it.digest) for it in written_files(paths) if it.digest}
    named = {*files, *(str(Path(path).relative_to(folder)) for path, _ in written if Path(path).is_relative_to(folder))}
    there = [name for name in named if (folder / name).exists() or (folder / name).is_symlink()]
    return bool(there) and all(_is_as_written(folder / name, files.get(name), written) for name in there)


def _is_as_written(path: Path, data: bytes | None, written: set[tuple[str, str]]) -> bool:
    found = _read(path)
    return found is not None and (found == data or (str(path), _digest(found)) in written)


def _own_files(folder: Path, files: Mapping[str, bytes], paths: Paths) -> list[Path]:
    recorded = [Path(it.path) for it in written_files(paths) if it.digest and Path(it.path).is_relative_to(folder)]
    return list(dict.fromkeys([*(folder / name for name in files), *recorded]))


def _read(path: Path) -> bytes | None:
    try:
        return None if path.is_symlink() else path.read_bytes()
    except OSError:
        return None


def _remove_if_empty(folder: Path) -> None:
    if not any(folder.iterdir()):
        folder.rmdir()


def _digest(data: bytes) -> str:
    return hashlib.sha256(data).hexdigest()
