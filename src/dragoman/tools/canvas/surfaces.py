"""The tools that draw: `show_canvas` and `update_canvas`.

An agent passes plain components, A2UI messages, or a subject (a stop, a failed command) that is drawn with all its
parts.
"""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Iterator, Mapping
from dataclasses import dataclass
from itertools import chain, islice
from pathlib import PurePath
from typing import Annotated, Any, Literal

from pydantic import Field

from dragoman.canvas.catalogue import CATALOG_ID, not_drawable
from dragoman.canvas.model import DrawnSurface
from dragoman.canvas.service import CanvasService
from dragoman.core.localization import LocalizedText, localize
from dragoman.tools.agent_text import one_line
from dragoman.tools.canvas.schema import (
    Messages,
    SurfaceId,
    explain_drawing_errors,
)
from dragoman.tools.errors import nothing_to_draw
from dragoman.tools.json_schema import OrEmpty
from dragoman.tools.tool import Effects, Parameters, Result, ToolOutcome, tool
from dragoman.workspace.caller import Caller

_OUTPUT_ROWS = 16
_VERSION = "v0.9"
_ROOT = "root"
_WARNINGS = 10

Json = dict[str, Any]
# For a caller and an id (or the default without one): the result of the subject's tool.
SubjectReader = Callable[[Caller, str], Awaitable[Json]]
SubjectReaders = Mapping[str, SubjectReader]
Picture = tuple[LocalizedText, list[Json]]
"""A title, and components stacked below each other."""


class SurfaceParameters(Parameters):
    components: Annotated[
        list[dict[str, Any]],
        Field(
            default_factory=list,
            max_length=2000,
            description="[{id, component, …properties}]; one has id root, or they are stacked.",
        ),
    ]
    data: Annotated[dict[str, Any], Field(default_factory=dict, description='Values for {"path": "/x"}.')]
    messages: Messages
    surface_id: SurfaceId = "main"


class ShowCanvasParameters(SurfaceParameters):
    title: Annotated[str, Field(max_length=200)] = ""
    subject: Annotated[
        OrEmpty[Literal["stop", "failure"]],
        Field(description="Draw the current debugger stop or the last failed command, above `components`."),
    ] = ""
    subject_id: Annotated[str, Field(max_length=100, description="Session or command id. Default: the last.")] = ""


class UpdateCanvasParameters(SurfaceParameters):
    changes: Annotated[
        dict[str, Any], Field(default_factory=dict, description="Data by JSON Pointer; null deletes.", max_length=1000)
    ]
    remove: Annotated[bool, Field(description="Remove the surface.")] = False


class ShowCanvasResult(Result):
    status: Literal["shown", "removed"]
    surface_id: str
    version: int
    watchers: int
    warnings: list[str] = Field(default_factory=list)
    """Components that are shown as placeholders, because their type is unknown."""


def draw_subject(subject: str, data: Json, caller: Caller) -> Picture:
    return _PICTURES[subject](data, caller)


def _stop(stop: Json, caller: Caller) -> Picture:
    raised, line = stop.get("exception"), stop.get("line") or 0
    path = (stop.get("source") or {}).get("path", "")
    title = localize("stopped at {place}", place=f"{PurePath(path).name}:{line}" if path else "?")
    why = f"{raised['type']}: {raised['message']}" if raised else stop["reason"]
    beside = [_stack(stop, caller), *_variables(stop)]
    parts = [
        {"id": "why", "component": "Text", "variant": "h3", "text": why},
        *_source(stop, _relative_path(path, caller), line),
        {"id": "beside", "component": "Row", "children": [it["id"] for it in beside]},
        *beside,
        *_printed("printed", stop.get("output") or "", localize("output").in_language(caller.language)),
    ]
    return title, parts


def _source(stop: Json, path: str, line: int) -> list[Json]:
    around = stop.get("source_lines")
    if not around:
        return []
    code = "\n".join(around["lines"])
    lines = {"code": code, "firstLine": around["start"], "marked": [line]}
    return [{"id": "source", "component": "CodeBlock", "title": path, **lines}]


