"""Diffs, derived: no gateway sends one, but the arguments of an agent's file tools say what they changed."""

from __future__ import annotations

import msgspec
from msgspec import Raw, Struct, UnsetType

from dragoman.wire.gateway.payloads import read


class Change(Struct, frozen=True):
    path: str
    original: str | None
    modified: str
    partial: bool


class _Edit(Struct, frozen=True):
    """One passage, under the names that agents' edit tools use for it."""

    old: str | None = None
    old_text: str | None = msgspec.field(default=None, name="oldText")
    old_string: str | None = None
    new: str | None = None
    new_text: str | None = msgspec.field(default=None, name="newText")
    new_string: str | None = None

    def passage(self) -> tuple[str, str] | None:
        before = _first(self.old_text, self.old_string, self.old)
        after = _first(self.new_text, self.new_string, self.new)
        return None if before is None or after is None else (before, after)


class _FileArgs(_Edit, frozen=True):
    path: str | None = None
    file_path: str | None = None
    content: str | None = None
    edits: tuple[_Edit, ...] = ()


_ARGS = msgspec.json.Decoder(_FileArgs)
_WRITES = frozenset({"write", "write_file", "create_file"})
_EDITS = frozenset({"edit", "edit_file", "multi_edit", "str_replace"})


def changes_files(tool: str) -> bool:
    return tool.lower() in _WRITES | _EDITS


def changes(tool: str, args: Raw | UnsetType) -> list[Change]:
    """What a successful call changed. A write may have replaced a file: what stood there before, nobody was told."""
    read_args = read(args, _ARGS)
    path = _first(read_args.path, read_args.file_path) if read_args else None
    if read_args is None or not path:
        return []
    if tool.lower() in _WRITES:
        return [] if read_args.content is None else [Change(path, None, read_args.content, partial=False)]
    passages = [edit.passage() for edit in (read_args, *read_args.edits)]
    return [Change(path, *passage, partial=True) for passage in passages if passage]


def _first(*values: str | None) -> str | None:
    return next((value for value in values if value is not None), None)
