"""Without a model every tool is a command: in short forms, in full, with completion, and with what to do when wrong."""

from __future__ import annotations

import os
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import pytest

from dragoman.chat.command_agent import CommandAgent, fenced, without_references
from dragoman.chat.runs import AgentRequest, RunOutput
from dragoman.chat.slash_commands import COMMAND_ALIASES, COMMAND_GROUPS, SLASH_COMMANDS
from dragoman.chat.toolbox import ToolAnswer, ToolDescription
from dragoman.core.errors import DragomanError
from dragoman.core.localization import Language
from dragoman.protocols.gateway.chat_events import ChatEvent, ChatTextDelta, ToolResult, ToolStart
from dragoman.tools.status_and_journal import SearchJournalParameters, StatusParameters
from dragoman.tools.terminal import command_output, inspection, run
from dragoman.tools.tool import Parameters
from tests.tools.tool_fixture import opened

pytestmark = pytest.mark.anyio


@dataclass
class Box:
    """Answers with what it was asked."""

    names: Sequence[str]
    schema: Mapping[str, Any] = field(default_factory=dict)
    called: list[tuple[str, Mapping[str, Any]]] = field(default_factory=list)
    spoken: list[Language] = field(default_factory=list)

    def offers(self) -> Sequence[ToolDescription]:
        return [ToolDescription(name, f"does {name}", self.schema) for name in self.names]

    async def call(
        self, name: str, arguments: Mapping[str, Any], *, by: str, workspace: str, language: Language
    ) -> ToolAnswer:
        self.called.append((name, arguments))
        self.spoken.append(language)
        return ToolAnswer(f"{name} by {by}", {}, is_error=name == "stop_debugging")


OTHERS: Mapping[str, type[Parameters]] = {
    "dragoman_status": StatusParameters,
    "search_journal": SearchJournalParameters,
    "get_last_failure": command_output.LastFailureParameters,
    "search_commands": inspection.SearchCommandsParameters,
    "get_command_output": command_output.CommandOutputParameters,
    "list_terminals": inspection.ListTerminalsParameters,
    "read_terminal": inspection.ReadTerminalParameters,
    "run_in_terminal": run.RunInTerminalParameters,
}
TOOLS = sorted({form.tool for form in SLASH_COMMANDS.values()})


async def events_of(box: Box, text: str, language: Language = "en") -> list[ChatEvent]:
    received: list[ChatEvent] = []
    asked = AgentRequest("agent:main:main", "r", text, "page", (), language=language)
    await CommandAgent(box).answer(asked, RunOutput("r", "agent:main:main", received.append))
    return received


@pytest.mark.parametrize(
    ("text", "tool", "arguments"),
    [
        ("/break app.py:12", "set_breakpoint", {"file_path": "app.py", "line_number": 12}),
        (
            "/break my app.py:12 if n > 3",
            "set_breakpoint",
            {"file_path": "my app.py", "line_number": 12, "condition": "n > 3"},
        ),
        (
            "/break total() if x",
            "set_breakpoint",
            {"kind": "function", "function_name": "total", "condition": "x"},
        ),
        ("/clear 3", "remove_breakpoint", {"breakpoint_id": 3}),
        ("/clear all", "remove_breakpoint", {"clear_all": True}),
        ("/clear a.py:2", "remove_breakpoint", {"location": {"file_path": "a.py", "line_number": 2}}),
        ("/start Run the tests", "start_debugging", {"configuration_name": "Run the tests"}),
        ("/start app.py 1 'two words'", "start_debugging", {"program": "app.py", "args": ["1", "two words"]}),
        ("/step", "step_execution", {"step_type": "over"}),
        ("/step into", "step_execution", {"step_type": "into"}),
        ("/set total = total + 1", "set_variable", {"name": "total", "value": "total + 1"}),
        ("/eval len(rows) == 3", "evaluate_expression", {"expression": "len(rows) == 3"}),
        ("/source app.py:20", "get_source", {"file_path": "app.py", "line": 15, "count": 20}),
        ("/p len(rows)", "evaluate_expression", {"expression": "len(rows)"}),
        ("/s", "step_execution", {"step_type": "into"}),
        ("/finish", "step_execution", {"step_type": "out"}),
        ("/delete 3", "remove_breakpoint", {"breakpoint_id": 3}),
        ("/where", "wait_for_stop", {"timeout_s": 0}),
        ("/why", "get_last_failure", {}),
        ("/run make test", "run_in_terminal", {"command": "make test"}),
    ],
)
async def test_a_short_form_becomes_its_tools_call(text: str, tool: str, arguments: dict[str, Any]) -> None:
    box = Box(TOOLS)
    answer = await events_of(box, text)
    assert box.called == [(tool, arguments)]
    assert [type(event) for event in answer] == [ToolStart, ToolResult, ChatTextDelta]


async def test_every_tool_is_a_command_with_names_and_values() -> None:
    schema = {"properties": {"words": {"type": "string"}, "limit": {"type": "integer"}}, "required": ["words"]}
    box = Box(["search_journal"], schema)
    await events_of(box, "/search_journal words='two words' limit=3")
    await events_of(box, "/search_journal failed")
    await events_of(box, '/search_journal {"words": "a", "limit": 1}')
    assert [arguments for _, arguments in box.called] == [
        {"words": "two words", "limit": 3},
        {"words": "failed"},
        {"words": "a", "limit": 1},
    ]


