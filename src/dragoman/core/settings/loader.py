"""Load the settings: one TOML file, and `DRAGOMAN_*` variables that override it.

Not pydantic-settings: it does not know the line of a value, and every error here names it.
"""

from __future__ import annotations

import difflib
import functools
import json
import os
import re
import stat
import tomllib
from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Literal

from pydantic import ValidationError
from pydantic_core import ErrorDetails

from dragoman.core.errors import DragomanError, ErrorSpec
from dragoman.core.localization import LocalizedText, localize
from dragoman.core.paths import Paths
from dragoman.core.settings.adapters import describe_fault
from dragoman.core.settings.schema import SettingInfo, Settings

PREFIX = "DRAGOMAN_"
# Clients read the token from their environment; Dragoman recommends the name but never reads it. A recorded shell sets
# the last three for its programs.
RESERVED_VARIABLES = frozenset(
    {
        "DRAGOMAN_HOME",
        "DRAGOMAN_LANG",
        "DRAGOMAN_ON",
        "DRAGOMAN_TOKEN",
        "DRAGOMAN_SESSION_ID",
        "DRAGOMAN_PANE",
        "DRAGOMAN_INSIDE",
    }
)
SIZE_LIMIT = 64 * 1024
LONGEST_STATEMENT = 200


@dataclass(frozen=True, slots=True)
class Setting:
    """One setting: its type, default and description."""

    key: str
    kind: str
    default: object
    about: LocalizedText
    allowed: LocalizedText
    needs_restart: bool

    @property
    def variable(self) -> str:
        return PREFIX + self.key.upper()


@dataclass(frozen=True, slots=True)
class SettingSource:
    """Where a value comes from: a line of the file, a variable, a person who sets it now, or the default."""

    kind: Literal["default", "file", "variable", "given"]
    file: Path | None = None
    line: int = 0
    variable: str = ""

    def localized(self) -> LocalizedText:
        if self.kind == "file":
            return localize("{file}, line {line}", file=self.file, line=self.line or "?")
        if self.kind == "variable":
            return localize("the environment variable {name}", name=self.variable)
        return localize("the default") if self.kind == "default" else localize("the given value")


@dataclass(frozen=True, slots=True)
class ResolvedSetting:
    """A setting in force, with its source."""

    setting: Setting
    value: object
    source: SettingSource


_DEFAULT = SettingSource("default")
_Raw = dict[str, tuple[Any, SettingSource]]


def load_settings(paths: Paths, environment: Mapping[str, str] = os.environ) -> Settings:
    return _validated(_collect(paths.settings_file, environment))


def explain_settings(paths: Paths, environment: Mapping[str, str] = os.environ) -> dict[str, ResolvedSetting]:
    """Every setting by its key, with the value in force and where that comes from."""
    raw = _collect(paths.settings_file, environment)
    values = _validated(raw).model_dump()
    return {
        setting.key: ResolvedSetting(setting, values[setting.key], raw.get(setting.key, (None, _DEFAULT))[1])
        for setting in describe_settings()
    }


def describe_settings() -> list[Setting]:
    return list(_all_settings().values())


def find_setting(key: str) -> Setting:
    try:
        return _all_settings()[key]
    except KeyError:
        raise DragomanError(
            "unknown_setting",
            localize("Unknown setting: {key}.", key=_clean(key)),
            hint=_nearest(key, _all_settings()),
        ) from None


def setting_choices(key: str) -> tuple[str, ...]:
    """The choices of a setting that is one of a few; empty for others and for unknown keys."""
    schema = Settings.model_json_schema()["properties"].get(key, {})
    return ("true", "false") if schema.get("type") == "boolean" else tuple(schema.get("enum", ()))


def unknown_variables(environment: Mapping[str, str] = os.environ) -> list[LocalizedText]:
    """A warning for each `DRAGOMAN_*` variable that nothing reads: most often a typo."""
    known = {setting.variable for setting in describe_settings()} | RESERVED_VARIABLES
    unused = sorted(name for name in environment if name.startswith(PREFIX) and name not in known)
    return [
        localize("Unknown environment variable {name}. {hint}", name=_clean(name), hint=_nearest(name, known))
        for name in unused
    ]


def edit_settings_text(path: Path, key: str, text: str) -> str:
    """The new text of the settings file, with its comments, checked as a whole. Nothing is written here."""
    setting = find_setting(key)
    old = _read_text(path)
    value = _typed(setting.kind, text)
    _validated(_from_file(path, old) | {key: (value, SettingSource("given"))})
    new = _edited(path, old, key, value)
    _validated(_from_file(path, new))
    return new


def _edited(path: Path, old: str, key: str, value: object) -> str:
    import tomlkit  # noqa: PLC0415  who only reads settings never needs the editor

    try:
        document = tomlkit.parse(old)
        document[key] = value
        return tomlkit.dumps(document)
    except (ValueError, RecursionError) as error:  # pragma: no cover  a parser that knows less TOML than tomllib
        raise _unusable(file=path, reason=localize("it cannot be edited ({reason})", reason=error)) from error


