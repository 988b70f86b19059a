"""The registry of tools, without a server in front of it."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path
from typing import Any

import jsonschema
import pytest

from dragoman.core.errors import DragomanError
from dragoman.core.events import Event
from dragoman.journal import Journal
from dragoman.tools import Effects, Tool, ToolOutcome, ToolRegistry, build_tool_registry
from dragoman.tools.status_and_journal import DATA_BYTES, TEXT_SHOWN
from dragoman.tools.tool import Parameters, Result
from dragoman.workspace.caller import Caller

pytestmark = pytest.mark.anyio

CALLER = Caller(id="mcp-1", workspace=Path("/w"), cwd=Path("/c"), environment={"KEY": "secret"})
STATUS = {
    "version": "1", "address": "http://127.0.0.1:1", "pid": 5, "workspace": "/d", "started_at": "2026-01-01T00:00:00Z",
    "uptime_s": 3, "sessions": [{"id": "d-1", "kind": "debug", "title": "a.py"}], "journal_sequence": 9, "more": 1,
}  # fmt: skip


def lines(outcome: ToolOutcome) -> list[str]:
    return [str(line) for line in outcome.lines]


async def search(journal: Journal, **arguments: Any) -> ToolOutcome:
    return await build_tool_registry(lambda: STATUS, journal).call("search_journal", arguments, CALLER)


async def test_status_is_about_the_caller_and_the_daemon(tmp_path: Path) -> None:
    async with Journal.open(tmp_path) as journal:
        toolbox = build_tool_registry(lambda: STATUS, journal)
        outcome = await toolbox.call("dragoman_status", {}, CALLER)
    data = outcome.data.model_dump(mode="json")
    assert (data["workspace"], data["daemon_workspace"]) == ("/w", "/d")
    assert "more" not in data
    jsonschema.validate(data, toolbox.tools[0].output_schema)
    assert lines(outcome) == [
        "Dragoman 1 at http://127.0.0.1:1, since 2026-01-01T00:00:00Z. Workspace: /w.",
        "Session: debug a.py (d-1)",
    ]


async def test_a_search_gives_the_newest_first_and_as_many_as_asked(tmp_path: Path) -> None:
    async with Journal.open(tmp_path) as journal:
        await journal.append(
            [Event(kind="test.happened", text=f"red number {n}", body={"n": n}, workspace="/w") for n in range(5)]
        )
        outcome = await search(journal, words="red", limit=2)
    found = outcome.data.model_dump()
    assert [event["body"]["n"] for event in found["events"]] == [4, 3]
    assert found["left_out"] == 0
    assert [line.split(" ", 2)[2] for line in lines(outcome)] == [f"test.happened red number {n}" for n in (4, 3)]


async def test_a_search_without_a_hit_says_so(tmp_path: Path) -> None:
    async with Journal.open(tmp_path) as journal:
        outcome = await search(journal, words="nothing")
    assert lines(outcome) == ["No event in the journal contains all of these words."]


async def test_long_texts_are_cut_for_the_reader_and_whole_in_the_data(tmp_path: Path) -> None:
    text = "blue\n" + "word " * 100
    async with Journal.open(tmp_path) as journal:
        await journal.append([Event(kind="a.b", text=text, workspace="/w")])
        outcome = await search(journal, words="blue")
    (line,) = lines(outcome)
    assert line.endswith("…")
    assert "\n" not in line
    assert len(line) < TEXT_SHOWN + 60
    assert outcome.data.model_dump()["events"][0]["text"] == text


async def test_heavy_events_are_left_out_and_counted(tmp_path: Path) -> None:
    heavy = {"blob": "x" * 200_000}
    async with Journal.open(tmp_path) as journal:
        for _ in range(12):
            await journal.append([Event(kind="a.b", text="heavy", body=heavy, workspace="/w")])
        outcome = await search(journal, words="heavy")
    found = outcome.data.model_dump()
    assert len(found["events"]) == DATA_BYTES // 200_000
    assert found["left_out"] == 12 - len(found["events"])
    assert lines(outcome)[-1] == f"{found['left_out']} older events omitted; add words to narrow the search."


@pytest.mark.parametrize(
    ("arguments", "reason"),
    [
        ({}, "words: Field required"),
        ({"words": ""}, "words: "),
        ({"words": "a", "limit": 101}, "limit: "),
        ({"words": "a", "limit": None}, "limit: "),
        ({"words": ["a"]}, "words: "),
        ({"words": "a", "kinds": []}, "kinds: Extra inputs are not permitted"),
    ],
)
async def test_wrong_arguments_never_reach_the_operation(
    tmp_path: Path, arguments: dict[str, Any], reason: str
) -> None:
    async with Journal.open(tmp_path) as journal:
        with pytest.raises(DragomanError) as caught:
            await search(journal, **arguments)
    assert caught.value.code == "bad_arguments"
    assert reason in str(caught.value)


async def test_an_unknown_tool_is_named_with_the_known_ones(tmp_path: Path) -> None:
    async with Journal.open(tmp_path) as journal:
        with pytest.raises(DragomanError, match="Available: dragoman_status, search_journal") as caught:
            await build_tool_registry(lambda: STATUS, journal).call("no\x1b[31m", {}, CALLER)
    assert caught.value.code == "unknown_tool"
    assert "\x1b" not in str(caught.value)


class Titled(Parameters):
    """Said to readers of the source."""

    title: str
    inner: dict[str, int]


class Nothing(Result):
    pass


def test_a_schema_has_no_titles_but_keeps_a_parameter_of_that_name() -> None:
    async def run(_: Caller, __: Titled) -> ToolOutcome:
        return ToolOutcome([], Nothing())

    tool = Tool("t", "T", "d", Titled, Nothing, run, Effects())
    assert tool.input_schema == {
        "additionalProperties": False,
        "properties": {
            "title": {"type": "string"},
            "inner": {"additionalProperties": {"type": "integer"}, "type": "object"},
        },
        "required": ["title", "inner"],
        "type": "object",
    }
    assert [each.name for each in ToolRegistry([tool]).tools] == ["t"]


def test_the_environment_does_not_show_in_a_caller() -> None:
    assert "secret" not in repr(CALLER)
    assert "secret" not in str([CALLER])


async def test_a_search_finds_what_belongs_to_the_callers_folder_and_what_lies_below_it(tmp_path: Path) -> None:
    folders = ["/w", "/w/sub", "/w-other", "/", "/other", "", "/w0"]
    async with Journal.open(tmp_path) as journal:
        await journal.append([Event(kind="a.b", text="red", body={"at": it}, workspace=it) for it in folders])
        toolbox = build_tool_registry(lambda: STATUS, journal)
        own = await toolbox.call("search_journal", {"words": "red"}, CALLER)
        root = await toolbox.call("search_journal", {"words": "red"}, replace(CALLER, workspace=Path("/")))
        every = await toolbox.call("search_journal", {"words": "red"}, replace(CALLER, sees_every_workspace=True))
    found = [{it["body"]["at"] for it in outcome.data.model_dump()["events"]} for outcome in (own, root, every)]
    assert found == [{"/w", "/w/sub"}, set(folders) - {""}, set(folders)]


async def test_no_parameter_of_a_tool_widens_a_search(tmp_path: Path) -> None:
    async with Journal.open(tmp_path) as journal:
        for name in ("workspace", "all_workspaces", "sees_every_workspace"):
            with pytest.raises(DragomanError, match="Invalid arguments for search_journal"):
                await search(journal, words="red", **{name: True})
