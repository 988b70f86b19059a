"""`show_canvas` and `update_canvas`: what an agent draws, as plain components or as A2UI messages."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from itertools import chain, islice
from typing import Any

from dragoman.canvas.catalogue import CATALOG_ID, not_drawable
from dragoman.canvas.model import Drawn
from dragoman.canvas.service import CanvasService
from dragoman.phrases import Phrase, say
from dragoman.tools.canvas.parameters import Change, Drawing, Show, Shown
from dragoman.tools.canvas.refusals import nothing_to_draw, refusing
from dragoman.tools.canvas.subjects import Subjects, pictured
from dragoman.tools.operation import Caller, Outcome
from dragoman.tools.showing import one_line

_VERSION = "v0.9"
_ROOT = "root"
_WARNINGS = 10

Json = dict[str, Any]


@dataclass(frozen=True, slots=True)
class Drawer:
    service: CanvasService
    watchers: Callable[[], int]
    """How many pages are open: an agent that is told nobody looks can say so."""
    subjects: Subjects

    async def show(self, caller: Caller, wanted: Show) -> Outcome:
        if wanted.subject:
            wanted = await self._pictured(caller, wanted)
        document = wanted.messages or _new_surface(wanted, replaces=self.service.is_drawn(caller.id, wanted.surface_id))
        return await self._draw(caller, wanted, document)

    async def _pictured(self, caller: Caller, wanted: Show) -> Show:
        told = await self.subjects[wanted.subject](caller, wanted.subject_id)
        title, components = pictured(wanted.subject, told, caller)
        shown = wanted.title or title.in_language(caller.language)
        return wanted.model_copy(update={"components": [*components, *wanted.components], "title": shown})

    async def update(self, caller: Caller, wanted: Change) -> Outcome:
        if wanted.remove:
            await self.service.remove(caller.id, wanted.surface_id, by=caller.id)
            data = Shown(status="removed", surface_id=wanted.surface_id, version=0, watchers=self.watchers())
            return Outcome([say("removed: {name}", name=one_line(wanted.surface_id, 60))], data)
        return await self._draw(caller, wanted, wanted.messages or _changes(wanted))

    async def _draw(self, caller: Caller, wanted: Drawing, document: list[Json]) -> Outcome:
        self.service.arrived(caller.id)
        with refusing(are_messages=bool(wanted.messages)):
            drawn = await self.service.draw(caller.id, str(caller.workspace), document, session_key=caller.conversation)
        return self._shown(caller, wanted, drawn)

    def _shown(self, caller: Caller, wanted: Drawing, drawn: tuple[Drawn, ...]) -> Outcome:
        named = next((it for it in drawn if it.surface.id == wanted.surface_id), drawn[0] if drawn else None)
        surface_id, version = (named.surface.id, named.version) if named else (wanted.surface_id, 0)
        warnings = list(islice(chain.from_iterable(map(_placeholders, drawn)), _WARNINGS))
        told = [it.in_language(caller.language) for it in warnings]
        data = Shown(status="shown", surface_id=surface_id, version=version, watchers=self.watchers(), warnings=told)
        return Outcome([_line(data), *warnings], data)


def _placeholders(drawn: Drawn) -> Iterator[Phrase]:
    for component, near in not_drawable(drawn.surface):
        name, type_ = ascii(component.id[:60]), ascii(component.type[:60])
        if near:
            yield say(
                "warning: {name} shows as a placeholder: no component {type}; {near}?", name=name, type=type_, near=near
            )
        else:
            yield say(
                "warning: {name} shows as a placeholder: no component {type}; see list_components.",
                name=name,
                type=type_,
            )


def _line(shown: Shown) -> Phrase:
    name = one_line(shown.surface_id, 60)
    if shown.watchers:
        return say("shown: {name} (version {version})", name=name, version=shown.version)
    return say(
        "shown: {name} (version {version}), but no page is open: `dragoman page` prints a link for the person.",
        name=name,
        version=shown.version,
    )


def _new_surface(wanted: Show, *, replaces: bool) -> list[Json]:
    """Made anew whatever was there: who says the whole of a surface means the whole."""
    if not wanted.components:
        raise nothing_to_draw()
    theme = {"theme": {"title": wanted.title}} if wanted.title else {}
    create = {"surfaceId": wanted.surface_id, "catalogId": CATALOG_ID, **theme}
    return [
        *([_message("deleteSurface", {"surfaceId": wanted.surface_id})] if replaces else []),
        _message("createSurface", create),
        *_data(wanted.surface_id, wanted.data),
        _message("updateComponents", {"surfaceId": wanted.surface_id, "components": _rooted(wanted.components)}),
    ]


def _changes(wanted: Change) -> list[Json]:
    messages = _data(wanted.surface_id, wanted.data)
    for path, value in wanted.changes.items():
        told = {} if value is None else {"value": value}
        messages.append(_message("updateDataModel", {"surfaceId": wanted.surface_id, "path": path, **told}))
    if wanted.components:
        update = {"surfaceId": wanted.surface_id, "components": wanted.components}
        messages.append(_message("updateComponents", update))
    if not messages:
        raise nothing_to_draw()
    return messages


def _data(surface_id: str, data: Json) -> list[Json]:
    return [_message("updateDataModel", {"surfaceId": surface_id, "value": data})] if data else []


def _rooted(components: list[Json]) -> list[Json]:
    """Without a root they stand one below the other, those that no other names. It is last: places stay the call's."""
    if any(component.get("id") == _ROOT for component in components):
        return components
    named = {str(name) for component in components for name in _names(component)}
    top = [component["id"] for component in components if isinstance(component.get("id"), str)]
    return [*components, {"id": _ROOT, "component": "Column", "children": [it for it in top if it not in named]}]


def _names(component: Json) -> list[Any]:
    children = component.get("children")
    inner = children if isinstance(children, list) else [(children or {}).get("componentId")]
    tabs = component.get("tabs")
    tabbed = [tab.get("child") for tab in tabs if isinstance(tab, dict)] if isinstance(tabs, list) else []
    return [*inner, *tabbed, *(component.get(slot) for slot in ("child", "trigger", "content"))]


def _message(key: str, body: Json) -> Json:
    return {"version": _VERSION, key: body}
