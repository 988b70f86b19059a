"""How much each client uses: its calls, and the characters that it was sent for them."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(slots=True)
class ClientUsage:
    calls: int = 0
    characters: int = 0
    """Of the results of its calls, as its model reads them."""

    def add(self, characters: int) -> None:
        self.calls += 1
        self.characters += characters
