"""Answers from the record alone: of real sessions, and of histories in which the failure is not the last thing."""

from __future__ import annotations

from collections.abc import AsyncIterator
from pathlib import Path

import pytest

from dragoman.phrases import Language
from dragoman.redaction import Redactor
from dragoman.terminal.answers import Answers
from dragoman.terminal.port import Scope
from tests.domain.terminal.recorded import Recorded, recorded, session, session_names

pytestmark = pytest.mark.anyio


@pytest.fixture
async def record(tmp_path: Path) -> AsyncIterator[Recorded]:
    async with recorded(tmp_path) as record:
        yield record


async def ask(record: Recorded, query: str, *, scope: Scope = None, language: Language = "en") -> str:
    answers = Answers(record.service, clock=record.clock, redactor=Redactor(), language=language)
    return "".join([piece async for piece in answers.stream(query, scope=scope, asking="t1")])


def error_line(answer: str) -> str:
    return next((line.removeprefix("  │ ") for line in answer.splitlines() if line.startswith("  │ ")), "")


@pytest.mark.requirement("omnish:daemon:answers-requests")
async def test_recorded_sessions_are_answered_with_the_command_its_exit_code_and_the_error_line(
    record: Recorded, capsys: pytest.CaptureFixture[str]
) -> None:
    """The table is the proof; nine of ten must be right in all three."""
    rows = []
    for name in session_names():
        commands, wanted = session(name)
        for command in commands:
            await record.run(
                command["line"], command["exit_code"], command["output"], terminal=name, cwd=command["cwd"]
            )
        answer = await ask(record, wanted["question"], scope=(name,))
        first = answer.splitlines()[0]
        rows.append(
            (
                name,
                f"`{wanted['command']}`" in first,
                f"exit code {wanted['exit_code']}" in first,
                wanted["error_line"] in error_line(answer),
            )
        )
    right = sum(all(row[1:]) for row in rows)
    with capsys.disabled():
        print(f"\n{'session':20} command  exit code  error line")
        for name, *found in rows:
            print(f"{name:20} " + "  ".join(f"{'yes' if one else 'NO':8}" for one in found))
        print(f"{right} of {len(rows)} right")
    assert len(rows) >= 20
    assert right >= 0.9 * len(rows), [row for row in rows if not all(row[1:])]
