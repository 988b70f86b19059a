"""The text of a logpoint: words, and between braces what is to be evaluated."""

from __future__ import annotations

from collections.abc import Awaitable, Callable
from typing import NamedTuple


class Part(NamedTuple):
    text: str
    is_expression: bool = False


def parts(message: str) -> list[Part]:
    """Braces nest, as in `{ {1: 2}[1] }`; one that is never closed is text."""
    found: list[Part] = []
    rest = message
    while (opened := rest.find("{")) >= 0 and (closed := _closing(rest, opened)) > 0:
        found += [Part(rest[:opened]), Part(rest[opened + 1 : closed].strip(), is_expression=True)]
        rest = rest[closed + 1 :]
    return [part for part in (*found, Part(rest)) if part.text]


def _closing(text: str, opened: int) -> int:
    depth = 0
    for place in range(opened, len(text)):
        depth += {"{": 1, "}": -1}.get(text[place], 0)
        if depth == 0:
            return place
    return -1


async def filled(message: str, evaluate: Callable[[str], Awaitable[str]]) -> str:
    return "".join([await evaluate(part.text) if part.is_expression else part.text for part in parts(message)])
