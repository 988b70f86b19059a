"""A message is answered once, in order, with exactly one end, whatever its agent does; and what was said is kept."""

from __future__ import annotations

from collections.abc import AsyncIterator, Awaitable, Callable
from contextlib import asynccontextmanager
from dataclasses import dataclass, field
from pathlib import Path

import anyio
import pytest

from dragoman.chat.conversations import MESSAGE_BYTES, MESSAGES_AT_MOST, STORE, Conversations
from dragoman.chat.runs import TEXT_BYTES, WAITING_AT_MOST, AgentRequest, ChatRuns, RunOutput
from dragoman.core.clock import SystemClock
from dragoman.core.errors import DragomanError
from dragoman.core.localization import Language, localize
from dragoman.journal import EverythingScope, Journal
from dragoman.protocols.gateway.chat_events import ChatEvent, ChatTextDelta, Done, ToolResult, ToolStart
from dragoman.workspace.caller import PAGE_ON_OTHER_MACHINE, RemoteCaller

pytestmark = pytest.mark.anyio

Script = Callable[[AgentRequest, RunOutput], Awaitable[None]]


@dataclass
class Scripted:
    script: Script

    async def answer(self, asked: AgentRequest, run_output: RunOutput) -> None:
        await self.script(asked, run_output)


@dataclass
class Room:
    runs: ChatRuns
    conversations: Conversations
    journal: Journal
    events: list[ChatEvent] = field(default_factory=list)

    async def ended(self, run_id: str) -> Done:
        with anyio.fail_after(10):
            while True:
                for event in self.events:
                    if isinstance(event, Done) and event.run_id == run_id:
                        return event
                await anyio.sleep(0.002)


@asynccontextmanager
async def room(folder: Path, script: Script) -> AsyncIterator[Room]:
    async with Journal.open(folder, stores=[STORE]) as journal, anyio.create_task_group() as group:
        conversations = Conversations(journal, SystemClock())
        await conversations.load()
        received: list[ChatEvent] = []
        yield Room(ChatRuns(group, conversations, Scripted(script), received.append), conversations, journal, received)
        group.cancel_scope.cancel()


async def echo(asked: AgentRequest, run_output: RunOutput) -> None:
    run_output.say("you said ")
    run_output.say(asked.text)


async def forever(asked: AgentRequest, run_output: RunOutput) -> None:
    run_output.say("so far")
    await anyio.sleep_forever()


async def test_a_message_is_answered_and_both_are_kept_over_a_restart(tmp_path: Path) -> None:
    async with room(tmp_path, echo) as it:
        assert await it.runs.send("main", "hello", run_id="r1", by="page") == "started"
        assert (await it.ended("r1")).outcome == "final"
        assert "".join(event.content for event in it.events if isinstance(event, ChatTextDelta)) == "you said hello"
    async with room(tmp_path, echo) as it:
        history = await it.conversations.history("agent:main:main")
        assert [(result.role, result.text, result.run_id) for result in history] == [
            ("user", "hello", "r1"),
            ("assistant", "you said hello", "r1"),
        ]
        assert [session.key for session in it.conversations.all()] == ["agent:main:main"]


async def test_a_run_is_from_the_machine_of_whoever_sent_its_message_also_if_it_waited(tmp_path: Path) -> None:
    seen: dict[str, RemoteCaller | None] = {}
    goes_on = anyio.Event()

    async def note(asked: AgentRequest, run_output: RunOutput) -> None:
        await goes_on.wait()
        seen[asked.run_id] = PAGE_ON_OTHER_MACHINE.get()

    senders = {"r1": None, "r2": RemoteCaller("ssh:a"), "r3": None}
    async with room(tmp_path, note) as chat:
        for run_id, sender in senders.items():
            PAGE_ON_OTHER_MACHINE.set(sender)
            await chat.runs.send("main", "hello", run_id=run_id, by="page")
        goes_on.set()
        await chat.ended("r3")
    assert seen == senders


