"""Convert components of Dragoman's own catalogue to `Text` in Markdown, for renderers that know only the standard ones.

Bound data stays bound. Actions on these components are left to renderers that have them.
"""

from __future__ import annotations

import difflib
import re
from collections.abc import Callable, Iterable, Iterator, Sequence
from typing import Any

from dragoman.protocols.a2ui.messages import Component
from dragoman.protocols.a2ui.values import to_text

Json = dict[str, Any]
_BACKTICKS = re.compile("`+")
_ESCAPES = re.compile(r"\x1b(?:\[[0-?]*[ -/]*[@-~]|\][^\x07\x1b]*(?:\x07|\x1b\\)|.)", re.DOTALL)
_DEEPEST = 8


def to_markdown(component: Component) -> Component:
    """Any other component is returned unchanged.

    None of Dragoman's own components has children: one that has is of another catalogue.
    """
    entry = _WRITERS.get(component.type)
    if entry is None or "children" in component.properties:
        return component
    main, write = entry
    value = component.properties.get(main)
    text = value if isinstance(value, dict) else write(component.properties)
    return Component(component.id, "Text", {**_weight(component), "text": text})


def _weight(component: Component) -> Json:
    return {name: component.properties[name] for name in ("weight",) if name in component.properties}


def _fenced(code: str, language: str = "") -> str:
    """A fence longer than any run of backticks in the text: a fence of the same length would end the block."""
    fence = "`" * max(3, 1 + max(map(len, _BACKTICKS.findall(code)), default=0))
    return f"{fence}{language}\n{code}\n{fence}"


def _literal_text(properties: Json, name: str) -> str:
    """A literal as text. Only the main property may be bound, so other bindings give an empty text."""
    value = properties.get(name)
    return "" if value is None or isinstance(value, dict) else to_text(value)


def _titled(properties: Json, text: str, name: str = "title") -> str:
    title = _literal_text(properties, name)
    return f"**{title}**\n\n{text}" if title else text


def _rows(value: Any) -> list[Json]:
    return [it for it in value if isinstance(it, dict)] if isinstance(value, list) else []


def _listed(items: Iterable[str]) -> str:
    return "\n".join(f"- {item}" for item in items)


def _grid(heads: Sequence[str], rows: Iterable[Sequence[Any]]) -> str:
    lines = [list(heads), ["---"] * len(heads), *([to_text(cell) for cell in row] for row in rows)]
    return "\n".join(
        f"| {' | '.join(cell.replace('|', '/').replace(chr(10), ' ') for cell in line)} |" for line in lines
    )


def _code(properties: Json) -> str:
    return _fenced(_literal_text(properties, "code"), _literal_text(properties, "language"))


def _files(properties: Json) -> str:
    items = properties.get("items", [])
    return _listed(map(to_text, items)) if isinstance(items, list) else to_text(items)


def _question(properties: Json) -> str:
    labels = [_literal_text(properties, name) for name in ("confirmLabel", "cancelLabel")]
    answers = " / ".join(filter(None, labels))
    return f"{_literal_text(properties, 'message')} ({answers})" if answers else _literal_text(properties, "message")


def _changed(properties: Json) -> str:
    before, after = (_literal_text(properties, name).splitlines() for name in ("original", "modified"))
    lines = list(difflib.unified_diff(before, after, lineterm="", n=3))[2:]
    return _titled(properties, _fenced("\n".join(lines), "diff"), "path")


def _table(properties: Json) -> str:
    columns = _rows(properties.get("columns"))
    rows = ([row.get(to_text(it.get("key")), "") for it in columns] for row in _rows(properties.get("rows")))
    return _titled(properties, _grid([to_text(it.get("title") or it.get("key")) for it in columns], rows), "caption")


def _chart(properties: Json) -> str:
    series = _rows(properties.get("series"))
    values = [it["values"] if isinstance(it.get("values"), list) else [] for it in series]
    longest = max(map(len, values), default=0)
    x = properties.get("x")
    labels = x if isinstance(x, list) and len(x) >= longest else list(range(1, longest + 1))
    rows = [[labels[at], *(it[at] if at < len(it) else "" for it in values)] for at in range(longest)]
    return _titled(
        properties, _grid([_literal_text(properties, "xLabel"), *(to_text(it.get("name")) for it in series)], rows)
    )


def _terminal(properties: Json) -> str:
    return _titled(properties, _fenced(_ESCAPES.sub("", _literal_text(properties, "text"))))


def _progress(properties: Json) -> str:
    value, state = properties.get("value"), _literal_text(properties, "state")
    is_number = isinstance(value, int | float) and not isinstance(value, bool)
    return (
        " ".join(filter(None, [_literal_text(properties, "label"), f"{value:.0%}" if is_number else "", state])) or "…"
    )


def _variables(properties: Json) -> str:
    return _titled(properties, "\n".join(_branches(properties.get("variables"), 0)))


def _branches(variables: Any, depth: int) -> Iterator[str]:
    for it in _rows(variables):
        yield f"{'  ' * depth}- `{to_text(it.get('name'))}`: {to_text(it.get('value'))}"
        if depth < _DEEPEST:
            yield from _branches(it.get("children"), depth + 1)


def _frames(properties: Json) -> str:
    frames = _rows(properties.get("frames"))
    lines = (f"`{to_text(it.get('function'))}` {to_text(it.get('file'))}:{to_text(it.get('line'))}" for it in frames)
    return _titled(properties, _listed(lines))


def _happenings(properties: Json) -> str:
    items = _rows(properties.get("items"))
    return _listed(" ".join(filter(None, (to_text(it.get(name)) for name in ("at", "title", "text")))) for it in items)


def _form(properties: Json) -> str:
    fields = _rows(properties.get("fields"))
    return _titled(properties, _listed(to_text(it.get("label") or it.get("name")) for it in fields))


_WRITERS: dict[str, tuple[str, Callable[[Json], str]]] = {
    "Markdown": ("text", lambda properties: _literal_text(properties, "text")),
    "CodeBlock": ("code", _code),
    "FileTree": ("items", _files),
    "Confirm": ("message", _question),
    "Diff": ("modified", _changed),
    "Table": ("rows", _table),
    "Chart": ("title", _chart),
    "Terminal": ("text", _terminal),
    "Progress": ("label", _progress),
    "VariableTree": ("variables", _variables),
    "StackTrace": ("frames", _frames),
    "Timeline": ("items", _happenings),
    "Form": ("title", _form),
}
"""The main property of each type, and the function that writes its text."""
OWN_TYPES = frozenset(_WRITERS)
