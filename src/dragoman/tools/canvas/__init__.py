"""The canvas tools: draw a surface, change it, read what the user did on it, and ask the user."""

from __future__ import annotations

from collections.abc import Callable

from dragoman.canvas.service import CanvasService
from dragoman.tools.canvas.components import ComponentTools
from dragoman.tools.canvas.schema import CanvasFailure, canvas_failure
from dragoman.tools.canvas.surfaces import SubjectReaders, SurfaceTools
from dragoman.tools.canvas.user_input import UserInputTools
from dragoman.tools.tool import ErrorFormat, Tool, bind_tools

__all__ = ["TOOLS", "canvas_tools"]

# In display order.
TOOLS = (
    SurfaceTools.show,
    SurfaceTools.update,
    UserInputTools.read,
    ComponentTools.components,
    UserInputTools.ask,
)


def canvas_tools(service: CanvasService, watchers: Callable[[], int], subjects: SubjectReaders) -> list[Tool]:
    return bind_tools(
        TOOLS,
        SurfaceTools(service, watchers, subjects),
        UserInputTools(service),
        ComponentTools(),
        set="canvas",
        error_format=ErrorFormat(CanvasFailure, canvas_failure),
    )
