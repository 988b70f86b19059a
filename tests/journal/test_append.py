"""Appending: acknowledged after the synced commit, in groups, whole or not at all, and off the event loop."""

from __future__ import annotations

import json
import os
import stat
import subprocess
import sys
import threading
import time
from pathlib import Path
from typing import Any

import anyio
import pytest

from dragoman.core.errors import DragomanError
from dragoman.core.events import Event
from dragoman.journal import Journal, Statement
from dragoman.journal.event_rows import NESTING_LIMIT
from dragoman.journal.journal import WAITING_EVENTS
from tests.journal.support import append_bytes, line_event, lines, notes, texts, until
from tests.support.clocks import VirtualClock
from tests.support.faulty_vfs import HeldVFS

pytestmark = pytest.mark.anyio


def nested(depth: int) -> dict[str, Any]:
    body: dict[str, Any] = {}
    for _ in range(depth - 1):
        body = {"in": body}
    return body


async def test_what_is_appended_is_read_back_with_everything_it_carried(tmp_path: Path) -> None:
    clock = VirtualClock()
    event = Event(kind="a.b", session="s", cause="c", text="hello", body={"list": [1, None, {"x": "é"}]})
    async with Journal.open(tmp_path / "j", clock=clock) as journal:
        assert await journal.append([event]) == 1
        (recorded,) = await journal.read()
    assert (recorded.sequence, recorded.at_ns, recorded.event) == (1, clock.wall_ns(), event)


async def test_the_record_outlives_the_process_that_wrote_it(tmp_path: Path) -> None:
    async with Journal.open(tmp_path / "j") as journal:
        await journal.append(lines(3))
    async with Journal.open(tmp_path / "j") as journal:
        assert journal.last_sequence == 3
        assert await journal.append([line_event("later")]) == 4
        assert await texts(journal) == ["line 0", "line 1", "line 2", "later"]


async def test_sequence_continues_when_the_clock_is_set_back_a_day(tmp_path: Path) -> None:
    clock = VirtualClock()
    async with Journal.open(tmp_path / "j", clock=clock) as journal:
        await journal.append([line_event("before")])
        clock.set_wall_back(86_400)
        await journal.append([line_event("after")])
        before, after = await journal.read()
    assert (before.sequence, after.sequence) == (1, 2)
    assert after.at_ns == before.at_ns - 86_400 * 10**9, "stamps tell what the clock said; the order is the sequence's"


async def test_every_one_of_many_concurrent_appenders_gets_its_own_last_number(tmp_path: Path) -> None:
    given: dict[int, int] = {}

    async def one(journal: Journal, number: int) -> None:
        given[number] = await journal.append([line_event(f"{number} a"), line_event(f"{number} b")])

    async with Journal.open(tmp_path / "j") as journal:
        async with anyio.create_task_group() as group:
            for number in range(200):
                group.start_soon(one, journal, number)
        by_sequence = {row["sequence"]: row["text"] async for row in journal.export()}
    assert len(by_sequence) == 400
    assert all(by_sequence[last] == f"{number} b" for number, last in given.items())
    assert all(by_sequence[last - 1] == f"{number} a" for number, last in given.items())


async def test_appends_that_wait_together_share_one_sync(tmp_path: Path) -> None:
    with HeldVFS("held-group") as vfs:
        async with Journal.open(tmp_path / "j", vfs=vfs.name) as journal:
            vfs.hold()
            async with anyio.create_task_group() as group:
                group.start_soon(journal.append, [line_event("first")])
                await until(vfs.waiting.is_set)
                for number in range(300):
                    group.start_soon(journal.append, [line_event(str(number))])
                await anyio.wait_all_tasks_blocked()
                syncs = vfs.syncs
                vfs.release()
            assert vfs.syncs - syncs == 1, "300 appends, one more sync"


