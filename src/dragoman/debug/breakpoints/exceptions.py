"""Exception breakpoints: the filters that clients name, translated into the filters of each adapter.

Filters that are on by default stay on until a client switches them off with a disabled breakpoint.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping
from typing import Any

import msgspec

from dragoman.core.localization import LocalizedText, localize
from dragoman.debug.backends.port import AdapterRefusedError, Backend
from dragoman.debug.backends.quirks import AdapterQuirks
from dragoman.debug.breakpoints.status import BreakpointStatus, MergedBreakpoint
from dragoman.debug.model import RaisedException
from dragoman.protocols.dap import Capabilities, bodies
from dragoman.workspace.breakpoints import Breakpoint

_RESPONSE_TIMEOUT_S = 10.0
_TYPE_NAMES = re.compile(r"\s*[\w.]+(?:\s*,\s*[\w.]+)*\s*")

# The adapters' names for these filters, closest meaning first, as each adapter lists them in its capabilities.
_UNCAUGHT = ("uncaught", "RuntimeError")
_RAISED = ("raised", "all", "any", "cpp_throw")
_FILTERS_BY_NAME: Mapping[str, tuple[tuple[str, ...], ...]] = {
    "uncaught": (_UNCAUGHT,),
    "raised": (_RAISED,),
    "all": (_RAISED, _UNCAUGHT),
}
_MODES = {"raised": "always", "uncaught": "unhandled", "userUnhandled": "userUnhandled"}


class ExceptionBreakpoints:
    def __init__(
        self, backend: Backend, quirks: AdapterQuirks, by_default: Iterable[str], bound: BreakpointStatus
    ) -> None:
        self._backend = backend
        self._quirks = quirks
        self._by_default = tuple(by_default)
        self._bound = bound
        self._offered: dict[str, dict[str, Any]] = {}
        self._sent: dict[str, Any] | None = None
        self._answer = bodies.DapBreakpoint(verified=False)
        self.enabled: tuple[Breakpoint, ...] = ()

    async def send(self, breakpoints: Iterable[Breakpoint], capabilities: Capabilities) -> None:
        self._offered = {it["filter"]: it for it in capabilities.get("exceptionBreakpointFilters") or ()}
        every = tuple(breakpoints)
        self.enabled = tuple(it for it in every if it.enabled)
        for breakpoint in self.enabled:
            self._bound.set_fault(breakpoint.id, self._condition_fault(breakpoint, capabilities))
        arguments = self._set_arguments(every, capabilities)
        if self._offered and arguments != self._sent:
            await self._ask(arguments)
        if self._offered:
            self._bind()

    def find_hits(self, raised: RaisedException | None) -> tuple[int, ...]:
        """Matched by how the exception was raised and by its type, because no adapter says which filter was hit."""
        if raised is None:
            return ()
        uncaught = set(self._by_default) | {"uncaught"}
        found = [it for it in self.enabled if self._bound.binding_of(it.id).verified and _matches_type(it, raised)]
        chosen = [it for it in found if raised.uncaught is not uncaught.isdisjoint(self._filters(it.filter))]
        return tuple(it.id for it in chosen or found)

    def with_uncaught(self, raised: RaisedException) -> RaisedException:
        """If no breakpoint asks for caught exceptions, an exception that stops the program is uncaught. Few adapters
        say so."""
        uncaught = {*self._by_default, *_UNCAUGHT}
        if raised.uncaught or any(not uncaught.issuperset(self._filters(it.filter)) for it in self.enabled):
            return raised
        return msgspec.structs.replace(raised, uncaught=True)

    def _filters(self, word: str) -> list[str]:
        """The adapter's filters for one of our names: its default ones are what it calls uncaught. Its own names are
        kept."""
        if word in self._offered and word not in _FILTERS_BY_NAME:
            return [word]
        chosen: list[str] = []
        for names in _FILTERS_BY_NAME.get(word, ()):
            default = [it for it in self._by_default if it in self._offered] if names is _UNCAUGHT else []
            chosen += default or [name for name in names if name in self._offered][:1]
        return list(dict.fromkeys(chosen))

    def _set_arguments(self, every: tuple[Breakpoint, ...], capabilities: Capabilities) -> dict[str, Any]:
        sound = [it for it in self.enabled if not self._bound.binding_of(it.id).message]
        plain = {name for it in sound if not it.condition for name in self._filters(it.filter)}
        off = {name for it in every if not it.enabled for name in self._filters(it.filter)}
        plain |= {name for name in self._by_default if name in self._offered and name not in off}
        conditional = [it for it in sound if it.condition]
        asked: dict[str, Any] = {"filters": [name for name in self._offered if name in plain]}
        if not conditional:
            return asked
        if capabilities.has("supportsExceptionFilterOptions"):
            return asked | {"filterOptions": [it for one in conditional for it in self._filter_options(one, plain)]}
        return asked | {"exceptionOptions": self._exception_options(conditional, asked["filters"])}

    def _filter_options(self, breakpoint: Breakpoint, plain: set[str]) -> list[dict[str, Any]]:
        """A filter that is on without a condition stops anyway: the condition would take stops away."""
        names = [name for name in self._filters(breakpoint.filter) if name not in plain]
        return [{"filterId": name, "condition": breakpoint.condition} for name in names]

    def _exception_options(self, conditional: list[Breakpoint], plain: list[str]) -> list[dict[str, Any]]:
        """An adapter ignores its filters if it gets exception options, so the plain filters become options too."""
        root = {"names": [self._quirks.exception_category]}
        options = [{"path": [root], "breakMode": _MODES.get(name, "always")} for name in plain]
        for breakpoint in conditional:
            path = [root, {"names": [name.strip() for name in breakpoint.condition.split(",")]}]
            modes = [_MODES.get(name, "always") for name in self._filters(breakpoint.filter)]
            options += [{"path": path, "breakMode": mode} for mode in modes]
        return options

    def _condition_fault(self, breakpoint: Breakpoint, capabilities: Capabilities) -> str:
        fault = self._why_not(breakpoint, capabilities)
        return str(fault) if fault else ""

    def _why_not(self, breakpoint: Breakpoint, capabilities: Capabilities) -> LocalizedText | None:
        filters = self._filters(breakpoint.filter)
        if not filters:
            return localize(
                "Unknown exception filter. The adapter has: {known}.", known=", ".join(self._offered) or "-"
            )
        if not breakpoint.condition:
            return None
        if capabilities.has("supportsExceptionFilterOptions"):
            takes = all(self._offered[name].get("supportsCondition") is True for name in filters)
            return None if takes else localize("This exception filter does not support conditions.")
        if not self._quirks.exception_category:
            return localize("This exception filter does not support conditions.")
        names = _TYPE_NAMES.fullmatch(breakpoint.condition)
        return None if names else localize("The condition must be exception type names, separated by commas.")

    async def _ask(self, asked: dict[str, Any]) -> None:
        self._answer = bodies.DapBreakpoint(verified=True)
        try:
            await self._backend.request("setExceptionBreakpoints", asked, timeout_s=_RESPONSE_TIMEOUT_S)
        except AdapterRefusedError as error:
            self._answer = bodies.DapBreakpoint(verified=False, message=error.reason)
        self._sent = asked

    def _bind(self) -> None:
        """Also binds breakpoints that ask for nothing new, because a default or another breakpoint asks for the
        same."""
        for it in self.enabled:
            self._bound.bind(MergedBreakpoint(it, (it,)), self._answer)


def _matches_type(breakpoint: Breakpoint, raised: RaisedException) -> bool:
    """A condition of type names can be checked here; any other was the adapter's to check."""
    if not breakpoint.condition or not _TYPE_NAMES.fullmatch(breakpoint.condition):
        return True
    names = {name.strip().rsplit(".", 1)[-1] for name in breakpoint.condition.split(",")}
    return raised.type.rsplit(".", 1)[-1] in names
