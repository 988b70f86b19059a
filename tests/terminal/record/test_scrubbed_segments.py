"""What an older version recorded of terminals is masked once, in files raw, packed and torn; nothing else is."""

from __future__ import annotations

import errno
from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager
from pathlib import Path
from typing import NamedTuple

import anyio
import pytest

from dragoman.core.errors import DragomanError, journal_io_failed
from dragoman.core.redaction import Redactor
from dragoman.io.files.system_calls import REAL_SYSTEM, SystemCalls
from dragoman.journal import Journal, ScrubStatus, SessionScope
from dragoman.terminal.model import RecordedCommand
from dragoman.terminal.record.command_store import CommandStore
from dragoman.terminal.service import TerminalService
from tests.secret_corpus import ordinary_output, secret_forms
from tests.support.faulty_system import FaultySystem
from tests.terminal.record_support import Shell, indexed, output_of

pytestmark = pytest.mark.anyio

SECRET = b"hunter22canary"
TOKEN = b"ghp_" + b"Ab3dEf7h" * 5
ROLL = 20_000
ORDINARY = b"".join(line.replace("\n", "\r\n").encode() for line in ordinary_output())


class Opened(NamedTuple):
    journal: Journal
    service: TerminalService


@asynccontextmanager
async def opened(folder: Path, *, redact: bool = True, system: SystemCalls = REAL_SYSTEM) -> AsyncIterator[Opened]:
    """With `redact` false, as a version that knows no secrets."""
    store, redactor = CommandStore(), Redactor(enabled=redact)
    async with (
        Journal.open(
            folder / "journal", stores=[store], redact=redactor.event, system=system, segment_bytes=ROLL
        ) as journal,
        TerminalService.open(journal, store, folder / "terminal", redactor=redactor) as service,
    ):
        yield Opened(journal, service)


async def packed(folder: Path) -> None:
    async with opened(folder, redact=False) as (journal, _):
        while await journal.pack_segment():
            pass


def segment_files(folder: Path) -> dict[str, bytes]:
    return {path.name: path.read_bytes() for path in (folder / "journal" / "segments").rglob("*.seg*")}


def lengths(folder: Path) -> dict[str, int]:
    return {name: len(data) for name, data in segment_files(folder).items()}


def files_with(folder: Path, words: tuple[bytes, ...]) -> list[str]:
    found = [(path.name, path.read_bytes()) for path in folder.rglob("*") if path.is_file()]
    return [f"{name}: {word!r}" for name, data in found for word in words if word in data]


async def leaks(folder: Path, *words: bytes) -> list[str]:
    """Files with one of the words, and streams: packed files say theirs only when they are read."""
    found = files_with(folder, words)
    async with opened(folder) as (_, service):
        for terminal in [seen.terminal.id for seen in service.terminals()]:
            data = await service.tail(terminal, 1 << 30)
            data += b"\0".join([piece.data async for piece in service.pieces(terminal)])
            found += [f"{terminal}: {word!r}" for word in words if word in data]
    return found


async def scrubbed(folder: Path, *, system: SystemCalls = REAL_SYSTEM) -> ScrubStatus:
    async with opened(folder, system=system) as (journal, _):
        try:
            return await journal.scrub(Redactor())
        except DragomanError as error:  # not through the task group, which would wrap it
            failed = error
    raise failed


async def recorded_by_an_older_version(folder: Path) -> RecordedCommand:
    async with opened(folder, redact=False) as (_, service):
        shell = Shell(service)
        await shell.begin()
        await shell.show(b"$ mysql -u root -p%b\r\n" % SECRET)
        await shell.type(b"export DB_PASSWORD=" + SECRET[:4])
        await shell.type(SECRET[4:] + b"\r")
        pieces = [ORDINARY[at : at + 3_000] for at in range(0, 60_000, 3_000)]
        found = await shell.run(
            f"curl -u ann:{SECRET.decode()} https://example.org",
            b"zebra password=" + SECRET[:5],
            SECRET[5:] + b"\r\n",
            b"coloured password=\x1b[1;31mhunter22\x1b[0mcanary\x1b[m\r\n",
            b"\x1b]0;mysql -p%b\x07\x1b]0;ann@host: ~\x07" % SECRET,
            *pieces,
            b"token %b\r\n" % TOKEN,
        )
        await indexed(service)
    return found