async def test_a_hung_disk_holds_up_appenders_but_never_the_event_loop(tmp_path: Path) -> None:
    with HeldVFS("held-loop") as vfs:
        async with Journal.open(tmp_path / "j", vfs=vfs.name) as journal:
            vfs.hold()
            async with anyio.create_task_group() as group:
                group.start_soon(journal.append, [line_event("slow")])
                await until(vfs.waiting.is_set)
                lags = []
                for _ in range(200):
                    began = time.perf_counter()
                    await anyio.sleep(0.001)
                    lags.append(time.perf_counter() - began)
                assert journal.last_sequence == 0, "nothing is acknowledged before it is synced"
                vfs.release()
            assert journal.last_sequence == 1
    assert sorted(lags)[180] < 0.02


async def test_when_too_much_waits_the_next_appender_waits_outside_and_nothing_is_lost(tmp_path: Path) -> None:
    extra = WAITING_EVENTS // 1_000 + 3
    with HeldVFS("held-full") as vfs:
        async with Journal.open(tmp_path / "j", vfs=vfs.name) as journal:
            vfs.hold()
            async with anyio.create_task_group() as group:
                for number in range(extra):
                    group.start_soon(journal.append, lines(1_000, word=f"part{number}"))
                await until(vfs.waiting.is_set)
                await anyio.wait_all_tasks_blocked()
                queued = sum(len(getattr(job, "events", ())) for job in journal._writer._waiting)
                vfs.release()
            assert queued <= WAITING_EVENTS
            assert journal.last_sequence == extra * 1_000


async def test_a_cancelled_appender_stops_waiting_and_the_others_continue(tmp_path: Path) -> None:
    with HeldVFS("held-cancel") as vfs:
        async with Journal.open(tmp_path / "j", vfs=vfs.name) as journal:
            vfs.hold()
            async with anyio.create_task_group() as group:
                group.start_soon(journal.append, [line_event("first")])
                await until(vfs.waiting.is_set)
                with anyio.move_on_after(0.01) as scope:
                    await journal.append([line_event("cancelled")])
                assert scope.cancelled_caught
                group.start_soon(journal.append, [line_event("last")])
                await anyio.wait_all_tasks_blocked()
                vfs.release()
            assert await texts(journal) == ["first", "last"]


async def test_cancelled_appenders_leave_nothing_behind_in_the_queue(tmp_path: Path) -> None:
    with HeldVFS("held-discard") as vfs:
        async with Journal.open(tmp_path / "j", vfs=vfs.name) as journal:
            vfs.hold()
            async with anyio.create_task_group() as group:
                group.start_soon(journal.append, [line_event("first")])
                await until(vfs.waiting.is_set)
                async with anyio.create_task_group() as impatient:
                    for number in range(50):
                        impatient.start_soon(journal.append, [line_event(str(number))])
                    await anyio.wait_all_tasks_blocked()
                    impatient.cancel_scope.cancel()
                assert not journal._writer._waiting
                vfs.release()


async def test_an_event_of_wrong_types_fails_its_caller_and_not_the_journal(tmp_path: Path) -> None:
    async with Journal.open(tmp_path / "j") as journal:
        with pytest.raises(TypeError):
            await journal.append([Event(kind="x", text=None)])  # type: ignore[arg-type]
        assert await journal.append([line_event("next")]) == 1


async def test_one_callers_fault_is_that_callers_alone(tmp_path: Path) -> None:
    failed: list[str] = []

    async def bad(journal: Journal) -> None:
        with pytest.raises(DragomanError) as caught:
            await journal.append([line_event("bad")], writes=[Statement("insert into nowhere values (1)")])
        failed.append(caught.value.code)

    with HeldVFS("held-fault") as vfs:
        async with Journal.open(tmp_path / "j", vfs=vfs.name) as journal:
            vfs.hold()
            async with anyio.create_task_group() as group:
                group.start_soon(journal.append, [line_event("first")])
                await until(vfs.waiting.is_set)
                group.start_soon(journal.append, [line_event("good")])
                group.start_soon(bad, journal)
                group.start_soon(journal.append, [line_event("also good")])
                await anyio.wait_all_tasks_blocked()
                vfs.release()
            assert await texts(journal) == ["first", "good", "also good"]
    assert failed == ["journal_refused"]


