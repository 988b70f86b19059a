"""What lives by the daemon: the sessions of every domain, as a person would name them, and whether they end with it."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager
from dataclasses import asdict, dataclass


@dataclass(frozen=True, slots=True)
class Life:
    id: str
    kind: str
    title: str
    ends: bool = True
    """With the daemon. A session that a person has in an editor goes on there."""


class Lives:
    def __init__(self) -> None:
        self._by_id: dict[str, Life] = {}
        self._found: list[Callable[[], Iterable[Life]]] = []

    def __len__(self) -> int:
        return len(self._by_id)

    def listed(self) -> list[dict[str, str | bool]]:
        found = [life for find in self._found for life in find()]
        return [asdict(life) for life in (*self._by_id.values(), *found)]

    def look_for(self, find: Callable[[], Iterable[Life]]) -> None:
        """Those that come and go without telling: they are looked for whenever somebody asks."""
        self._found.append(find)

    @contextmanager
    def lived(self, life: Life) -> Iterator[None]:
        self._by_id[life.id] = life
        try:
            yield
        finally:
            del self._by_id[life.id]