def _stack(stop: Json, caller: Caller) -> Json:
    title = localize("call stack").in_language(caller.language)
    frames = [_frame(it, caller) for it in stop["call_stack"]]
    return {"id": "stack", "component": "StackTrace", "title": title, "frames": frames}


def _frame(frame: Json, caller: Caller) -> Json:
    file = _relative_path(frame["file_path"], caller)
    is_own = not PurePath(file).is_absolute()
    return {"function": frame["function_name"], "file": file, "line": frame["line_number"], "isOwn": is_own}


def _relative_path(path: str, caller: Caller) -> str:
    """The path relative to the workspace, if it is inside."""
    file = PurePath(path)
    return str(file.relative_to(caller.workspace)) if file.is_relative_to(caller.workspace) else path


def _variables(stop: Json) -> list[Json]:
    top = stop.get("top_frame_variables") or {}
    found = [{"name": it["name"], "value": it["value"], "type": it["type"] or ""} for it in top.get("variables", ())]
    drawn = {"id": "variables", "component": "VariableTree", "title": top.get("scope_name", ""), "variables": found}
    return [drawn] if found else []


def _failure(failure: Json, caller: Caller) -> Picture:
    command, language = failure["command"], caller.language
    facts = localize("in {folder}, exit code {code}", folder=command["cwd"], code=command["exit_code"])
    errors = "\n".join(failure["error_lines"])
    wrong = {
        "id": "errors",
        "component": "CodeBlock",
        "code": errors,
        "title": localize("errors").in_language(language),
    }
    parts = [
        {"id": "command", "component": "CodeBlock", "code": command["command"], "title": facts.in_language(language)},
        *([wrong] if errors else []),
        *_printed("printed", failure["output_tail"], localize("output").in_language(language)),
    ]
    return localize("failed: {command}", command=command["command"][:80]), parts


def _printed(id: str, text: str, title: str) -> list[Json]:
    return [{"id": id, "component": "Terminal", "text": text, "title": title, "rows": _OUTPUT_ROWS}] if text else []


_PICTURES: Mapping[str, Callable[[Json, Caller], Picture]] = {"stop": _stop, "failure": _failure}


@dataclass(frozen=True, slots=True)
class SurfaceTools:
    service: CanvasService
    watchers: Callable[[], int]
    """How many pages are open, so that an agent knows whether anyone can see the surface."""
    subjects: SubjectReaders

    @tool(
        "show_canvas",
        "Show on the canvas",
        (
            "Use when prose is not enough: shows the user text, tables, charts, code, diffs, buttons, forms or a "
            "debugger stop."
        ),
        ShowCanvasParameters,
        ShowCanvasResult,
        Effects(repeatable=True),
    )
    async def show(self, caller: Caller, wanted: ShowCanvasParameters) -> ToolOutcome:
        if wanted.subject:
            wanted = await self._with_subject(caller, wanted)
        document = wanted.messages or _new_surface(wanted, replaces=self.service.is_drawn(caller.id, wanted.surface_id))
        return await self._draw(caller, wanted, document)

    async def _with_subject(self, caller: Caller, wanted: ShowCanvasParameters) -> ShowCanvasParameters:
        data = await self.subjects[wanted.subject](caller, wanted.subject_id)
        title, components = draw_subject(wanted.subject, data, caller)
        shown = wanted.title or title.in_language(caller.language)
        return wanted.model_copy(update={"components": [*components, *wanted.components], "title": shown})

    @tool(
        "update_canvas",
        "Change the canvas",
        "Change a surface's data or components, or remove it.",
        UpdateCanvasParameters,
        ShowCanvasResult,
        Effects(),
    )
    async def update(self, caller: Caller, wanted: UpdateCanvasParameters) -> ToolOutcome:
        if wanted.remove:
            await self.service.remove(caller.id, wanted.surface_id, by=caller.id)
            data = ShowCanvasResult(status="removed", surface_id=wanted.surface_id, version=0, watchers=self.watchers())
            return ToolOutcome([localize("removed: {name}", name=one_line(wanted.surface_id, 60))], data)
        return await self._draw(caller, wanted, wanted.messages or _changes(wanted))

    async def _draw(self, caller: Caller, wanted: SurfaceParameters, document: list[Json]) -> ToolOutcome:
        self.service.arrived(caller.id)
        with explain_drawing_errors(are_messages=bool(wanted.messages)):
            drawn = await self.service.draw(caller.id, str(caller.workspace), document, session_key=caller.conversation)
        return self._shown(caller, wanted, drawn)

    def _shown(self, caller: Caller, wanted: SurfaceParameters, drawn: tuple[DrawnSurface, ...]) -> ToolOutcome:
        named = next((it for it in drawn if it.surface.id == wanted.surface_id), drawn[0] if drawn else None)
        surface_id, version = (named.surface.id, named.version) if named else (wanted.surface_id, 0)
        warnings = list(islice(chain.from_iterable(map(_placeholders, drawn)), _WARNINGS))
        shown_warnings = [it.in_language(caller.language) for it in warnings]
        data = ShowCanvasResult(
            status="shown", surface_id=surface_id, version=version, watchers=self.watchers(), warnings=shown_warnings
        )
        return ToolOutcome([_shown_line(data), *warnings], data)


