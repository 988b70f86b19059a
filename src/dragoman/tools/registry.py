"""The registry of all tools, and the one way to call them: it checks the arguments and turns errors into results."""

from __future__ import annotations

import logging
import re
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from itertools import islice
from pathlib import Path
from typing import Any

import anyio
from pydantic import ValidationError

from dragoman.core.errors import DragomanError, ErrorSpec, internal_error
from dragoman.core.labels import semicolon_list, with_label
from dragoman.core.localization import LocalizedText, localize
from dragoman.core.redaction import Redactor
from dragoman.debug.shared_sessions import SharedSessions
from dragoman.journal import Journal
from dragoman.tools.agent_text import one_line
from dragoman.tools.argument_aliases import accept, nested_fields
from dragoman.tools.status_and_journal import general_tools
from dragoman.tools.tool import GENERAL_SET, Parameters, Tool, ToolOutcome
from dragoman.tools.tool_sets import DEFAULT_SET, DEFAULT_TOOLS, EVERY_SET
from dragoman.workspace.caller import Caller

log = logging.getLogger(__name__)

_MAX_FAULTS = 5
_NAME = 60


class AgentPause:
    """While it lasts, agents call no tool. Only people begin and lift it; their own calls are never refused."""

    def __init__(self) -> None:
        self.since_ns = 0
        """When it began; zero while there is none."""
        self._calls: set[anyio.CancelScope] = set()

    def begin(self, at_ns: int) -> int:
        """Return how many calls of agents it ended."""
        self.since_ns = self.since_ns or at_ns
        for scope in self._calls:
            scope.cancel("a person paused all agents")
        return len(self._calls)

    def end(self) -> None:
        self.since_ns = 0

    def require_none(self) -> None:
        if self.since_ns:
            raise _paused()

    @contextmanager
    def run_unless_paused(self, caller: Caller) -> Iterator[None]:
        """For the time of one call."""
        if not caller.is_agent:
            yield
            return
        self.require_none()
        with anyio.CancelScope() as scope:
            self._calls.add(scope)
            try:
                yield
            finally:
                self._calls.discard(scope)
        if scope.cancelled_caught:
            raise _paused()


_paused = ErrorSpec(
    "paused_by_person",
    "A person has paused all agents.",
    "Stop here and tell the user, who alone can let agents go on: on the page, or with `dragoman stop --all --undo`.",
)


class ToolRegistry:
    """All tools by name, in the order in which agents see them.

    It checks the arguments of a call and converts errors into results. It owns the pause of all agents. It does not
    know which servers show the tools.
    """

    def __init__(self, tools: Iterable[Tool], pause: AgentPause | None = None) -> None:
        self._tools = {tool.name: tool for tool in tools}
        self.pause = pause or AgentPause()

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
            _ = tool.brief_schema, tool.output_schema

    def listed(self, names: Iterable[str]) -> Sequence[Tool]:
        """The tools of these sets, in the order that they have here. The general ones come with every other set; the
        default set stands for itself.
        """
        wanted, known = frozenset(names), (DEFAULT_SET, EVERY_SET, *self.sets)
        if not wanted or not wanted <= set(known):
            raise _unknown_set(names=sorted(wanted - set(known)), known=known)
        if EVERY_SET in wanted:
            return self.tools
        sets = wanted - {DEFAULT_SET} | ({GENERAL_SET} if wanted != {DEFAULT_SET} else frozenset())
        names = DEFAULT_TOOLS if DEFAULT_SET in wanted else frozenset()
        return tuple(tool for tool in self._tools.values() if tool.set in sets or tool.name in names)

    async def call(self, name: str, arguments: Mapping[str, Any], caller: Caller) -> ToolOutcome:
        tool = self._tools.get(name)
        if tool is None:
            raise DragomanError(
                "unknown_tool",
                localize("Unknown tool: {name}.", name=ascii(name[:60])),
                hint=localize("Available: {names}.", names=", ".join(self._tools)),
            )
        if tool.error_format is None:
            with self.pause.run_unless_paused(caller):
                return await tool.run(caller, _validated(tool, arguments, caller.workspace))
        try:
            with self.pause.run_unless_paused(caller):
                return await tool.run(caller, _validated(tool, arguments, caller.workspace))
        except DragomanError as error:
            return tool.error_format.format_error(caller, name, arguments, error)
        except Exception:
            log.exception("the tool %s failed", name)
            return tool.error_format.format_error(caller, name, arguments, internal_error())

    def validated(self, name: str, arguments: Mapping[str, Any], caller: Caller) -> Parameters:
        """What the call would be made with, without making it."""
        return _validated(self._tools[name], arguments, caller.workspace)


