"""Pages of large containers, from adapters that page, that answer with everything, and that cut."""

from __future__ import annotations

from typing import Any

import pytest

from dragoman.debug.backends.adapters import PYTHON
from dragoman.debug.backends.quirks import AdapterQuirks
from dragoman.debug.model import VariablePage
from tests.debug.fake_sessions import running_session, session_of, stopped
from tests.support.fake_adapter import FakeAdapter

pytestmark = [pytest.mark.anyio, pytest.mark.timeout(30)]


def elements(numbers: range) -> dict[str, Any]:
    return {"variables": [{"name": str(number), "value": str(number)} for number in numbers]}


def holding(children: Any, **fields: Any) -> FakeAdapter:
    """Its locals are one container, `big`."""
    adapter = FakeAdapter()
    big = {"name": "big", "value": "[...]", "variablesReference": 77, "evaluateName": "big", "type": "list", **fields}

    def variables(asked: dict[str, Any]) -> Any:
        return {"variables": [big]} if asked["variablesReference"] == 9 else children(asked)

    adapter.answers["variables"] = variables
    return adapter


async def page_of(adapter: FakeAdapter, start: int, count: int, quirks: AdapterQuirks | None = None) -> VariablePage:
    async with running_session(session_of(adapter, quirks=quirks)) as session:
        adapter.stop()
        stop = await stopped(session)
        assert stop.top_locals is not None
        return await session.inspection.page(stop.top_locals.variables[0].reference, start=start, count=count)


def names(page: VariablePage) -> list[str]:
    return [variable.name for variable in page.variables]


@pytest.mark.parametrize(("start", "count", "shown"), [(0, 3, "012"), (8, 5, "89"), (40, 5, ""), (7, 0, "789")])
async def test_of_an_adapter_that_answers_with_everything_the_page_is_cut_here(
    start: int, count: int, shown: str
) -> None:
    page = await page_of(holding(lambda _: elements(range(10))), start, count)
    assert ("".join(names(page)), page.total) == (shown, 10)


async def test_an_adapter_that_says_how_many_there_are_is_asked_for_the_page_alone() -> None:
    adapter = holding(
        lambda asked: elements(range(asked["start"], asked["start"] + asked["count"])), indexedVariables=10**6
    )
    page = await page_of(adapter, 500_000, 3)
    assert (names(page), page.total) == (["500000", "500001", "500002"], 10**6)
    asked = {"variablesReference": 77, "start": 500_000, "count": 3, "filter": "indexed"}
    assert adapter.sent("variables")[-1] == asked


async def test_what_an_adapter_adds_to_a_page_of_elements_is_not_any_of_them() -> None:
    def with_prototype(asked: dict[str, Any]) -> dict[str, Any]:
        found = elements(range(asked["start"], asked["start"] + asked["count"]))
        return {"variables": [*found["variables"], {"name": "[[Prototype]]", "value": "Object"}]}

    page = await page_of(holding(with_prototype, indexedVariables=1000), 500, 3)
    assert ([it.value for it in page.variables], page.total) == (["500", "501", "502"], 1000)


async def test_what_a_container_has_besides_its_elements_comes_after_them() -> None:
    def children(asked: dict[str, Any]) -> Any:
        return elements(range(8, 10)) if asked["filter"] == "indexed" else {"variables": [{"name": "length"}]}

    page = await page_of(holding(children, indexedVariables=10, namedVariables=1), 8, 5)
    assert (names(page), page.total) == (["8", "9", "length"], 11)


@pytest.mark.parametrize(
    ("start", "shown"), [(0, ["0", "1", "2", "length"]), (2, ["2", "length"]), (3, ["length"]), (4, [])]
)
async def test_an_adapter_that_sends_everything_unasked_reports_nothing_twice(start: int, shown: list[str]) -> None:
    everything = {"variables": [*elements(range(3))["variables"], {"name": "length", "value": "3"}]}
    page = await page_of(holding(lambda _: everything, indexedVariables=3, namedVariables=1), start, 5)
    assert (names(page), page.total) == (shown, 4)


def cutting(adapter_answers: dict[str, Any], **fields: Any) -> FakeAdapter:
    def children(asked: dict[str, Any]) -> Any:
        if asked["variablesReference"] == 78:
            return {"variables": [{"name": "special variables"}, *elements(range(2))["variables"]]}
        return {"variables": [*elements(range(100))["variables"], {"name": "more", "value": "..."}]}

    adapter = holding(children, **fields)
    adapter.answers["evaluate"] = lambda asked: adapter_answers.get(asked["expression"], {"result": "?"})
    return adapter


@pytest.mark.parametrize(("type", "shown"), [("list", ["5000", "5001"]), ("dict", ["0", "1"])])
async def test_where_the_adapter_cuts_the_rest_is_a_slice_in_the_language_of_the_program(
    type: str, shown: list[str]
) -> None:
    sliced = PYTHON.quirks.slice_expressions[type].format(name="big", start=5000, stop=5002)
    answers = {"len(big)": {"result": "1000000"}, sliced: {"result": "[]", "variablesReference": 78}}
    adapter = cutting(answers, type=type)
    page = await page_of(adapter, 5000, 2, PYTHON.quirks)
    assert (names(page), page.total) == (shown, 1_000_000)
    assert {it["frameId"] for it in adapter.sent("evaluate")} == {1}


@pytest.mark.parametrize("fields", [{"type": "Sly"}, {"evaluateName": None}, {}])
async def test_what_cannot_be_sliced_is_shown_as_far_as_it_is_reported_without_a_total(fields: dict[str, Any]) -> None:
    page = await page_of(cutting({}, **fields), 98, 5, PYTHON.quirks)
    assert (names(page), page.total) == (["98", "99"], None)
