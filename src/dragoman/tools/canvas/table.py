"""The canvas tools as a table."""

from __future__ import annotations

from collections.abc import Callable, Sequence

from dragoman.canvas.service import CanvasService
from dragoman.tools.canvas import parameters as p
from dragoman.tools.canvas.describing import list_components
from dragoman.tools.canvas.drawing import Drawer
from dragoman.tools.canvas.listening import Listener
from dragoman.tools.canvas.refusals import tell
from dragoman.tools.canvas.subjects import Subjects
from dragoman.tools.operation import READS, Effects, Failing, Operation

SET = "canvas"
_FAILING = Failing(p.Refusal, tell)


def canvas_operations(service: CanvasService, watchers: Callable[[], int], subjects: Subjects) -> Sequence[Operation]:
    drawer, listener = Drawer(service, watchers, subjects), Listener(service)
    return (
        Operation(
            name="show_canvas",
            title="Show on the canvas",
            description="Draw a surface for the person: text, tables, charts, code, diffs, buttons, forms; or a stop.",
            parameters=p.Show,
            result=p.Shown,
            run=drawer.show,
            effects=Effects(repeatable=True),
            failing=_FAILING,
            set=SET,
        ),
        Operation(
            name="update_canvas",
            title="Change the canvas",
            description="Change a surface's data or components, or take it away.",
            parameters=p.Change,
            result=p.Shown,
            run=drawer.update,
            effects=Effects(),
            failing=_FAILING,
            set=SET,
        ),
        Operation(
            name="read_actions",
            title="Read the person's actions",
            description="What the person clicked or entered on the surfaces; each is told once. Waits for the first.",
            parameters=p.ReadActions,
            result=p.Actions,
            run=listener.read,
            effects=Effects(),
            failing=_FAILING,
            set=SET,
        ),
        Operation(
            name="list_components",
            title="List components",
            description="What can be drawn; with names: properties and an example of each.",
            parameters=p.ListComponents,
            result=p.Components,
            run=list_components,
            effects=READS,
            failing=_FAILING,
            set=SET,
        ),
        Operation(
            name="ask_user",
            title="Ask the person",
            description="Show a form and wait for the answers.",
            parameters=p.AskUser,
            result=p.Answered,
            run=listener.ask,
            effects=Effects(),
            failing=_FAILING,
            set=SET,
        ),
    )
