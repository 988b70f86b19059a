"""The table of operations, and the one way to call them."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import Any

from pydantic import ValidationError

from dragoman.errors import DragomanError
from dragoman.journal import Journal
from dragoman.phrases import say
from dragoman.tools.journal import SearchJournal
from dragoman.tools.operation import Caller, Operation, Outcome, Parameters
from dragoman.tools.status import ShowStatus


class Toolbox:
    """In the order in which they are shown."""

    def __init__(self, operations: Iterable[Operation]) -> None:
        self._operations = {operation.name: operation for operation in operations}

    @property
    def operations(self) -> Sequence[Operation]:
        return tuple(self._operations.values())

    async def call(self, name: str, arguments: Mapping[str, Any], caller: Caller) -> Outcome:
        operation = self._operations.get(name)
        if operation is None:
            raise DragomanError(
                "unknown_tool",
                say("There is no tool {name}.", name=ascii(name[:60])),
                hint=say("There are: {names}.", names=", ".join(self._operations)),
            )
        try:
            return await operation.run(caller, _checked(operation, arguments))
        except DragomanError as error:
            if operation.failing is None:
                raise
            return operation.failing.tell(caller, name, arguments, error)


def build_toolbox(status: Callable[[], Mapping[str, Any]], journal: Journal, more: Iterable[Operation] = ()) -> Toolbox:
    return Toolbox([ShowStatus(status).operation(), SearchJournal(journal).operation(), *more])


def _checked(operation: Operation, arguments: Mapping[str, Any]) -> Parameters:
    try:
        return operation.parameters.model_validate(arguments)
    except ValidationError as error:
        faults = error.errors(include_url=False, include_context=False, include_input=False)
        reasons = "; ".join(f"{'.'.join(map(str, fault['loc']))}: {fault['msg']}" for fault in faults[:5])
        raise DragomanError(
            "bad_arguments",
            say("{tool} cannot be called like this: {reasons}.", tool=operation.name, reasons=reasons),
            hint=say("Its parameters are: {names}.", names=", ".join(operation.parameters.model_fields) or "-"),
        ) from error
