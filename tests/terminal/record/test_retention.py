"""What stays, what goes and what a failing disk does: retention, forgetting, packing, faults; secrets in no file."""

from __future__ import annotations

import errno
import os
import random
import re
import threading
import time
from collections.abc import Awaitable, Callable, Iterator
from functools import partial
from pathlib import Path

import anyio
import pytest

from dragoman.core.errors import DragomanError
from dragoman.io.files.system_calls import SystemCalls
from dragoman.journal import BeforeScope, EverythingScope, Retention, Scope, SessionScope
from dragoman.terminal.model import CommandFilter, CommandReport, PatternNotice, RecordedCommand
from tests.journal.support import files_with, require_sound
from tests.support.faulty_system import FaultySystem
from tests.terminal.record.test_redacted_streams import cut, every
from tests.terminal.record_support import DEADLINE_S, Shell, indexed, names_in, output_of, recorded

pytestmark = pytest.mark.anyio
WORD = b"xylophone"
_WORDS = re.compile(rb"[\w+/=.-]{8,}")
DAY_S = 86_400.0


async def test_commands_outlive_their_output_which_says_why_it_is_gone(tmp_path: Path) -> None:
    async with recorded(tmp_path, segment_bytes=500) as service:
        shell = Shell(service)
        await shell.begin()
        old = await shell.run("old", WORD * 200 + b"\r\n")
        young = await shell.run("young", b"young\r\n" * 200)
        await indexed(service)
        await service._journal.retain(Retention(segments_age_s=10 * DAY_S, segments_bytes=2_500))
        assert await service.command(old.id) == old
        with pytest.raises(DragomanError) as caught:
            await service.output(old.id)
        assert caught.value.code == "output_gone"
        assert "terminal_max_age_days" in str(caught.value.hint)
        assert await output_of(service, young) == b"young\r\n" * 200
        assert (await service.search_output("xylophone")).hits == []


async def test_output_is_kept_for_its_own_number_of_days(tmp_path: Path) -> None:
    async with recorded(tmp_path) as service:
        shell = Shell(service)
        await shell.begin()
        command = await shell.run("old", b"old\r\n")
    for path in files(tmp_path / "journal" / "segments"):
        os.utime(path, (time.time() - 40 * DAY_S,) * 2)
    async with recorded(tmp_path) as service:
        await service._journal.retain(Retention(age_s=10 * DAY_S, segments_age_s=50 * DAY_S))
        assert await output_of(service, command) == b"old\r\n"
        await service._journal.retain(Retention(age_s=100 * DAY_S, segments_age_s=30 * DAY_S))
        with pytest.raises(DragomanError, match="no longer kept"):
            await service.output(command.id)


def files(folder: Path) -> list[Path]:
    return [path for path in folder.rglob("*") if path.is_file()]


@pytest.mark.parametrize(
    "scope",
    [EverythingScope(), SessionScope("mine"), BeforeScope(1 << 62)],
    ids=["everything", "one terminal", "before"],
)
@pytest.mark.parametrize("packed", [False, True], ids=["raw", "packed"])
async def test_what_is_forgotten_is_in_no_file(tmp_path: Path, scope: Scope, packed: bool) -> None:
    async with recorded(tmp_path, segment_bytes=20_000) as service:
        mine, other = Shell(service, "mine"), Shell(service, "other")
        await mine.begin(cwd="/xylophone")
        await other.begin()
        forgotten = await mine.run("play xylophone", *[WORD + os.urandom(20_000).hex().encode() + b"\r\n"] * 3)
        await service.notice("mine", mine.tick(), PatternNotice("xylophone"))
        kept = await other.run("ls", b"kept\r\n")
        await indexed(service)
        assert (await service.search_output("xylophone*")).hits != []
        while packed and await service._journal.pack_segment():
            assert any(name.endswith(".segz") for name in names_in(tmp_path / "journal" / "segments" / "mine"))
        await service._journal.forget(scope)
        if isinstance(scope, SessionScope):
            assert await output_of(service, kept) == b"kept\r\n"
            await indexed(service)
            assert [hit.line for hit in (await service.search_output("kept")).hits] == ["kept"]
        with pytest.raises(DragomanError, match="No command"):
            await service.command(forgotten.id)
        again = await mine.run("again", b"new\r\n")
        assert await output_of(service, again) == b"new\r\n", "a terminal that lives goes on"
        assert files_with(tmp_path, WORD) == []
    assert files_with(tmp_path, WORD) == []


async def test_what_came_today_is_not_forgotten_for_the_time_that_it_claims(tmp_path: Path) -> None:
    async with recorded(tmp_path) as service:
        began_ns = time.time_ns()
        result = CommandReport(id="unset:1", terminal="unset", line="make", started_ms=1, ended_ms=2)
        await service.begin("unset", parent="", at_ms=1, attributes={})
        command = await service.command_ended(result)
        await service.end("unset", 3, 0)
        await service._journal.forget(BeforeScope(began_ns))
        assert (await service.command(command.id)).line == "make"
    async with recorded(tmp_path) as service:
        assert service.terminal("unset").terminal.exit_code == 0
        await service._journal.forget(BeforeScope(time.time_ns()))
        with pytest.raises(DragomanError, match="No command"):
            await service.command(command.id)


