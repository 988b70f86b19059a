"""What older versions recorded is searched for secrets once: rows, index, stores, and free pages of the file."""

from __future__ import annotations

from pathlib import Path

import pytest

from dragoman.core.events import Event
from dragoman.core.redaction import Redactor
from dragoman.debug.stops.history.store import STORE as STOPS
from dragoman.debug.stops.history.store import StopContents, StopRecord, VariableRecord, read_rows
from dragoman.journal import Journal, JsonStore

pytestmark = pytest.mark.anyio

SECRET = "hunter22canary"
REDACTOR = Redactor()
NOTES: JsonStore[dict[str, str]] = JsonStore("notes", dict[str, str])
KEPT: JsonStore[dict[str, str]] = JsonStore("kept", dict[str, str], verbatim=True)
STORES = (NOTES, KEPT, STOPS)


def leaks(folder: Path) -> list[str]:
    return [path.name for path in folder.rglob("*") if path.is_file() and SECRET.encode() in path.read_bytes()]


def stop() -> StopRecord:
    seen = StopContents(variables=(VariableRecord("password", f"'{SECRET}'"), VariableRecord("count", "12")))
    return StopRecord(session="d-1", number=1, at_ns=1, title="a.py", workspace="/w", reason="step", seen=seen)


async def recorded_by_an_older_version(folder: Path, *, events: int = 450) -> None:
    async with Journal.open(folder, stores=STORES) as journal:  # nothing is redacted
        data = {"expression": "password", "result": f"'{SECRET}'"}
        every = [Event(kind="debug.evaluated", text=f"number {n}") for n in range(events)]
        every[7] = Event(kind="debug.evaluated", text=f"password={SECRET}", body=data)
        await journal.append(every)
        writes = [NOTES.put("a", {"password": SECRET}, at_ns=1), *STOPS.add(stop())]
        await journal.append([], writes=writes)


async def test_secrets_of_an_older_version_leave_the_rows_the_index_the_stores_and_the_file(tmp_path: Path) -> None:
    await recorded_by_an_older_version(tmp_path)
    assert leaks(tmp_path) != []
    async with Journal.open(tmp_path, stores=STORES, redact=REDACTOR.event) as journal:
        assert (await journal.search(SECRET)) != []
        assert not (await journal.scrubbed()).is_done
        done = await journal.scrub(REDACTOR)
        assert (done.is_done, done.changed) == (True, 3)
        assert await journal.search(SECRET) == []
        assert [it.sequence for it in await journal.search("redacted")] == [8]
        assert NOTES.decoded((await journal.query(NOTES.everything())).rows) == {
            "a": {"password": "<redacted 14 chars>"}
        }
        ((_, kept),) = read_rows((await journal.query(STOPS.of_session("d-1"))).rows)
        assert [it.value for it in kept.seen.variables] == ["'<redacted 14 chars>'", "12"]
    assert leaks(tmp_path) == []


async def test_it_is_done_once_and_resumes_after_a_crash_where_it_was(tmp_path: Path) -> None:
    await recorded_by_an_older_version(tmp_path)
    async with Journal.open(tmp_path, stores=STORES) as journal:
        from dragoman.journal import row_scrub

        assert await journal._work(lambda journal_file: row_scrub.events_step(journal_file, REDACTOR))  # then we die
    async with Journal.open(tmp_path, stores=STORES) as journal:
        done = await journal.scrub(REDACTOR)
        assert (done.is_done, done.changed) == (True, 3)
    async with Journal.open(tmp_path, stores=STORES) as journal:
        await journal.append([Event(kind="a.b", text=f"password={SECRET}")])
        assert await journal.scrub(REDACTOR) == done
    assert leaks(tmp_path) != []  # it does not run twice


async def test_with_redaction_off_nothing_is_searched(tmp_path: Path) -> None:
    await recorded_by_an_older_version(tmp_path)
    async with Journal.open(tmp_path, stores=STORES) as journal:
        assert not (await journal.scrub(Redactor(enabled=False))).is_done
        assert (await journal.search(SECRET)) != []


async def test_what_is_sent_to_a_program_again_is_kept_to_the_letter(tmp_path: Path) -> None:
    async with Journal.open(tmp_path, stores=STORES, redact=REDACTOR.event) as journal:
        condition = {"condition": f"password == '{SECRET}'"}
        await journal.append([], writes=[KEPT.put("a", condition, at_ns=1), NOTES.put("a", condition, at_ns=1)])
        await journal.scrub(REDACTOR)
        assert KEPT.decoded((await journal.query(KEPT.everything())).rows) == {"a": condition}
        assert SECRET not in str((await journal.query(NOTES.everything())).rows)
