"""A page of what a variable holds, and how many there are in all, though few adapters page.

Most answer with everything, whatever was asked for; some with the first hundred and a mark that there are more. Where
the language can, the rest is then asked for as a slice of the container.
"""

from __future__ import annotations

import msgspec

from dragoman.debug.dialect import Dialect
from dragoman.debug.model import Page, Variable
from dragoman.debug.snapshot import Container, Looking
from dragoman.errors import DragomanError

_SLICED_WITHIN_S = 4.0


class Pager:
    def __init__(self, looking: Looking, dialect: Dialect) -> None:
        self._looking = looking
        self._dialect = dialect

    async def page(self, reference: int, start: int, count: int) -> Page:
        """Without a count, all from the start on."""
        container = self._looking.container(reference)
        if container.indexed and count:
            return await self._paged(reference, container, start, count)
        found = await self._looking.variables(reference)
        whole = tuple(it for it in found if it.name not in self._dialect.cut_marks)
        is_cut = len(whole) != len(found)
        stop = start + count if count else max(start, len(whole))
        if is_cut and (page := await self._sliced(container, start, stop)) is not None:
            return page
        return Page(variables=whole[start:stop], total=None if is_cut else len(whole))

    async def _paged(self, reference: int, container: Container, start: int, count: int) -> Page:
        """By the adapter, which has said how many there are: elements first, then what else the container has."""
        indexed, named = container.indexed or 0, container.named or 0
        found: list[Variable] = []
        if start < indexed:
            asked = min(count, indexed - start)
            elements = await self._looking.variables(reference, start=start, count=asked, filter="indexed")
            found += _of_page(elements, start, asked)
        if named and start + count > indexed:
            others = _besides(await self._looking.variables(reference, filter="named"), found, named)
            found += others[max(0, start - indexed) : start + count - indexed]
        return Page(variables=tuple(found), total=indexed + named)

    async def _sliced(self, container: Container, start: int, stop: int) -> Page | None:
        """None where the language cannot, or the program's own type does not let it."""
        spelled = self._dialect.slices.get(container.type)
        if not spelled or not container.expression:
            return None
        sliced = spelled.format(name=container.expression, start=start, stop=stop)
        try:
            total = int((await self._evaluate(self._dialect.length.format(name=container.expression), container))[0])
            reference = (await self._evaluate(sliced, container))[1]
            found = await self._looking.variables(reference) if reference else ()
        except (DragomanError, ValueError):
            return None
        mine = [it for it in found if it.name not in self._dialect.own_children | self._dialect.cut_marks]
        by_place = container.type not in self._dialect.keyed
        return Page(variables=tuple(_moved(it, start) if by_place else it for it in mine), total=total)

    async def _evaluate(self, expression: str, container: Container) -> tuple[str, int]:
        answer = await self._looking.evaluate(expression, container.frame, "watch", timeout_s=_SLICED_WITHIN_S)
        return answer.result, answer.reference


def _of_page(elements: tuple[Variable, ...], start: int, count: int) -> tuple[Variable, ...]:
    """By their names, where those are places: js-debug adds the prototype to a page, others answer with everything."""
    if len(elements) <= count:
        return elements  # not by names: Lua counts from one
    wanted = {str(place) for place in range(start, start + count)}
    named = tuple(it for it in elements if it.name.strip("[]") in wanted)
    if named:
        return named
    return elements[start : start + count]


def _besides(others: tuple[Variable, ...], elements: list[Variable], count: int) -> tuple[Variable, ...]:
    """Without the elements, where the adapter does not heed what it was asked for and answers with everything."""
    told = {it.name for it in elements}
    is_everything = len(others) > count
    return tuple(it for it in others if it.name not in told and not (is_everything and it.name.strip("[]").isdigit()))


def _moved(variable: Variable, start: int) -> Variable:
    """An element of a slice is named by its place in the whole."""
    is_place = variable.name.isascii() and variable.name.isdigit()
    return msgspec.structs.replace(variable, name=str(start + int(variable.name))) if is_place else variable
