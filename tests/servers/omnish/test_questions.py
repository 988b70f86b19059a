"""Questions and completions beside the recording: each answered in its own manner, in time, and never in its way."""

from __future__ import annotations

from collections.abc import AsyncGenerator
from pathlib import Path

import anyio
import pytest

from dragoman.core.errors import DragomanError
from dragoman.core.localization import localize
from dragoman.protocols.omnish import messages as m
from dragoman.protocols.omnish import messages_v25 as newer
from dragoman.protocols.omnish import schema_named
from dragoman.servers.omnish import requests as omnish_requests
from tests.io.processes.supervised_support import until
from tests.servers.omnish.client import began, shown
from tests.servers.omnish.omnish_fixture import TOKEN, standing

pytestmark = pytest.mark.anyio
V25 = schema_named("v25")


def question(request_id: str = "r1", scope: object = None, session: str = "s") -> m.Request:
    return m.Request(request_id, session, "why?", scope or m.AllSessions())  # type: ignore[arg-type]


async def hang(_: str) -> AsyncGenerator[str, None]:
    yield "it is "
    await anyio.sleep_forever()


async def refuse(_: str) -> AsyncGenerator[str, None]:
    raise DragomanError("model_refused", localize("Too many questions at once; this one was dropped."))
    yield ""


async def crash(_: str) -> AsyncGenerator[str, None]:
    yield "so far"
    raise ZeroDivisionError


async def endless(_: str) -> AsyncGenerator[str, None]:
    while True:
        yield "x" * 10_000


async def never(_: str) -> AsyncGenerator[str, None]:
    await anyio.sleep_forever()
    yield ""


@pytest.mark.requirement("omnish:daemon:answers-requests")
async def test_a_client_of_the_document_gets_exactly_one_response_and_it_is_final(tmp_path: Path) -> None:
    async with standing(tmp_path) as face, face.client() as client:
        assert await client.ask(question("r9")) == m.Response("r9", "about why?: it failed", False, True)
        assert await client.ask(began("s")) == m.Ack()


async def test_a_session_that_announces_it_gets_the_answer_as_it_comes(tmp_path: Path) -> None:
    async with standing(tmp_path) as face, face.client() as client:
        await client.ask(began("s", dragoman__stream="1"))
        frame_id = await client.send(question())
        got = [await client.reply_to(frame_id) for _ in range(3)]
        assert got == [
            m.Response("r1", "about why?: ", True, False),
            m.Response("r1", "it failed", True, False),
            m.Response("r1", "", True, True),
        ]
        assert (await client.ask(question(session="other"))).is_streaming is False


@pytest.mark.parametrize(("reported", "language"), [({"dragoman__language": "zh"}, "zh"), ({}, "en")])
async def test_a_shell_is_answered_in_its_own_language(tmp_path: Path, reported: dict[str, str], language: str) -> None:
    async with standing(tmp_path, refuse) as face, face.client() as client:
        await client.ask(began("s", **reported))
        answer = await client.ask(question())
        assert face.answers.languages == [language]
        assert answer.content == localize("Too many questions at once; this one was dropped.").in_language(
            "zh" if language == "zh" else "en"
        )


@pytest.mark.requirement("omnish:daemon:honours-scope")
@pytest.mark.parametrize(
    ("scope", "terminals"),
    [
        (m.CurrentSession(), ("s",)),
        (m.AllSessions(), None),
        (m.Sessions(["a", "b"]), ("a", "b")),
        (m.Sessions([]), ("s",)),
    ],
)
async def test_each_scope_reaches_the_answers_as_the_terminals_it_names(
    tmp_path: Path, scope: object, terminals: object
) -> None:
    async with standing(tmp_path) as face, face.client() as client:
        await client.ask(question(scope=scope))
        assert face.answers.asked == [("why?", terminals, "s")]


async def test_a_hung_question_holds_up_neither_the_record_nor_another_one(tmp_path: Path) -> None:
    async with standing(tmp_path, hang) as face, face.client() as client:
        await client.send(question())
        assert await client.ask(began("s")) == m.Ack()
        assert await client.ask(shown("s", b"on")) == m.Ack()
        assert face.record.output("s") == b"on"


