"""Breakpoints that are no place in a file: functions by their name, and data by the adapter's name for it.

DAP replaces the whole list of a kind at each request, and answers in its order.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Callable, Iterable
from typing import Any

from dragoman.debug.backend import AdapterRefusedError, Backend
from dragoman.debug.bound import Bound
from dragoman.debug.dialect import Dialect
from dragoman.debug.member_lists import ADMIT
from dragoman.debug.shared_lines import SHARES, Shared, either, shared
from dragoman.phrases import Phrase, say
from dragoman.wire.dap import Capabilities, answers, read_body
from dragoman.workspace.breakpoints import Breakpoint

_SENT_WITHIN_S = 10.0
Spell = Callable[[Breakpoint], dict[str, Any]]


class Named:
    """One kind of them at one adapter."""

    def __init__(
        self,
        backend: Backend,
        bound: Bound,
        *,
        command: str,
        capability: str,
        missing: Phrase,
        spell: Spell,
        dialect: Dialect | None = None,
    ) -> None:
        self._dialect = dialect or Dialect()
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
        places = [self._spelled(group) for group in self._groups(wanted)]
        asked: dict[str, Any] = {"breakpoints": [spelled for _, spelled in places]}
        asked |= admitting(self._dialect, wanted)
        try:
            response = await self._backend.request(self._command, asked, timeout_s=_SENT_WITHIN_S)
        except AdapterRefusedError as error:
            for breakpoint in wanted:
                self._bound.note(breakpoint.id, error.reason or self._missing)
            return
        told = read_body(response, answers.BreakpointsAnswer).breakpoints
        for (place, _), answer in zip(places, told, strict=False):
            self._bound.bind(place, answer)
            for it in place.left_out:
                self._bound.note(it.id, SHARES)

    def _groups(self, wanted: Iterable[Breakpoint]) -> list[list[Breakpoint]]:
        """Those that have one name for the adapter."""
        groups: defaultdict[object, list[Breakpoint]] = defaultdict(list)
        for breakpoint in wanted:
            groups[self._spell(breakpoint).get("name") or breakpoint.id].append(breakpoint)
        return list(groups.values())

    def _spelled(self, group: list[Breakpoint]) -> tuple[Shared, dict[str, Any]]:
        """Several are sent as one, which stops where one of them would: some adapters keep the last of a name alone."""
        place = shared(group, 0, self._dialect.or_word, lambda _: True)
        spelled = [self._spell(it) for it in place.stands_for]
        condition = either([it.get("condition", "") for it in spelled], self._dialect.or_word)
        first = {name: value for name, value in spelled[0].items() if name != "condition"}
        return place, {**first, **({"condition": condition} if condition else {})}


def admitting(dialect: Dialect, breakpoints: Iterable[Breakpoint]) -> dict[str, list[str]]:
    """What is to be evaluated before these are set, as a field of their list."""
    expressions = list(dict.fromkeys(found for it in breakpoints if (found := dialect.admits(it.path, it.function))))
    return {ADMIT: expressions} if expressions else {}


def functions(backend: Backend, bound: Bound, spell: Spell, dialect: Dialect) -> Named:
    return Named(
        backend,
        bound,
        command="setFunctionBreakpoints",
        capability="supportsFunctionBreakpoints",
        missing=say("The adapter cannot stop at a function by its name: set a breakpoint at its first line."),
        spell=spell,
        dialect=dialect,
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
