"""Trust where a call was refused: asked of the person, for the folders that the refusals name, and of nobody else."""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import anyio
import pytest

from dragoman.chat.approvals import Approvals, PendingApproval
from dragoman.chat.runs import AgentRequest
from dragoman.chat.toolbox import ToolAnswer, call_with_trust
from dragoman.core.clock import SystemClock
from dragoman.core.errors import DragomanError
from dragoman.daemon.chat_wiring import ChatTrust
from dragoman.journal import Journal
from dragoman.terminal.agent_terminals.pool import NeedsTrustError
from dragoman.workspace.trust import STORE, TrustedFolders
from tests.chat.gateway_client.scripted_connection import until

pytestmark = pytest.mark.anyio

PERSON = AgentRequest("agent:main:main", "r", "/start a.py", "the page", (), is_person=True)
GUEST = AgentRequest("agent:main:main", "r", "/start a.py", "a client", ())


@dataclass
class Folders:
    """A program that needs these, one after another; who is asked gives what stands in `given`."""

    missing: list[str]
    given: set[str] = field(default_factory=set)
    asked: list[tuple[str, str]] = field(default_factory=list)

    async def call(self) -> ToolAnswer:
        trusted = {folder for folder, _ in self.asked} & self.given
        lacks = [it for it in self.missing if it not in trusted or it == "/again"]
        return ToolAnswer("refused", _refusal(lacks[0]), is_error=True) if lacks else ToolAnswer("started", {})

    async def ask(self, _: AgentRequest, folder: str, tool: str) -> bool:
        self.asked.append((folder, tool))
        return folder in self.given


def _refusal(folder: str) -> Mapping[str, Any]:
    return {"code": "needs_trust", "message": "Nothing was started.", "details": {"folder": folder}}


async def test_each_folder_that_a_refusal_names_is_asked_for_until_the_call_is_made() -> None:
    folders = Folders(["/project", "/tools"], {"/project", "/tools"})
    assert (await call_with_trust(folders.call, PERSON, folders, "trace")).text == "started"
    assert folders.asked == [("/project", "trace"), ("/tools", "trace")]


@pytest.mark.parametrize(
    ("missing", "given", "asked"),
    [
        (["/project", "/tools"], {"/tools"}, ["/project"]),  # a no ends it
        (["/again"], {"/again"}, ["/again"]),  # the word for it did not help: it is not asked for twice
        ([f"/{it}" for it in range(9)], {f"/{it}" for it in range(9)}, ["/0", "/1", "/2", "/3"]),
    ],
)
async def test_a_refusal_that_stays_is_the_answer(missing: list[str], given: set[str], asked: list[str]) -> None:
    folders = Folders(missing, given)
    answer = await call_with_trust(folders.call, PERSON, folders)
    assert (answer.is_error, [folder for folder, _ in folders.asked]) == (True, asked)


async def test_nobody_else_makes_the_question_appear() -> None:
    folders = Folders(["/project"], {"/project"})
    assert (await call_with_trust(folders.call, GUEST, folders)).is_error
    assert (await call_with_trust(folders.call, PERSON, None)).is_error
    assert folders.asked == []


@dataclass
class Desk:
    trust: ChatTrust
    approvals: Approvals
    wanted: list[PendingApproval]

    async def asks(self, folder: Path | str, *, allowed: bool, tool: str = "") -> bool:
        """What comes of it, with this answer where the person is asked at all."""
        given: list[bool] = []

        async def ask() -> None:
            given.append(await self.trust.ask(PERSON, str(folder), tool))

        async with anyio.create_task_group() as group:
            group.start_soon(ask)
            await until(lambda: bool(given or self.approvals.waiting()))
            for it in self.approvals.waiting():
                self.approvals.answer(it.id, allowed=allowed, by_person=True)
        return given[0]


async def _at_desk(folder: Path, use: Callable[[Desk], Awaitable[None]]) -> list[str]:
    wanted: list[PendingApproval] = []
    async with Journal.open(folder, stores=[STORE]) as journal:
        book, approvals = TrustedFolders(journal, SystemClock()), Approvals(wanted.append)
        await use(Desk(ChatTrust(book, approvals), approvals, wanted))
        return [it.folder for it in await book.folders()]


async def test_an_agent_that_tries_again_after_a_no_does_not_ask_again(tmp_path: Path) -> None:
    async def use(desk: Desk) -> None:
        for _ in range(2):
            assert not await desk.asks(tmp_path, allowed=False, tool="start_debugging")
        assert [(it.kind, it.tool, it.subject) for it in desk.wanted] == [("trust", "start_debugging", str(tmp_path))]

    assert await _at_desk(tmp_path / "journal", use) == []


async def test_what_a_person_allowed_is_trusted_by_where_it_really_lies(tmp_path: Path) -> None:
    (tmp_path / "link").symlink_to(tmp_path / "real")
    (tmp_path / "real").mkdir()

    async def use(desk: Desk) -> None:
        assert await desk.asks(tmp_path / "link", allowed=True)

    assert await _at_desk(tmp_path / "journal", use) == [str(tmp_path / "real")]


async def test_a_folder_that_was_replaced_before_the_answer_is_not_trusted(tmp_path: Path) -> None:
    shown, other = tmp_path / "shown", tmp_path / "other"
    shown.mkdir()
    other.mkdir()

    async def use(desk: Desk) -> None:
        def turn_round(_: PendingApproval) -> None:
            shown.rename(tmp_path / "away")
            shown.symlink_to(other)

        desk.approvals._on_requested = turn_round
        with pytest.raises(ExceptionGroup) as raised:
            await desk.asks(shown, allowed=True)
        (error,) = raised.value.exceptions
        assert isinstance(error, DragomanError)
        assert error.code == "folder_moved"

    assert await _at_desk(tmp_path / "journal", use) == []


async def test_what_is_too_wide_not_there_or_cannot_be_read_is_not_asked_about(tmp_path: Path) -> None:
    (tmp_path / "a\u202eb").mkdir()

    async def use(desk: Desk) -> None:
        for folder in (Path.home(), "/", tmp_path / "nowhere", tmp_path / "a\u202eb"):
            assert not await desk.asks(folder, allowed=True)
        assert desk.wanted == []

    assert await _at_desk(tmp_path / "journal", use) == []


def test_a_terminals_refusal_names_the_folder_and_the_command_as_it_is_typed() -> None:
    refused = NeedsTrustError(Path("/home/me/my shop"))
    assert refused.details == {"folder": "/home/me/my shop"}
    assert str(refused).endswith("dragoman trust '/home/me/my shop'")
