"""What agents behind a gateway ask of a canvas, done on ours. No script is run, and no page of elsewhere is loaded."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

from dragoman.canvas.service import CanvasService
from dragoman.chat.node import Command, CommandError
from dragoman.events import Event
from dragoman.journal import Journal
from dragoman.wire.a2ui import A2uiError

DRAWER = "gateway-canvas"
_ADDRESS_SURFACE = "address"
_ADDRESS = 2_000


class CanvasCommands:
    def __init__(self, canvas: CanvasService, journal: Journal, session: Callable[[], str]) -> None:
        """`session` is where the agent that draws just now runs: a command does not say whose it is."""
        self._session = session
        self._canvas = canvas
        self._journal = journal

    def table(self) -> Mapping[str, Command]:
        """What is declared to the gateway. It is not asked for pictures: only a browser could take them."""
        return {
            "canvas.present": self._present,
            "canvas.hide": self._hide,
            "canvas.navigate": self._navigate,
            "canvas.a2ui.push": self._push,
            "canvas.a2ui.pushJSONL": self._push,
            "canvas.a2ui.reset": self._reset,
        }

    def refused(self) -> Mapping[str, Command]:
        """Not declared, so a gateway does not pass them on; one that does is told why not."""
        return {"canvas.eval": self._eval, "canvas.snapshot": self._snapshot}

    async def _present(self, params: Mapping[str, Any]) -> Any:
        target = params.get("target") or params.get("url")
        if isinstance(target, str) and target:
            await self._show_address(target)
        await self._tell("canvas.presented", "an agent behind the gateway asks you to look at the canvas")
        return {"ok": True}

    async def _hide(self, _: Mapping[str, Any]) -> Any:
        """The page is the person's: they are told, and what was drawn stays."""
        await self._tell("canvas.hidden", "an agent behind the gateway is done with the canvas")
        return {"ok": True}

    async def _navigate(self, params: Mapping[str, Any]) -> Any:
        await self._show_address(_text(params, "url"))
        return {"ok": True, "loaded": False, "note": "the person is shown the address; nothing is loaded from it"}

    async def _push(self, params: Mapping[str, Any]) -> Any:
        document = params.get("messages") if "messages" in params else _text(params, "jsonl")
        return {"ok": True, "surfaces": await self._draw(document)}

    async def _reset(self, _: Mapping[str, Any]) -> Any:
        names = [it.surface.id for it in self._canvas.surfaces() if it.drawer == DRAWER]
        for name in names:
            await self._canvas.remove(DRAWER, name, by=DRAWER)
        return {"ok": True, "surfaces": []}

    async def _eval(self, _: Mapping[str, Any]) -> Any:
        raise CommandError("CANVAS_EVAL_REFUSED", "this canvas runs no scripts; push A2UI messages instead")

    async def _snapshot(self, _: Mapping[str, Any]) -> Any:
        raise CommandError("CANVAS_SNAPSHOT_UNAVAILABLE", "this canvas is drawn by the person's browser, not here")

    async def _draw(self, document: object) -> list[str]:
        """Strictly: the agent is told what to repair, and where."""
        try:
            drawn = await self._canvas.draw(DRAWER, "", document, session_key=self._session())
        except A2uiError as error:
            raise CommandError("VALIDATION_FAILED", f"{error.code}: {error}") from None
        return [it.surface.id for it in drawn]

    async def _show_address(self, url: str) -> None:
        text = {"id": "root", "component": "Text", "text": url[:_ADDRESS]}
        surface = {"surfaceId": _ADDRESS_SURFACE, "catalogId": "basic"}
        updated = {"surfaceId": _ADDRESS_SURFACE, "components": [text]}
        known = any(it.drawer == DRAWER and it.surface.id == _ADDRESS_SURFACE for it in self._canvas.surfaces())
        created = [] if known else [{"version": "v0.9", "createSurface": surface}]
        await self._draw([*created, {"version": "v0.9", "updateComponents": updated}])

    async def _tell(self, kind: str, text: str) -> None:
        await self._journal.append([Event(kind=kind, session=DRAWER, text=text, body={"drawer": DRAWER})])


def _text(params: Mapping[str, Any], name: str) -> str:
    value = params.get(name)
    if not isinstance(value, str) or not value:
        raise CommandError("INVALID_PARAMS", f"{name} is missing")
    return value
