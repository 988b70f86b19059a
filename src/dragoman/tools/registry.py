"""The registry of all tools, and the one way to call them: it checks the arguments and turns errors into results."""

from __future__ import annotations

import logging
from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import Any

from pydantic import ValidationError

from dragoman.core.errors import DragomanError, internal_error
from dragoman.core.labels import semicolon_list, with_label
from dragoman.core.localization import localize
from dragoman.core.redaction import Redactor
from dragoman.journal import Journal
from dragoman.tools.agent_text import one_line
from dragoman.tools.arguments import describe_fault, require_bounded_size
from dragoman.tools.general import general_tools
from dragoman.tools.tool import GENERAL_SET, Parameters, Tool, ToolOutcome
from dragoman.workspace.caller import Caller

log = logging.getLogger(__name__)

_MAX_FAULTS = 5
_NAME = 60


class ToolRegistry:
    """All tools by name, in the order in which agents see them.

    It checks the arguments of a call and converts errors into results. It does not know which servers show the tools.
    """

    def __init__(self, tools: Iterable[Tool]) -> None:
        self._tools = {tool.name: tool for tool in tools}

    @property
    def tools(self) -> Sequence[Tool]:
        return tuple(self._tools.values())

    @property
    def sets(self) -> Sequence[str]:
        return tuple(dict.fromkeys(tool.set for tool in self._tools.values()))

    def describe(self) -> None:
        """Generate all schemas. The first time is slow, so this runs in a worker thread before a client asks
        for them.
        """
        for tool in self._tools.values():
            _ = tool.input_schema, tool.output_schema

    def with_sets(self, names: Iterable[str]) -> ToolRegistry:
        """The tools of the named sets and the general ones, in their usual order."""
        wanted = frozenset(names)
        if not wanted or not wanted <= set(self.sets):
            raise _unknown_set(sorted(wanted - set(self.sets)), self.sets)
        return ToolRegistry(tool for tool in self._tools.values() if tool.set in wanted | {GENERAL_SET})

    async def call(self, name: str, arguments: Mapping[str, Any], caller: Caller) -> ToolOutcome:
        tool = self._tools.get(name)
        if tool is None:
            raise DragomanError(
                "unknown_tool",
                localize("Unknown tool: {name}.", name=ascii(name[:60])),
                hint=localize("Available: {names}.", names=", ".join(self._tools)),
            )
        if tool.error_format is None:
            return await tool.run(caller, _validated(tool, arguments))
        try:
            return await tool.run(caller, _validated(tool, arguments))
        except DragomanError as error:
            return tool.error_format.format_error(caller, name, arguments, error)
        except Exception:
            log.exception("the tool %s failed", name)
            return tool.error_format.format_error(caller, name, arguments, internal_error())


def build_tool_registry(
    status: Callable[[], Mapping[str, Any]],
    journal: Journal,
    more: Iterable[Tool] = (),
    redactor: Redactor | None = None,
) -> ToolRegistry:
    return ToolRegistry([*general_tools(status, journal, redactor or Redactor()), *more])


def _unknown_set(unknown: Sequence[str], known: Sequence[str]) -> DragomanError:
    return DragomanError(
        "unknown_tool_set",
        localize("Unknown tool set: {names}.", names=", ".join(ascii(name[:60]) for name in unknown[:5]) or "-"),
        hint=localize("Available sets: {names}.", names=", ".join(known)),
    )


def _validated(tool: Tool, arguments: Mapping[str, Any]) -> Parameters:
    require_bounded_size(tool.name, tool.parameters.model_fields, arguments)
    try:
        return tool.parameters.model_validate(arguments)
    except ValidationError as error:
        faults = error.errors(include_url=False, include_input=False)[:_MAX_FAULTS]
        told = [(it["loc"], describe_fault(it["type"], it.get("ctx", {}), it["msg"])) for it in faults]
        reasons = semicolon_list([with_label(_location(place), fault) for place, fault in told])
        raise DragomanError(
            "bad_arguments",
            localize("Invalid arguments for {tool}: {reasons}.", tool=tool.name, reasons=reasons),
            hint=localize("Parameters: {names}.", names=", ".join(tool.parameters.model_fields) or "-"),
        ) from error


def _location(location: Iterable[int | str]) -> str:
    """The path of a parameter, escaped, because callers choose the names of members."""
    return ".".join(one_line(str(part), _NAME) for part in location)
