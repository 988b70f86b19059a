"""What a tool is: its parameters, result, effects, and the outcome of a call."""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from types import MethodType
from typing import Any, TypeVar, cast, overload

from pydantic import BaseModel, ConfigDict, TypeAdapter

from dragoman.core.errors import DragomanError
from dragoman.core.localization import LocalizedText
from dragoman.tools.json_schema import TerseJsonSchema, brief
from dragoman.workspace.caller import Caller

# Part of every selection: an agent can always ask what is running and what happened.
GENERAL_SET = "general"


@dataclass(frozen=True, slots=True)
class ToolOutcome:
    """What a tool returns: a few short lines for a reader, and the complete data (of the tool's result type)."""

    lines: Sequence[LocalizedText]
    data: BaseModel
    is_error: bool = False
    page_data: Mapping[str, Any] | None = None
    """What only the page draws, such as every row of a recorded call: too long for an agent."""


@dataclass(frozen=True, slots=True)
class Effects:
    reads_only: bool = False
    destroys: bool = False
    repeatable: bool = False
    leaves_machine: bool = False


READ_ONLY = Effects(reads_only=True, repeatable=True)


class Parameters(BaseModel):
    """Base of the parameters of every tool. A misspelt parameter is an error: ignoring it would give a wrong answer."""

    model_config = ConfigDict(extra="forbid", frozen=True, defer_build=True)


class Result(BaseModel):
    """Base of the results of every tool."""

    model_config = ConfigDict(frozen=True, defer_build=True)


@dataclass(frozen=True, slots=True)
class ErrorFormat:
    """For tools that return errors as results: the result type, and the function that makes one from an error."""

    result: type[Result]
    format_error: Callable[[Caller, str, Mapping[str, Any], DragomanError], ToolOutcome]


@dataclass(frozen=True)
class Tool:
    """One tool: its description for agents, and the handler that runs it.

    `tool(...)` above a method of a handler class declares one, so the class attribute is the declaration and the
    instance attribute is the handler. `bind_tools` makes the tools of a set from the instances that run them.
    """

    name: str
    title: str
    description: str
    parameters: type[Parameters]
    result: type[Result]
    run: Callable[..., Awaitable[ToolOutcome]]
    effects: Effects = READ_ONLY
    error_format: ErrorFormat | None = None
    set: str = GENERAL_SET
    """The tool set, for clients that offer only some sets."""

    @overload
    def __get__(self, instance: None, owner: type) -> Tool: ...

    @overload
    def __get__(self, instance: object, owner: type) -> Callable[[Caller, Any], Awaitable[ToolOutcome]]: ...

    def __get__(self, instance: object | None, owner: type) -> Tool | Callable[[Caller, Any], Awaitable[ToolOutcome]]:
        return self if instance is None else MethodType(self.run, instance)

    @cached_property
    def input_schema(self) -> dict[str, Any]:
        return self.parameters.model_json_schema(schema_generator=TerseJsonSchema)

    @cached_property
    def brief_schema(self) -> dict[str, Any]:
        """The input schema for the list of tools, which is paid for with every request of a model."""
        return brief(self.input_schema)

    @cached_property
    def output_schema(self) -> dict[str, Any]:
        if self.error_format is None:
            return self.result.model_json_schema(mode="serialization", schema_generator=TerseJsonSchema)
        either: TypeAdapter[Any] = TypeAdapter(cast("Any", self.result | self.error_format.result))
        return {"type": "object", **either.json_schema(mode="serialization", schema_generator=TerseJsonSchema)}


RUNS_CODE = Effects(destroys=True, leaves_machine=True)

_Handlers = TypeVar("_Handlers")
_Given = TypeVar("_Given", bound=Parameters)


def tool(
    name: str,
    title: str,
    description: str,
    parameters: type[_Given],
    result: type[Result],
    effects: Effects = READ_ONLY,
) -> Callable[[Callable[[_Handlers, Caller, _Given], Awaitable[ToolOutcome]]], Tool]:
    """Declare the method below as a tool."""

    def declare(run: Callable[[_Handlers, Caller, _Given], Awaitable[ToolOutcome]]) -> Tool:
        return Tool(name, title, description, parameters, result, run, effects)

    return declare


def bind_tools(
    tools: Iterable[Tool], *handlers: object, set: str = GENERAL_SET, error_format: ErrorFormat | None = None
) -> list[Tool]:
    """The declared tools, in this order, each bound to the instance of its class."""
    run_by_name = {
        declared.name: getattr(instance, attribute)
        for instance in handlers
        for attribute, declared in vars(type(instance)).items()
        if isinstance(declared, Tool)
    }
    return [replace(it, run=run_by_name[it.name], set=set, error_format=error_format) for it in tools]
