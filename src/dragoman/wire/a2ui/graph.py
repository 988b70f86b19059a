"""Who contains whom: no component may be above itself, nor below more than so many."""

from __future__ import annotations

from collections.abc import Iterable, Mapping

from dragoman.wire.a2ui.catalogue import Reference, references
from dragoman.wire.a2ui.limits import Limits
from dragoman.wire.a2ui.messages import Component

_OPEN = -1

# Whom each component contains; one that was not sent yet contains nobody.
_Below = Mapping[str, list[str]]


class GraphError(ValueError):
    """`components` are the ones it is made of, the most telling first."""

    def __init__(self, code: str, components: list[str], message: str) -> None:
        super().__init__(message)
        self.code = code
        self.components = components


def check_graph(components: Mapping[str, Component], changed: Iterable[str], limits: Limits) -> None:
    """The whole graph, since a tall part may be hung below a deep one. Leaves, which most updates are, change neither
    circles nor heights."""
    changed = list(changed)
    if not any(_below(components[name]) for name in changed):
        return
    below = {name: _below(component) for name, component in components.items()}
    if sum(map(len, below.values())) > limits.children:
        largest = sorted(changed, key=lambda name: len(below[name]), reverse=True)
        raise GraphError("too_many_children", largest, f"A surface names at most {limits.children} children.")
    heights: dict[str, int] = {}
    for start in (*changed, *components):
        if start not in heights:
            _measure(start, below, heights, limits.tree_depth)


def _measure(start: str, below: _Below, heights: dict[str, int], tree_depth: int) -> None:
    """Depth first without recursion: a component is open while the ones below it are measured."""
    way = [(start, list(below.get(start, ())))]
    heights[start] = _OPEN
    while way:
        current, rest = way[-1]
        if rest:
            child = rest.pop()
            if child not in heights:
                heights[child] = _OPEN
                way.append((child, list(below.get(child, ()))))
            elif heights[child] == _OPEN:
                raise _circle([name for name, _ in way], child)
            continue
        way.pop()
        heights[current] = 1 + max((heights[child] for child in below.get(current, ())), default=0)
        if heights[current] > tree_depth:
            longest = _longest_way(current, below, heights)
            raise GraphError("too_deep", longest, f"Components are nested at most {tree_depth} deep.")


def _longest_way(start: str, below: _Below, heights: dict[str, int]) -> list[str]:
    way = [start]
    while children := below.get(way[-1]):
        way.append(max(children, key=lambda child: heights[child]))
    return way


def _circle(way: list[str], closing: str) -> GraphError:
    circle = [*way[way.index(closing) :], closing]
    shown = " → ".join(circle if len(circle) <= 8 else [*circle[:6], "…", circle[-1]])
    return GraphError("circular_reference", circle[-2::-1], f"A component contains itself: {shown}")


def _below(component: Component) -> list[str]:
    return [reference.component_id for reference in references(component) if not descends(reference)]


def descends(reference: Reference) -> bool:
    """A template over a list inside its own item goes one step down the data each time, and data ends: a tree of
    folders may be drawn by one component that names itself. An absolute path would start again for ever."""
    path = reference.template_path
    return path is not None and path not in ("", ".") and not path.startswith("/")