@pytest.mark.parametrize(
    ("text", "code", "hint"),
    [
        ("/brek app.py:1", "unknown_command", "/break"),
        ("/zzz", "unknown_command", "/help"),
        ("/break app.py", "not_understood", "/break FILE:LINE"),
        ("/step sideways", "not_understood", "/step [over|into|out]"),
        ("/pause now", "not_understood", "/pause"),
        ("/set total", "not_understood", "/set NAME = VALUE"),
        ("/start 'half", "not_understood", "/start NAME"),
        ("/get_scopes {broken", "not_understood", "/get_scopes"),
    ],
)
async def test_what_is_not_understood_is_answered_with_how_it_is_written(text: str, code: str, hint: str) -> None:
    box = Box(TOOLS)
    with pytest.raises(DragomanError) as refused:
        await events_of(box, text)
    assert refused.value.code == code
    assert hint in str(refused.value.hint)
    assert box.called == []


async def test_a_tool_that_fails_is_shown_as_failed() -> None:
    answer = await events_of(Box(TOOLS), "/stop")
    assert [event.error for event in answer if isinstance(event, ToolResult)] == ["stop_debugging by page"]


@pytest.mark.parametrize(
    ("text", "fence"),
    [("plain", "```"), ("a ``` in it", "````"), ("``````\n```", "```````"), ("`x` and ``y``", "```")],
)
def test_a_block_ends_where_its_text_does(text: str, fence: str) -> None:
    assert fenced(text) == f"{fence}\n{text}\n{fence}"


def test_only_numbers_that_the_answer_names_are_left_out_for_people() -> None:
    data = {"session_id": "debug-1", "frames": [{"frame_id": 3}], "all": [{"variables_reference": 9}]}
    text = "stopped (thread 1, debug-1)\n  a = {}  [9]\n  b = '  [7]\nstack: #3 f < #4 g\n| x < #3 y, debug-1)"
    shown = "stopped (thread 1)\n  a = {}\n  b = '  [7]\nstack: f < #4 g\n| x < #3 y, debug-1)"
    assert without_references(text, data) == shown


@dataclass
class Guarded(Box):
    """Starts nothing before the folder is trusted."""

    is_trusted: bool = False
    answer: bool = True
    asked: list[str] = field(default_factory=list)

    async def call(
        self, name: str, arguments: Mapping[str, Any], *, by: str, workspace: str, language: Language
    ) -> ToolAnswer:
        if self.is_trusted:
            return await super().call(name, arguments, by=by, workspace=workspace, language=language)
        failure = {
            "code": "needs_trust",
            "message": "Nothing was started.",
            "hint": "dragoman trust x",
            "details": {"folder": "/x"},
        }
        return ToolAnswer("needs_trust: Nothing was started.\nwould_run: a.py", failure, is_error=True)

    async def ask(self, asked: AgentRequest, folder: str, tool: str) -> bool:
        assert (asked.session_key, tool) == ("agent:main:main", ""), "the person called it themselves"
        self.asked.append(folder)
        self.is_trusted = self.answer
        return self.answer


@pytest.mark.parametrize(("is_person", "answer", "asked"), [(True, True, 1), (True, False, 1), (False, True, 0)])
async def test_only_the_person_of_a_run_is_asked_for_trust(is_person: bool, answer: bool, asked: int) -> None:
    box = Guarded(TOOLS, answer=answer)
    run_output = RunOutput("r", "agent:main:main", lambda _: None)
    question = AgentRequest("agent:main:main", "r", "/start a.py", "the page", (), is_person)
    if is_person and answer:
        await CommandAgent(box, box).answer(question, run_output)
    else:
        with pytest.raises(DragomanError) as refused:
            await CommandAgent(box, box).answer(question, run_output)
        assert str(refused.value) == "Nothing was started. dragoman trust x"
    assert box.asked == ["/x"] * asked
    assert len(box.called) == (is_person and answer)


def test_every_command_is_in_one_group_of_the_help() -> None:
    assert sorted(name for _, names in COMMAND_GROUPS for name in names) == sorted(SLASH_COMMANDS)


def test_no_other_name_hides_a_command() -> None:
    assert not set(COMMAND_ALIASES) & set(SLASH_COMMANDS)
    assert set(COMMAND_ALIASES.values()) <= set(SLASH_COMMANDS)


async def test_help_lists_what_there_is_and_explains_one() -> None:
    (everything,) = await events_of(Box([*TOOLS, "special"]), "/help")
    assert isinstance(everything, ChatTextDelta)
    assert "/break FILE:LINE" in everything.content
    assert len(everything.content) < 600, "all of it is in sight"
    (tools,) = await events_of(Box([*TOOLS, "special"]), "/help tools")
    assert isinstance(tools, ChatTextDelta)
    assert "`/special`" in tools.content
    (one,) = await events_of(Box(TOOLS), "/help /break")
    assert isinstance(one, ChatTextDelta)
    assert "if EXPRESSION" in one.content
    (without,) = await events_of(Box(["dragoman_status"]), "/help")
    assert isinstance(without, ChatTextDelta)
    assert "/break" not in without.content


