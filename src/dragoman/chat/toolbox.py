"""The tools as a chat's agents see them: a port, since a domain does not know the room above it."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, NamedTuple, Protocol

from dragoman.phrases import Language


class Offer(NamedTuple):
    name: str
    description: str
    schema: Mapping[str, Any]
    """JSON Schema of the arguments."""
    reads_only: bool = False


class ToolAnswer(NamedTuple):
    text: str
    """For whoever reads. What programs and terminals said stands in it as marked data."""
    data: Mapping[str, Any]
    is_error: bool = False


class Toolbox(Protocol):
    def offers(self) -> Sequence[Offer]: ...

    async def call(
        self, name: str, arguments: Mapping[str, Any], *, by: str, workspace: str, language: Language
    ) -> ToolAnswer:
        """Never raises for what a caller did wrong: that is an answer. No workspace: the daemon's own."""
        ...