def _collect(path: Path, environment: Mapping[str, str]) -> _Raw:
    return _from_file(path, _read_text(path)) | _from_variables(environment)


def _from_file(path: Path, text: str) -> _Raw:
    values = _parse(path, text)
    lines = _lines_of_keys(text)
    return {key: (value, SettingSource("file", file=path, line=lines.get(key, 0))) for key, value in values.items()}


def _from_variables(environment: Mapping[str, str]) -> _Raw:
    """An empty variable counts as unset, as usual in POSIX."""
    return {
        setting.key: (_typed(setting.kind, text), SettingSource("variable", variable=setting.variable))
        for setting in describe_settings()
        if (text := environment.get(setting.variable, ""))
    }


def _read_text(path: Path) -> str:
    """Read the file. Links are fine, since dotfiles are often links; what counts is who may write the target."""
    try:
        fd = os.open(path, os.O_RDONLY | os.O_NONBLOCK | os.O_CLOEXEC)
    except FileNotFoundError:
        return ""
    except OSError as error:
        raise _unusable(file=path, reason=localize("it cannot be opened ({reason})", reason=error.strerror)) from error
    try:
        _require_trusted(path, os.fstat(fd))
        data = os.read(fd, SIZE_LIMIT + 1)
    except OSError as error:
        raise _unusable(file=path, reason=localize("it cannot be read ({reason})", reason=error.strerror)) from error
    finally:
        os.close(fd)
    return _decoded(path, data)


def _require_trusted(path: Path, status: os.stat_result) -> None:
    """Refuse a file that others may write. Root may own it: root can do anything anyway."""
    if not stat.S_ISREG(status.st_mode):
        raise _unusable(file=path, reason=localize("it is a folder or a device, not a file"))
    if status.st_uid not in (os.getuid(), 0):
        raise _unusable(file=path, reason=localize("it is owned by another user (uid {uid})", uid=status.st_uid))
    if status.st_mode & stat.S_IWOTH:
        raise _unusable(file=path, reason=localize("it is writable by every user"))


def _decoded(path: Path, data: bytes) -> str:
    if len(data) > SIZE_LIMIT:
        raise _unusable(file=path, reason=localize("it is larger than {limit} bytes", limit=SIZE_LIMIT))
    try:
        return data.decode("utf-8-sig")
    except UnicodeDecodeError as error:
        line = data.count(b"\n", 0, error.start) + 1
        raise _unusable(file=path, reason=localize("line {line} is not UTF-8", line=line)) from error


def _parse(path: Path, text: str) -> dict[str, Any]:
    """Parse TOML. `tomllib` also raises a plain ValueError (a number too long) and a RecursionError (nested too
    deep).
    """
    try:
        return tomllib.loads(text)
    except (ValueError, RecursionError) as error:
        reason, place = _place_in(str(error), text)
        raise _bad(
            localize("{file}, {place}: invalid TOML: {reason}.", file=path, place=place, reason=_clean(reason)),
            localize("Fix that line. `dragoman config path` prints the path of the file."),
        ) from error


def _place_in(message: str, text: str) -> tuple[str, LocalizedText]:
    """The position of a syntax error. For an unclosed value, that is its start, not where the parser gave up."""
    match = re.fullmatch(r"(.*) \(at line (\d+), column (\d+)\)", message, re.DOTALL)
    if match:
        return match[1], localize("line {line}, column {column}", line=match[2], column=match[3])
    closed = max((end for _, end, _ in _statements(text)), default=0)
    line = min(closed + 1, len(text.split("\n")))
    return message.removesuffix(" (at end of document)"), localize("line {line}", line=line)


def _statements(text: str) -> Iterator[tuple[int, int, dict[str, Any]]]:
    """First line, last line and keys of each statement, up to the first that is broken or too long.

    Lines are collected until they parse, so that a value of several lines is one statement.
    """
    lines = text.replace("\r\n", "\n").split("\n")
    start = 0
    for end in range(1, len(lines) + 1):
        if end - start > LONGEST_STATEMENT:
            return
        try:
            keys = tomllib.loads("\n".join(lines[start:end]))
        except (ValueError, RecursionError):
            continue
        yield start + 1, end, keys
        start = end


def _lines_of_keys(text: str) -> dict[str, int]:
    """The line of each top-level key. After the first table, all top-level keys are tables."""
    lines = text.split("\n")
    found: dict[str, int] = {}
    in_table = False
    for first, _, keys in _statements(text):
        is_header = lines[first - 1].lstrip().startswith("[")
        in_table = in_table or is_header
        if is_header or not in_table:
            found = dict.fromkeys(keys, first) | found
    return found


def _validated(raw: _Raw) -> Settings:
    try:
        return Settings.model_validate({key: value for key, (value, _) in raw.items()})
    except ValidationError as error:
        first = error.errors(include_url=False)[0]
    if first["type"] == "remote_bind":
        raise _remote_bind(raw)
    if first["type"] == "path_of_stranger" or first["loc"][0] == "adapters":
        raise _bad_adapter(first, raw)
    key = str(first["loc"][0])
    raise _unknown_key(key, raw) if first["type"] == "extra_forbidden" else _bad_value(key, raw)


