"""What would end with the daemon: the live sessions of every domain, as a person would name them."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager
from dataclasses import asdict, dataclass


@dataclass(frozen=True, slots=True)
class Life:
    id: str
    kind: str
    title: str


class Lives:
    def __init__(self) -> None:
        self._by_id: dict[str, Life] = {}
        self._found: list[Callable[[], Iterable[Life]]] = []

    def __len__(self) -> int:
        return len(self._by_id)

    def listed(self) -> list[dict[str, str]]:
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
