"""Imports a recording as a terminal that has ended.

Files may come from anybody. They are opened without following links, and everything is bounded. Commands become
unverified, and attributes under our own prefix are dropped. An incomplete last line is ignored; an earlier one is an
error.
"""

from __future__ import annotations

import itertools
import json
import os
import stat
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path
from typing import Any, BinaryIO, Literal, Protocol

import anyio.to_thread

from dragoman.core.localization import localize
from dragoman.terminal.errors import bad_recording
from dragoman.terminal.exchange import asciicast, omnish_folder, recording_model
from dragoman.terminal.exchange.recording_model import (
    CommandEnd,
    CommandStart,
    RecordingHeader,
    RecordingItem,
)
from dragoman.terminal.model import GAP, IMPORTED, UNVERIFIED, CommandReport
from dragoman.terminal.screen import SIZE

MOST_ITEMS = 5_000_000
_BATCH = 200
_OWN_PREFIX = "dragoman."
MOST_BYTES = 1 << 30
MOST_LINE = 32 << 20


class ImportTarget(Protocol):
    async def begin(self, terminal_id: str, *, parent: str, at_ms: int, attributes: Mapping[str, str]) -> None: ...

    async def record(self, terminal_id: str, kind: Literal["input", "output"], at_ms: int, data: bytes) -> None: ...

    async def command_began(self, terminal_id: str, at_ms: int, line: str) -> None: ...

    async def command_ended(self, report: CommandReport) -> Any: ...

    async def end(self, terminal_id: str, at_ms: int, exit_code: int | None) -> None: ...


async def import_recording(
    record: ImportTarget, header: RecordingHeader, items: Iterator[RecordingItem], new_id: Callable[[], str]
) -> tuple[str, int]:
    """Import under a new id, whatever the recording was called; return also how many commands it had."""
    terminal_id, last_ms, commands = new_id(), header.started_ms, 0
    await record.begin(terminal_id, parent="", at_ms=header.started_ms, attributes=_attributes(header))
    bounded = itertools.islice(items, MOST_ITEMS)
    while batch := await anyio.to_thread.run_sync(lambda: list(itertools.islice(bounded, _BATCH))):
        for item in batch:
            last_ms = max(last_ms, item.at_ms)
            commands += isinstance(item, CommandEnd)
            await _put(record, terminal_id, item, commands)
    await record.end(terminal_id, max(last_ms, header.ended_ms or 0), header.exit_code)
    return terminal_id, commands


async def _put(record: ImportTarget, terminal_id: str, item: RecordingItem, number: int) -> None:
    if isinstance(item, CommandStart):
        await record.command_began(terminal_id, item.at_ms, item.line)
    elif isinstance(item, CommandEnd):
        await record.command_ended(_command_report(terminal_id, item, number))
    elif item.kind == "gap":
        await record.begin(
            terminal_id, parent="", at_ms=item.at_ms, attributes={GAP: item.data.decode("ascii", "replace")}
        )
    else:
        await record.record(terminal_id, item.kind, item.at_ms, item.data)


def _command_report(terminal_id: str, ended: CommandEnd, number: int) -> CommandReport:
    return CommandReport(
        id=f"{terminal_id}:{number}{UNVERIFIED}",
        terminal=terminal_id,
        line=ended.line,
        cwd=ended.cwd or None,
        started_ms=ended.started_ms,
        ended_ms=ended.ended_ms,
        exit_code=ended.exit_code,
        summary=ended.summary,
    )


def _attributes(header: RecordingHeader) -> dict[str, str]:
    """Drop attributes with our prefix: some have a meaning in the record, such as a gap or that commands are
    verified."""
    kept = {name: text for name, text in header.attributes.items() if not name.startswith(_OWN_PREFIX)}
    return {**kept, IMPORTED: header.id or "?", SIZE: f"{header.columns}x{header.rows}"}


_FILE = os.O_RDONLY | os.O_NONBLOCK | os.O_NOFOLLOW | os.O_CLOEXEC | os.O_NOCTTY
_FOLDER = os.O_RDONLY | os.O_DIRECTORY | os.O_NOFOLLOW | os.O_CLOEXEC


@contextmanager
def open_recording(path: Path) -> Iterator[tuple[RecordingHeader, Iterator[RecordingItem]]]:
    """Open a recording. Its content is read lazily; the file stays open until the block ends."""
    try:
        if path.is_dir():
            with _opened_folder(path) as opened:
                yield opened
        else:
            with _opened(os.fspath(path)) as stream:
                yield _of_lines(stream)
    except OSError as error:
        raise bad_recording(reason=error.strerror or error) from error


@contextmanager
def _opened_folder(path: Path) -> Iterator[tuple[RecordingHeader, Iterator[RecordingItem]]]:
    folder = os.open(path, _FOLDER)
    try:
        with _opened(omnish_folder.META, folder) as meta, _opened(omnish_folder.COMMANDS, folder) as commands:
            texts = meta.read(omnish_folder.MOST_JSON), commands.read(omnish_folder.MOST_JSON)
        with _opened(omnish_folder.STREAM, folder) as stream:
            yield omnish_folder.read_omnish_folder(*texts, stream)
    finally:
        os.close(folder)


@contextmanager
def _opened(name: str, folder: int | None = None) -> Iterator[BinaryIO]:
    """A device or a pipe is refused before a byte is read."""
    fd = os.open(name, _FILE, dir_fd=folder)
    with os.fdopen(fd, "rb") as stream:
        about = os.fstat(fd)
        if not stat.S_ISREG(about.st_mode):
            raise bad_recording(reason=localize("{name} is not a file", name=ascii(name[-100:])))
        if about.st_size > MOST_BYTES:
            raise bad_recording(
                reason=localize("{name} is larger than {most} bytes", name=ascii(name[-100:]), most=MOST_BYTES)
            )
        yield stream


def _of_lines(stream: BinaryIO) -> tuple[RecordingHeader, Iterator[RecordingItem]]:
    lines = _values(stream)
    first = next(lines, None)
    if isinstance(first, dict) and first.get("format") == recording_model.FORMAT:
        return recording_model.read_json_lines(first, lines)
    return asciicast.read_asciicast(first, lines)


def _values(stream: BinaryIO) -> Iterator[Any]:
    while line := stream.readline(MOST_LINE + 1):
        if len(line) > MOST_LINE:
            raise bad_recording(reason=localize("a line is longer than {most} bytes", most=MOST_LINE))
        if not line.strip() or line.startswith(b"#"):
            continue
        try:
            yield json.loads(line)
        except (ValueError, RecursionError) as error:
            if not line.endswith(b"\n"):
                return
            raise bad_recording(reason=localize("a line is not JSON")) from error
