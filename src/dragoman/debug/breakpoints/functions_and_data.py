"""Function breakpoints and data breakpoints. DAP replaces the whole list of a kind in each request, and answers in
its order.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Callable, Iterable
from typing import Any

from dragoman.core.localization import LocalizedText, localize
from dragoman.debug.backends.port import LIBRARY_ARGUMENT, AdapterRefusedError, Backend
from dragoman.debug.backends.quirks import AdapterQuirks
from dragoman.debug.breakpoints.status import (
    SHARED_PLACE_MESSAGE,
    BreakpointStatus,
    MergedBreakpoint,
    any_condition,
    merge_breakpoints,
)
from dragoman.protocols.dap import Capabilities, bodies, read_body
from dragoman.workspace.breakpoints import Breakpoint

_RESPONSE_TIMEOUT_S = 10.0
EncodeBreakpoint = Callable[[Breakpoint], dict[str, Any]]


class NamedBreakpoints:
    """One kind of them at one adapter."""

    def __init__(
        self,
        backend: Backend,
        bound: BreakpointStatus,
        *,
        command: str,
        capability: str,
        missing: LocalizedText,
        encode: EncodeBreakpoint,
        quirks: AdapterQuirks | None = None,
    ) -> None:
        self._quirks = quirks or AdapterQuirks()
        self._backend = backend
        self._bound = bound
        self._command = command
        self._capability = capability
        self._missing = str(missing)
        self._encode = encode
        self.sent: tuple[Breakpoint, ...] = ()

    async def send(self, breakpoints: Iterable[Breakpoint], capabilities: Capabilities) -> None:
        wanted = tuple(it for it in breakpoints if it.enabled)
        if wanted == self.sent:
            return
        self.sent = wanted
        can = capabilities.has(self._capability)
        for breakpoint in wanted:
            self._bound.set_fault(breakpoint.id, "" if can else self._missing)
        if can:
            await self._ask(wanted)

    async def _ask(self, wanted: tuple[Breakpoint, ...]) -> None:
        places = [self._encode_group(group) for group in self._group_by_name(wanted)]
        asked: dict[str, Any] = {"breakpoints": [spelled for _, spelled in places]}
        asked |= library_arguments(self._quirks, wanted)
        try:
            response = await self._backend.request(self._command, asked, timeout_s=_RESPONSE_TIMEOUT_S)
        except AdapterRefusedError as error:
            for breakpoint in wanted:
                self._bound.set_fault(breakpoint.id, error.reason or self._missing)
            return
        answers = read_body(response, bodies.SetBreakpointsResponse).of_requested(len(places))
        for (place, _), answer in zip(places, answers, strict=True):
            self._bound.bind(place, answer)
            for it in place.left_out:
                self._bound.set_fault(it.id, SHARED_PLACE_MESSAGE)

    def _group_by_name(self, wanted: Iterable[Breakpoint]) -> list[list[Breakpoint]]:
        """Groups breakpoints that have the same name for the adapter."""
        groups: defaultdict[object, list[Breakpoint]] = defaultdict(list)
        for breakpoint in wanted:
            groups[self._encode(breakpoint).get("name") or breakpoint.id].append(breakpoint)
        return list(groups.values())

    def _encode_group(self, group: list[Breakpoint]) -> tuple[MergedBreakpoint, dict[str, Any]]:
        """Merges a group into one breakpoint that stops if any of them would: some adapters keep only the last of a
        name."""
        place = merge_breakpoints(group, 0, self._quirks.or_word, lambda _: True)
        spelled = [self._encode(it) for it in place.merged]
        condition = any_condition([it.get("condition", "") for it in spelled], self._quirks.or_word)
        first = {name: value for name, value in spelled[0].items() if name != "condition"}
        return place, {**first, **({"condition": condition} if condition else {})}


def library_arguments(quirks: AdapterQuirks, breakpoints: Iterable[Breakpoint]) -> dict[str, list[str]]:
    """Expressions to evaluate before these breakpoints are set, as an extra field of the request."""
    expressions = list(
        dict.fromkeys(found for it in breakpoints if (found := quirks.library_expression(it.path, it.function)))
    )
    return {LIBRARY_ARGUMENT: expressions} if expressions else {}


def function_breakpoints(
    backend: Backend, bound: BreakpointStatus, encode: EncodeBreakpoint, quirks: AdapterQuirks
) -> NamedBreakpoints:
    return NamedBreakpoints(
        backend,
        bound,
        command="setFunctionBreakpoints",
        capability="supportsFunctionBreakpoints",
        missing=localize("The adapter does not support function breakpoints: set a breakpoint at the first line."),
        encode=encode,
        quirks=quirks,
    )


def data_breakpoints(backend: Backend, bound: BreakpointStatus, encode: EncodeBreakpoint) -> NamedBreakpoints:
    return NamedBreakpoints(
        backend,
        bound,
        command="setDataBreakpoints",
        capability="supportsDataBreakpoints",
        missing=localize("The adapter does not support data breakpoints."),
        encode=lambda it: {"dataId": it.data_id, "accessType": it.access, **encode(it)},
    )
