"""A set of tools as a table: a row each, in the order in which they are shown, and the operations made of it."""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Iterable, Mapping
from typing import Any, NamedTuple

from dragoman.tools.operation import READS, Caller, Effects, Failing, Operation, Outcome, Parameters, Result

Run = Callable[[Caller, Any], Awaitable[Outcome]]
RUNS = Effects(destroys=True, leaves_machine=True)


class Tool(NamedTuple):
    name: str
    title: str
    description: str
    parameters: type[Parameters]
    result: type[Result]
    effects: Effects = READS


def operations_of(
    tools: Iterable[Tool], run_by_name: Mapping[str, Run], *, set: str, failing: Failing | None = None
) -> list[Operation]:
    return [
        Operation(
            name=tool.name,
            title=tool.title,
            description=tool.description,
            parameters=tool.parameters,
            result=tool.result,
            run=run_by_name[tool.name],
            effects=tool.effects,
            failing=failing,
            set=set,
        )
        for tool in tools
    ]
