"""Faults of the disk: whatever fails, acknowledged events are readable, files are sound, and recording continues."""

from __future__ import annotations

import errno
import random
import shutil
import subprocess
from collections.abc import Callable, Iterator
from contextlib import closing, suppress
from dataclasses import dataclass
from pathlib import Path

import anyio
import apsw
import pytest

from dragoman.core.errors import DragomanError
from dragoman.io.files.system_calls import SystemCalls
from dragoman.journal import EverythingScope, Journal, Retention, SessionScope, database, journal_file
from tests.journal.support import append_bytes, database_of, line_event, lines, notes, require_sound, texts, until
from tests.support.clocks import VirtualClock
from tests.support.faulty_system import FaultySystem
from tests.support.faulty_vfs import FaultyVFS, PowerLossVFS

pytestmark = pytest.mark.anyio
CODES = [errno.ENOSPC, errno.EIO]
EXPECTED = {"disk_full", "journal_io_failed", "journal_busy"}


async def fill(journal: Journal, acknowledged: list[str], name: str, *, size: int = 20) -> None:
    """Append a batch, and remember it if and only if it was acknowledged; a fault must be a named one."""
    batch = lines(size, word=name)
    try:
        await journal.append(batch, writes=[notes().put(name, name, at_ns=1)])
    except DragomanError as error:
        if error.code not in EXPECTED:
            raise
    else:
        acknowledged += [event.text for event in batch]


async def require_all(folder: Path, acknowledged: list[str]) -> None:
    """Readable after a new start: everything acknowledged, stores with their events, and the next append."""
    async with Journal.open(folder, stores=[notes()]) as journal:
        found = await texts(journal)
        assert not set(acknowledged) - set(found)
        assert len(found) == len(set(found)), "nothing is written twice"
        stored = notes().decoded((await journal.query(notes().everything())).rows)
        assert set(stored) == {text.split()[0] for text in found}, "events and store changed together"
        assert len(await journal.search("0", limit=1_000)) == len(stored)
        await journal.append([line_event("next 1")], writes=[notes().put("next", "", at_ns=1)])
    require_sound(folder)


@pytest.mark.parametrize("lasting", [False, True], ids=["once", "lasting"])
@pytest.mark.parametrize("code", CODES, ids=["ENOSPC", "EIO"])
async def test_every_call_of_an_append_may_fail_in_turn(tmp_path: Path, code: int, lasting: bool) -> None:
    with FaultyVFS(f"faulty-append-{code}-{lasting}", code=code, lasting=lasting) as vfs:
        for fail_at in range(1, 200):
            folder = tmp_path / str(fail_at)
            acknowledged: list[str] = []
            async with Journal.open(folder, vfs=vfs.name, stores=[notes()]) as journal:
                await fill(journal, acknowledged, "before")
                vfs.arm(fail_at)
                for number in range(3):
                    await fill(journal, acknowledged, f"during{number}")
                reached = vfs.reached
                vfs.disarm()
                await fill(journal, acknowledged, "after")
                assert acknowledged[-1].startswith("after"), "the next append works, without a restart"
            await require_all(folder, acknowledged)
            if not reached:
                return
    pytest.fail("never ran clean")


class NoRoom(SystemCalls):
    """A quota: the disk has room, and this user has none."""

    used_up = False

    def write(self, fd: int, data: bytes | memoryview) -> int:
        if self.used_up:
            raise OSError(errno.EDQUOT, "quota")
        return super().write(fd, data)


