"""The tools that read the editor: `ide_diagnostics`, `ide_selection` and `ide_open_files`."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Annotated, Literal

from pydantic import Field

from dragoman.core.labels import label_of
from dragoman.core.localization import LocalizedText, localize
from dragoman.tools import agent_text
from dragoman.tools.editor import requests
from dragoman.tools.editor.requests import EditorDiagnostic, EditorRequests, FileParameters
from dragoman.tools.tool import Parameters, Result, ToolOutcome, tool
from dragoman.workspace.caller import Caller

_PROBLEMS = 200
_IN_TEXT = 30
_SELECTED = 20_000
_MESSAGE = 1000


class DiagnosticsParameters(FileParameters):
    file_path: Annotated[str, Field(max_length=4096, description="Only this file or folder.")] = ""
    least: Annotated[Literal["error", "warning", "information", "hint"], Field(description="Or worse.")] = "warning"


class EditorStateParameters(Parameters):
    pass


class DiagnosticsResult(Result):
    status: Literal["diagnostics"]
    problems: list[EditorDiagnostic]
    more: int
    """How many were left out because of the limit."""


class SelectionResult(Result):
    status: Literal["selection", "nothing", "withheld"]
    path: str = ""
    text: str = ""
    is_cut: bool = False
    start_line: int = 0
    start_column: int = 0
    end_line: int = 0
    end_column: int = 0


class OpenFile(Result):
    path: str
    is_active: bool = False
    is_changed: bool = False
    """Whether it has unsaved changes, so that the file on disk is older than what the user sees."""


class OpenFilesResult(Result):
    status: Literal["open_files"]
    files: list[OpenFile]
    withheld: int
    """Whether the selection is in a file outside the workspace."""


@dataclass(frozen=True, slots=True)
class EditorInspectionTools:
    requests: EditorRequests

    @tool(
        "ide_diagnostics",
        "Problems in the editor",
        "Use before and after a change: errors and warnings from the editor's language servers.",
        DiagnosticsParameters,
        DiagnosticsResult,
    )
    async def diagnostics(self, caller: Caller, wanted: DiagnosticsParameters) -> ToolOutcome:
        path = self.requests.place(caller, wanted.file_path or ".")
        asked = {"path": path, "least": wanted.least, "most": _PROBLEMS}
        answer = await self.requests.ask(caller, "diagnostics", asked, requests.DiagnosticsAnswer)
        seen = [self._problem(it) for it in answer.problems if self.requests.may_see(caller, it.path)]
        data = DiagnosticsResult(
            status="diagnostics", problems=seen[:_PROBLEMS], more=max(answer.more, 0) + max(len(seen) - _PROBLEMS, 0)
        )
        return ToolOutcome(_problem_lines(data), data)

    @tool(
        "ide_selection",
        "Selection in the editor",
        'Use when the user says "this" or "here": their selection and cursor position.',
        EditorStateParameters,
        SelectionResult,
    )
    async def selection(self, caller: Caller, _: EditorStateParameters) -> ToolOutcome:
        answer = await self.requests.ask(caller, "selection", {"most": _SELECTED}, requests.SelectionAnswer)
        if not answer.path:
            return ToolOutcome([localize("no text editor has focus")], SelectionResult(status="nothing"))
        if not self.requests.may_see(caller, answer.path):
            outside = localize("the selection is in a file outside the workspace and is not shown")
            return ToolOutcome([outside], SelectionResult(status="withheld"))
        selected_text = agent_text.truncate(self.requests.shown(answer.text), _SELECTED)
        data = SelectionResult(
            status="selection",
            **answer.model_dump(exclude={"text", "is_cut"}),
            text=selected_text.text,
            is_cut=answer.is_cut or not selected_text.is_whole,
        )
        return ToolOutcome(_selection_lines(data), data)

    @tool(
        "ide_open_files",
        "Open files",
        "Use to learn what the user works on: files open in the editor, which is active, which are unsaved.",
        EditorStateParameters,
        OpenFilesResult,
    )
    async def open_files(self, caller: Caller, _: EditorStateParameters) -> ToolOutcome:
        answer = await self.requests.ask(caller, "open_files", {}, requests.OpenFilesAnswer)
        seen = [OpenFile(**it.model_dump()) for it in answer.files if self.requests.may_see(caller, it.path)]
        data = OpenFilesResult(status="open_files", files=seen, withheld=len(answer.files) - len(seen))
        return ToolOutcome([_file_line(it) for it in seen] or [localize("no file of the workspace is open")], data)

    def _problem(self, it: EditorDiagnostic) -> EditorDiagnostic:
        message = self.requests.shown(it.message)[:_MESSAGE]
        named = {"source": agent_text.one_line(it.source, 60), "code": agent_text.one_line(it.code, 60)}
        return it.model_copy(update={"message": message, **named})


def _problem_lines(data: DiagnosticsResult) -> list[LocalizedText]:
    if not data.problems:
        return [localize("the editor reports no problems")]
    lines = [
        localize(
            "{path}:{line}: {severity}: {message}",
            path=agent_text.path(it.path),
            line=it.line,
            severity=label_of(it.severity),
            message=agent_text.one_line(it.message, 300),
        )
        for it in data.problems[:_IN_TEXT]
    ]
    left = len(data.problems) - len(lines) + data.more
    return [*lines, localize("and {count} more", count=left)] if left else lines


def _selection_lines(data: SelectionResult) -> list[LocalizedText]:
    place = agent_text.path(data.path)
    if not data.text:
        return [localize("nothing is selected; the cursor is at {path}:{line}", path=place, line=data.start_line)]
    head = localize("selected in {path}, lines {first}-{last}:", path=place, first=data.start_line, last=data.end_line)
    return [head, localize("{text}", text=data.text)]


def _file_line(file: OpenFile) -> LocalizedText:
    marks = "".join(mark for mark, holds in ((">", file.is_active), ("*", file.is_changed)) if holds)
    return localize("{text}", text=f"{marks:2} {agent_text.path(file.path)}")
