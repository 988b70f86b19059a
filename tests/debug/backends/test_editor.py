"""An editor that sends events faster than they are taken, or malformed ones."""

from __future__ import annotations

from typing import Any

import pytest

from dragoman.debug.backends import editor as backends_editor
from dragoman.debug.backends.editor import EditorBackend, SessionOffer
from dragoman.protocols.dap.bodies import StoppedBody

pytestmark = pytest.mark.anyio


@pytest.fixture
def anyio_backend() -> str:
    return "asyncio"


async def lent_session(result: list[str]) -> EditorBackend:
    async def ask(*_: object) -> dict[str, Any]:
        return {}

    return EditorBackend(SessionOffer("s", "Mine", "debugpy", {}), ask, "person-1:Code", result.append)


async def test_an_editor_that_floods_us_learns_once_that_its_session_was_released(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(backends_editor, "MAX_QUEUED_EVENTS", 3)
    released: list[str] = []
    session = await lent_session(released)
    for number in range(10):
        session.handle_event("output", {"category": "stdout", "output": "x"})
        session.handle_event("thread", {"reason": "started", "threadId": number})
    await session.end()
    assert released == ["too_fast"]
    assert [event.event async for event in session.events.ordered()].count("thread") == 3


async def test_an_event_that_is_malformed_is_skipped() -> None:
    session = await lent_session([])
    session.handle_event("stopped", {"threadId": "one"})
    session.handle_event("stopped", {"reason": "step", "threadId": 1})
    await session.end()
    assert [event async for event in session.events.ordered()] == [StoppedBody(reason="step", thread_id=1)]


@pytest.mark.parametrize("how", ["ended", "handle_editor_gone"])
async def test_an_editor_that_released_the_session_itself_gets_nothing(how: str) -> None:
    released: list[str] = []
    session = await lent_session(released)
    getattr(session, how)()
    await session.end()
    assert released == []
