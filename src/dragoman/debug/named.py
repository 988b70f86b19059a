"""Breakpoints that are no place in a file: functions by their name, and data by the adapter's name for it.

DAP replaces the whole list of a kind at each request, and answers in its order.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from typing import Any

from dragoman.debug.backend import AdapterRefusedError, Backend
from dragoman.debug.bound import Bound
from dragoman.debug.shared_lines import Shared
from dragoman.phrases import Phrase, say
from dragoman.wire.dap import Capabilities, answers, read_body
from dragoman.workspace.breakpoints import Breakpoint

_SENT_WITHIN_S = 10.0
Spell = Callable[[Breakpoint], dict[str, Any]]


class Named:
    """One kind of them at one adapter."""

    def __init__(
        self, backend: Backend, bound: Bound, *, command: str, capability: str, missing: Phrase, spell: Spell
    ) -> None:
        self._backend = backend
        self._bound = bound
        self._command = command
        self._capability = capability
        self._missing = str(missing)
        self._spell = spell
        self.sent: tuple[Breakpoint, ...] = ()

    async def send(self, breakpoints: Iterable[Breakpoint], capabilities: Capabilities) -> None:
        wanted = tuple(it for it in breakpoints if it.enabled)
        if wanted == self.sent:
            return
        self.sent = wanted
        can = capabilities.has(self._capability)
        for breakpoint in wanted:
            self._bound.note(breakpoint.id, "" if can else self._missing)
        if can:
            await self._ask(wanted)

    async def _ask(self, wanted: tuple[Breakpoint, ...]) -> None:
        asked = {"breakpoints": [self._spell(it) for it in wanted]}
        try:
            response = await self._backend.request(self._command, asked, timeout_s=_SENT_WITHIN_S)
        except AdapterRefusedError as error:
            for breakpoint in wanted:
                self._bound.note(breakpoint.id, error.reason or self._missing)
            return
        for breakpoint, answer in zip(wanted, read_body(response, answers.BreakpointsAnswer).breakpoints, strict=False):
            self._bound.bind(Shared(breakpoint, (breakpoint,)), answer)


def functions(backend: Backend, bound: Bound, spell: Spell) -> Named:
    return Named(
        backend,
        bound,
        command="setFunctionBreakpoints",
        capability="supportsFunctionBreakpoints",
        missing=say("The adapter cannot stop at a function by its name: set a breakpoint at its first line."),
        spell=lambda it: {"name": it.function, **spell(it)},
    )


def data(backend: Backend, bound: Bound, spell: Spell) -> Named:
    return Named(
        backend,
        bound,
        command="setDataBreakpoints",
        capability="supportsDataBreakpoints",
        missing=say("The adapter cannot stop where data changes."),
        spell=lambda it: {"dataId": it.data_id, "accessType": it.access, **spell(it)},
    )
