"""Debug adapters in the user's settings: where one of ours is, or how another is started and what it is like.

Only ever read from the settings file, never from a workspace: a command here runs as the user.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import Annotated, Any, Literal, Self

from pydantic import BaseModel, ConfigDict, Field, StringConstraints, model_validator
from pydantic_core import ErrorDetails, PydanticCustomError

from dragoman.phrases import Phrase, say

BUILT_IN = frozenset({"javascript", "go", "lldb", "codelldb", "ruby"})
# What the command line must hold, so that adapter and daemon can meet.
MEETS_AT: Mapping[str, str] = {"stdio": "", "tcp": "{port}", "calls": "{port}", "unix": "{socket}"}

_Text = Annotated[str, StringConstraints(min_length=1, max_length=4096)]
# Lengths apart from patterns: what validates compiles a counted class sixty times, at each start of the daemon.
_Name = Annotated[str, StringConstraints(pattern=r"^[\w.+-]+$", max_length=60)]
_Names = Annotated[list[_Name], Field(min_length=1, max_length=50)]


class _Table(BaseModel):
    model_config = ConfigDict(frozen=True, extra="forbid", strict=True)


class Quirks(_Table):
    """Where it differs from the others; what is left out is as with most."""

    hit_forms: list[Literal["==", ">", ">=", "<", "<=", "%"]] = ["==", ">", ">=", "<", "<=", "%"]
    ways_to_end: list[str] = []
    or_word: _Text = "||"
    takes_log_messages: bool = True
    log_prefix: str = ""
    failure_types: list[str] = []
    stops_unasked: list[str] = []
    program_output_is_adapters: bool = False
    has_console: bool = True
    """Nothing is known of it: what it is given to evaluate may be a command to it."""

    @model_validator(mode="after")
    def _prefix_is_a_pattern(self) -> Self:
        try:
            re.compile(self.log_prefix)
        except re.error as error:
            raise PydanticCustomError("pattern", "no pattern", {}) from error
        return self


class AdapterSettings(_Table):
    path: _Text | None = None
    command: Annotated[list[_Text], Field(min_length=1, max_length=100)] | None = None
    transport: Literal["stdio", "unix", "calls", "tcp"] = "stdio"
    types: _Names | None = None
    adapter_id: _Text | None = None
    exception_filters: list[_Name] = []
    quirks: Quirks = Quirks()

    @model_validator(mode="after")
    def _says_one_thing(self) -> Self:
        if (self.path is None) == (self.command is None):
            raise PydanticCustomError("one_of", "path or command", {})
        if self.command is not None and self.types is None:
            raise PydanticCustomError("types", "types are missing", {})
        place = MEETS_AT[self.transport]
        if self.command is not None and not any(place in word for word in self.command):
            raise PydanticCustomError("place", "no place", {})
        return self


def require_known(adapters: Mapping[str, AdapterSettings]) -> None:
    """A path alone says where one of ours is; of another it would not say how to speak to it."""
    for name, it in adapters.items():
        if it.path is not None and name not in BUILT_IN:
            raise PydanticCustomError("path_of_stranger", "unknown adapter", {"name": name})


_ABOUT_TABLE: Mapping[str, Phrase] = {
    "one_of": say("it must have either path, for one of dragoman's own, or command, for another one"),
    "types": say("it must have types: the names by which launch.json asks for it"),
    "place": say("its command must hold {{port}} for the transports tcp and calls, or {{socket}} for unix"),
    "pattern": say("quirks.log_prefix must be a pattern"),
    "extra_forbidden": say("there is no such key"),
}
_ABOUT_KEY: Mapping[str, Phrase] = {
    "path": say("it must be the path of a file"),
    "command": say("it must be a list of words, the program first"),
    "transport": say("it must be stdio, unix, calls or tcp"),
    "types": say("it must be a list of names"),
    "adapter_id": say("it must be a name"),
    "exception_filters": say("it must be a list of names"),
    "quirks": say("it must be a table of what the adapter does differently"),
}


def fault_in(error: ErrorDetails | Mapping[str, Any]) -> tuple[str, Phrase]:
    """The dotted name of what is wrong, and what it must be."""
    place = [part for part in error["loc"] if isinstance(part, str)]
    if error["type"] == "path_of_stranger":
        return f"adapters.{error['ctx']['name']}.path", say(
            "only one of {names} can be named by its path", names=", ".join(sorted(BUILT_IN))
        )
    about = _ABOUT_TABLE.get(str(error["type"])) or _ABOUT_KEY.get(place[2] if len(place) > 2 else "")
    return ".".join(place[:4]), about or say("it must be a table for each adapter, by its name")