@pytest.mark.parametrize(
    ("script", "begin", "words"),
    [
        (hang, "it is \n", "timed out"),
        (refuse, "", "Too many"),
        (crash, "so far\n", "Internal error"),
        (never, "", "timed out"),
    ],
)
async def test_whatever_happens_to_an_answer_it_ends_in_words(
    tmp_path: Path, script: object, begin: str, words: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(omnish_requests, "NEXT_PIECE_WITHIN_S", 0.1)
    async with standing(tmp_path, script) as face, face.client() as client:  # type: ignore[arg-type]
        answer = await client.ask(question())
        assert answer.is_final
        assert answer.content.startswith(begin)
        assert words in answer.content
        assert await client.ask(began("s")) == m.Ack()


async def test_an_endless_answer_is_cut(tmp_path: Path) -> None:
    async with standing(tmp_path, endless) as face, face.client() as client:
        answer = await client.ask(question())
        assert len(answer.content) == omnish_requests.MAX_ANSWER_CHARACTERS
        assert answer.is_final


async def test_a_client_that_leaves_takes_its_question_with_it(tmp_path: Path) -> None:
    async with standing(tmp_path, hang) as face:
        async with face.client() as client:
            await client.send(question())
            await client.ask(began("s"))
            assert face.answers.asked
        await until(lambda: bool(face.answers.cancelled))
        assert face.answers.cancelled == ["why?"]


async def test_one_question_too_many_is_refused_in_words(tmp_path: Path) -> None:
    async with standing(tmp_path, hang) as face, face.client() as client:
        for number in range(omnish_requests.AT_ONCE):
            await client.send(question(f"r{number}"))
        refused = await client.ask(question("last"))
        assert (refused.request_id, refused.is_final) == ("last", True)
        assert "Too many questions" in refused.content
        assert len(face.answers.asked) == omnish_requests.AT_ONCE


@pytest.mark.requirement("omnish:daemon:answers-completions")
async def test_completions_carry_their_sequence_and_know_the_folder(tmp_path: Path) -> None:
    async with standing(tmp_path) as face, face.client() as client:
        face.completions.may_answer.set()
        await client.ask(began("s", cwd="/srv"))
        got = await client.ask(m.CompletionRequest("s", "git", 99, 7))
        assert got == m.CompletionResponse(7, [m.CompletionSuggestion("git --more", 0.5)])
        assert face.completions.asked == [("git", 3, "s", "/srv")]


async def test_of_completions_that_wait_the_newest_counts_and_each_is_answered(tmp_path: Path) -> None:
    async with standing(tmp_path) as face, face.client() as client:
        ids = [await client.send(m.CompletionRequest("s", f"g{number}", 2, number)) for number in (1, 2, 4, 3)]
        assert await client.ask(began("s")) == m.Ack()
        face.completions.may_answer.set()
        got = [await client.reply_to(frame_id) for frame_id in ids]
        assert [it.sequence_id for it in got] == [1, 2, 4, 3]
        assert [len(it.suggestions) for it in got] == [1, 0, 1, 0]
        assert [it[0] for it in face.completions.asked] == ["g1", "g4"]


async def test_completions_that_take_too_long_are_dropped(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(omnish_requests, "SUGGESTED_WITHIN_S", 0.05)
    async with standing(tmp_path) as face, face.client() as client:
        assert await client.ask(m.CompletionRequest("s", "git", 3, 1)) == m.CompletionResponse(1, [])


async def test_a_newer_client_gets_several_responses_closed_by_an_ack(tmp_path: Path) -> None:
    async with standing(tmp_path) as face, face.client(V25) as client:
        await client.ask(newer.Auth(TOKEN, 25))
        frame_id = await client.send(question())
        got = [await client.reply_to(frame_id) for _ in range(4)]
        assert [it.content for it in got[:3]] == ["about why?: ", "it failed", ""]
        assert got[2].is_final
        assert got[3] == m.Ack()


async def test_a_newer_client_that_chats_gets_its_answer_and_can_interrupt_it(tmp_path: Path) -> None:
    async with standing(tmp_path, hang) as face, face.client(V25) as client:
        await client.ask(newer.Auth(TOKEN, 25))
        thread = (await client.ask(newer.ChatStart("r0", "s", True, None))).thread_id
        frame_id = await client.send(newer.ChatMessage("r1", "s", thread, "why?", None, None))
        assert await client.ask(newer.ChatInterrupt("r1", "s", thread, "")) == m.Ack()
        answer = await client.reply_to(frame_id)
        assert (answer.request_id, answer.thread_id) == ("r1", thread)
        assert answer.content in {"", "it is "}