async def test_a_write_fault_is_shown_until_writing_works_though_nobody_writes(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(journal_file, "TRY_AGAIN_S", 0.01)
    system = NoRoom()
    async with Journal.open(tmp_path / "journal", system=system) as journal:
        await append_bytes(journal, "stream", b"one")
        assert journal.write_fault is None
        system.used_up = True
        assert journal.write_fault is None, "nothing was written yet"
        with pytest.raises(DragomanError, match="disk is full"):
            await append_bytes(journal, "stream", b"two")
        await until(lambda: journal.write_fault is not None)
        with suppress(TimeoutError), anyio.fail_after(0.1):  # attempts fail meanwhile
            while journal.write_fault is not None:  # noqa: ASYNC110
                await anyio.sleep(0.005)
        assert journal.write_fault is not None
        assert journal.write_fault.code == "disk_full"
        system.used_up = False
        await until(lambda: journal.write_fault is None)
    files = await anyio.to_thread.run_sync(lambda: list((tmp_path / "journal").iterdir()))
    assert files
    assert not [it.name for it in files if it.name == ".room"]


async def test_an_append_that_found_no_room_is_noted_too(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(journal_file, "TRY_AGAIN_S", 0.01)
    with FaultyVFS("faulty-noted", code=errno.ENOSPC, lasting=True) as vfs:
        async with Journal.open(tmp_path / "journal", vfs=vfs.name) as journal:
            vfs.arm(1)
            with pytest.raises(DragomanError) as caught:
                await journal.append([line_event("lost")])
            assert journal.write_fault is caught.value
            vfs.disarm()
            await until(lambda: journal.write_fault is None)


@pytest.mark.timeout(240)  # hundreds of runs, each with its own syncs: a busy disk takes its time
@pytest.mark.parametrize("code", CODES, ids=["ENOSPC", "EIO"])
async def test_every_call_of_opening_retaining_and_forgetting_may_fail_in_turn(tmp_path: Path, code: int) -> None:
    clock = VirtualClock()
    prepared = tmp_path / "prepared"
    kept: list[str] = []
    async with Journal.open(prepared, stores=[notes()], clock=clock) as journal:
        await journal.append(lines(60, word="old"))
        clock.advance(1_000)
        await journal.append(lines(30, session="victim", word="gone"))
        await fill(journal, kept, "kept")
    with FaultyVFS(f"faulty-forget-{code}", code=code) as vfs:
        for fail_at in range(1, 1_000):
            folder = Path(shutil.copytree(prepared, tmp_path / f"{code}-{fail_at}"))
            is_everything = False
            vfs.arm(fail_at)
            with suppress(DragomanError):
                async with Journal.open(folder, vfs=vfs.name, stores=[notes()], clock=clock) as journal:
                    await journal.retain(Retention(age_s=500))
                    await journal.forget(SessionScope("victim"))
                    await journal.append([line_event("between")])
                    is_everything = True
                    await journal.forget(EverythingScope())
            reached = vfs.reached
            vfs.disarm()
            async with Journal.open(folder, stores=[notes()], clock=clock) as journal:
                found = set(await texts(journal))
                assert set(kept) <= found or (is_everything and not found), "erased whole, or not at all"
                assert journal.last_sequence >= 110
                await journal.forget(SessionScope("victim"))
                left = set(await texts(journal)) - {f"old {n}" for n in range(60)} - {"between"}
                assert left == set(kept) or (is_everything and not left)
            require_sound(folder)
            if not reached:
                return
    pytest.fail("never ran clean")


@pytest.mark.parametrize("code", CODES, ids=["ENOSPC", "EIO"])
async def test_every_system_call_of_ours_around_the_database_may_fail_in_turn(tmp_path: Path, code: int) -> None:
    for fail_at in range(1, 100):
        folder = tmp_path / str(fail_at)
        acknowledged: list[str] = []
        system = FaultySystem(fail_at, code=code)
        with suppress(DragomanError):
            async with Journal.open(folder, system=system, stores=[notes()]) as journal:
                await fill(journal, acknowledged, "first")
                await append_bytes(journal, "talk-1", b"bytes")
                with suppress(DragomanError):
                    await journal.forget(SessionScope("nobody"))
                await fill(journal, acknowledged, "second")
        await require_all(folder, acknowledged)
        if not system.reached:
            return
    pytest.fail("never ran clean")


async def cut_the_power(tmp_path: Path, name: str) -> list[tuple[Path, list[str]]]:
    """Write, and between calls to the disk take what it would hold if the power went, with what was acknowledged."""
    dice = random.Random(20)
    acknowledged: list[str] = []
    cuts: list[tuple[Path, list[str]]] = []

    def before_call(call: int) -> None:
        if dice.random() < 0.02:
            folder = tmp_path / f"cut-{call}"
            folder.mkdir()
            cuts.append((folder, list(acknowledged)))
            vfs.cut(folder, dice)

    with PowerLossVFS(name, before_call) as vfs:
        async with Journal.open(tmp_path / "j", vfs=vfs.name, stores=[notes()]) as journal:
            for number in range(150):
                await fill(journal, acknowledged, f"batch{number}", size=dice.randint(1, 60))
    assert len(acknowledged) > 2_000
    return cuts


async def test_after_power_loss_at_any_moment_only_what_was_not_acknowledged_is_gone(tmp_path: Path) -> None:
    cuts = await cut_the_power(tmp_path, "power-loss")
    assert len(cuts) > 20
    for folder, safe in cuts:
        await require_all(folder, safe)
        assert not list(folder.glob("damaged-*")), "torn is not damaged"


async def test_a_journal_that_does_not_sync_would_be_caught_by_the_same_power_loss(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    careless = [pragma.replace("synchronous=full", "synchronous=off") for pragma in database._WRITER_PRAGMAS]
    monkeypatch.setattr(database, "_WRITER_PRAGMAS", careless)
    lost = 0
    for folder, safe in await cut_the_power(tmp_path, "power-loss-careless"):
        async with Journal.open(folder, stores=[notes()]) as journal:
            lost += len(set(safe) - set(await texts(journal)))
    assert lost > 0


async def test_a_log_cut_at_any_byte_opens_with_a_whole_beginning_of_what_was_written(tmp_path: Path) -> None:
    written: list[str] = []
    async with Journal.open(tmp_path / "j", stores=[notes()]) as journal:
        for number in range(12):
            await fill(journal, written, f"batch{number}", size=5)
        shutil.copytree(tmp_path / "j", tmp_path / "live")
    log = next((tmp_path / "live").glob("*.db-wal"))
    whole = log.read_bytes()
    dice = random.Random(7)
    for size in sorted({0, 31, 32, 33, len(whole) - 1, *(dice.randrange(len(whole)) for _ in range(40))}):
        folder = Path(shutil.copytree(tmp_path / "live", tmp_path / f"cut-{size}"))
        (folder / log.name).write_bytes(whole[:size])
        async with Journal.open(folder, stores=[notes()]) as journal:
            found = await texts(journal)
        assert found == written[: len(found)]
        assert len(found) % 5 == 0, "a batch is whole or absent"
        require_sound(folder)


@dataclass
class SmallDisk:
    """A disk that can be filled and freed: a real one where we may mount it, else one that says it is full."""

    folder: Path
    vfs: str | None
    fill: Callable[[], object]
    free: Callable[[], object]


@pytest.fixture
def small_disk(tmp_path: Path) -> Iterator[SmallDisk]:
    place = tmp_path / "disk"
    place.mkdir()
    mounted = subprocess.run(
        ["mount", "-t", "tmpfs", "-o", "size=3m", "tmpfs", place], capture_output=True, check=False
    )
    if mounted.returncode == 0:
        ballast = place / "ballast"
        try:
            yield SmallDisk(place / "j", None, lambda: _fill_up(ballast), ballast.unlink)
        finally:
            subprocess.run(["umount", "--lazy", place], check=True)
        return
    with FaultyVFS("small-disk", lasting=True) as vfs:
        yield SmallDisk(place / "j", vfs.name, lambda: vfs.arm(1), vfs.disarm)


def _fill_up(ballast: Path) -> None:
    with ballast.open("wb", buffering=0) as file, suppress(OSError):
        while file.write(b"x" * 4_096):
            pass


async def test_a_full_disk_is_reported_loses_nothing_and_ends_when_there_is_room(small_disk: SmallDisk) -> None:
    acknowledged: list[str] = []
    codes: set[str] = set()
    async with Journal.open(small_disk.folder, vfs=small_disk.vfs, stores=[notes()]) as journal:
        await fill(journal, acknowledged, "before")
        small_disk.fill()
        for number in range(200):
            try:
                await journal.append(
                    lines(20, word=f"full{number}"), writes=[notes().put(f"full{number}", "", at_ns=1)]
                )
                acknowledged += [f"full{number} {line}" for line in range(20)]
            except DragomanError as error:
                codes.add(error.code)
        assert codes == {"disk_full"}
        assert not set(acknowledged) - set(await texts(journal)), "reading goes on"
        small_disk.free()
        await fill(journal, acknowledged, "after")
        assert acknowledged[-1] == "after 19"
    await require_all(small_disk.folder, acknowledged)


async def test_everything_can_be_forgotten_on_a_full_disk_and_that_makes_room(small_disk: SmallDisk) -> None:
    """Segments go first, and an empty file needs next to nothing."""
    async with Journal.open(small_disk.folder, vfs=small_disk.vfs, stores=[notes()]) as journal:
        await journal.append(lines(1_000), writes=[notes().put("x", "x", at_ns=1)])
        await append_bytes(journal, "talk-1", bytes(500_000))
        if small_disk.vfs is None:
            small_disk.fill()
            with pytest.raises(DragomanError):
                await append_bytes(journal, "talk-1", bytes(100_000))
        assert await journal.forget(EverythingScope()) == 1_000
        assert await journal.append([line_event("on")]) == 1_001
        assert await texts(journal) == ["on"]


async def test_a_foreign_lock_is_called_busy_and_nothing_is_lost_by_it(tmp_path: Path) -> None:
    async with Journal.open(tmp_path / "j") as journal:
        with closing(apsw.Connection(str(database_of(tmp_path / "j")))) as foreign:
            foreign.execute("begin immediate")
            with pytest.raises(DragomanError) as caught:
                await journal.append([line_event("not now")])
            assert caught.value.code == "journal_busy"
        await journal.append([line_event("now")])
        assert await texts(journal) == ["now"]


def _garbage(path: Path) -> None:
    path.write_bytes(b"this is not a database" * 500)


def _foreign(path: Path) -> None:
    path.unlink()
    with closing(apsw.Connection(str(path))) as connection:
        connection.execute("create table t (x)")


def _holed(path: Path) -> None:
    """Zeros over the pages after the first, and a log beside it, as an unclean end leaves one."""
    whole = bytearray(path.read_bytes())
    whole[4_096 : 4_096 * 8] = bytes(4_096 * 7)
    path.write_bytes(whole)


@pytest.mark.parametrize("harm", [_garbage, _foreign, _holed], ids=["garbage", "foreign", "holed"])
async def test_a_damaged_file_is_set_aside_and_a_fresh_one_numbers_on(
    tmp_path: Path, harm: Callable[[Path], None]
) -> None:
    folder, clock = tmp_path / "j", VirtualClock()
    async with Journal.open(folder, stores=[notes()], clock=clock) as journal:
        last = await journal.append(lines(500))
    path = database_of(folder)
    harm(path)
    harmed = path.read_bytes()
    async with Journal.open(folder, stores=[notes()], clock=clock) as journal:
        (answer,) = await journal.read()
        assert answer.event.kind == "journal.set_aside"
        assert answer.sequence > last
        assert await journal.append([line_event("on")]) == answer.sequence + 1
    assert answer.event.body["file"] == "damaged-20231114T221320-events-000000.db"
    assert (folder / answer.event.body["file"]).read_bytes()[100:] == harmed[100:], "kept for whoever wants to look"
    async with Journal.open(folder, stores=[notes()], clock=clock) as journal:
        assert await texts(journal) == [answer.event.text, "on"]


async def test_stores_that_can_still_be_read_move_to_the_fresh_file(tmp_path: Path) -> None:
    """The damage is in the index of words: the record is set aside, breakpoints and allowances are not lost with it."""
    async with Journal.open(tmp_path / "j", stores=[notes()]) as journal:
        await journal.append(lines(500), writes=[notes().put("kept", "value", at_ns=1)])
    with closing(apsw.Connection(str(database_of(tmp_path / "j")))) as connection:
        connection.execute("update search_data set block = zeroblob(length(block)) where id > 100")
    async with Journal.open(tmp_path / "j", stores=[notes()]) as journal:
        with pytest.raises(DragomanError):
            await journal.search("line")
        entries = (await journal.read())[0]
        assert entries.event.body["stores"] == ["store_notes"]
        assert notes().decoded((await journal.query(notes().everything())).rows) == {"kept": "value"}


async def test_a_file_emptied_by_someone_does_not_make_numbers_go_back(tmp_path: Path) -> None:
    async with Journal.open(tmp_path / "j") as journal:
        last = await journal.append(lines(5))
    database_of(tmp_path / "j").write_bytes(b"")
    async with Journal.open(tmp_path / "j") as journal:
        assert await journal.append([line_event("on")]) > last


async def test_damage_met_while_running_is_set_aside_and_recording_continues(tmp_path: Path) -> None:
    async with Journal.open(tmp_path / "j") as journal:
        for _ in range(10):
            await journal.append([line_event("word " * 100) for _ in range(1_000)])
    async with Journal.open(tmp_path / "j") as journal:
        path = database_of(tmp_path / "j")
        with path.open("r+b") as file:
            file.seek(4_096)
            file.write(b"\xa5" * (path.stat().st_size - 4_096))
        with pytest.raises(DragomanError) as caught:
            await journal.search("word")
        assert caught.value.code == "journal_corrupt"
        sequence = await journal.append([line_event("on")])
        assert [event.event.kind for event in await journal.read()] == ["journal.set_aside", "line.said"]
        assert sequence > 10_000
        assert len(list((tmp_path / "j").glob("damaged-*"))) >= 1


async def test_damage_met_by_the_writer_costs_no_append(tmp_path: Path) -> None:
    async with Journal.open(tmp_path / "j") as journal:
        for _ in range(10):
            await journal.append([line_event("word " * 100) for _ in range(1_000)])
    async with Journal.open(tmp_path / "j") as journal:
        path = database_of(tmp_path / "j")
        with path.open("r+b") as file:
            file.seek(4_096)
            file.write(b"\xa5" * (path.stat().st_size - 4_096))
        await journal.append([line_event("on")])
        assert (await journal.read())[-1].event.text == "on"
