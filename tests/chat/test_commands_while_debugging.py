"""The commands over a real debugger: what a person reads is what the program is, and none of an agent's numbers."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest

from dragoman.chat.command_agent import CommandAgent
from dragoman.chat.runs import AgentRequest, RunOutput
from dragoman.chat.toolbox import ToolAnswer, ToolDescription
from dragoman.core.errors import DragomanError
from dragoman.core.localization import Language
from tests.tools.debug.test_with_debugpy import Agent, agent_in

pytestmark = [pytest.mark.anyio, pytest.mark.timeout(120)]

PROGRAM = """\
RATES = {"a": 1, "b": 2}


def total(codes: list[str]) -> int:
    *first, last = codes
    text = "> not a quote\\n```\\n  [7]"
    return len(first) + RATES[last]


def report(orders: list[str], limit: int) -> int:
    return total(orders)


print(report(["x", "b"], 7))
"""


@dataclass
class Box:
    agent: Agent

    def offers(self) -> Sequence[ToolDescription]:
        return [ToolDescription(it.name, it.description, it.input_schema) for it in self.agent.toolbox.tools]

    async def call(
        self, name: str, arguments: Mapping[str, Any], *, by: str, workspace: str, language: Language
    ) -> ToolAnswer:
        try:
            outcome = await self.agent.toolbox.call(name, arguments, self.agent.caller)
        except DragomanError as error:
            return ToolAnswer(str(error), {"code": error.code, "message": str(error.message)}, is_error=True)
        return ToolAnswer("\n".join(map(str, outcome.lines)), outcome.data.model_dump(mode="json"), outcome.is_error)


@dataclass
class Person:
    commands: CommandAgent

    async def answer_to(self, text: str) -> str:
        """What stands in the block of the answer."""
        run_output = RunOutput("r", "agent:main:main", lambda _: None)
        await self.commands.answer(AgentRequest("agent:main:main", "r", text, "page", ()), run_output)
        block = re.fullmatch(r"(`{3,})\n(.*)\n\1", run_output.text, re.DOTALL)
        assert block, run_output.text
        assert block[1] not in block[2], "nothing in it ends it"
        return block[2]


async def test_a_stop_its_variables_stack_and_lines_are_read_as_they_are(tmp_path: Path) -> None:
    (tmp_path / "orders.py").write_text(PROGRAM)
    async with agent_in(tmp_path) as agent:
        person = Person(CommandAgent(Box(agent)))
        await person.answer_to("/b orders.py:7")
        stop = await person.answer_to("/start orders.py")
        assert "\n>    7      return len(first) + RATES[last]" in stop
        assert re.search(r"^  codes = \['x', 'b'\]$", stop, re.MULTILINE)
        assert re.search(r"^stack: orders\.py:7 total < orders\.py:11 report", stop, re.MULTILINE)
        assert not re.search(r"#\d{4,}|\[\d{4,}\]|debug-[0-9a-f]{8}", stop)
        await _looks(person)
        with pytest.raises(DragomanError) as refused:
            await person.answer_to("/p nothing_like_this")
        assert not str(refused.value).startswith(refused.value.code)


async def _looks(person: Person) -> None:
    found = await person.answer_to("/vars")
    assert re.search(r"^  first = \['x'\]$", found, re.MULTILINE)
    assert re.search(r"^  text = .*  \[7\]'$", found, re.MULTILINE)
    assert "RATES" in await person.answer_to("/vars globals")
    assert "'b' = 2" in await person.answer_to("/vars RATES")
    assert "= int: 1" in await person.answer_to("/vars len(first)")
    frames = (await person.answer_to("/where")).split("\n")
    assert frames[0].startswith("> total  ")
    assert frames[0].endswith("orders.py:7")
    assert frames[1].startswith("  report  ")
    assert re.search(r"^  0 = 'x'$", await person.answer_to("/vars orders"), re.MULTILINE)  # of who called
    assert re.fullmatch(r"report  \S+orders\.py:11\n.*= int: 7.*", await person.answer_to("/vars limit"), re.DOTALL)
    lines = await person.answer_to("/l")
    assert [line for line in lines.split("\n") if line.startswith(">")] == [
        ">    7      return len(first) + RATES[last]"
    ]
    assert "= str: 'b'" in await person.answer_to("/print last")
