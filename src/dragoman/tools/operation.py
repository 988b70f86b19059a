"""What an operation is, on whose behalf it runs, and what it gives back."""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from pathlib import Path
from typing import Any

from pydantic import BaseModel, ConfigDict
from pydantic.json_schema import GenerateJsonSchema

from dragoman.phrases import Language, Phrase


@dataclass(frozen=True, slots=True)
class Caller:
    """The environment is for the programs started on its behalf: never logged, never journalled, not even in a repr."""

    id: str
    workspace: Path
    cwd: Path
    language: Language = "en"
    environment: Mapping[str, str] = field(default_factory=dict, repr=False)


@dataclass(frozen=True, slots=True)
class Outcome:
    """Lines for whoever reads, few and short; the data in full for whoever computes, of the operation's result type."""

    lines: Sequence[Phrase]
    data: BaseModel


@dataclass(frozen=True, slots=True)
class Effects:
    reads_only: bool = False
    destroys: bool = False
    repeatable: bool = False
    leaves_machine: bool = False


READS = Effects(reads_only=True, repeatable=True)


class Parameters(BaseModel):
    """Base of every operation's parameters. A misspelt one is an error: ignored, it would give a wrong answer."""

    model_config = ConfigDict(extra="forbid", frozen=True)


class Result(BaseModel):
    model_config = ConfigDict(frozen=True)


@dataclass(frozen=True)
class Operation:
    name: str
    title: str
    description: str
    parameters: type[Parameters]
    result: type[Result]
    run: Callable[[Caller, Any], Awaitable[Outcome]]
    effects: Effects

    @cached_property
    def input_schema(self) -> dict[str, Any]:
        return self.parameters.model_json_schema(schema_generator=_Terse)

    @cached_property
    def output_schema(self) -> dict[str, Any]:
        return self.result.model_json_schema(mode="serialization", schema_generator=_Terse)


class _Terse(GenerateJsonSchema):
    """Without the titles that repeat each name: an agent pays for every character."""

    def generate(self, schema: Any, mode: Any = "validation") -> dict[str, Any]:
        terse = _without_titles(super().generate(schema, mode))
        terse.pop("description", None)  # the class's, which is for readers of the source
        return terse


def _without_titles(schema: dict[str, Any]) -> dict[str, Any]:
    return {key: _within(key, value) for key, value in schema.items() if key != "title"}


def _within(key: str, value: Any) -> Any:
    """`properties` and `$defs` are tables of names, and a parameter may itself be called `title`."""
    if isinstance(value, dict):
        named = key in {"properties", "$defs"}
        return {name: _within("", item) for name, item in value.items()} if named else _without_titles(value)
    return [_within("", item) for item in value] if isinstance(value, list) else value
