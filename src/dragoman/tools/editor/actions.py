"""The tools that act in the editor: `ide_open`, `ide_diff`, `ide_notify` and `ide_run_in_terminal`."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Annotated, Literal, cast

from pydantic import Field

from dragoman.core.errors import DragomanError
from dragoman.core.localization import LocalizedText, localize
from dragoman.tools import agent_text
from dragoman.tools.editor import requests
from dragoman.tools.editor.requests import (
    DEFAULT_WAIT_S,
    MAX_COMMAND,
    MAX_TEXT,
    EditorFilePath,
    EditorRequests,
    FileParameters,
    Line,
    Seconds,
)
from dragoman.tools.errors import several_lines
from dragoman.tools.json_schema import Maybe
from dragoman.tools.tool import RUNS_CODE, Effects, Parameters, Result, ToolOutcome, tool
from dragoman.workspace.caller import Caller

_DECISIONS = ("accepted", "rejected", "closed")


class OpenParameters(FileParameters):
    file_path: EditorFilePath
    line: Line = 1
    end_line: Annotated[Maybe[Line], Field(description="Select through this line.")] = None


class DiffParameters(FileParameters):
    file_path: EditorFilePath
    text: Annotated[str, Field(max_length=MAX_TEXT, description="The whole new file.")]
    title: Annotated[str, Field(max_length=200, description="Title: what the change does.")] = ""
    timeout_s: Seconds = DEFAULT_WAIT_S


class NotifyParameters(Parameters):
    message: Annotated[str, Field(min_length=1, max_length=1000)]
    level: Literal["info", "warning", "error"] = "info"


class TerminalLineParameters(Parameters):
    command: Annotated[str, Field(min_length=1, max_length=MAX_COMMAND)]
    name: Annotated[str, Field(max_length=60, description="Terminal name; reused if it exists.")] = ""


class OpenResult(Result):
    status: Literal["opened"]
    path: str
    line: int


class DiffResult(Result):
    status: Literal["accepted", "rejected", "closed", "waiting"]
    path: str
    is_new: bool


class NotifyResult(Result):
    status: Literal["shown"]


class TerminalLineResult(Result):
    status: Literal["started"]
    terminal: str


@dataclass(frozen=True, slots=True)
class EditorActionTools:
    requests: EditorRequests

    @tool(
        "ide_open",
        "Open in the editor",
        "Use to show the user code: opens a file at a line in their editor.",
        OpenParameters,
        OpenResult,
        Effects(repeatable=True),
    )
    async def open(self, caller: Caller, wanted: OpenParameters) -> ToolOutcome:
        path = self.requests.place(caller, wanted.file_path)
        asked = {"path": path, "line": wanted.line, "end_line": max(wanted.end_line or wanted.line, wanted.line)}
        await self.requests.ask(caller, "open", asked, requests.TerminalAnswer)
        data = OpenResult(status="opened", path=path, line=wanted.line)
        return ToolOutcome(
            [localize("opened in the editor: {path}:{line}", path=agent_text.path(path), line=wanted.line)], data
        )

    @tool(
        "ide_diff",
        "Propose a change",
        (
            "Use when the user should review a change: shows the new version of a file as a diff, and writes it "
            "if they accept."
        ),
        DiffParameters,
        DiffResult,
        Effects(destroys=True),
    )
    async def diff(self, caller: Caller, wanted: DiffParameters) -> ToolOutcome:
        """Propose a change. After a timeout the diff stays open, and the same call again returns the decision."""
        path = self.requests.place(caller, wanted.file_path)
        asked = {"path": path, "text": wanted.text, "title": agent_text.one_line(wanted.title)}
        try:
            answer = await self.requests.ask(caller, "diff", asked, requests.DiffAnswer, wanted.timeout_s)
        except DragomanError as error:
            if error.code != "editor_silent":
                raise
            return _diff_outcome("waiting", path, is_new=False)
        decision = answer.decision if answer.decision in _DECISIONS else "closed"
        return _diff_outcome(decision, path, is_new=answer.is_new)

    @tool(
        "ide_notify",
        "Notify in the editor",
        "Use to tell the user something short that needs no answer: a message in their editor.",
        NotifyParameters,
        NotifyResult,
        Effects(),
    )
    async def notify(self, caller: Caller, wanted: NotifyParameters) -> ToolOutcome:
        asked = {"message": agent_text.one_line(wanted.message), "level": wanted.level}
        await self.requests.ask(caller, "notify", asked, requests.TerminalAnswer)
        return ToolOutcome([localize("shown to the user in the editor")], NotifyResult(status="shown"))

    @tool(
        "ide_run_in_terminal",
        "Run in the editor's terminal",
        "Use for a command whose output the user should see, not you: runs it in an editor terminal.",
        TerminalLineParameters,
        TerminalLineResult,
        RUNS_CODE,
    )
    async def run(self, caller: Caller, wanted: TerminalLineParameters) -> ToolOutcome:
        """Run one line only: the user approves exactly what runs."""
        if agent_text.one_line(wanted.command) != wanted.command:
            raise several_lines()
        asked = {"command": wanted.command, "name": agent_text.one_line(wanted.name)}
        answer = await self.requests.ask(caller, "run_in_terminal", asked, requests.TerminalAnswer)
        name = agent_text.one_line(answer.terminal, 60)
        data = TerminalLineResult(status="started", terminal=name)
        return ToolOutcome([localize("typed into the editor's terminal {name}; the user sees it run", name=name)], data)


def _diff_outcome(decision: str, path: str, *, is_new: bool) -> ToolOutcome:
    status = cast("Literal['accepted', 'rejected', 'closed', 'waiting']", decision)
    return ToolOutcome(
        [_DECISION_TEXTS[decision](agent_text.path(path))], DiffResult(status=status, path=path, is_new=is_new)
    )


def _accepted(path: str) -> LocalizedText:
    return localize("accepted: {path} now has the proposed text", path=path)


def _rejected(path: str) -> LocalizedText:
    return localize("rejected: {path} is unchanged", path=path)


def _closed(path: str) -> LocalizedText:
    return localize("closed without an answer: {path} is unchanged", path=path)


def _waiting(path: str) -> LocalizedText:
    return localize("not decided yet: the diff of {path} stays open; repeat the call to keep waiting", path=path)


_DECISION_TEXTS = {"accepted": _accepted, "rejected": _rejected, "closed": _closed, "waiting": _waiting}