async def test_packed_files_read_alike_and_search_alike(tmp_path: Path) -> None:
    async with recorded(tmp_path, segment_bytes=20_000) as service:
        shell = Shell(service)
        await shell.begin()
        lines = [b"line %d\r\n" % number for number in range(9_000)]
        command = await shell.run("seq", *(b"".join(lines[at : at + 100]) for at in range(0, 9_000, 100)))
        pages = [await service.output(command.id, offset=offset, limit=300) for offset in (0, 5_000, -400)]
        while await service._journal.pack_segment():
            pass
        kinds = {Path(name).suffix for name in names_in(tmp_path / "journal" / "segments" / shell.terminal)}
        assert kinds == {".seg", ".segz"}, "what is written to stays as it is"
        assert [await service.output(command.id, offset=offset, limit=300) for offset in (0, 5_000, -400)] == pages
        assert await output_of(service, command) == b"".join(lines)
        await indexed(service)
        assert [hit.line for hit in (await service.search_output("line 4567")).hits] == ["line 4567"]


@pytest.mark.parametrize(
    ("code", "short"),
    [(errno.ENOSPC, False), (errno.EIO, False), (errno.ENOSPC, True)],
    ids=["full", "broken", "short writes"],
)
async def test_recording_continues_after_any_call_fails_with_a_gap_where_it_did(
    tmp_path: Path, code: int, short: bool
) -> None:
    for fail_at in range(8, 60):
        system = FaultySystem(10_000, code=code, short=short)
        async with recorded(tmp_path / str(fail_at), system=system, segment_bytes=400) as service:
            shell = Shell(service)
            await shell.begin()
            system.fail_at = system.calls + fail_at - 7
            reached = await _reported_beside_a_fault(shell, system)
        async with recorded(tmp_path / str(fail_at)) as service:
            shown = b"".join([piece.data async for piece in service.pieces(shell.terminal) if piece.kind == "output"])
            lost = [int(piece.data) async for piece in service.pieces(shell.terminal) if piece.kind == "gap"]
            assert len(shown) + sum(lost) == 6 * 100, "every byte is there or said to be lost"
            assert len(lost) <= 1
            assert not (short and lost), "a short write is ordinary"
        require_sound(tmp_path / str(fail_at) / "journal")
        if not reached:
            return
    pytest.fail("never ran clean")


async def _reported_beside_a_fault(shell: Shell, system: FaultySystem) -> bool:
    """Six pieces in two commands; one that is refused is told again, as its client would."""
    for number in range(2):
        await shell.service.command_began(shell.terminal, shell.tick(), f"run {number}")
        began_ms = shell.now_ms
        for _ in range(3):
            await shell.show(b"%d" % number * 98 + b"\r\n")
        try:
            await shell.ended(f"run {number}", began_ms)
        except DragomanError:
            shell.count -= 1
            await shell.ended(f"run {number}", began_ms)
    found = await shell.service.commands(CommandFilter())
    assert [command.line for command in found] == ["run 1", "run 0"]
    assert [command.output_bytes + command.lost_bytes for command in found] == [300, 300]
    return system.reached


class StuckDisk(SystemCalls):
    """Takes bytes, and syncs nothing until it is let go."""

    def __init__(self) -> None:
        self.released = threading.Event()

    def fsync(self, fd: int) -> None:
        self.released.wait(DEADLINE_S)
        super().fsync(fd)


async def test_a_slow_disk_delays_neither_the_loop_nor_those_who_only_append(tmp_path: Path) -> None:
    disk = StuckDisk()
    async with recorded(tmp_path, system=disk, segment_bytes=50_000) as service:
        shell, beside = Shell(service), Shell(service, "beside")
        await shell.begin()
        with anyio.fail_after(DEADLINE_S / 2):
            for _ in range(10):  # five files are filled, and none is synced
                await shell.show(b"x" * 29_998 + b"\r\n")
            await beside.show(b"unharmed\r\n")
        ended: list[RecordedCommand] = []

        async def run() -> None:
            ended.append(await shell.run("make", b"made\r\n"))

        async with anyio.create_task_group() as group:
            group.start_soon(run)
            await anyio.wait_all_tasks_blocked()
            assert ended == [], "a command is stored after its bytes are on the disk"
            disk.released.set()
        assert await output_of(service, ended[0]) == b"made\r\n"


def every_leak(count: int) -> Iterator[tuple[str, str]]:
    """What is printed, and the part of it that must be in no file."""
    seed = 0
    while True:
        for text, secret in every(1_000 + seed).values():
            yield text, secret
            count -= 1
            if not count:
                return
        seed += 1


