"""A command's output as text, bounded: its end, its beginning, and what lies between only where these say little."""

from __future__ import annotations

import anyio.to_thread

from dragoman.errors import DragomanError
from dragoman.terminal.failures.finding import Found, find_errors
from dragoman.terminal.model import Command
from dragoman.terminal.plain import plain
from dragoman.terminal.port import Record

_HEAD = 64 << 10
_TAIL = 192 << 10
_MORE_PAGES = 4


async def errors_of(record: Record, command: Command) -> Found | None:
    """None where it printed nothing that is kept. The search leaves the event loop."""
    if not command.output_bytes:
        return None
    ends = await ends_of(record, command, head=_HEAD, tail=_TAIL)
    best = await anyio.to_thread.run_sync(find_errors, "\n".join(ends), command.line)
    upto = command.output_bytes - _TAIL
    for _ in range(_MORE_PAGES):
        if upto <= _HEAD or (best is not None and best.is_certain):
            break
        upto -= _TAIL
        page = await _text(record, command, max(upto, 0), _TAIL)
        found = await anyio.to_thread.run_sync(find_errors, page, command.line)
        best = max((one for one in (best, found) if one), key=lambda one: one.score, default=None)
    return best


async def ends_of(record: Record, command: Command, *, head: int, tail: int) -> tuple[str, ...]:
    """The whole where it is short; otherwise its beginning and its end."""
    if command.output_bytes <= head + tail:
        return (await _text(record, command, 0, head + tail),)
    return await _text(record, command, 0, head), await _text(record, command, -tail, tail)


async def _text(record: Record, command: Command, offset: int, limit: int) -> str:
    """Output that retention took is as good as none."""
    try:
        page = await record.output(command.id, offset=offset, limit=limit)
    except DragomanError:
        return ""
    return await anyio.to_thread.run_sync(plain, page.data)
