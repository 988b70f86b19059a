"""Parameter types, results and errors that the editor tools share."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Annotated, Any, Literal

from pydantic import Field, model_validator

from dragoman.core.errors import DragomanError
from dragoman.core.localization import localize
from dragoman.tools.json_schema import RELATIVE_PATH
from dragoman.tools.tool import ErrorFormat, Parameters, Result, ToolOutcome
from dragoman.workspace.caller import Caller

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
