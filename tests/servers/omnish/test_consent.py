"""A command for a person's terminal travels to its wrapper as a push; only that connection's answer counts."""

from __future__ import annotations

from pathlib import Path

import anyio
import pytest

from dragoman.protocols.omnish import messages as m
from dragoman.terminal.model import terminal_name
from tests.daemons import PATIENCE
from tests.io.processes.supervised_support import until
from tests.servers.omnish.client import began
from tests.servers.omnish.omnish_fixture import OmnishUnderTest, standing

pytestmark = pytest.mark.anyio


class Asker:
    def __init__(self, face: OmnishUnderTest, within_s: float = 20 * PATIENCE) -> None:
        self.face, self.within_s = face, within_s
        self.verdict = ""

    async def ask(self) -> None:
        self.verdict = await self.face.wrappers.ask_to_run("s", "rm x", by="Claude", within_s=self.within_s)


@pytest.mark.parametrize("result", ["accepted", "refused"])
async def test_the_wrapper_gets_the_command_and_its_agent_and_answers_with_a_request(
    tmp_path: Path, result: str
) -> None:
    async with standing(tmp_path) as face, face.client() as client, anyio.create_task_group() as group:
        await client.ask(began("s", dragoman__asks="1"))
        asker = Asker(face)
        group.start_soon(asker.ask)
        push = await client.push()
        assert push == m.Request(push.request_id, "s", "rm x", m.Sessions(["Claude"]))
        assert await client.ask(m.Response(push.request_id, result, False, True)) == m.Ack()
        await until(lambda: asker.verdict == result)


async def test_a_session_that_did_not_say_it_can_ask_is_never_asked(tmp_path: Path) -> None:
    async with standing(tmp_path) as face, face.client() as client:
        await client.ask(began("s"))
        assert await face.wrappers.ask_to_run("s", "ls", by="x", within_s=5) == "cannot"
        assert client.blocking.pushed == []


async def test_another_connection_cannot_answer_for_the_person(tmp_path: Path) -> None:
    async with standing(tmp_path) as face, face.client() as client, face.client() as thief:
        await client.ask(began("s", dragoman__asks="1"))
        await thief.ask(began("other", dragoman__asks="1"))
        async with anyio.create_task_group() as group:
            asker = Asker(face)
            group.start_soon(asker.ask)
            push = await client.push()
            assert await thief.ask(m.Response(push.request_id, "accepted", False, True)) == m.Ack()
            assert asker.verdict == ""
            await client.ask(m.Response(push.request_id, "refused", False, True))
        assert asker.verdict == "refused"


async def test_a_connection_that_takes_the_session_over_inherits_no_open_question(tmp_path: Path) -> None:
    async with standing(tmp_path) as face, face.client() as client, face.client() as thief:
        await client.ask(began("s", dragoman__asks="1"))
        async with anyio.create_task_group() as group:
            asker = Asker(face)
            group.start_soon(asker.ask)
            push = await client.push()
            await thief.ask(began("s", dragoman__asks="1"))
            await thief.ask(m.Response(push.request_id, "accepted", False, True))
        assert asker.verdict == "no_answer"


async def test_a_question_that_timed_out_is_withdrawn(tmp_path: Path) -> None:
    async with standing(tmp_path) as face, face.client() as client:
        await client.ask(began("s", dragoman__asks="1"))
        asker = Asker(face, within_s=0.05)
        await asker.ask()
        push = await client.push()
        assert await client.push() == m.Response(push.request_id, "withdrawn", False, True)
        assert asker.verdict == "no_answer"


async def test_a_wrapper_that_leaves_or_ends_its_session_can_be_asked_no_more(tmp_path: Path) -> None:
    async with standing(tmp_path) as face, face.client() as client:
        await client.ask(began("s", dragoman__asks="1"))
        assert face.wrappers.can_ask("s")
        await client.ask(m.SessionEnd("s", 9, 0))
        assert not face.wrappers.can_ask("s")
        await client.ask(began("s", dragoman__asks="1"))
        client.blocking.socket.close()
        await until(lambda: not face.wrappers.can_ask("s"))


async def test_a_session_without_a_terminals_name_is_asked_under_both_names(tmp_path: Path) -> None:
    odd = "../../etc"
    async with standing(tmp_path) as face, face.client() as client, anyio.create_task_group() as group:
        await client.ask(began(odd, dragoman__asks="1"))
        group.start_soon(lambda: face.wrappers.ask_to_run(terminal_name(odd), "ls", by="x", within_s=20))
        push = await client.push()
        assert push.session_id == odd
        await client.ask(m.Response(push.request_id, "refused", False, True))
