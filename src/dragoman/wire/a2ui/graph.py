"""Who contains whom: no component may be above itself, nor below more than so many."""

from __future__ import annotations

from collections.abc import Iterable, Mapping

from dragoman.wire.a2ui.catalogue import Reference, references
from dragoman.wire.a2ui.messages import Component

_OPEN = -1


class GraphError(ValueError):
    """`components` are the ones it is made of, the most telling first."""

    def __init__(self, code: str, components: list[str], message: str) -> None:
        super().__init__(message)
        self.code = code
        self.components = components


def check_graph(components: Mapping[str, Component], changed: Iterable[str], tree_depth: int) -> None:
    """The whole graph, since a tall part may be hung below a deep one. Leaves, which most updates are, change neither
    circles nor heights."""
    changed = list(changed)
    if not any(_below(name, components) for name in changed):
        return
    heights: dict[str, int] = {}
    for start in (*changed, *components):
        if start not in heights:
            _measure(start, components, heights, tree_depth)


def _measure(start: str, components: Mapping[str, Component], heights: dict[str, int], tree_depth: int) -> None:
    """Depth first without recursion: a component is open while the ones below it are measured."""
    way = [(start, _below(start, components))]
    heights[start] = _OPEN
    while way:
        current, rest = way[-1]
        if rest:
            child = rest.pop()
            if child not in heights:
                heights[child] = _OPEN
                way.append((child, _below(child, components)))
            elif heights[child] == _OPEN:
                raise _circle([name for name, _ in way], child)
            continue
        way.pop()
        heights[current] = 1 + max((heights[child] for child in _below(current, components)), default=0)
        if heights[current] > tree_depth:
            longest = _longest_way(current, components, heights)
            raise GraphError("too_deep", longest, f"Components are nested at most {tree_depth} deep.")


def _longest_way(start: str, components: Mapping[str, Component], heights: dict[str, int]) -> list[str]:
    way = [start]
    while children := _below(way[-1], components):
        way.append(max(children, key=lambda child: heights[child]))
    return way


def _circle(way: list[str], closing: str) -> GraphError:
    circle = [*way[way.index(closing) :], closing]
    shown = " → ".join(circle if len(circle) <= 8 else [*circle[:6], "…", circle[-1]])
    return GraphError("circular_reference", circle[-2::-1], f"A component contains itself: {shown}")


def _below(component_id: str, components: Mapping[str, Component]) -> list[str]:
    component = components.get(component_id)
    if component is None:
        return []
    return [reference.component_id for reference in references(component) if not descends(reference)]


def descends(reference: Reference) -> bool:
    """A template over a list inside its own item goes one step down the data each time, and data ends: a tree of
    folders may be drawn by one component that names itself. An absolute path would start again for ever."""
    path = reference.template_path
    return path is not None and path not in ("", ".") and not path.startswith("/")
