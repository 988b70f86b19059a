"""Requests to the editor of the caller's workspace: validated answers, and which files an agent may see."""

from __future__ import annotations

import os
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Annotated, Any, Literal, TypeVar

from pydantic import BaseModel, ConfigDict, Field, ValidationError, model_validator

from dragoman.core.errors import DragomanError, ErrorSpec
from dragoman.core.localization import localize
from dragoman.core.redaction import Redactor
from dragoman.editors import EditorRegistry
from dragoman.tools import agent_text
from dragoman.tools.json_schema import RELATIVE_PATH
from dragoman.tools.tool import ErrorFormat, Parameters, Result, ToolOutcome
from dragoman.workspace.caller import Caller
from dragoman.workspace.file_access import FileAccessError, FileAccessPolicy

DEFAULT_WAIT_S = 45.0
MAX_TEXT = 400_000
MAX_COMMAND = 500
"""Editors cut a notification at a thousand characters, and the user must see all of what is asked."""

EditorFilePath = Annotated[str, Field(min_length=1, max_length=4096, description=RELATIVE_PATH)]
Line = Annotated[int, Field(ge=1, le=10_000_000)]
Seconds = Annotated[float, Field(ge=0, le=3600, description="Time to wait for the user.")]


class FileParameters(Parameters):
    """Named as in every other tool; `path`, the earlier name, still works."""

    @model_validator(mode="before")
    @classmethod
    def _earlier_name(cls, given: Any) -> Any:
        if isinstance(given, dict) and "path" in given and "file_path" not in given:
            return {"file_path" if name == "path" else name: value for name, value in given.items()}
        return given


class EditorDiagnostic(Result):
    path: str
    line: int
    column: int = 1
    severity: Literal["error", "warning", "information", "hint"]
    message: str
    source: str = ""
    code: str = ""


class EditorFailure(Result):
    status: Literal["error"]
    code: str
    message: str
    hint: str


def _editor_failure(caller: Caller, tool: str, arguments: Mapping[str, Any], error: DragomanError) -> ToolOutcome:  # noqa: ARG001
    data = EditorFailure(
        status="error",
        code=error.code,
        message=error.message.in_language(caller.language),
        hint=error.hint.in_language(caller.language) if error.hint else "",
    )
    line = localize("{text}", text=f"{error.code}: {error.in_language(caller.language)}")
    return ToolOutcome([line], data, is_error=True)


EDITOR_ERRORS = ErrorFormat(EditorFailure, _editor_failure)


class _EditorAnswer(BaseModel):
    model_config = ConfigDict(frozen=True, extra="ignore")


class DiffAnswer(_EditorAnswer):
    decision: str
    is_new: bool = False


class DiagnosticsAnswer(_EditorAnswer):
    problems: list[EditorDiagnostic] = Field(max_length=5000)
    more: int = 0


class SelectionAnswer(_EditorAnswer):
    path: str = Field(default="", max_length=4096)
    text: str = ""
    is_cut: bool = False
    start_line: int = 0
    start_column: int = 0
    end_line: int = 0
    end_column: int = 0


class OpenFileAnswer(_EditorAnswer):
    path: str = Field(max_length=4096)
    is_active: bool = False
    is_changed: bool = False


class OpenFilesAnswer(_EditorAnswer):
    files: list[OpenFileAnswer] = Field(max_length=5000)


class TerminalAnswer(_EditorAnswer):
    terminal: str = Field(default="", max_length=200)


_Answer = TypeVar("_Answer", bound=_EditorAnswer)


def validate_answer(answer: Any, kind: type[_Answer]) -> _Answer:
    try:
        return kind.model_validate(answer)
    except ValidationError as error:
        raise DragomanError(
            "bad_editor_answer",
            localize("The editor returned an invalid response."),
            hint=localize("Its extension may not match the daemon's version: ask the user to update it."),
        ) from error


_AnyAnswer = TypeVar("_AnyAnswer", bound=Any)


@dataclass(frozen=True, slots=True)
class EditorRequests:
    editors: EditorRegistry
    rule: FileAccessPolicy = field(default_factory=FileAccessPolicy)
    redactor: Redactor = field(default_factory=Redactor)

    async def ask(
        self,
        caller: Caller,
        method: str,
        params: dict[str, Any],
        kind: type[_AnyAnswer],
        within_s: float = DEFAULT_WAIT_S,
    ) -> _AnyAnswer:
        """Ask the editor. The user sees the name that the client gave itself."""
        asked = {**params, "by": agent_text.one_line(caller.name, 60), "folder": str(caller.workspace)}
        answer: _AnyAnswer = validate_answer(await self.editors.ask(caller.workspace, method, asked, within_s), kind)
        return answer

    def place(self, caller: Caller, path: str) -> str:
        """Resolve a path of the caller, if agents may use it."""
        whole = os.path.normpath(caller.workspace / path)
        try:
            return self.rule.judge(whole, caller.workspace)
        except FileAccessError as refused:
            raise _refused(path=whole, folder=caller.workspace) from refused

    def may_see(self, caller: Caller, path: str) -> bool:
        try:
            self.rule.judge(path, caller.workspace)
        except FileAccessError:
            return False
        return True

    def shown(self, text: str) -> str:
        """Redact and escape text from an editor: it may hold secrets."""
        return agent_text.escaped(self.redactor.text(text))


_refused = ErrorSpec(
    "not_in_workspace",
    "Agents may not use {path} here.",
    "Use one in {folder}; the setting allowed_folders adds others.",
    path=agent_text.path,
)
