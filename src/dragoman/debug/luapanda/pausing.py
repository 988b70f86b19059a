"""Pausing a program whose runtime has no such command, and stops that are passed over on behalf of a breakpoint."""

from __future__ import annotations

import logging
from collections.abc import Awaitable, Callable, Mapping
from typing import Any

from dragoman.debug.hit_conditions import parse_hit_condition
from dragoman.debug.luapanda.bare import Bare
from dragoman.debug.luapanda.breakpoints import Breakpoints, Place, message_parts
from dragoman.debug.luapanda.inside import Helper, Inside, Native
from dragoman.debug.luapanda.looking import Looking, chunk_of
from dragoman.debug.luapanda.paths import PathMap
from dragoman.debug.luapanda.stop import LuaStop
from dragoman.debug.messages import output
from dragoman.errors import DragomanError
from dragoman.phrases import say
from dragoman.transport.luapanda_driver import LuaPandaDriver
from dragoman.wire.dap import Event

log = logging.getLogger(__name__)

# LuaPanda looks for messages when two seconds of its clock have passed, and a hook fires; ours all the time.
_LOOKED_WITHIN_S = 2.4
_OURS_LOOKS_WITHIN_S = 1.0
Tell = Callable[[Event], Awaitable[None]]


class Pausing:
    def __init__(self, driver: LuaPandaDriver, inside: Inside, breakpoints: Breakpoints, paths: PathMap) -> None:
        self._driver = driver
        self._inside = inside
        self._breakpoints = breakpoints
        self._paths = paths
        self._is_wanted = False
        self._carpeted: list[str] = []

    def reason(self) -> str:
        return "pause" if self._is_wanted else ""

    async def begin(self, tell: Tell) -> None:
        """Returns when the runtime has taken note. Where no hook fires it cannot, and that is told."""
        self._is_wanted = True
        try:
            await self._ask()
        except DragomanError as error:
            if error.code != "adapter_silent":
                raise
            told = say(
                "The Lua program passes no place where its debugger can look: it waits, or runs C or compiled code."
            )
            await tell(output(f"{told}\n", "important"))

    async def _ask(self) -> None:
        if isinstance(self._inside, Native | Helper):
            within_s = _OURS_LOOKS_WITHIN_S if isinstance(self._inside, Native) else _LOOKED_WITHIN_S
            await self._inside.ask("pause", {}, timeout_s=within_s)
            return
        # Where the program was seen it will be again; every line that is sent is read by a slow program.
        self._carpeted = self._breakpoints.known_files or self._paths.every_file()
        await self._breakpoints.carpet(self._carpeted)

    async def passes_over(self, stop: LuaStop, looking: Looking, tell: Tell) -> bool:
        """Whether the stop is nobody's business. Any stop ends a pause that was wanted."""
        wanted, self._is_wanted = self._is_wanted, False
        if wanted and self._carpeted:
            await self._breakpoints.restore(self._carpeted)
            self._carpeted = []
            stop.reason = "pause" if stop.reason == "breakpoint" else stop.reason
            return False
        if wanted and stop.reason != "pause" and isinstance(self._inside, Helper):
            await self._inside.ask("unpause", {}, timeout_s=_LOOKED_WITHIN_S)
        if stop.cmd != "stopOnBreakpoint" or stop.change or not stop.frames:
            return False
        path, line, defined = place_in(stop.frames[0], self._paths)
        hit = self._breakpoints.at(path, line, defined)
        if not hit or not isinstance(self._inside, Bare):
            return not hit and (bool(self._breakpoints.at(path, line)) or self._breakpoints.is_of_a_twin(path, line))
        return not [place for place in hit if await self._counts(place, stop, looking, tell)]

    async def _counts(self, place: Place, stop: LuaStop, looking: Looking, tell: Tell) -> bool:
        """What a runtime without code cannot do is done here: its hits are counted, its message is told."""
        place.hits += 1
        if place.hit_condition and not parse_hit_condition(place.hit_condition).holds(place.hits):
            return False
        if not place.log_message:
            return True
        parts = message_parts(place.log_message, lambda expression: [expression])
        texts = [one if isinstance(one, str) else await self._said(one[0], stop, looking) for one in parts]
        await tell(output("".join(texts) + "\n", "stdout"))
        return False

    async def _said(self, expression: str, stop: LuaStop, looking: Looking) -> str:
        try:
            found = await looking.evaluate(stop, {"expression": expression}, _LOOKED_WITHIN_S)
        except DragomanError as error:
            return f"<{getattr(error, 'reason', '') or error.code}>"
        return str(found["result"])


def place_in(frame: Mapping[str, Any], paths: PathMap) -> tuple[str, int, int | None]:
    """File and line, and where the function is defined, as far as the runtime tells it."""
    defined = frame.get("defined")
    return paths.place_of(chunk_of(frame)), int(frame["line"]), None if defined is None else int(defined)