def build_tool_registry(
    status: Callable[[], Mapping[str, Any]],
    journal: Journal,
    more: Iterable[Tool] = (),
    redactor: Redactor | None = None,
    shared: SharedSessions | None = None,
    pause: AgentPause | None = None,
) -> ToolRegistry:
    general = general_tools(status, journal, redactor or Redactor(), shared or SharedSessions())
    return ToolRegistry([*general, *more], pause)


_unknown_set = ErrorSpec(
    "unknown_tool_set",
    "Unknown tool set: {names}.",
    "Available sets: {known}.",
    names=lambda unknown: ", ".join(ascii(name[:60]) for name in unknown[:5]) or "-",
    known=", ".join,
)


def _validated(tool: Tool, arguments: Mapping[str, Any], workspace: Path) -> Parameters:
    require_bounded_size(tool.name, tool.parameters.model_fields, arguments)
    try:
        return tool.parameters.model_validate(accept(tool.parameters, arguments, workspace))
    except ValidationError as error:
        faults = error.errors(include_url=False, include_input=False)[:_MAX_FAULTS]
        described = [(it["loc"], describe_fault(it["type"], it.get("ctx", {}), it["msg"])) for it in faults]
        reasons = semicolon_list([with_label(_location(place), fault) for place, fault in described])
        raise DragomanError(
            "bad_arguments",
            localize("Invalid arguments for {tool}: {reasons}.", tool=tool.name, reasons=reasons),
            hint=_fields_hint(tool, [it["loc"] for it in faults]),
        ) from error


def _fields_hint(tool: Tool, faults: Iterable[tuple[int | str, ...]]) -> LocalizedText:
    """The parameters; of a fault inside an object, such as a point, that object's."""
    for place in faults:
        if names := nested_fields(tool.parameters, place):
            return localize("Fields of `{name}`: {names}.", name=str(place[0]), names=", ".join(names))
    return localize("Parameters: {names}.", names=", ".join(tool.parameters.model_fields) or "-")


def _location(location: Iterable[int | str]) -> str:
    """The path of a parameter, escaped, because callers choose the names of members."""
    return ".".join(one_line(str(part), _NAME) for part in location)


# Arguments: their size is checked before anything else reads them, so that a hostile call costs no more than an honest
# one. Validation faults are localized here, because pydantic only writes English.

# Tolerance for a few misspelt parameters beyond the known ones; with more, it is not a serious call.
_MAX_UNKNOWN_PARAMETERS = 8
MAX_PARTS = 10_000
MAX_CHARACTERS = 2_000_000
MAX_DEPTH = 50
_NAMES_SHOWN = 5
_NAME_CHARACTERS = 60


def require_bounded_size(tool: str, known: Collection[str], arguments: Mapping[str, Any]) -> None:
    if len(arguments) > len(known) + _MAX_UNKNOWN_PARAMETERS:
        raise _too_many_parameters(tool, known, arguments)
    if not _is_bounded(arguments):
        raise _too_large(tool=tool, characters=MAX_CHARACTERS, parts=MAX_PARTS, depth=MAX_DEPTH)