async def test_the_same_run_again_runs_nothing(tmp_path: Path) -> None:
    async with room(tmp_path, forever) as it:
        await it.runs.send("main", "a", run_id="r1", by="page")
        assert await it.runs.send("main", "other words", run_id="r1", by="page") == "in_flight"
        await it.runs.abort("main")
        await it.ended("r1")
        assert await it.runs.send("main", "a", run_id="r1", by="page") == "ok"


async def test_the_same_run_again_runs_nothing_after_a_restart_nor_in_another_conversation(tmp_path: Path) -> None:
    async with room(tmp_path, forever) as it:
        await it.runs.send("main", "a", run_id="r1", by="page")
        assert await it.runs.send("other", "a", run_id="r1", by="page") == "in_flight"
        with anyio.fail_after(5):
            while not it.events:  # noqa: ASYNC110
                await anyio.sleep(0.002)
    async with room(tmp_path, echo) as it:
        assert await it.runs.send("main", "a", run_id="r1", by="page") == "ok"
        assert await it.runs.send("main", "b", run_id="r2", by="page") == "started"
        await it.ended("r2")
        assert [result.text for result in await it.conversations.history("main")] == ["a", "b", "you said b"]


async def test_messages_of_one_conversation_run_in_turn_and_of_two_at_once(tmp_path: Path) -> None:
    order: list[str] = []
    both = anyio.Event()

    async def script(asked: AgentRequest, run_output: RunOutput) -> None:
        order.append(f"begin {asked.text}")
        if asked.text in ("a", "x"):
            if {"begin a", "begin x"} <= set(order):
                both.set()
            await both.wait()
        order.append(f"end {asked.text}")

    async with room(tmp_path, script) as it:
        await it.runs.send("one", "a", run_id="r1", by="page")
        await it.runs.send("one", "b", run_id="r2", by="page")
        await it.runs.send("two", "x", run_id="r3", by="page")
        for run_id in ("r1", "r2", "r3"):
            await it.ended(run_id)
        assert order.index("end a") < order.index("begin b")


async def test_a_stopped_run_keeps_its_text_and_ends_at_once_with_the_queued_runs(tmp_path: Path) -> None:
    async with room(tmp_path, forever) as it:
        await it.runs.send("main", "a", run_id="r1", by="page")
        await it.runs.send("main", "b", run_id="r2", by="page")
        with anyio.fail_after(5):
            while not it.events:  # noqa: ASYNC110
                await anyio.sleep(0.002)
        assert await it.runs.abort("main") == ("r1", "r2")
        assert [(await it.ended(run_id)).outcome for run_id in ("r1", "r2")] == ["aborted", "aborted"]
        (_, answer) = await it.conversations.history("main")
        assert (answer.text, answer.outcome) == ("so far", "aborted")
        assert await it.runs.abort("main") == ()


async def refuses(asked: AgentRequest, run_output: RunOutput) -> None:
    raise DragomanError("no", localize("Unknown tool: {name}.", name="x"))


async def breaks(asked: AgentRequest, run_output: RunOutput) -> None:
    raise RuntimeError("secret words of a fault")


@pytest.mark.parametrize(("script", "reason"), [(refuses, "Unknown tool: x."), (breaks, "internal error")])
async def test_a_run_that_fails_ends_with_the_reason_and_the_next_one_runs(
    tmp_path: Path, script: Script, reason: str
) -> None:
    async with room(tmp_path, script) as it:
        await it.runs.send("main", "a", run_id="r1", by="page")
        await it.runs.send("main", "b", run_id="r2", by="page")
        for run_id in ("r1", "r2"):
            end = await it.ended(run_id)
            assert (end.outcome, end.stop_reason) == ("error", reason)
        rows = await it.conversations.history("main")
        assert [(row.role, row.text, row.error) for row in rows[1::2]] == [("assistant", "", reason)] * 2


async def test_each_run_has_one_end_and_nothing_is_reported_after_it(tmp_path: Path) -> None:
    voices: list[RunOutput] = []

    async def script(asked: AgentRequest, run_output: RunOutput) -> None:
        voices.append(run_output)

    async with room(tmp_path, script) as it:
        await it.runs.send("main", "a", run_id="r1", by="page")
        await it.ended("r1")
        voices[0].say("too late")
        assert [type(event) for event in it.events] == [Done]