def _placeholders(drawn: DrawnSurface) -> Iterator[LocalizedText]:
    for component, near in not_drawable(drawn.surface):
        name, type_ = ascii(component.id[:60]), ascii(component.type[:60])
        if near:
            yield localize(
                "warning: {name} shows as a placeholder: no component {type}; {near}?", name=name, type=type_, near=near
            )
        else:
            yield localize(
                "warning: {name} shows as a placeholder: no component {type}; see list_components.",
                name=name,
                type=type_,
            )


def _shown_line(shown: ShowCanvasResult) -> LocalizedText:
    name = one_line(shown.surface_id, 60)
    if shown.watchers:
        return localize("shown: {name} (version {version})", name=name, version=shown.version)
    return localize(
        "shown: {name} (version {version}), but no page is open: `dragoman page` prints a link for the user.",
        name=name,
        version=shown.version,
    )


def _new_surface(wanted: ShowCanvasParameters, *, replaces: bool) -> list[Json]:
    """Messages that create the surface from scratch: `show_canvas` describes the whole surface."""
    if not wanted.components:
        raise nothing_to_draw()
    theme = {"theme": {"title": wanted.title}} if wanted.title else {}
    create = {"surfaceId": wanted.surface_id, "catalogId": CATALOG_ID, **theme}
    return [
        *([_message("deleteSurface", {"surfaceId": wanted.surface_id})] if replaces else []),
        _message("createSurface", create),
        *_data(wanted.surface_id, wanted.data),
        _message("updateComponents", {"surfaceId": wanted.surface_id, "components": _with_root(wanted.components)}),
    ]


def _changes(wanted: UpdateCanvasParameters) -> list[Json]:
    messages = _data(wanted.surface_id, wanted.data)
    for path, value in wanted.changes.items():
        new_value = {} if value is None else {"value": value}
        messages.append(_message("updateDataModel", {"surfaceId": wanted.surface_id, "path": path, **new_value}))
    if wanted.components:
        update = {"surfaceId": wanted.surface_id, "components": wanted.components}
        messages.append(_message("updateComponents", update))
    if not messages:
        raise nothing_to_draw()
    return messages


def _data(surface_id: str, data: Json) -> list[Json]:
    return [_message("updateDataModel", {"surfaceId": surface_id, "value": data})] if data else []


def _with_root(components: list[Json]) -> list[Json]:
    """Add a root that stacks the top-level components. It comes last, so that error pointers match the call."""
    if any(component.get("id") == _ROOT for component in components):
        return components
    named = {str(name) for component in components for name in _child_names(component)}
    top = [component["id"] for component in components if isinstance(component.get("id"), str)]
    return [*components, {"id": _ROOT, "component": "Column", "children": [it for it in top if it not in named]}]


def _child_names(component: Json) -> list[Any]:
    children = component.get("children")
    inner = children if isinstance(children, list) else [(children or {}).get("componentId")]
    tabs = component.get("tabs")
    tabbed = [tab.get("child") for tab in tabs if isinstance(tab, dict)] if isinstance(tabs, list) else []
    return [*inner, *tabbed, *(component.get(slot) for slot in ("child", "trigger", "content"))]


def _message(key: str, body: Json) -> Json:
    return {"version": _VERSION, key: body}
