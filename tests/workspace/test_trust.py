"""The book of trusted folders: what a word covers, how far it reaches, and how it is taken back."""

from __future__ import annotations

from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path

import pytest

from dragoman.core.clock import SystemClock
from dragoman.core.errors import DragomanError
from dragoman.journal import BeforeScope, EverythingScope, Journal, SessionScope
from dragoman.workspace.trust import STORE, TrustedFolders

pytestmark = pytest.mark.anyio


@asynccontextmanager
async def opened(folder: Path) -> AsyncIterator[tuple[TrustedFolders, Journal]]:
    async with Journal.open(folder / "journal", stores=[STORE]) as journal:
        yield TrustedFolders(journal, SystemClock()), journal


async def code_of(book: TrustedFolders, folder: Path) -> str:
    with pytest.raises(DragomanError) as raised:
        await book.trust(folder)
    return raised.value.code


@pytest.fixture
def project(tmp_path: Path) -> Path:
    (tmp_path / "project" / "part").mkdir(parents=True)
    (tmp_path / "project2").mkdir()
    return tmp_path / "project"


async def test_a_word_covers_the_folder_and_what_lies_below_and_nothing_beside(project: Path, tmp_path: Path) -> None:
    async with opened(tmp_path) as (book, _):
        assert not await book.trusts(project)
        await book.trust(project)
        covered = {
            folder: await book.trusts(tmp_path / folder) for folder in ("project", "project/part", "project2", ".")
        }
    assert covered == {"project": True, "project/part": True, "project2": False, ".": False}


async def test_a_link_that_was_turned_round_since_a_person_was_asked_is_not_trusted(
    project: Path, tmp_path: Path
) -> None:
    (tmp_path / "link").symlink_to(project)
    async with opened(tmp_path) as (book, _):
        (tmp_path / "link").unlink()
        (tmp_path / "link").symlink_to(tmp_path / "project2")
        with pytest.raises(DragomanError) as raised:
            await book.trust(tmp_path / "link", seen=project)
        assert raised.value.code == "folder_moved"
        assert await book.folders() == []
        await book.trust(tmp_path / "link", seen=tmp_path / "project2")


async def test_links_are_followed_before_the_word_is_given_and_before_it_is_asked_for(
    project: Path, tmp_path: Path
) -> None:
    (tmp_path / "link").symlink_to(project)
    (project / "out").symlink_to(tmp_path / "project2")
    async with opened(tmp_path) as (book, _):
        trusted = await book.trust(tmp_path / "link")
        assert trusted.folder == str(project)
        assert await book.trusts(tmp_path / "link" / "part")
        assert not await book.trusts(project / "out")
        assert not await book.trusts(project / ".." / "project2")


async def test_a_word_outlives_the_daemon_and_is_in_the_record_until_it_is_taken_back(
    project: Path, tmp_path: Path
) -> None:
    async with opened(tmp_path) as (book, _):
        await book.trust(project)
    async with opened(tmp_path) as (book, journal):
        assert await book.trusts(project)
        assert await book.revoke(project) == str(project)
        assert not await book.trusts(project)
        kinds = [row.event.kind for row in await journal.read(0)]
    assert kinds == ["workspace.trusted", "workspace.distrusted"]
    async with opened(tmp_path) as (book, _):
        assert await book.folders() == []


async def test_a_word_is_taken_back_where_it_was_given_not_below(project: Path, tmp_path: Path) -> None:
    async with opened(tmp_path) as (book, _):
        await book.trust(project)
        with pytest.raises(DragomanError) as raised:
            await book.revoke(project / "part")
        assert (raised.value.code, str(project) in str(raised.value.hint)) == ("not_trusted", True)
        assert await book.trusts(project / "part")


async def test_a_home_folder_and_whatever_holds_it_need_a_yes(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, project: Path
) -> None:
    monkeypatch.setenv("HOME", str(project))
    (tmp_path / "home").symlink_to(project)
    async with opened(tmp_path) as (book, _):
        for wide in (Path("/"), tmp_path, project, tmp_path / "home"):
            assert await code_of(book, wide) == "too_wide"
        await book.trust(project / "part")
        await book.trust(project, however_wide=True)
        assert [it.folder for it in await book.folders()] == [str(project), str(project / "part")]


@pytest.mark.parametrize("name", ["nowhere", "file"])
async def test_only_a_folder_that_is_there_can_be_trusted(project: Path, tmp_path: Path, name: str) -> None:
    """Else whoever makes it later would be trusted unseen."""
    (project / "file").write_text("")
    async with opened(tmp_path) as (book, _):
        assert await code_of(book, project / name) == "no_such_folder"


async def test_forgetting_old_events_keeps_the_word_and_forgetting_everything_takes_it(
    project: Path, tmp_path: Path
) -> None:
    async with opened(tmp_path) as (book, journal):
        await book.trust(project)
        await journal.forget(BeforeScope(2**62))
        await journal.forget(SessionScope(""))
        assert await book.trusts(project)
        await journal.forget(EverythingScope())
        assert not await book.trusts(project)
