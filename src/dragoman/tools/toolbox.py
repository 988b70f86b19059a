"""The table of operations, and the one way to call them."""

from __future__ import annotations

import logging
from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import Any

from pydantic import ValidationError

from dragoman.errors import DragomanError
from dragoman.journal import Journal
from dragoman.phrases import say
from dragoman.redaction import Redactor
from dragoman.tools.argument_faults import fault_of
from dragoman.tools.bounds import require_bounded
from dragoman.tools.journal import SearchJournal
from dragoman.tools.operation import GENERAL, Caller, Operation, Outcome, Parameters
from dragoman.tools.showing import one_line
from dragoman.tools.status import ShowStatus
from dragoman.words import in_turn, labelled

log = logging.getLogger(__name__)

_FAULTS = 5
_NAME = 60


class Toolbox:
    """In the order in which they are shown."""

    def __init__(self, operations: Iterable[Operation]) -> None:
        self._operations = {operation.name: operation for operation in operations}

    @property
    def operations(self) -> Sequence[Operation]:
        return tuple(self._operations.values())

    @property
    def sets(self) -> Sequence[str]:
        return tuple(dict.fromkeys(operation.set for operation in self._operations.values()))

    def describe(self) -> None:
        """Schemas are made once, and the first time takes long: in a worker thread, before anybody is shown them."""
        for operation in self._operations.values():
            _ = operation.input_schema, operation.output_schema

    def of_sets(self, names: Iterable[str]) -> Toolbox:
        """Those of the sets named and the general ones, in the order that they have here whatever that of the names."""
        wanted = frozenset(names)
        if not wanted or not wanted <= set(self.sets):
            raise _no_such_set(sorted(wanted - set(self.sets)), self.sets)
        return Toolbox(operation for operation in self._operations.values() if operation.set in wanted | {GENERAL})

    async def call(self, name: str, arguments: Mapping[str, Any], caller: Caller) -> Outcome:
        operation = self._operations.get(name)
        if operation is None:
            raise DragomanError(
                "unknown_tool",
                say("There is no tool {name}.", name=ascii(name[:60])),
                hint=say("There are: {names}.", names=", ".join(self._operations)),
            )
        if operation.failing is None:
            return await operation.run(caller, _checked(operation, arguments))
        try:
            return await operation.run(caller, _checked(operation, arguments))
        except DragomanError as error:
            return operation.failing.tell(caller, name, arguments, error)
        except Exception:
            log.exception("the tool %s failed", name)
            return operation.failing.tell(caller, name, arguments, _internal())


def build_toolbox(
    status: Callable[[], Mapping[str, Any]],
    journal: Journal,
    more: Iterable[Operation] = (),
    redactor: Redactor | None = None,
) -> Toolbox:
    search = SearchJournal(journal, redactor or Redactor())
    return Toolbox([ShowStatus(status).operation(), search.operation(), *more])


def _internal() -> DragomanError:
    return DragomanError(
        "internal_error",
        say("Something went wrong in the daemon."),
        hint=say("See `dragoman logs`, then try again."),
    )


def _no_such_set(unknown: Sequence[str], known: Sequence[str]) -> DragomanError:
    return DragomanError(
        "unknown_tool_set",
        say("There is no set of tools {names}.", names=", ".join(ascii(name[:60]) for name in unknown[:5]) or "-"),
        hint=say("Sets there are: {names}.", names=", ".join(known)),
    )


def _checked(operation: Operation, arguments: Mapping[str, Any]) -> Parameters:
    require_bounded(operation.name, operation.parameters.model_fields, arguments)
    try:
        return operation.parameters.model_validate(arguments)
    except ValidationError as error:
        faults = error.errors(include_url=False, include_input=False)[:_FAULTS]
        told = [(it["loc"], fault_of(it["type"], it.get("ctx", {}), it["msg"])) for it in faults]
        reasons = in_turn([labelled(_where(place), fault) for place, fault in told])
        raise DragomanError(
            "bad_arguments",
            say("{tool} cannot be called like this: {reasons}.", tool=operation.name, reasons=reasons),
            hint=say("Its parameters are: {names}.", names=", ".join(operation.parameters.model_fields) or "-"),
        ) from error


def _where(location: Iterable[int | str]) -> str:
    """A member's name is the caller's to choose."""
    return ".".join(one_line(str(part), _NAME) for part in location)
