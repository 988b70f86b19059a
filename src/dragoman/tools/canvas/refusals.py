"""What cannot be drawn, said to the agent with the place in what it sent, so that it can repair it."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from typing import Any

from dragoman.errors import DragomanError
from dragoman.phrases import say
from dragoman.tools.canvas.parameters import Refusal
from dragoman.tools.operation import Caller, Outcome
from dragoman.tools.showing import escaped, one_line
from dragoman.wire.a2ui import A2uiError

_IN_OUR_MESSAGE = re.compile(r"^/\d+/(?:createSurface|updateComponents|updateDataModel|deleteSurface)(?=/|$)")


class NotDrawnError(DragomanError):
    def __init__(self, error: A2uiError, pointer: str) -> None:
        super().__init__(
            error.code,
            say("Nothing was drawn: {reason}", reason=one_line(error.message, 500)),
            hint=say("Repair it at {pointer} and send all of it again.", pointer=one_line(pointer, 300) or "/"),
        )
        self.pointer = pointer


@contextmanager
def refusing(*, are_messages: bool) -> Iterator[None]:
    """The pointer is into the call's own arguments, whatever they were made into."""
    try:
        yield
    except A2uiError as error:
        pointer = f"/messages{error.pointer}" if are_messages else _IN_OUR_MESSAGE.sub("", error.pointer)
        raise NotDrawnError(error, pointer) from error


def nothing_to_draw() -> DragomanError:
    return DragomanError(
        "nothing_to_draw",
        say("There is nothing to draw in this call."),
        hint=say("Give components, data or messages; list_components shows what there is."),
    )


def tell(caller: Caller, _tool: str, _arguments: Mapping[str, Any], error: DragomanError) -> Outcome:
    message = error.message.in_language(caller.language)
    hint = error.hint.in_language(caller.language) if error.hint else ""
    pointer = error.pointer if isinstance(error, NotDrawnError) else ""
    data = Refusal(status="error", message=message, code=error.code, hint=hint, pointer=escaped(pointer))
    line = say("{text}", text=f"{error.code}: {error.in_language(caller.language)}")
    return Outcome([line], data, is_error=True)
