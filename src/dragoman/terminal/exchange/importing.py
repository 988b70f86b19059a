"""A recording comes in as a terminal of its own that has ended. Nothing in it is believed beyond what it shows: its
commands are unverified, and whatever it says of itself under our names is left out."""

from __future__ import annotations

import itertools
from collections.abc import Callable, Iterator, Mapping
from typing import Any, Literal, Protocol

import anyio.to_thread

from dragoman.terminal.exchange.recording import Began, Ended, Header, Item
from dragoman.terminal.model import GAP, IMPORTED, UNVERIFIED
from dragoman.terminal.screen import SIZE
from dragoman.terminal.told import CommandTold

MOST_ITEMS = 5_000_000
_BATCH = 200
_OURS = "dragoman."


class Record(Protocol):
    async def begin(self, terminal_id: str, *, parent: str, at_ms: int, attributes: Mapping[str, str]) -> None: ...

    async def take(self, terminal_id: str, kind: Literal["input", "output"], at_ms: int, data: bytes) -> None: ...

    async def command_began(self, terminal_id: str, at_ms: int, line: str) -> None: ...

    async def command_ended(self, told: CommandTold) -> Any: ...

    async def end(self, terminal_id: str, at_ms: int, exit_code: int | None) -> None: ...


async def bring_in(record: Record, header: Header, items: Iterator[Item], new_id: Callable[[], str]) -> tuple[str, int]:
    """Under an id of our own, whatever it was called before; with how many commands it had."""
    terminal_id, last_ms, commands = new_id(), header.started_ms, 0
    await record.begin(terminal_id, parent="", at_ms=header.started_ms, attributes=_attributes(header))
    bounded = itertools.islice(items, MOST_ITEMS)
    while batch := await anyio.to_thread.run_sync(lambda: list(itertools.islice(bounded, _BATCH))):
        for item in batch:
            last_ms = max(last_ms, item.at_ms)
            commands += isinstance(item, Ended)
            await _put(record, terminal_id, item, commands)
    await record.end(terminal_id, max(last_ms, header.ended_ms or 0), header.exit_code)
    return terminal_id, commands


async def _put(record: Record, terminal_id: str, item: Item, number: int) -> None:
    if isinstance(item, Began):
        await record.command_began(terminal_id, item.at_ms, item.line)
    elif isinstance(item, Ended):
        await record.command_ended(_told(terminal_id, item, number))
    elif item.kind == "gap":
        await record.begin(
            terminal_id, parent="", at_ms=item.at_ms, attributes={GAP: item.data.decode("ascii", "replace")}
        )
    else:
        await record.take(terminal_id, item.kind, item.at_ms, item.data)


def _told(terminal_id: str, ended: Ended, number: int) -> CommandTold:
    return CommandTold(
        id=f"{terminal_id}:{number}{UNVERIFIED}",
        terminal=terminal_id,
        line=ended.line,
        cwd=ended.cwd or None,
        started_ms=ended.started_ms,
        ended_ms=ended.ended_ms,
        exit_code=ended.exit_code,
        summary=ended.summary,
    )


def _attributes(header: Header) -> dict[str, str]:
    """Among our names are some that mean something to the record: a gap, or that commands are verified."""
    kept = {name: text for name, text in header.attributes.items() if not name.startswith(_OURS)}
    return {**kept, IMPORTED: header.id or "?", SIZE: f"{header.columns}x{header.rows}"}