async def test_plain_words_are_answered_with_what_it_can_do() -> None:
    (answer,) = await events_of(Box(TOOLS), "please fix my program")
    assert isinstance(answer, ChatTextDelta)
    assert "/why" in answer.content


async def test_everything_is_in_the_language_of_the_caller() -> None:
    box = Box(TOOLS)
    for text, english in (("hello", "No model"), ("/help", "Breakpoints"), ("/help break", "Set a breakpoint")):
        (answer,) = await events_of(box, text, "zh")
        assert isinstance(answer, ChatTextDelta)
        assert english not in answer.content
        assert english in str(await events_of(box, text, "en"))
    for language in ("zh", "en"):
        await events_of(box, "/status", language)
    assert box.spoken == ["zh", "en"]


async def test_commands_and_parameters_are_completed() -> None:
    schema: dict[str, Any] = {"properties": {"words": {"description": "All of them.  In any order."}, "limit": {}}}
    agent = CommandAgent(Box(["search_journal", "set_breakpoint"], schema))
    assert await agent.complete("/br", "en") == [
        ("/break", "FILE:LINE [if EXPRESSION] · Set a breakpoint at a line, or in a function: name().")
    ]
    assert await agent.complete("/search_journal wo", "en") == [("/search_journal words=", "All of them")]
    assert await agent.complete("/search_journal l", "en") == [("/search_journal limit=", "")]
    assert await agent.complete("/he", "en") == [("/help", "Show help for the commands.")]
    assert await agent.complete("hello", "en") == []
    assert await agent.complete("/break ap", "en") == []


async def test_a_completion_is_described_briefly_in_the_persons_language() -> None:
    long = ToolDescription("wordy", "a word " * 100, {})
    box = Box(["set_breakpoint", "stop_debugging"])
    agent = CommandAgent(box)
    every = await agent.complete("/", "zh")
    assert all(it.description and "\n" not in it.description for it in every)
    assert await agent.complete("/breaks", "zh") == []
    assert "name()" in (await agent.complete("/break", "zh"))[0].description
    assert "Set a breakpoint" not in (await agent.complete("/break", "zh"))[0].description
    box.offers = lambda: [long]  # type: ignore[method-assign]
    assert len((await agent.complete("/wordy", "zh"))[0].description) == 120


async def test_files_of_the_folder_are_completed_for_commands_that_take_one(tmp_path: Path) -> None:
    for name in ("shop.py", "shut.py", "other.py", ".hidden", "lib/shared.py"):
        (tmp_path / name).parent.mkdir(exist_ok=True)
        (tmp_path / name).touch()
    agent = CommandAgent(Box(TOOLS))

    async def offered(text: str, folder: str = str(tmp_path)) -> list[str]:
        return [it.text for it in await agent.complete(text, "en", folder)]

    assert await offered("/break sh") == ["/break shop.py:", "/break shut.py:"]
    assert await offered("/start l") == ["/start lib/"]
    assert await offered("/start lib/") == ["/start lib/shared.py"]
    assert await offered("/source ") == ["/source lib/", "/source other.py", "/source shop.py", "/source shut.py"]
    assert await offered("/source .h") == ["/source .hidden"]
    assert await offered("/eval sh") == await offered("/start lib/../") == await offered(f"/start {tmp_path}/") == []
    assert await offered("/start no/") == await offered("/break sh", "") == await offered("/start a\0/") == []


async def test_a_file_name_that_is_not_text_or_hides_something_is_not_completed(tmp_path: Path) -> None:
    for name in (b"x-\xff.py", b"x-\n.py", "x-\u202e.py".encode(), "x-\u5f20.py".encode()):
        (tmp_path / os.fsdecode(name)).touch()
    assert await CommandAgent(Box(TOOLS)).complete("/start x", "en", str(tmp_path)) == [("/start x-\u5f20.py", "")]


WRITTEN = {
    "break": ["a.py:1 if x", "total()"],
    "clear": ["1", "a.py:1", "all"],
    "start": ["a.py 1", "Run it"],
    "step": ["", "over", "into", "out"],
    "eval": ["1"],
    "set": ["a = 1"],
    "source": ["a.py", "a.py:3"],
    "run": ["ls"],
    "find": ["words"],
    "history": ["", "words"],
    "screen": ["", "id"],
    "vars": ["", "globals", "rows"],
}


async def test_every_short_form_is_taken_by_the_tool_it_names(tmp_path: Path) -> None:
    async with opened(tmp_path) as bench:
        debugging = {tool.name: tool.parameters for tool in bench.toolbox.tools}
    parameters: Mapping[str, type[Parameters]] = {**debugging, **OTHERS}
    for name, form in SLASH_COMMANDS.items():
        for rest in WRITTEN.get(name, [""]):
            assert parameters[form.tool].model_validate(form.parse(rest)) is not None
