"""Pauses a program whose runtime has no pause command, and skips stops that no client's breakpoint asks for."""

from __future__ import annotations

import logging
from collections.abc import Awaitable, Callable, Mapping
from typing import Any

from dragoman.core.errors import DragomanError
from dragoman.core.localization import localize
from dragoman.debug.backends.luapanda.breakpoints import LuaBreakpoint, LuaBreakpoints, message_parts
from dragoman.debug.backends.luapanda.inspection import LuaInspector, LuaStop, chunk_from_entry
from dragoman.debug.backends.luapanda.path_map import LuaPathMap
from dragoman.debug.backends.luapanda.runtime_client import (
    ExtendedRuntimeClient,
    HelperClient,
    PlainRuntimeClient,
    RuntimeClient,
)
from dragoman.debug.backends.port import make_output_event
from dragoman.debug.breakpoints.hit_conditions import parse_hit_condition
from dragoman.io.drivers.luapanda_driver import LuaPandaDriver
from dragoman.protocols.dap.bodies import EventBody

log = logging.getLogger(__name__)

# LuaPanda checks for messages when a hook fires and two seconds of its clock have passed; Dragoman's runtime checks
# at every hook.
_POLL_TIMEOUT_S = 2.4
_EXTENDED_POLL_TIMEOUT_S = 1.0
PublishLuaEvent = Callable[[EventBody], Awaitable[None]]


class PauseControl:
    def __init__(
        self, driver: LuaPandaDriver, client: RuntimeClient, breakpoints: LuaBreakpoints, paths: LuaPathMap
    ) -> None:
        self._driver = driver
        self._client = client
        self._breakpoints = breakpoints
        self._paths = paths
        self._is_wanted = False
        self._flooded_files: list[str] = []

    def reason(self) -> str:
        return "pause" if self._is_wanted else ""

    async def request_pause(self, publish: PublishLuaEvent) -> None:
        """Returns when the runtime has accepted the request. If no hook fires it cannot, and the output says so."""
        self._is_wanted = True
        try:
            await self._ask()
        except DragomanError as error:
            if error.code != "adapter_silent":
                raise
            notice = localize("The Lua program cannot pause here: it is waiting, or running C or compiled code.")
            await publish(make_output_event(f"{notice}\n", "important"))

    async def _ask(self) -> None:
        if isinstance(self._client, ExtendedRuntimeClient | HelperClient):
            within_s = _EXTENDED_POLL_TIMEOUT_S if isinstance(self._client, ExtendedRuntimeClient) else _POLL_TIMEOUT_S
            await self._client.ask("pause", {}, timeout_s=within_s)
            return
        # The files seen so far, or all files. A slow program has to read each line that is sent, so few are sent.
        self._flooded_files = self._breakpoints.known_files or self._paths.all_files()
        await self._breakpoints.break_on_every_line(self._flooded_files)

    async def should_skip(self, stop: LuaStop, inspector: LuaInspector, publish: PublishLuaEvent) -> bool:
        """Whether the stop is nobody's business. Any stop ends a pause that was wanted."""
        wanted, self._is_wanted = self._is_wanted, False
        if wanted and self._flooded_files:
            await self._breakpoints.restore(self._flooded_files)
            self._flooded_files = []
            stop.reason = "pause" if stop.reason == "breakpoint" else stop.reason
            return False
        if wanted and stop.reason != "pause" and isinstance(self._client, HelperClient):
            await self._client.ask("unpause", {}, timeout_s=_POLL_TIMEOUT_S)
        if stop.cmd != "stopOnBreakpoint" or stop.change or not stop.frames:
            return False
        path, line, defined = location_in(stop.frames[0], self._paths)
        hit = self._breakpoints.at(path, line, defined)
        if not hit or not isinstance(self._client, PlainRuntimeClient):
            return not hit and (
                bool(self._breakpoints.at(path, line)) or self._breakpoints.is_in_same_named_file(path, line)
            )
        return not [place for place in hit if await self._is_hit(place, stop, inspector, publish)]

    async def _is_hit(
        self, place: LuaBreakpoint, stop: LuaStop, inspector: LuaInspector, publish: PublishLuaEvent
    ) -> bool:
        """For a runtime without code evaluation: counts hits and writes log messages here."""
        place.hits += 1
        if place.hit_condition and not parse_hit_condition(place.hit_condition).holds(place.hits):
            return False
        if not place.log_message:
            return True
        parts = message_parts(place.log_message, lambda expression: [expression])
        texts = [one if isinstance(one, str) else await self._evaluated_text(one[0], stop, inspector) for one in parts]
        await publish(make_output_event("".join(texts) + "\n", "stdout"))
        return False

    async def _evaluated_text(self, expression: str, stop: LuaStop, inspector: LuaInspector) -> str:
        try:
            found = await inspector.evaluate(stop, {"expression": expression}, _POLL_TIMEOUT_S)
        except DragomanError as error:
            return f"<{getattr(error, 'reason', '') or error.code}>"
        return str(found["result"])


def location_in(frame: Mapping[str, Any], paths: LuaPathMap) -> tuple[str, int, int | None]:
    """File and line, and where the function is defined, as far as the runtime tells it."""
    defined = frame.get("defined")
    return paths.file_of(chunk_from_entry(frame)), int(frame["line"]), None if defined is None else int(defined)