@pytest.mark.parametrize("is_packed", [False, True], ids=["raw", "packed"])
async def test_secrets_leave_every_file_and_lengths_stay(tmp_path: Path, is_packed: bool) -> None:
    command = await recorded_by_an_older_version(tmp_path)
    if is_packed:
        await packed(tmp_path)
    assert any(name.endswith(".segz") for name in segment_files(tmp_path)) == is_packed
    assert await leaks(tmp_path, SECRET, TOKEN) != []
    async with opened(tmp_path) as (journal, service):
        await indexed(service)
        before = await output_of(service, command)
        pieces = [piece async for piece in service.pieces(command.terminal)]
        assert (await service.search_output(SECRET.decode())).hits
        done = await journal.scrub(Redactor())
        assert (done.is_done, done.unread) == (True, ())
        assert done.files >= 2
        after = await output_of(service, command)
        assert len(after) == len(before)
        assert after.startswith(
            b"zebra password=**************\r\ncoloured password=\x1b[1;31m********\x1b[0m******\x1b[m"
        )
        assert b"\x1b]0;%b\x07\x1b]0;ann@host: ~\x07" % (b"*" * len(b"mysql -p%b" % SECRET)) in after
        assert ORDINARY[:60_000] in after
        again = [piece async for piece in service.pieces(command.terminal)]
        assert [(it.at_ms, it.kind, len(it.data)) for it in again] == [
            (it.at_ms, it.kind, len(it.data)) for it in pieces
        ]
        await indexed(service)
        assert not (await service.search_output(SECRET.decode())).hits
        assert [hit.command_id for hit in (await service.search_output("zebra")).hits] == [command.id]
    assert await leaks(tmp_path, SECRET, TOKEN) == []


async def test_every_form_of_the_corpus_is_masked_and_ordinary_output_is_not_touched(tmp_path: Path) -> None:
    forms = secret_forms()
    async with opened(tmp_path, redact=False) as (_, service):
        plain, entries = Shell(service, "plain"), Shell(service, "told")
        await plain.begin()
        await entries.begin()
        for at in range(0, len(ORDINARY), 700):
            await plain.show(ORDINARY[at : at + 700])
        for form in forms:
            data = b"\r\n\r\n# next\r\n" + form.text.replace("\n", "\r\n").encode() + b"\r\n"
            for at in range(0, len(data), 7):
                await entries.show(data[at : at + 7])
    ordinary = {path: path.read_bytes() for path in (tmp_path / "journal" / "segments" / "plain").iterdir()}
    assert (await scrubbed(tmp_path)).files
    assert {path: path.read_bytes() for path in ordinary} == ordinary
    secrets = [secret.encode() for form in forms for secret in form.secrets]
    assert await leaks(tmp_path, *secrets) == []


async def test_a_secret_that_runs_over_the_end_of_a_file_is_masked_in_both(tmp_path: Path) -> None:
    """With any number of the file's bytes before its end, and in whichever step each file comes."""
    for first in (True, False):  # the daemon ends in between
        async with opened(tmp_path, redact=False) as (_, service):
            for split in range(1, len(TOKEN)):
                shell = Shell(service, f"t{split}")
                await shell.begin()
                await shell.show(b"x %b" % TOKEN[:split] if first else TOKEN[split:] + b"\r\n")
    await scrubbed(tmp_path)
    assert await leaks(tmp_path, TOKEN[4:], TOKEN[-12:], TOKEN[:14]) == []


async def test_a_fault_at_any_call_leaves_files_whole_and_the_next_start_continues(tmp_path: Path) -> None:
    await recorded_by_an_older_version(tmp_path)
    before = lengths(tmp_path)
    faults = 0
    for number in range(1, 200):
        system = FaultySystem(number, code=errno.EIO)
        try:
            done = await scrubbed(tmp_path, system=system)
        except (DragomanError, OSError):
            faults += 1
        else:
            if done.is_done and not done.unread:
                break
        assert lengths(tmp_path) == before
    else:
        pytest.fail("it never came through")
    assert faults > 3
    assert lengths(tmp_path) == before
    assert await leaks(tmp_path, SECRET, TOKEN) == []


