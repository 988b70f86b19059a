"""What an editor answers, before anybody believes it."""

from __future__ import annotations

from typing import Any, TypeVar

from pydantic import BaseModel, ConfigDict, Field, ValidationError

from dragoman.errors import DragomanError
from dragoman.phrases import say
from dragoman.tools.editor.parameters import Problem


class _Told(BaseModel):
    model_config = ConfigDict(frozen=True, extra="ignore")


class DecisionTold(_Told):
    decision: str
    is_new: bool = False


class ProblemsTold(_Told):
    problems: list[Problem] = Field(max_length=5000)
    more: int = 0


class SelectionTold(_Told):
    path: str = Field(default="", max_length=4096)
    text: str = ""
    is_cut: bool = False
    start_line: int = 0
    start_column: int = 0
    end_line: int = 0
    end_column: int = 0


class FileTold(_Told):
    path: str = Field(max_length=4096)
    is_active: bool = False
    is_changed: bool = False


class FilesTold(_Told):
    files: list[FileTold] = Field(max_length=5000)


class TerminalTold(_Told):
    terminal: str = Field(default="", max_length=200)


_AnyTold = TypeVar("_AnyTold", bound=_Told)


def read(told: Any, kind: type[_AnyTold]) -> _AnyTold:
    try:
        return kind.model_validate(told)
    except ValidationError as error:
        raise DragomanError(
            "bad_editor_answer",
            say("The editor's answer is not one that can be understood."),
            hint=say("Its extension may be of another version than the daemon: ask the person to update it."),
        ) from error
