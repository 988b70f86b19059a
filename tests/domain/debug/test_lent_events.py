"""What an editor tells faster than it is taken: output may be left out, with a word; nothing else ever is."""

from __future__ import annotations

from typing import Any

import pytest

from dragoman.debug import lent_events
from dragoman.debug.lent import LentSession, Offer
from dragoman.debug.lent_events import LentEvents
from dragoman.debug.messages import fields

pytestmark = pytest.mark.anyio


@pytest.fixture
def anyio_backend() -> str:
    return "asyncio"


async def taken(events: LentEvents) -> list[tuple[str, dict[str, Any]]]:
    events.close()
    return [(event.event, fields(event)) async for event in events.taken()]


def printed(events: LentEvents, text: str, category: str = "stdout") -> None:
    assert events.put("output", {"category": category, "output": text})


async def test_what_waits_is_joined_by_category_and_keeps_its_order() -> None:
    events = LentEvents()
    for text, category in (("a", "stdout"), ("b", "stdout"), ("c", "stderr"), ("d", "stdout")):
        printed(events, text, category)
    events.put("stopped", {"threadId": 1})
    printed(events, "e")
    got = await taken(events)
    assert [(event, body.get("output")) for event, body in got] == [
        ("output", "ab"), ("output", "c"), ("output", "d"), ("stopped", None), ("output", "e"),
    ]  # fmt: skip


async def test_too_much_output_is_left_out_with_a_word_in_its_place_and_the_stop_after_it_is_there(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(lent_events, "HELD_CHARACTERS", 10)
    events = LentEvents()
    for _ in range(6):
        printed(events, "12345")
    events.put("stopped", {"threadId": 1})
    printed(events, "12345")
    got = await taken(events)
    assert [event for event, _ in got] == ["output", "stopped", "output"]
    assert got[0][1]["output"].startswith("1234512345\n[20 characters")
    assert "[5 characters" in got[2][1]["output"]


async def test_prints_of_changing_categories_are_bounded_too(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(lent_events, "HELD_PRINTS", 4)
    events = LentEvents()
    for number in range(100):
        printed(events, "x", ("stdout", "stderr")[number % 2])
    assert events.put("stopped", {})
    got = await taken(events)
    assert [event for event, _ in got] == ["output"] * 4 + ["stopped"]
    assert "[96 characters" in got[3][1]["output"]


async def test_room_that_was_taken_is_there_again(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(lent_events, "HELD_CHARACTERS", 4)
    events = LentEvents()
    printed(events, "1234")
    reading = events.taken()
    assert fields(await anext(reading))["output"] == "1234"
    printed(events, "5678")
    assert fields(await anext(reading))["output"] == "5678"


async def test_of_all_else_there_is_room_for_so_much_and_output_takes_none_of_it(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(lent_events, "HELD_OTHERS", 3)
    events = LentEvents()
    for _ in range(50):
        printed(events, "x")
    assert [events.put("thread", {"threadId": number}) for number in range(5)] == [True] * 3 + [False] * 2
    assert [event for event, _ in await taken(events)] == ["output", "thread", "thread", "thread"]


async def test_after_the_end_nothing_is_heard() -> None:
    events = LentEvents()
    events.close()
    assert events.put("stopped", {})
    assert await taken(events) == []


async def lent_session(told: list[str]) -> LentSession:
    async def ask(*_: object) -> dict[str, Any]:
        return {}

    return LentSession(Offer("s", "Mine", "debugpy", {}), ask, "person-1:Code", told.append)


async def test_an_editor_that_tells_without_an_end_is_told_once_that_its_session_was_let_go(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(lent_events, "HELD_OTHERS", 3)
    released: list[str] = []
    session = await lent_session(released)
    for _ in range(10):
        session.heard("thread", {})
    await session.end()
    assert released == ["too_fast"]
    assert len([event async for event in session.events()]) == 3


@pytest.mark.parametrize("how", ["ended", "lost"])
async def test_an_editor_that_let_go_itself_is_told_nothing(how: str) -> None:
    released: list[str] = []
    session = await lent_session(released)
    getattr(session, how)()
    await session.end()
    assert released == []