def _is_bounded(arguments: Mapping[str, Any]) -> bool:
    """Check the size level by level and stop at the first excess, so that a hostile call costs no more than an honest
    one.
    """
    parts, characters = 0, 0
    level: list[Any] = [arguments]
    for _ in range(MAX_DEPTH):
        inner: list[Any] = []
        for value in level:
            if isinstance(value, str):
                characters += len(value)
            elif isinstance(value, Mapping | list | tuple):
                parts += len(value)
                if parts > MAX_PARTS:
                    return False
                inner += _children(value)
        if characters > MAX_CHARACTERS:
            return False
        if not inner:
            return True
        level = inner
    return False


def _children(value: Mapping[str, Any] | list[Any] | tuple[Any, ...]) -> list[Any]:
    return [*value.keys(), *value.values()] if isinstance(value, Mapping) else list(value)


def _too_many_parameters(tool: str, known: Collection[str], arguments: Mapping[str, Any]) -> DragomanError:
    unknown = islice((name for name in arguments if name not in known), _NAMES_SHOWN)
    return DragomanError(
        "bad_arguments",
        localize(
            "{tool} does not accept {count} arguments; unknown: {names}.",
            tool=tool,
            count=len(arguments),
            names=", ".join(ascii(str(name)[:_NAME_CHARACTERS]) for name in unknown),
        ),
        hint=localize("Parameters: {names}.", names=", ".join(known) or "-"),
    )


_too_large = ErrorSpec(
    "bad_arguments",
    "The arguments of {tool} are too large.",
    "Limits: {characters} characters, {parts} members and elements, {depth} levels.",
)


_Context = Mapping[str, Any]


def describe_fault(kind: str, context: _Context, message: str) -> LocalizedText:
    """Localize a validation fault by its type; an unknown type keeps pydantic's own message."""
    describe = _FAULTS.get(kind)
    return describe(context) if describe else localize("{text}", text=message)


def _choices(context: _Context) -> str:
    return ", ".join(re.split(r", | or ", str(context.get("expected", ""))))


def _not_a_string(_: _Context) -> LocalizedText:
    return localize("Input should be a valid string")


def _not_an_integer(_: _Context) -> LocalizedText:
    return localize("Input should be a valid integer")


def _not_a_number(_: _Context) -> LocalizedText:
    return localize("Input should be a valid number")


def _not_a_boolean(_: _Context) -> LocalizedText:
    return localize("Input should be a valid boolean")


def _not_an_object(_: _Context) -> LocalizedText:
    return localize("Input should be an object")


_FAULTS: Mapping[str, Callable[[_Context], LocalizedText]] = {
    "missing": lambda _: localize("Field required"),
    "extra_forbidden": lambda _: localize("Extra inputs are not permitted"),
    "string_type": _not_a_string,
    "int_type": _not_an_integer,
    "int_parsing": _not_an_integer,
    "int_parsing_size": _not_an_integer,
    "int_from_float": _not_an_integer,
    "float_type": _not_a_number,
    "float_parsing": _not_a_number,
    "finite_number": lambda _: localize("Input should be a finite number"),
    "bool_type": _not_a_boolean,
    "bool_parsing": _not_a_boolean,
    "list_type": lambda _: localize("Input should be a valid list"),
    "dict_type": _not_an_object,
    "model_type": _not_an_object,
    "model_attributes_type": _not_an_object,
    "literal_error": lambda context: localize("Input should be one of {choices}", choices=_choices(context)),
    "greater_than": lambda context: localize("Input should be greater than {least}", least=context.get("gt")),
    "greater_than_equal": lambda context: localize(
        "Input should be greater than or equal to {least}", least=context.get("ge")
    ),
    "less_than": lambda context: localize("Input should be less than {most}", most=context.get("lt")),
    "less_than_equal": lambda context: localize("Input should be less than or equal to {most}", most=context.get("le")),
    "string_too_short": lambda context: localize(
        "String should have at least {least} characters", least=context.get("min_length")
    ),
    "string_too_long": lambda context: localize(
        "String should have at most {most} characters", most=context.get("max_length")
    ),
    "too_short": lambda context: localize("It should have at least {least} items", least=context.get("min_length")),
    "too_long": lambda context: localize("It should have at most {most} items", most=context.get("max_length")),
}
