"""What the journal's tests share: events to record, and judges of what is on the disk afterwards."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from pathlib import Path

import anyio
import apsw

from dragoman.core.events import Event, RecordedEvent
from dragoman.journal import Journal, JournalGap, JsonStore, Span

DEADLINE_S = 20.0


def line_event(text: str, *, kind: str = "line.said", session: str = "talk-1") -> Event:
    return Event(kind=kind, session=session, cause="call-1", text=text, body={"text": text})


def lines(count: int, *, session: str = "talk-1", word: str = "line") -> list[Event]:
    return [line_event(f"{word} {number}", session=session) for number in range(count)]


def notes() -> JsonStore[str]:
    return JsonStore("notes", str)


async def texts(journal: Journal, *, session: str | None = None) -> list[str]:
    return [row["text"] async for row in journal.export(session=session)]


async def first(journal: Journal, count: int, after: int = 0, **chosen: str) -> list[RecordedEvent | JournalGap]:
    """The first so many items of a tail, within the deadline."""
    found: list[RecordedEvent | JournalGap] = []
    with anyio.fail_after(DEADLINE_S):
        async for item in journal.tail(after, **chosen):
            found.append(item)
            if len(found) == count:
                break
    return found


async def until(condition: Callable[[], bool]) -> None:
    with anyio.fail_after(DEADLINE_S):
        while not condition():  # noqa: ASYNC110  another thread makes it true
            await anyio.sleep(0.001)


async def append_bytes(journal: Journal, stream: str, data: bytes) -> Span:
    return await journal.recording(lambda append: append(stream, data))


def database_of(folder: Path) -> Path:
    return max(folder.glob("events-*.db"))


def require_sound(folder: Path) -> None:
    """The database's own judgement, and the index compared with the rows it was made from."""
    connection = apsw.Connection(str(database_of(folder)))
    try:
        assert connection.execute("pragma integrity_check").get == "ok"
        connection.execute("insert into search (search, rank) values ('integrity-check', 1)")
    finally:
        connection.close()


def files_with(folder: Path, needle: bytes) -> list[str]:
    return sorted(path.name for path in folder.rglob("*") if path.is_file() and needle in path.read_bytes())


def sequences(found: Iterable[RecordedEvent | JournalGap]) -> list[int]:
    return [item.sequence for item in found if isinstance(item, RecordedEvent)]
