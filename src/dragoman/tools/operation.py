"""What an operation is, on whose behalf it runs, and what it gives back."""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from pathlib import Path
from typing import Any, cast

from pydantic import BaseModel, ConfigDict, TypeAdapter

from dragoman.errors import DragomanError
from dragoman.phrases import Language, Phrase
from dragoman.tools.schemas import Terse

# Seconds waited, seconds at most, and what for.
Progress = Callable[[float, float, Phrase], Awaitable[None]]


@dataclass(frozen=True, slots=True)
class Caller:
    """The environment is for the programs started on its behalf: never logged, never journalled, not even in a repr."""

    id: str
    workspace: Path
    cwd: Path
    language: Language = "en"
    name: str = ""
    """What the client calls itself, where it says so: for people, and proof of nothing."""
    environment: Mapping[str, str] = field(default_factory=dict, repr=False)
    trusts_workspace: bool = False
    """Whether a person started this client in the workspace, and so said that what it holds may run."""
    conversation: str = ""
    """The session of the chat whose run calls, where one does."""
    reconnected: bool = False
    """Whether its daemon went and this is the next one: sessions it knows of have ended."""
    sees_every_workspace: bool = False
    """Whether a person asked for the record of every folder: at the command line or on the page, never by a tool."""
    progress: Progress | None = field(default=None, repr=False, compare=False)
    """Of this one call, where a face can show it."""

    @property
    def link(self) -> str:
        """Of the one that is shown stops and has terminals: each conversation of a chat is a client by itself."""
        return f"{self.id}/{self.conversation}" if self.conversation else self.id

    @property
    def record_of(self) -> str | None:
        """The folder that what it finds in the record belongs to; None where it may find all of it."""
        return None if self.sees_every_workspace else str(self.workspace)


@dataclass(frozen=True, slots=True)
class Outcome:
    """Lines for whoever reads, few and short; the data in full for whoever computes, of the operation's result type."""

    lines: Sequence[Phrase]
    data: BaseModel
    is_error: bool = False


@dataclass(frozen=True, slots=True)
class Effects:
    reads_only: bool = False
    destroys: bool = False
    repeatable: bool = False
    leaves_machine: bool = False


# With whatever else is chosen: an agent can always ask what runs, and what happened.
GENERAL = "general"
READS = Effects(reads_only=True, repeatable=True)


class Parameters(BaseModel):
    """Base of every operation's parameters. A misspelt one is an error: ignored, it would give a wrong answer."""

    model_config = ConfigDict(extra="forbid", frozen=True, defer_build=True)


class Result(BaseModel):
    model_config = ConfigDict(frozen=True, defer_build=True)


@dataclass(frozen=True, slots=True)
class Failing:
    """For operations whose errors are answers of their own shape: the shape, and how an error becomes one."""

    result: type[Result]
    tell: Callable[[Caller, str, Mapping[str, Any], DragomanError], Outcome]


@dataclass(frozen=True)
class Operation:
    name: str
    title: str
    description: str
    parameters: type[Parameters]
    result: type[Result]
    run: Callable[[Caller, Any], Awaitable[Outcome]]
    effects: Effects
    failing: Failing | None = None
    set: str = GENERAL
    """The set it comes with, for those who choose what an agent is shown."""

    @cached_property
    def input_schema(self) -> dict[str, Any]:
        return self.parameters.model_json_schema(schema_generator=Terse)

    @cached_property
    def output_schema(self) -> dict[str, Any]:
        if self.failing is None:
            return self.result.model_json_schema(mode="serialization", schema_generator=Terse)
        either: TypeAdapter[Any] = TypeAdapter(cast("Any", self.result | self.failing.result))
        return {"type": "object", **either.json_schema(mode="serialization", schema_generator=Terse)}