async def test_an_append_and_its_store_writes_are_whole_or_not_at_all(tmp_path: Path) -> None:
    store = notes()
    async with Journal.open(tmp_path / "j", stores=[store]) as journal:
        await journal.append([line_event("kept")], writes=[store.put("a", "1", at_ns=1)])
        bad = [store.put("b", "2", at_ns=1), Statement("insert into nowhere values (1)")]
        with pytest.raises(DragomanError):
            await journal.append([line_event("lost")], writes=bad)
        rows = await journal.query(store.everything())
        assert store.decoded(rows.rows) == {"a": "1"}
        assert rows.sequence == 1
        assert await texts(journal) == ["kept"]


async def test_redaction_comes_first_and_off_the_loop(tmp_path: Path) -> None:
    threads: set[int] = set()

    def redact(event: Event) -> Event:
        threads.add(threading.get_ident())
        return Event(kind=event.kind, text=event.text.replace("hunter2", "•••"))

    async with Journal.open(tmp_path / "j", redact=redact) as journal:
        await journal.append([line_event("the password is hunter2")])
        assert await texts(journal) == ["the password is •••"]
    assert len(threads - {threading.get_ident()}) == len(threads) == 1


async def test_a_redactor_that_fails_lets_nothing_through(tmp_path: Path) -> None:
    def redact(event: Event) -> Event:
        if "odd" in event.text:
            raise ValueError("cannot judge")
        return event

    async with Journal.open(tmp_path / "j", redact=redact) as journal:
        with pytest.raises(DragomanError) as caught:
            await journal.append([line_event("fine"), line_event("odd")])
        assert caught.value.code == "redaction_failed"
        assert await journal.append([line_event("plain")]) == 1


@pytest.mark.parametrize(
    ("event", "code"),
    [
        (Event(kind="x", body={"n": object()}), "event_not_json"),
        (Event(kind="x", text="y" * 300_000), "event_too_large"),
        (Event(kind="x", body={"y": "é" * 300_000}), "event_too_large"),
        (Event(kind="x", session="y" * 300_000), "event_too_large"),
        (Event(kind="x", body=nested(NESTING_LIMIT + 1)), "event_not_json"),
    ],
)
async def test_what_the_journal_cannot_hold_is_refused_with_the_reason(tmp_path: Path, event: Event, code: str) -> None:
    async with Journal.open(tmp_path / "j") as journal:
        with pytest.raises(DragomanError) as caught:
            await journal.append([event])
        assert caught.value.code == code
        assert await journal.append([line_event("next")]) == 1


async def test_what_only_looks_nested_is_taken_and_the_deepest_body_is_readable_by_everyone(tmp_path: Path) -> None:
    brackets = {"text": '[{\\"' * 1_000, "rows": [[number] for number in range(1_000)]}
    async with Journal.open(tmp_path / "j") as journal:
        await journal.append([Event(kind="x", body=nested(NESTING_LIMIT)), Event(kind="x", body=brackets)])
        rows = [row["body"] async for row in journal.export()]
    assert json.loads(json.dumps(rows)) == [nested(NESTING_LIMIT), brackets]


async def test_more_than_a_thousand_events_are_not_one_append(tmp_path: Path) -> None:
    async with Journal.open(tmp_path / "j") as journal:
        assert await journal.append(lines(1_000)) == 1_000
        with pytest.raises(DragomanError) as caught:
            await journal.append(lines(1_001))
        assert caught.value.code == "batch_too_large"