async def test_five_thousand_secrets_are_in_no_file(tmp_path: Path) -> None:
    """Printed, coloured, cut, typed, in command lines, folders, attributes and patterns; every file is searched."""
    dice = random.Random(5)
    entries = list(every_leak(5_000))
    async with recorded(tmp_path, names=["iban"]) as service:
        shell = Shell(service)
        await shell.begin(note=entries[0][0])
        for number, (text, _) in enumerate(entries):
            await _leak(shell, text, number % 50, dice)
        await indexed(service)
        assert len((await service.search_output("redacted", limit=100)).hits) == 100
        assert _leaked(tmp_path, entries) == []
        while await service._journal.pack_segment():
            pass
    assert _leaked(tmp_path, entries) == []


async def test_the_search_for_secrets_finds_them_where_redaction_is_off(tmp_path: Path) -> None:
    entries = list(every_leak(300))
    async with recorded(tmp_path, redact=False) as service:
        shell = Shell(service)
        await shell.begin()
        for text, _ in entries:
            await shell.show(f"{text}\r\n".encode())
    assert len(_leaked(tmp_path, entries)) == 300


async def _leak(shell: Shell, text: str, way: int, dice: random.Random) -> None:
    data = f"{text}\r\n".encode()
    ways: dict[int, Callable[[], Awaitable[object]]] = {
        0: partial(shell.run, text.replace("\n", " "), data, cwd=f"/srv/{text[:200]}"),
        1: partial(shell.type, data),
        2: partial(shell.service.notice, shell.terminal, shell.tick(), PatternNotice(text)),
        3: partial(shell.begin, note=text),
        4: partial(shell.service.command_began, shell.terminal, shell.tick(), text),
    }
    if way in ways:
        await ways[way]()
        return
    if way % 3 == 0:
        at = dice.randint(1, len(text) - 1)
        data = data[:at] + b"\x1b[1;32m" + data[at:]
    for piece in cut(data, dice, 1 + way % 4):
        await shell.show(piece)


def _leaked(folder: Path, result: list[tuple[str, str]]) -> list[str]:
    """Every word of every file, each once: five thousand searches in all the bytes would take longer than the rest."""
    every_word = {word for path in files(folder) for word in _WORDS.findall(path.read_bytes())}
    contents = b" ".join(every_word)
    return [secret for _, secret in result if max(_WORDS.findall(secret.encode()), key=len) in contents]


async def test_the_index_is_made_again_when_it_is_gone_or_damaged(tmp_path: Path) -> None:
    for contents in (None, b"no database" * 1_000, b""):
        async with recorded(tmp_path) as service:
            shell = Shell(service)
            await shell.begin()
            await shell.run("play", WORD + b"\r\n")
            await indexed(service)
        for path in files(tmp_path / "terminal"):
            path.unlink()
            if contents is not None:
                path.write_bytes(contents)
    async with recorded(tmp_path) as service:
        found = await service.search_output("xylophone")
        assert len(found.hits) == 3, "what is not indexed is read"
        await indexed(service)
        found = await service.search_output("xylophone")
        assert len(found.hits) == 3


async def test_many_terminals_at_once_keep_their_own_bytes_in_order(tmp_path: Path) -> None:
    async def report(shell: Shell) -> None:
        await shell.begin()
        for number in range(30):
            await shell.show(b"%s %d\r\n" % (shell.terminal.encode(), number))

    async with recorded(tmp_path) as service:
        shells = [Shell(service, f"t{number}") for number in range(20)]
        async with anyio.create_task_group() as group:
            for shell in shells:
                group.start_soon(report, shell)
        for shell in shells:
            expected = b"".join(b"%s %d\r\n" % (shell.terminal.encode(), number) for number in range(30))
            assert await service.tail(shell.terminal, 10_000) == expected


async def test_what_retention_removed_leaves_the_index_and_an_empty_terminal_the_list(tmp_path: Path) -> None:
    async with recorded(tmp_path) as service:
        shell, silent = Shell(service), Shell(service, "silent")
        await shell.begin()
        await shell.run("play", WORD + b"\r\n")
        await silent.begin()
        await silent.show(WORD + b"\r\n")
        for one in (shell, silent):
            await service.end(one.terminal, one.tick(), 0)
            service.disconnected(one.terminal)
        await service.catch_up()
        service._journal._journal_file.segments.close()
        await service._journal.retain(Retention(segments_bytes=0))
        await service._maintenance.pack()
        await service._maintenance.clear()
        (seen,) = service.terminals()
        assert seen.terminal.id == shell.terminal, "a command is kept with its terminal"
        assert (await service.search_output("xylophone")).hits == []
    async with recorded(tmp_path) as service:
        assert [seen.terminal.id for seen in service.terminals()] == [shell.terminal]


async def test_a_first_write_that_fails_is_a_gap_at_the_beginning(tmp_path: Path) -> None:
    system = FaultySystem(10**6)
    async with recorded(tmp_path, system=system) as service:
        shell = Shell(service)
        await shell.begin()
        system.fail_at = system.calls + 1
        await shell.show(b"lost\r\n")
        await shell.show(b"kept\r\n")
        pieces = [(piece.kind, piece.data) async for piece in service.pieces(shell.terminal)]
        assert pieces == [("gap", b"6"), ("output", b"kept\r\n")]
