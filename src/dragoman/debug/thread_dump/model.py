"""A thread dump as data: places, waits and deadlocks. Names and texts in it come from the program."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import Any

import msgspec

_NAME_CHARACTERS = 160


class LockHolder(msgspec.Struct, frozen=True, kw_only=True):
    """Who has what a thread waits for, and where."""

    name: str
    is_itself: bool = False
    path: str = ""
    line: int = 0


class DumpedThread(msgspec.Struct, frozen=True, kw_only=True):
    """A thread, a goroutine or an asyncio task. `path` and `line` are its innermost place in the user's own code."""

    name: str
    id: int | None = None
    path: str = ""
    line: int = 0
    function: str = ""
    runs: bool = False
    kind: str = ""
    """What the thread waits for: a key of the table of waits. If neither this nor `runs` is set, it is not known."""
    target: str = ""
    """The call that it waits in, as written in the source, or the name of what it waits for."""
    held: LockHolder | None = None
    process: int = 0
    is_task: bool = False


class ThreadDump(msgspec.Struct, frozen=True, kw_only=True):
    threads: tuple[DumpedThread, ...] = ()
    total: int = 0
    deadlocks: tuple[tuple[str, ...], ...] = ()
    """Each a circle of names: every thread waits for what the next one has, the last for the first one's."""
    native: bool = False
    """Read from outside, because the interpreter does not answer: native code has not returned to it."""

    def __bool__(self) -> bool:
        return bool(self.threads)

    @property
    def is_blocked(self) -> bool:
        """Whether it is known that no thread runs."""
        return bool(self.threads) and not any(it.runs for it in self.threads)

    @property
    def is_placed(self) -> bool:
        return any(it.path for it in self.threads)


class _Place(msgspec.Struct):
    file: str = ""
    line: int = 0


class _ThreadBody(msgspec.Struct):
    name: str
    id: int | None = None
    ident: int | None = None
    file: str = ""
    line: int = 0
    function: str = ""
    runs: bool = False
    kind: str = ""
    target: str = ""
    holder: int | None = None
    holder_name: str = ""
    held_at: _Place | None = None


class _ProcessBody(msgspec.Struct):
    pid: int
    threads: list[_ThreadBody]
    tasks: list[_ThreadBody] = msgspec.field(default_factory=list)
    total_threads: int = 0
    total_tasks: int = 0


def dump_of_process(text: str, numbers: Mapping[int, int]) -> ThreadDump:
    """From what the code inside a program says; `numbers` are our numbers for its debugger's. Raises `ValueError`."""
    try:
        seen = msgspec.json.decode(text, type=_ProcessBody)
    except msgspec.MsgspecError as error:
        raise ValueError(str(error)) from error
    threads = [_dumped(it, seen.pid, numbers) for it in seen.threads]
    tasks = [msgspec.structs.replace(_dumped(it, seen.pid, {}), is_task=True) for it in seen.tasks]
    total = max(seen.total_threads, len(threads)) + max(seen.total_tasks, len(tasks))
    waits = {it.ident: (it.name, it.holder) for it in seen.threads if it.ident is not None}
    return ThreadDump(threads=(*threads, *tasks), total=total, deadlocks=tuple(_cycles(waits)))


def with_holders(threads: Sequence[DumpedThread], holders: Mapping[int, int]) -> list[DumpedThread]:
    """`holders` maps each waiting thread to the thread that it waits for, by number."""
    by_id = {it.id: it for it in threads}

    def with_holder(thread: DumpedThread) -> DumpedThread:
        holder = by_id.get(holders.get(thread.id or 0, 0))
        if holder is None:
            return thread
        held = LockHolder(name=holder.name, is_itself=holder is thread, path=holder.path, line=holder.line)
        return msgspec.structs.replace(thread, held=held)

    return [with_holder(it) for it in threads]


def deadlocks(threads: Iterable[DumpedThread], holders: Mapping[int, int]) -> tuple[tuple[str, ...], ...]:
    return tuple(_cycles({it.id: (it.name, holders.get(it.id)) for it in threads if it.id is not None}))


def merge_dumps(dumps: Iterable[ThreadDump]) -> ThreadDump:
    """Merges the dumps of all processes of a session. Process ids are shown if there are several."""
    found = list(dumps)
    threads = [it for dump in found for it in dump.threads]
    if len({it.process for it in threads}) < 2:
        threads = [msgspec.structs.replace(it, process=0) for it in threads]
    return ThreadDump(
        threads=tuple(threads),
        total=sum(it.total for it in found),
        deadlocks=tuple(circle for it in found for circle in it.deadlocks),
        native=any(it.native for it in found),
    )


def _dumped(seen: _ThreadBody, process: int, numbers: Mapping[int, int]) -> DumpedThread:
    return DumpedThread(
        name=seen.name[:_NAME_CHARACTERS],
        id=numbers.get(seen.id, seen.id) if seen.id is not None else None,
        path=seen.file,
        line=seen.line,
        function=seen.function[:_NAME_CHARACTERS],
        runs=seen.runs,
        kind=seen.kind,
        target=seen.target[:_NAME_CHARACTERS],
        held=_held(seen),
        process=process,
    )


def _held(seen: _ThreadBody) -> LockHolder | None:
    if not seen.holder_name:
        return None
    place: dict[str, Any] = {"path": seen.held_at.file, "line": seen.held_at.line} if seen.held_at else {}
    is_itself = seen.holder is not None and seen.holder == seen.ident
    return LockHolder(name=seen.holder_name[:_NAME_CHARACTERS], is_itself=is_itself, **place)


def _cycles(waits: Mapping[int, tuple[str, int | None]]) -> Iterable[tuple[str, ...]]:
    """Each deadlock once, from names and holders. A thread waits for at most one other, so following them finds every
    cycle."""
    visited: set[int] = set()
    for start in waits:
        path: list[int] = []
        at: int | None = start
        while at is not None and at in waits and at not in path and at not in visited:
            path.append(at)
            at = waits[at][1]
        if at in path:
            yield tuple(waits[it][0][:_NAME_CHARACTERS] for it in path[path.index(at) :])
        visited.update(path)