def _remote_bind(raw: _Raw) -> DragomanError:
    value, source = raw["bind"]
    return _bad(
        localize("{source}: bind is {value}, not 127.0.0.1 or ::1.", source=source.localized(), value=_shown(value)),
        localize("Use 127.0.0.1 or ::1. To allow remote access, also set allow_remote = true."),
    )


def _bad_adapter(fault: ErrorDetails, raw: _Raw) -> DragomanError:
    key, problem = describe_fault(fault)
    where = raw["adapters"][1].localized()
    return _bad(
        localize("{source}: invalid {key}: {problem}.", source=where, key=_clean(key), problem=problem),
        localize("See docs/reference/adapters.md for how to declare an adapter."),
    )


def _unknown_key(key: str, raw: _Raw) -> DragomanError:
    where = raw[key][1].localized()
    return _bad(
        localize("{source}: unknown setting {key}.", source=where, key=_clean(key)),
        _nearest(key, Settings.model_fields),
    )


def _is_wrong(setting: Setting, value: Any, source: SettingSource) -> LocalizedText:
    if source.kind == "given":
        return localize(
            "Invalid value {value} for the setting {key}: it must be {allowed}.",
            key=setting.key,
            value=_shown(value),
            allowed=setting.allowed,
        )
    return localize(
        "{source}: {key} is {value}, but must be {allowed}.",
        source=source.localized(),
        key=setting.key,
        value=_shown(value),
        allowed=setting.allowed,
    )


def _bad_value(key: str, raw: _Raw) -> DragomanError:
    value, source = raw[key]
    setting = find_setting(key)
    return _bad(
        _is_wrong(setting, value, source),
        localize("Write a list as `one,two`, or as in the file: {example}.", example='["one", "two"]')
        if setting.kind == "array"
        else localize("The default for {key} is {default}.", key=key, default=_shown(setting.default)),
    )


def _nearest(name: str, known: Iterable[str]) -> LocalizedText:
    close = difflib.get_close_matches(name, list(known), n=1)
    if close:
        return localize("Did you mean {name}?", name=close[0])
    return localize("`dragoman config list` lists all settings.")


_unusable = ErrorSpec(
    "bad_settings",
    "Cannot use the settings file {file}: {reason}.",
    "Fix it, or remove the file: every setting has a default.",
)


def _bad(message: LocalizedText, hint: LocalizedText) -> DragomanError:
    return DragomanError("bad_settings", message, hint=hint)


def _shown(value: object) -> str:
    """The value as in the file, cut to fit a sentence."""
    text = _clean(json.dumps(value, ensure_ascii=False, default=str))
    return text if len(text) <= 60 else f"{text[:57]}..."


def _clean(text: str) -> str:
    """Escape control characters from a file."""
    return "".join(char if char.isprintable() else "\N{REPLACEMENT CHARACTER}" for char in text)


_SWITCH = {"true": True, "yes": True, "on": True, "1": True, "false": False, "no": False, "off": False, "0": False}


def _typed(kind: str, text: str) -> object:
    """Text as a value. Text that is not one stays text, and validation reports it."""
    if kind == "boolean":
        return _SWITCH.get(text.strip().lower(), text)
    if kind == "integer" and re.fullmatch(r"[+-]?[0-9]{1,18}", text.strip()):
        return int(text)
    return _list(text.strip()) if kind == "array" else text


def _list(text: str) -> object:
    """A list in brackets, as in the file, or words with commas. An unclosed bracket stays text."""
    if text.startswith("["):
        try:
            return tomllib.loads(f"list = {text}")["list"]
        except (ValueError, RecursionError):
            return text
    if text.count("[") != text.count("]"):
        return text
    return [word.strip() for word in text.split(",") if word.strip()]


_ALLOWED: dict[str, Callable[[Mapping[str, Any]], LocalizedText]] = {
    "integer": lambda schema: localize(
        "an integer from {low} to {high}", low=schema["minimum"], high=schema["maximum"]
    ),
    "boolean": lambda _: localize("true or false"),
    "choice": lambda schema: localize("one of {choices}", choices=", ".join(schema["enum"])),
    "object": lambda _: localize("a table per adapter in the settings file"),
}


@functools.cache
def _all_settings() -> dict[str, Setting]:
    properties = Settings.model_json_schema()["properties"]
    return {key: _setting(key, properties[key]) for key in Settings.model_fields}


def _setting(key: str, schema: Mapping[str, Any]) -> Setting:
    field = Settings.model_fields[key]
    about = next(item for item in field.metadata if isinstance(item, SettingInfo))
    kind = "choice" if "enum" in schema else str(schema["type"])
    allowed = about.allowed or _ALLOWED[kind](schema)
    return Setting(key, kind, field.default, about.text, allowed, about.needs_restart)
