"""What the editor tools take and give."""

from __future__ import annotations

from typing import Annotated, Any, Literal

from pydantic import Field, model_validator

from dragoman.tools.operation import Parameters, Result
from dragoman.tools.schemas import Maybe

DEFAULT_WAIT_S = 45.0
MOST_TEXT = 400_000
MOST_COMMAND = 500
"""What a person is asked about is seen whole: an editor cuts a notification at a thousand characters."""

Path = Annotated[str, Field(min_length=1, max_length=4096, description="Absolute, or relative to the workspace.")]
Line = Annotated[int, Field(ge=1, le=10_000_000)]
Seconds = Annotated[float, Field(ge=0, le=3600, description="Wait so long for the person.")]


class _OfFile(Parameters):
    """Named as in every other tool; `path`, the name it had before, still works."""

    @model_validator(mode="before")
    @classmethod
    def _earlier_name(cls, given: Any) -> Any:
        if isinstance(given, dict) and "path" in given and "file_path" not in given:
            return {"file_path" if name == "path" else name: value for name, value in given.items()}
        return given


class Open(_OfFile):
    file_path: Path
    line: Line = 1
    end_line: Annotated[Maybe[Line], Field(description="Select up to the end of this one.")] = None


class Diff(_OfFile):
    file_path: Path
    text: Annotated[str, Field(max_length=MOST_TEXT, description="The whole file as proposed.")]
    title: Annotated[str, Field(max_length=200, description="What the change is for.")] = ""
    timeout_s: Seconds = DEFAULT_WAIT_S


class ReadDiagnostics(_OfFile):
    file_path: Annotated[str, Field(max_length=4096, description="Of this file or folder alone.")] = ""
    least: Annotated[Literal["error", "warning", "information", "hint"], Field(description="And worse.")] = "warning"


class Look(Parameters):
    pass


class Notify(Parameters):
    message: Annotated[str, Field(min_length=1, max_length=1000)]
    level: Literal["info", "warning", "error"] = "info"


class RunInTerminal(Parameters):
    command: Annotated[str, Field(min_length=1, max_length=MOST_COMMAND)]
    name: Annotated[str, Field(max_length=60, description="Of the terminal; one of this name is used again.")] = ""


class Opened(Result):
    status: Literal["opened"]
    path: str
    line: int


class Decided(Result):
    status: Literal["accepted", "rejected", "closed", "waiting"]
    path: str
    is_new: bool


class Problem(Result):
    path: str
    line: int
    column: int = 1
    severity: Literal["error", "warning", "information", "hint"]
    message: str
    source: str = ""
    code: str = ""


class Problems(Result):
    status: Literal["diagnostics"]
    problems: list[Problem]
    more: int
    """How many were left out, beyond the most that is told."""


class Selection(Result):
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
    """Has what is not saved yet: the file on disk is older than what the person sees."""


class OpenFiles(Result):
    status: Literal["open_files"]
    files: list[OpenFile]
    withheld: int
    """Outside of the workspace."""


class Shown(Result):
    status: Literal["shown"]


class Started(Result):
    status: Literal["started"]
    terminal: str


class Refused(Result):
    status: Literal["error"]
    code: str
    message: str
    hint: str