async def test_text_and_tools_are_in_their_order(tmp_path: Path) -> None:
    async def script(asked: AgentRequest, run_output: RunOutput) -> None:
        run_output.say("Let me look.")
        run_output.begin_tool("t1", "get_source", input={"line": 1})
        run_output.end_tool("t1", "x = 1")
        run_output.say("It is one.")

    async with room(tmp_path, script) as it:
        await it.runs.send("main", "a", run_id="r1", by="page")
        await it.ended("r1")
        shown = [event.segment if isinstance(event, ChatTextDelta) else type(event) for event in it.events]
        assert shown == [0, ToolStart, ToolResult, 1, Done]
        (_, answer) = await it.conversations.history("main")
        assert (answer.text, answer.calls[0].tool, answer.calls[0].output) == (
            "Let me look.\n\nIt is one.",
            "get_source",
            "x = 1",
        )


@pytest.mark.parametrize(
    ("tool", "language", "where"),
    [("run_in_terminal", "en", "see Terminals"), ("start_debugging", "en", "see Debugger"),
     ("start_debugging", "zh", "请看“调试器”"), ("get_source", "en", "")],
)  # fmt: skip
async def test_what_a_stopped_call_leaves_behind_is_reported_with_its_place(
    tmp_path: Path, tool: str, language: Language, where: str
) -> None:
    begun = anyio.Event()

    async def script(asked: AgentRequest, run_output: RunOutput) -> None:
        run_output.begin_tool("t1", tool)
        begun.set()
        await anyio.sleep_forever()

    async with room(tmp_path, script) as it:
        await it.runs.send("main", "a", run_id="r1", by="page", language=language)
        with anyio.fail_after(10):
            await begun.wait()
        await it.runs.abort("main")
        assert (await it.ended("r1")).outcome == "aborted"
        (_, answer) = await it.conversations.history("main")
    assert where in answer.text
    assert bool(answer.text) == bool(where)


async def test_what_waits_and_what_is_said_is_bounded(tmp_path: Path) -> None:
    async def script(asked: AgentRequest, run_output: RunOutput) -> None:
        for _ in range(3):
            run_output.say("x" * TEXT_BYTES)
        await anyio.sleep_forever()

    async with room(tmp_path, script) as it:
        for number in range(WAITING_AT_MOST + 1):
            await it.runs.send("main", "a", run_id=f"r{number}", by="page")
        with pytest.raises(DragomanError) as refused:
            await it.runs.send("main", "a", run_id="more", by="page")
        assert refused.value.code == "too_many_waiting"
        with anyio.fail_after(10):
            while not it.events:  # noqa: ASYNC110
                await anyio.sleep(0.002)
        assert sum(len(event.content) for event in it.events if isinstance(event, ChatTextDelta)) == TEXT_BYTES


async def test_a_conversation_keeps_its_newest_messages_within_their_size(tmp_path: Path) -> None:
    async with room(tmp_path, echo) as it:
        for number in range(MESSAGES_AT_MOST + 5):
            await it.conversations.say("main", "user", str(number))
        history = await it.conversations.history("main", limit=MESSAGES_AT_MOST + 100)
        assert (len(history), history[0].text, history[-1].text) == (MESSAGES_AT_MOST, "5", str(MESSAGES_AT_MOST + 4))
        answer = await it.conversations.say("main", "user", "日" * MESSAGE_BYTES)
        assert len(answer.text.encode()) <= MESSAGE_BYTES


async def test_conversations_are_renamed_removed_and_forgotten(tmp_path: Path) -> None:
    async with room(tmp_path, echo) as it:
        made = await it.conversations.create("work", label="Work")
        assert await it.conversations.create("agent:main:work") == made
        assert (await it.conversations.rename("work", "Other")).label == "Other"
        assert await it.conversations.remove("work")
        assert not await it.conversations.remove("work")
        with pytest.raises(DragomanError):
            await it.conversations.rename("work", "x")
        await it.conversations.say("main", "user", "secret")
        await it.journal.forget(EverythingScope())
        assert await it.conversations.history("main") == []
