"""`read_actions` and `ask_user`: what the person did, and what the person says."""

from __future__ import annotations

import contextlib
from dataclasses import dataclass
from datetime import UTC, datetime
from typing import Any

import msgspec

from dragoman.canvas.catalogue import CATALOG_ID
from dragoman.canvas.model import Taken
from dragoman.canvas.service import CanvasService
from dragoman.errors import DragomanError
from dragoman.ids import new_id
from dragoman.phrases import Phrase, say
from dragoman.tools.canvas.parameters import Actions, ActionTold, Answered, AskUser, ReadActions
from dragoman.tools.canvas.refusals import refusing
from dragoman.tools.operation import Caller, Outcome
from dragoman.tools.showing import escaped, one_line, through

_MOST_ACTIONS = 50
_SHOWN = 300


@dataclass(frozen=True, slots=True)
class Listener:
    service: CanvasService

    async def read(self, caller: Caller, wanted: ReadActions) -> Outcome:
        taken = await self.service.actions(
            caller.id,
            surface_id=wanted.surface_id,
            workspace=str(caller.workspace),
            most=_MOST_ACTIONS,
            within_s=wanted.timeout_s,
        )
        actions = Actions(status="actions" if taken else "timeout", actions=[_told(it) for it in taken])
        return Outcome(_lines(actions), actions)

    async def ask(self, caller: Caller, wanted: AskUser) -> Outcome:
        """A form of its own, taken away once it is answered; one that nobody answered stays, for a late answer."""
        surface_id = new_id("ask")
        with refusing(are_messages=False):
            await self.service.draw(caller.id, str(caller.workspace), _form(surface_id, wanted))
        taken = await self.service.answers(caller.id, surface_id, within_s=wanted.timeout_s)
        if not taken and self.service.is_drawn(caller.id, surface_id):
            unanswered = Answered(status="timeout", values={}, surface_id=surface_id)
            return Outcome([_unanswered(surface_id)], unanswered)
        with contextlib.suppress(DragomanError):  # whoever took it away first: the answer is not lost for that
            await self.service.remove(caller.id, surface_id, by=caller.id)
        values = _told(taken[0]).context.get("values") if taken else None
        answered = Answered(
            status="cancelled" if values is None else "answered",
            values=values if isinstance(values, dict) else {},
            surface_id=surface_id,
        )
        return Outcome([_answer(answered)], answered)


def _form(surface_id: str, wanted: AskUser) -> list[dict[str, Any]]:
    fields = [field.model_dump(exclude_none=True) for field in wanted.fields]
    above = [{"id": "text", "component": "Markdown", "text": wanted.text}] if wanted.text else []
    root = {"id": "root", "component": "Column", "children": [*(["text"] if above else []), "form"]}
    form = {"id": "form", "component": "Form", "title": wanted.title, "fields": fields}
    create = {"surfaceId": surface_id, "catalogId": CATALOG_ID, "theme": {"title": wanted.title}}
    return [
        {"version": "v0.9", "createSurface": create},
        {"version": "v0.9", "updateComponents": {"surfaceId": surface_id, "components": [root, *above, form]}},
    ]


def _told(taken: Taken) -> ActionTold:
    at = datetime.fromtimestamp(taken.at_ns / 1e9, UTC).isoformat(timespec="milliseconds").replace("+00:00", "Z")
    return ActionTold(
        id=taken.id,
        surface_id=taken.surface_id,
        component_id=taken.component_id,
        name=one_line(taken.name, 200),
        context=through(taken.context, lambda _, text: escaped(text)),
        user_message=escaped(taken.user_message),
        at=at,
    )


def _lines(actions: Actions) -> list[Phrase]:
    if not actions.actions:
        return [say("Nobody acted in this time; call again to go on waiting.")]
    return [say("{text}", text=_line(action)) for action in actions.actions]


def _line(action: ActionTold) -> str:
    context = msgspec.json.encode(action.context).decode()
    return f"{action.id} {action.name} {one_line(action.surface_id, 60)} {one_line(context, _SHOWN)}"


def _answer(answered: Answered) -> Phrase:
    if answered.status == "cancelled":
        return say("The person closed the questions without an answer.")
    return say("{text}", text=one_line(msgspec.json.encode(answered.values).decode(), 2000))


def _unanswered(surface_id: str) -> Phrase:
    return say(
        "No answer in this time; the questions stay open, and read_actions with surface_id {name} hears a late one.",
        name=surface_id,
    )
