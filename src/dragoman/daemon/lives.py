"""What would end with the daemon: the live sessions of every domain, as a person would name them."""

from __future__ import annotations

from collections.abc import Iterator
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

    def __len__(self) -> int:
        return len(self._by_id)

    def listed(self) -> list[dict[str, str]]:
        return [asdict(life) for life in self._by_id.values()]

    @contextmanager
    def lived(self, life: Life) -> Iterator[None]:
        self._by_id[life.id] = life
        try:
            yield
        finally:
            del self._by_id[life.id]
