"""The tools that wait for the user: `read_actions` and `ask_user`."""

from __future__ import annotations

import contextlib
from dataclasses import dataclass
from datetime import UTC, datetime
from typing import Annotated, Any, Literal

import anyio
import msgspec
from pydantic import Field

from dragoman.canvas.catalogue import CATALOG_ID
from dragoman.canvas.model import SurfaceAction
from dragoman.canvas.service import CanvasService
from dragoman.core.errors import DragomanError
from dragoman.core.ids import new_id
from dragoman.core.localization import Language, LocalizedText, localize
from dragoman.tools.agent_text import escaped, map_strings, one_line
from dragoman.tools.canvas.schema import (
    DEFAULT_WAIT_S,
    Seconds,
    explain_drawing_errors,
)
from dragoman.tools.json_schema import Maybe
from dragoman.tools.tool import Effects, Parameters, Result, ToolOutcome, tool
from dragoman.workspace.caller import Caller

Json = dict[str, Any]
_MAX_ACTIONS = 50
_SHOWN = 300
_CLOSE_TIMEOUT_S = 2.0
_VERSION = "v0.9"


class ReadActionsParameters(Parameters):
    surface_id: Annotated[str, Field(max_length=200, description="Default: all of yours.")] = ""
    timeout_s: Annotated[Seconds, Field(description="Wait for the first action.")] = DEFAULT_WAIT_S


class AskUserField(Parameters):
    name: Annotated[str, Field(pattern=r"^[A-Za-z_][\w-]*$", max_length=64)]
    label: Annotated[str, Field(max_length=1000)] = ""
    kind: Literal["text", "long_text", "number", "yes_no", "choice", "choices", "secret"] = "text"
    options: Annotated[list[Annotated[str, Field(max_length=1000)]], Field(default_factory=list, max_length=200)]
    value: Maybe[str | float | bool | list[str]] = None
    required: bool = False


class AskUserParameters(Parameters):
    title: Annotated[str, Field(min_length=1, max_length=200, description="Topic.")]
    fields: Annotated[list[AskUserField], Field(min_length=1, max_length=50)]
    text: Annotated[str, Field(max_length=10_000, description="Markdown above the questions.")] = ""
    timeout_s: Seconds = DEFAULT_WAIT_S


class CanvasUserAction(Result):
    id: str
    surface_id: str
    component_id: str
    name: str
    context: dict[str, Any]
    user_message: str
    at: str


class ReadActionsResult(Result):
    status: Literal["actions", "timeout"]
    actions: list[CanvasUserAction]


class AskUserResult(Result):
    status: Literal["answered", "cancelled", "timeout"]
    values: dict[str, Any]
    surface_id: str


@dataclass(frozen=True, slots=True)
class UserInputTools:
    service: CanvasService

    @tool(
        "read_actions",
        "Read the person's actions",
        "Wait for what the user clicks or enters on surfaces. Returns each action once.",
        ReadActionsParameters,
        ReadActionsResult,
        Effects(),
    )
    async def read(self, caller: Caller, wanted: ReadActionsParameters) -> ToolOutcome:
        taken = await self.service.actions(
            caller.id,
            surface_id=wanted.surface_id,
            workspace=str(caller.workspace),
            most=_MAX_ACTIONS,
            within_s=wanted.timeout_s,
        )
        actions = ReadActionsResult(
            status="actions" if taken else "timeout", actions=[_user_action(it) for it in taken]
        )
        return ToolOutcome(_action_lines(actions), actions)

    @tool(
        "ask_user",
        "Ask the person",
        "Ask the user questions in a form and wait for the answers.",
        AskUserParameters,
        AskUserResult,
        Effects(),
    )
    async def ask(self, caller: Caller, wanted: AskUserParameters) -> ToolOutcome:
        """Show a form and remove it once it is answered. After a timeout it says that it is closed and accepts no
        answer.
        """
        surface_id = new_id("ask")
        self.service.arrived(caller.id)
        await self._forget_closed(caller)
        with explain_drawing_errors(are_messages=False):
            await self.service.draw(caller.id, str(caller.workspace), _form(surface_id, wanted), asking="open")
        taken = await self._answer(caller, surface_id, wanted)
        if not taken and self.service.is_drawn(caller.id, surface_id):
            unanswered = AskUserResult(status="timeout", values={}, surface_id=surface_id)
            return ToolOutcome([_no_answer_text()], unanswered)
        with contextlib.suppress(DragomanError):  # it may have been removed already; the answer still counts
            await self.service.remove(caller.id, surface_id, by=caller.id)
        values = _user_action(taken[0]).context.get("values") if taken else None
        result = AskUserResult(
            status="cancelled" if values is None else "answered",
            values=values if isinstance(values, dict) else {},
            surface_id=surface_id,
        )
        return ToolOutcome([_answer_text(result)], result)

    async def _answer(self, caller: Caller, surface_id: str, wanted: AskUserParameters) -> list[SurfaceAction]:
        """Wait for the answer. One that arrives while the form is being closed still counts."""
        taken: list[SurfaceAction] = []
        try:
            taken = await self.service.answers(caller.id, surface_id, within_s=wanted.timeout_s)
        finally:
            if not taken and self.service.is_drawn(caller.id, surface_id):
                with anyio.CancelScope(shield=True), anyio.move_on_after(_CLOSE_TIMEOUT_S):
                    closed = _closed(surface_id, wanted, caller.language)
                    await self.service.draw(caller.id, str(caller.workspace), closed, asking="closed")
        return taken or await self.service.answers(caller.id, surface_id, within_s=0)

    async def _forget_closed(self, caller: Caller) -> None:
        """Remove the caller's closed questions before a new one is asked."""
        for drawn in self.service.surfaces():
            if drawn.asking == "closed" and drawn.drawer == caller.id:
                with contextlib.suppress(DragomanError):
                    await self.service.remove(caller.id, drawn.surface.id, by=caller.id)


