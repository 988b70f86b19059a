"""Parameter types and errors that the canvas tools share. An error points to the part of the call to fix."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from typing import Annotated, Any, Literal

from pydantic import Field

from dragoman.core.errors import DragomanError
from dragoman.core.localization import localize
from dragoman.protocols.a2ui import A2uiError
from dragoman.tools.agent_text import escaped, one_line
from dragoman.tools.tool import Result, ToolOutcome
from dragoman.workspace.caller import Caller

DEFAULT_WAIT_S = 45.0
MAX_WAIT_S = 3600.0

SurfaceId = Annotated[str, Field(max_length=200, description="Default: main.")]
Seconds = Annotated[float, Field(ge=0, le=MAX_WAIT_S)]
Messages = Annotated[
    list[dict[str, Any]],
    Field(default_factory=list, max_length=1000, description="Instead: A2UI messages (0.8, 0.9, 1.0)."),
]


class CanvasFailure(Result):
    status: Literal["error"]
    message: str
    code: str
    hint: str
    pointer: str


_OWN_MESSAGE_PREFIX = re.compile(r"^/\d+/(?:createSurface|updateComponents|updateDataModel|deleteSurface)(?=/|$)")


class NotDrawnError(DragomanError):
    def __init__(self, error: A2uiError, pointer: str) -> None:
        super().__init__(
            error.code,
            localize("Cannot draw: {reason}", reason=one_line(error.message, 500)),
            hint=localize("Fix it at {pointer} and send everything again.", pointer=one_line(pointer, 300) or "/"),
        )
        self.pointer = pointer


@contextmanager
def explain_drawing_errors(*, are_messages: bool) -> Iterator[None]:
    """Convert drawing errors. The pointer refers to the arguments of the call, not to the messages made from them."""
    try:
        yield
    except A2uiError as error:
        pointer = f"/messages{error.pointer}" if are_messages else _OWN_MESSAGE_PREFIX.sub("", error.pointer)
        raise NotDrawnError(error, pointer) from error


def canvas_failure(caller: Caller, _tool: str, _arguments: Mapping[str, Any], error: DragomanError) -> ToolOutcome:
    message = error.message.in_language(caller.language)
    hint = error.hint.in_language(caller.language) if error.hint else ""
    pointer = error.pointer if isinstance(error, NotDrawnError) else ""
    data = CanvasFailure(status="error", message=message, code=error.code, hint=hint, pointer=escaped(pointer))
    line = localize("{text}", text=f"{error.code}: {error.in_language(caller.language)}")
    return ToolOutcome([line], data, is_error=True)