async def test_a_death_between_two_files_continues_and_still_throws_the_index_away(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    await recorded_by_an_older_version(tmp_path)
    from dragoman.journal import segment_scrub

    monkeypatch.setattr(segment_scrub, "_STEP_FILES", 1)
    exchanged = segment_scrub._exchanged
    calls = 0

    def dies(*arguments: object) -> list[object]:
        nonlocal calls
        calls += 1
        found = exchanged(*arguments)  # type: ignore[arg-type]
        if calls == 2:
            raise journal_io_failed(reason="the power is gone")
        return list(found)

    monkeypatch.setattr(segment_scrub, "_exchanged", dies)
    with pytest.raises(DragomanError):
        await scrubbed(tmp_path)
    monkeypatch.setattr(segment_scrub, "_exchanged", exchanged)
    async with opened(tmp_path) as (journal, _):
        assert not (await journal.scrubbed()).is_done
    assert (await scrubbed(tmp_path)).is_done
    assert await leaks(tmp_path, SECRET, TOKEN) == []


async def test_what_a_crash_tore_or_left_in_two_forms_is_masked_as_well(tmp_path: Path) -> None:
    await recorded_by_an_older_version(tmp_path)
    raw = {path: path.read_bytes() for path in (tmp_path / "journal" / "segments").rglob("*.seg")}
    await packed(tmp_path)
    newest = max(raw)
    for path, data in raw.items():
        path.write_bytes(data[:-30] if path == newest else data)  # the last record is cut in the middle
        path.chmod(0o600)
    assert (await scrubbed(tmp_path)).is_done
    assert list((tmp_path / "journal").rglob("*.segz")) == []
    assert await leaks(tmp_path, SECRET, TOKEN[:20]) == []


def _damaged(path: Path) -> None:
    path.write_bytes(path.read_bytes()[:-10] + b"0123456789")


def _linked(path: Path) -> None:
    path.rename(path.with_suffix(".kept"))
    path.symlink_to(path.with_suffix(".kept"))


@pytest.mark.parametrize("spoil", [_damaged, _linked], ids=["damaged", "linked"])
async def test_a_file_that_cannot_be_read_is_named_and_tried_again_until_it_is_gone(
    tmp_path: Path, spoil: Callable[[Path], object]
) -> None:
    await recorded_by_an_older_version(tmp_path)
    await packed(tmp_path)
    path = next((tmp_path / "journal" / "segments").rglob("*.segz"))
    spoil(path)
    done = await scrubbed(tmp_path)
    assert (done.is_done, done.unread) == (True, (f"ab12cd34/{path.stem}",))
    async with opened(tmp_path) as (journal, _):
        assert (await journal.scrubbed()).unread == done.unread
        await journal.forget(SessionScope("ab12cd34"))
        assert (await journal.scrub(Redactor())).unread == ()


async def test_what_is_recorded_meanwhile_is_not_touched_and_the_event_loop_continues(tmp_path: Path) -> None:
    async with opened(tmp_path, redact=False) as (_, service):
        shell = Shell(service, "old")
        await shell.begin()
        for number in range(20):
            await shell.show((b"line %d password=%b\r\n" % (number, SECRET)) * 100)
    worst_s = 0.0
    ended = anyio.Event()

    async def look() -> None:
        nonlocal worst_s
        while not ended.is_set():
            at_s = anyio.current_time()
            await anyio.sleep(0.005)
            worst_s = max(worst_s, anyio.current_time() - at_s)

    async with opened(tmp_path) as (journal, service), anyio.create_task_group() as group:
        shell = Shell(service, "new")
        await shell.begin()
        group.start_soon(look)

        async def record() -> None:
            while not ended.is_set():
                await shell.show(b"all is well\r\n")
                await anyio.sleep(0.01)

        group.start_soon(record)
        done = await journal.scrub(Redactor())
        ended.set()
        assert done.files > 2
    assert worst_s < 0.25
    assert await leaks(tmp_path, SECRET) == []