def _form(surface_id: str, wanted: AskUserParameters) -> list[Json]:
    fields = [field.model_dump(exclude_none=True) for field in wanted.fields]
    form = {"id": "form", "component": "Form", "title": wanted.title, "fields": fields}
    return _messages(surface_id, wanted.title, [*_text(wanted), form])


def _closed(surface_id: str, wanted: AskUserParameters, language: Language) -> list[Json]:
    """The closed form: the questions stay readable."""
    title = {"id": "title", "component": "Text", "text": wanted.title, "variant": "h3"}
    words = localize("Closed: no answer came in time, and the agent moved on.").in_language(language)
    closed = {"id": "closed", "component": "Text", "text": words, "variant": "caption"}
    shown = _messages(surface_id, wanted.title, [title, *_text(wanted), closed])
    return [{"version": _VERSION, "deleteSurface": {"surfaceId": surface_id}}, *shown]


def _text(wanted: AskUserParameters) -> list[Json]:
    return [{"id": "text", "component": "Markdown", "text": wanted.text}] if wanted.text else []


def _messages(surface_id: str, title: str, components: list[Json]) -> list[Json]:
    root = {"id": "root", "component": "Column", "children": [it["id"] for it in components]}
    create = {"surfaceId": surface_id, "catalogId": CATALOG_ID, "theme": {"title": title}}
    return [
        {"version": _VERSION, "createSurface": create},
        {"version": _VERSION, "updateComponents": {"surfaceId": surface_id, "components": [root, *components]}},
    ]


def _user_action(taken: SurfaceAction) -> CanvasUserAction:
    at = datetime.fromtimestamp(taken.at_ns / 1e9, UTC).isoformat(timespec="milliseconds").replace("+00:00", "Z")
    return CanvasUserAction(
        id=taken.id,
        surface_id=taken.surface_id,
        component_id=taken.component_id,
        name=one_line(taken.name, 200),
        context=map_strings(taken.context, lambda _, text: escaped(text)),
        user_message=escaped(taken.user_message),
        at=at,
    )


def _action_lines(actions: ReadActionsResult) -> list[LocalizedText]:
    if not actions.actions:
        return [localize("No action in this time; call again to keep waiting.")]
    return [localize("{text}", text=_action_line(action)) for action in actions.actions]


def _action_line(action: CanvasUserAction) -> str:
    context = msgspec.json.encode(action.context).decode()
    return f"{action.id} {action.name} {one_line(action.surface_id, 60)} {one_line(context, _SHOWN)}"


def _answer_text(answered: AskUserResult) -> LocalizedText:
    if answered.status == "cancelled":
        return localize("The user closed the questions without answering.")
    return localize("{text}", text=one_line(msgspec.json.encode(answered.values).decode(), 2000))


def _no_answer_text() -> LocalizedText:
    return localize("No answer in time. The user sees the questions closed; ask again if you still need an answer.")
