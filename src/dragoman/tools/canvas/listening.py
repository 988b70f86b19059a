"""`read_actions` and `ask_user`: what the person did, and what the person says."""

from __future__ import annotations

import contextlib
from dataclasses import dataclass
from datetime import UTC, datetime
from typing import Any

import anyio
import msgspec

from dragoman.canvas.catalogue import CATALOG_ID
from dragoman.canvas.model import Taken
from dragoman.canvas.service import CanvasService
from dragoman.errors import DragomanError
from dragoman.ids import new_id
from dragoman.phrases import Language, Phrase, say
from dragoman.tools.canvas.parameters import Actions, ActionTold, Answered, AskUser, ReadActions
from dragoman.tools.canvas.refusals import refusing
from dragoman.tools.operation import Caller, Outcome
from dragoman.tools.showing import escaped, one_line, through

Json = dict[str, Any]
_MOST_ACTIONS = 50
_SHOWN = 300
_CLOSED_WITHIN_S = 2.0
_VERSION = "v0.9"


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
        """A form of its own, taken away once it is answered. One that nobody waits for says so and takes no answer."""
        surface_id = new_id("ask")
        self.service.arrived(caller.id)
        await self._forget_closed(caller)
        with refusing(are_messages=False):
            await self.service.draw(caller.id, str(caller.workspace), _form(surface_id, wanted), asking="open")
        taken = await self._answer(caller, surface_id, wanted)
        if not taken and self.service.is_drawn(caller.id, surface_id):
            unanswered = Answered(status="timeout", values={}, surface_id=surface_id)
            return Outcome([_unanswered()], unanswered)
        with contextlib.suppress(DragomanError):  # whoever took it away first: the answer is not lost for that
            await self.service.remove(caller.id, surface_id, by=caller.id)
        values = _told(taken[0]).context.get("values") if taken else None
        answered = Answered(
            status="cancelled" if values is None else "answered",
            values=values if isinstance(values, dict) else {},
            surface_id=surface_id,
        )
        return Outcome([_answer(answered)], answered)

    async def _answer(self, caller: Caller, surface_id: str, wanted: AskUser) -> list[Taken]:
        """What came while it was closed counts too."""
        taken: list[Taken] = []
        try:
            taken = await self.service.answers(caller.id, surface_id, within_s=wanted.timeout_s)
        finally:
            if not taken and self.service.is_drawn(caller.id, surface_id):
                with anyio.CancelScope(shield=True), anyio.move_on_after(_CLOSED_WITHIN_S):
                    closed = _closed(surface_id, wanted, caller.language)
                    await self.service.draw(caller.id, str(caller.workspace), closed, asking="closed")
        return taken or await self.service.answers(caller.id, surface_id, within_s=0)

    async def _forget_closed(self, caller: Caller) -> None:
        """Who asks anew needs no questions that were closed."""
        for drawn in self.service.surfaces():
            if drawn.asking == "closed" and drawn.drawer == caller.id:
                with contextlib.suppress(DragomanError):
                    await self.service.remove(caller.id, drawn.surface.id, by=caller.id)


def _form(surface_id: str, wanted: AskUser) -> list[Json]:
    fields = [field.model_dump(exclude_none=True) for field in wanted.fields]
    form = {"id": "form", "component": "Form", "title": wanted.title, "fields": fields}
    return _messages(surface_id, wanted.title, [*_text(wanted), form])


def _closed(surface_id: str, wanted: AskUser, language: Language) -> list[Json]:
    """What was asked stays to be read."""
    title = {"id": "title", "component": "Text", "text": wanted.title, "variant": "h3"}
    words = say("Closed: no answer came in time, and who asked has gone on.").in_language(language)
    closed = {"id": "closed", "component": "Text", "text": words, "variant": "caption"}
    shown = _messages(surface_id, wanted.title, [title, *_text(wanted), closed])
    return [{"version": _VERSION, "deleteSurface": {"surfaceId": surface_id}}, *shown]


def _text(wanted: AskUser) -> list[Json]:
    return [{"id": "text", "component": "Markdown", "text": wanted.text}] if wanted.text else []


def _messages(surface_id: str, title: str, components: list[Json]) -> list[Json]:
    root = {"id": "root", "component": "Column", "children": [it["id"] for it in components]}
    create = {"surfaceId": surface_id, "catalogId": CATALOG_ID, "theme": {"title": title}}
    return [
        {"version": _VERSION, "createSurface": create},
        {"version": _VERSION, "updateComponents": {"surfaceId": surface_id, "components": [root, *components]}},
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


def _unanswered() -> Phrase:
    return say(
        "No answer in this time. The questions are closed, which the person sees: ask again if you still need it."
    )
