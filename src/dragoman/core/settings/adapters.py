"""The `adapters` setting: the path of a built-in debug adapter, or the command and quirks of another one.

It is read only from the settings file, never from a workspace: its command runs as the user.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import Annotated, Any, Literal, Self

from pydantic import BaseModel, ConfigDict, Field, StringConstraints, model_validator
from pydantic_core import ErrorDetails, PydanticCustomError

from dragoman.core.localization import LocalizedText, localize

BUILT_IN = frozenset({"javascript", "go", "lldb", "codelldb", "ruby"})
# What the command line must contain, so that adapter and daemon can connect.
PLACEHOLDERS: Mapping[str, str] = {"stdio": "", "tcp": "{port}", "calls": "{port}", "unix": "{socket}"}

_Text = Annotated[str, StringConstraints(min_length=1, max_length=4096)]
# Lengths are checked separately from patterns: the validator would compile a counted class sixty times at each start of
# the daemon.
_Name = Annotated[str, StringConstraints(pattern=r"^[\w.+-]+$", max_length=60)]
_Names = Annotated[list[_Name], Field(min_length=1, max_length=50)]


class _Table(BaseModel):
    model_config = ConfigDict(frozen=True, extra="forbid", strict=True)


class QuirkSettings(_Table):
    """How it differs from other adapters; missing members have their defaults."""

    hit_forms: list[Literal["==", ">", ">=", "<", "<=", "%"]] = ["==", ">", ">=", "<", "<=", "%"]
    ways_to_end: list[str] = []
    or_word: _Text = "||"
    takes_log_messages: bool = True
    log_prefix: str = ""
    failure_types: list[str] = []
    stops_unasked: list[str] = []
    program_output_is_adapters: bool = False
    has_console: bool = True
    """Nothing is known about this adapter: text to evaluate may be a command."""

    @model_validator(mode="after")
    def _check_log_prefix(self) -> Self:
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
    quirks: QuirkSettings = QuirkSettings()

    @model_validator(mode="after")
    def _check_path_or_command(self) -> Self:
        if (self.path is None) == (self.command is None):
            raise PydanticCustomError("one_of", "path or command", {})
        if self.command is not None and self.types is None:
            raise PydanticCustomError("types", "types are missing", {})
        place = PLACEHOLDERS[self.transport]
        if self.command is not None and not any(place in word for word in self.command):
            raise PydanticCustomError("place", "no place", {})
        return self


def require_known(adapters: Mapping[str, AdapterSettings]) -> None:
    """Refuse a path for an unknown adapter: a path locates a built-in one but does not describe another."""
    for name, it in adapters.items():
        if it.path is not None and name not in BUILT_IN:
            raise PydanticCustomError("path_of_stranger", "unknown adapter", {"name": name})


_TABLE_FAULTS: Mapping[str, LocalizedText] = {
    "one_of": localize("it must have either path (built-in adapter) or command (other adapter)"),
    "types": localize("it must have types: the `type` names used in launch.json"),
    "place": localize("command must contain {{port}} for the transports tcp and calls, or {{socket}} for unix"),
    "pattern": localize("quirks.log_prefix must be a regular expression"),
    "extra_forbidden": localize("unknown key"),
}
_KEY_FAULTS: Mapping[str, LocalizedText] = {
    "path": localize("it must be a file path"),
    "command": localize("it must be a list of strings that starts with the program"),
    "transport": localize("it must be stdio, unix, calls or tcp"),
    "types": localize("it must be a list of names"),
    "adapter_id": localize("it must be a name"),
    "exception_filters": localize("it must be a list of names"),
    "quirks": localize("it must be a table of adapter quirks"),
}


def describe_fault(error: ErrorDetails | Mapping[str, Any]) -> tuple[str, LocalizedText]:
    """The dotted name of the wrong value, and what it must be."""
    place = [part for part in error["loc"] if isinstance(part, str)]
    if error["type"] == "path_of_stranger":
        return f"adapters.{error['ctx']['name']}.path", localize(
            "only {names} can be set with path", names=", ".join(sorted(BUILT_IN))
        )
    about = _TABLE_FAULTS.get(str(error["type"])) or _KEY_FAULTS.get(place[2] if len(place) > 2 else "")
    return ".".join(place[:4]), about or localize("it must be a table with one entry per adapter name")
