"""A component under test as a row of a table: what is drawn, what is then seen, what a person does, what is sent."""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from typing import Any

from playwright.sync_api import Locator, expect

Json = dict[str, Any]
Step = Callable[[Locator], None]
"""Something a person looks for or does on a surface."""


@dataclass(frozen=True)
class Act:
    """What a person does, and what its drawer then hears."""

    name: str
    context: Json
    steps: Sequence[Step]


def act(name: str, context: Json, *steps: Step) -> Act:
    return Act(name, context, steps)


@dataclass(frozen=True, kw_only=True)
class Row:
    """`drawn` is of one type, once for each look; all its properties stand in it, bound wherever they can be."""

    type: str
    drawn: Sequence[Json]
    beside: Sequence[Json] = ()
    """What it names: children, labels."""
    data: Json = field(default_factory=dict)
    sees: Sequence[Step]
    changes: Json = field(default_factory=dict)
    then_sees: Sequence[Step] = ()
    """After the data changed."""
    acts: Sequence[Act] = ()
    presses: bool = False
    """Whether a button beside it tells what was entered: the action of an input."""

    def components(self) -> list[Json]:
        under_test = [self._one(index, properties) for index, properties in enumerate(self.drawn)]
        press = _press() if self.presses else []
        ids = [*(it["id"] for it in under_test), *(["press"] if press else [])]
        return [{"id": "root", "component": "Column", "children": ids}, *under_test, *self.beside, *press]

    def _one(self, index: int, properties: Json) -> Json:
        label = {"label": f"{self.type} {index}"}
        return {"id": f"it{index}", "component": self.type, "weight": 1, "accessibility": label, **properties}


def bound(path: str) -> Json:
    return {"path": path}


def caption(id: str, words: Any) -> Json:
    return {"id": id, "component": "Text", "text": words, "variant": "caption"}


def _press() -> list[Json]:
    action = {"event": {"name": "pressed", "context": {"entered": bound("/value")}}}
    return [{"id": "press", "component": "Button", "child": "go", "action": action}, caption("go", "Tell")]


# What is looked for.


def text(where: str, *words: str) -> Step:
    """Each that is found, in order."""
    return lambda it: expect(it.locator(where)).to_have_text(list(words))


def contains(where: str, words: str) -> Step:
    return lambda it: expect(it.locator(where).first).to_contain_text(words)


def count(where: str, number: int) -> Step:
    return lambda it: expect(it.locator(where)).to_have_count(number)


def value(where: str, *values: str) -> Step:
    def look(it: Locator) -> None:
        for index, wanted in enumerate(values):
            expect(it.locator(where).nth(index)).to_have_value(wanted)

    return look


def attribute(where: str, name: str, wanted: str) -> Step:
    return lambda it: expect(it.locator(where).first).to_have_attribute(name, wanted)


def style(where: str, name: str, wanted: str) -> Step:
    return lambda it: expect(it.locator(where).first).to_have_css(name, wanted)


def has_class(where: str, wanted: str) -> Step:
    return lambda it: expect(it.locator(where).first).to_have_class(re.compile(rf"(^|\s){wanted}(\s|$)"))


def checked(where: str, *, is_on: bool = True) -> Step:
    return lambda it: expect(it.locator(where).first).to_be_checked(checked=is_on)


# What a person does.


def click(where: str) -> Step:
    return lambda it: it.locator(where).first.click()


def fill(where: str, words: str) -> Step:
    return lambda it: it.locator(where).first.fill(words)


def press(where: str, key: str) -> Step:
    return lambda it: it.locator(where).first.press(key)


def select(where: str, option: str) -> Step:
    def choose(it: Locator) -> None:
        it.locator(where).select_option(option)

    return choose
