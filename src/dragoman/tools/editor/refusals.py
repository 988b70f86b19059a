"""What an editor, or the person at it, would not do: an answer like any other."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from dragoman.errors import DragomanError
from dragoman.tools.editor.parameters import Refused
from dragoman.tools.operation import Caller, Failing, Outcome


def _tell(caller: Caller, tool: str, arguments: Mapping[str, Any], error: DragomanError) -> Outcome:  # noqa: ARG001
    data = Refused(
        status="error",
        code=error.code,
        message=error.message.in_language(caller.language),
        hint=error.hint.in_language(caller.language) if error.hint else "",
    )
    return Outcome([error.message, *([error.hint] if error.hint else [])], data, is_error=True)


FAILING = Failing(Refused, _tell)
