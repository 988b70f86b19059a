"""A command in a person's terminal: asked in that terminal, one at a time, answered by whom it was put to, in time."""

from __future__ import annotations

import anyio
import anyio.lowlevel
import pytest

from dragoman.terminal.consent import ConsentBroker, RunRequest
from tests.daemons import PATIENCE

pytestmark = pytest.mark.anyio
LONG_S = 20 * PATIENCE


class Terminal:
    def __init__(self) -> None:
        self.shown: list[RunRequest] = []
        self.withdrawn: list[str] = []

    def put(self, request: RunRequest) -> None:
        self.shown.append(request)

    def withdraw(self, request: RunRequest) -> None:
        self.withdrawn.append(request.id)

    async def asked(self, count: int = 1) -> RunRequest:
        with anyio.fail_after(LONG_S):
            while len(self.shown) < count:
                await anyio.lowlevel.checkpoint()
        return self.shown[count - 1]


class Asker:
    def __init__(self, wrappers: ConsentBroker) -> None:
        self.wrappers = wrappers
        self.verdicts: dict[str, str] = {}

    async def ask(self, command: str, within_s: float = LONG_S) -> None:
        self.verdicts[command] = await self.wrappers.ask_to_run("t", command, by="Claude", within_s=within_s)


@pytest.fixture
def wrappers() -> ConsentBroker:
    return ConsentBroker()


async def test_a_terminal_that_cannot_ask_is_reported_as_such(wrappers: ConsentBroker) -> None:
    assert await wrappers.ask_to_run("t", "ls", by="x", within_s=LONG_S) == "cannot"


@pytest.mark.parametrize(
    ("result", "verdict"),
    [
        ("accepted", "accepted"),
        ("refused", "refused"),
        ("no_answer", "no_answer"),
        ("cannot", "cannot"),
        ("YES", "refused"),
    ],
)
async def test_only_the_word_itself_accepts(wrappers: ConsentBroker, result: str, verdict: str) -> None:
    terminal, asker = Terminal(), Asker(wrappers)
    wrappers.register_link("t", terminal)
    async with anyio.create_task_group() as group:
        group.start_soon(asker.ask, "ls -l")
        request = await terminal.asked()
        assert (request.terminal, request.command, request.by) == ("t", "ls -l", "Claude")
        assert wrappers.answered(terminal, request.id, result)
    assert asker.verdicts == {"ls -l": verdict}
    assert not wrappers.answered(terminal, request.id, "accepted")
    assert terminal.withdrawn == []


async def test_nobody_answers_for_the_terminal_that_was_asked(wrappers: ConsentBroker) -> None:
    terminal, stranger, asker = Terminal(), Terminal(), Asker(wrappers)
    wrappers.register_link("t", terminal)
    wrappers.register_link("other", stranger)
    async with anyio.create_task_group() as group:
        group.start_soon(asker.ask, "ls")
        request = await terminal.asked()
        assert not wrappers.answered(stranger, request.id, "accepted")
        assert not wrappers.answered(terminal, "guessed", "accepted")
        assert asker.verdicts == {}
        wrappers.answered(terminal, request.id, "refused")
    assert asker.verdicts == {"ls": "refused"}


async def test_no_answer_in_time_takes_the_question_back(wrappers: ConsentBroker) -> None:
    terminal = Terminal()
    wrappers.register_link("t", terminal)
    assert await wrappers.ask_to_run("t", "ls", by="x", within_s=0.02) == "no_answer"
    assert terminal.withdrawn == [terminal.shown[0].id]
    assert not wrappers.answered(terminal, terminal.shown[0].id, "accepted")


async def test_questions_come_one_at_a_time(wrappers: ConsentBroker) -> None:
    terminal, asker = Terminal(), Asker(wrappers)
    wrappers.register_link("t", terminal)
    async with anyio.create_task_group() as group:
        group.start_soon(asker.ask, "first")
        first = await terminal.asked()
        group.start_soon(asker.ask, "second")
        group.start_soon(asker.ask, "impatient", 0.02)
        with anyio.fail_after(LONG_S):
            while not asker.verdicts:
                await anyio.lowlevel.checkpoint()
        assert asker.verdicts == {"impatient": "no_answer"}
        assert len(terminal.shown) == 1
        wrappers.answered(terminal, first.id, "accepted")
        second = await terminal.asked(2)
        wrappers.answered(terminal, second.id, "refused")
    assert asker.verdicts == {"impatient": "no_answer", "first": "accepted", "second": "refused"}


async def test_a_wrapper_that_leaves_or_is_followed_by_a_newer_one_answers_no_more(wrappers: ConsentBroker) -> None:
    old, new, asker = Terminal(), Terminal(), Asker(wrappers)
    wrappers.register_link("t", old)
    async with anyio.create_task_group() as group:
        group.start_soon(asker.ask, "first")
        request = await old.asked()
        wrappers.register_link("t", new)
        assert not wrappers.answered(old, request.id, "accepted")
        assert not wrappers.answered(new, request.id, "accepted")
        group.start_soon(asker.ask, "second")
        await new.asked()
        wrappers.unregister_link("t", old)
        assert wrappers.can_ask("t")
        wrappers.unregister_link("t", new)
    assert asker.verdicts == {"first": "no_answer", "second": "no_answer"}
    assert await wrappers.ask_to_run("t", "third", by="x", within_s=LONG_S) == "cannot"


async def test_an_asker_that_gives_up_takes_its_question_back(wrappers: ConsentBroker) -> None:
    terminal, asker = Terminal(), Asker(wrappers)
    wrappers.register_link("t", terminal)
    async with anyio.create_task_group() as group:
        group.start_soon(asker.ask, "ls")
        await terminal.asked()
        group.cancel_scope.cancel()
    assert len(terminal.withdrawn) == 1