async def test_text_that_no_file_can_hold_is_kept_as_far_as_it_goes(tmp_path: Path) -> None:
    odd = Event(kind="x\ud800", session="s", text="nul\0 and \udcff", body={"k\udc80": ["\ud83d"]})
    async with Journal.open(tmp_path / "j") as journal:
        await journal.append([odd])
        (found,) = await journal.read()
    assert found.event.text == "nul\ufffd and ?"
    assert found.event.body == {"k?": ["?"]}


async def test_leaving_the_block_writes_what_waits(tmp_path: Path) -> None:
    async with anyio.create_task_group() as group, Journal.open(tmp_path / "j") as journal:
        for number in range(50):
            group.start_soon(journal.append, [line_event(str(number))])
        await anyio.wait_all_tasks_blocked()
    async with Journal.open(tmp_path / "j") as journal:
        assert journal.last_sequence == 50
    with pytest.raises(DragomanError) as caught:
        await journal.append([line_event("late")])
    assert caught.value.code == "journal_closed"


async def test_closing_keeps_its_deadline_on_a_disk_that_hangs(tmp_path: Path) -> None:
    codes: list[str] = []

    async def report(journal: Journal, text: str) -> None:
        try:
            await journal.append([line_event(text)])
        except DragomanError as error:
            codes.append(error.code)

    with HeldVFS("held-close") as vfs:
        async with anyio.create_task_group() as group:
            began = time.monotonic()
            async with Journal.open(tmp_path / "j", vfs=vfs.name, close_timeout_s=0.2) as journal:
                vfs.hold()
                group.start_soon(report, journal, "in the sync")
                await until(vfs.waiting.is_set)
                group.start_soon(report, journal, "behind it")
                await anyio.wait_all_tasks_blocked()
            assert time.monotonic() - began < 5
            vfs.release()
        await until(lambda: not journal._writer._thread.is_alive())
    assert codes == ["journal_closed"], "what was in the sync was written and acknowledged; what waited was refused"


async def test_a_second_journal_in_the_same_folder_is_refused(tmp_path: Path) -> None:
    async with Journal.open(tmp_path / "j"):
        with pytest.raises(DragomanError) as caught:
            async with Journal.open(tmp_path / "j"):
                pytest.fail("two writers")
    assert caught.value.code == "journal_in_use"
    async with Journal.open(tmp_path / "j") as journal:
        assert await journal.append([line_event("free again")]) == 1


async def test_only_the_owner_can_read_any_file_of_it(tmp_path: Path) -> None:
    old = os.umask(0)
    try:
        async with Journal.open(tmp_path / "j") as journal:
            await journal.append([line_event("x")])
            await append_bytes(journal, "talk-1", b"bytes")
            modes = {path: stat.S_IMODE(path.stat().st_mode) for path in (tmp_path / "j").rglob("*")}
    finally:
        os.umask(old)
    assert {mode for path, mode in modes.items() if path.is_dir()} == {0o700}
    assert all(mode == 0o600 for path, mode in modes.items() if path.is_file()), modes


async def test_a_symbolic_link_in_place_of_the_database_is_not_followed(tmp_path: Path) -> None:
    target = tmp_path / "elsewhere"
    target.write_bytes(b"someone else's")
    (tmp_path / "j").mkdir()
    (tmp_path / "j" / "events-000000.db").symlink_to(target)
    with pytest.raises(DragomanError) as caught:
        async with Journal.open(tmp_path / "j"):
            pytest.fail("followed")
    assert caught.value.code == "unsafe_file"
    assert target.read_bytes() == b"someone else's"


def test_importing_it_loads_nothing_heavy() -> None:
    script = "import sys, dragoman.journal; print(*sorted({name.partition('.')[0] for name in sys.modules}))"
    loaded = subprocess.run([sys.executable, "-c", script], capture_output=True, text=True, check=True).stdout.split()
    assert not {"pydantic", "starlette", "mcp", "rich", "cyclopts", "httpx", "sqlite3", "multiprocessing"} & set(loaded)
