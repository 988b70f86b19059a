"""The settings of a wrapped shell, read with the standard library alone.

Names, defaults and bounds are those of `core/settings/schema.py`; a test compares the two. A shell must open whatever
a file contains: an unusable value is reported, and its default is used.
"""

from __future__ import annotations

import os
import re
import stat
from collections.abc import Callable, Mapping
from dataclasses import dataclass, fields, replace
from pathlib import Path
from typing import Any

_PREFIX = "DRAGOMAN_"
_SIZE_LIMIT = 64 * 1024
_KEY = re.compile(r":|(ctrl-)?(alt-)?[!-~]")
_NUMBER = re.compile(r"\+?[0-9]{1,18}")
_BOOLEANS = {"true": True, "false": False}


@dataclass(frozen=True, slots=True)
class ShellSettings:
    """The settings that a wrapped shell uses. `unusable` names settings with an invalid value, or the file."""

    ask_key: str = "alt-/"
    accept_key: str = "right"
    pause_key: str = "ctrl-alt-p"
    suggest_commands: bool = True
    record_raw_input: bool = False
    ignore_commands: tuple[str, ...] = ()
    watch_output: tuple[str, ...] = ()
    explain_failures: bool = False
    explain_failures_every_s: int = 60
    unusable: tuple[str, ...] = ()
    """Settings with an invalid value, or the file's name."""


def read_shell_settings(settings_file: Path, environment: Mapping[str, str] = os.environ) -> ShellSettings:
    text = _read(settings_file)
    in_file = _parsed(text) if text else {}
    unusable = [settings_file.name] if text is None or in_file is None else []
    given = {**(in_file or {}), **_from_variables(environment)}
    judged = {name: kind(given[name]) for name, kind in _KINDS.items() if name in given}
    unusable += [name for name, value in judged.items() if value is None]
    usable = {name: value for name, value in judged.items() if value is not None}
    return replace(ShellSettings(unusable=tuple(unusable)), **usable)


def _from_variables(environment: Mapping[str, str]) -> dict[str, object]:
    """An empty variable counts as unset, as usual in POSIX."""
    found: dict[str, object] = {}
    for field in fields(ShellSettings):
        text = environment.get(_PREFIX + field.name.upper(), "")
        if text and field.name in _KINDS:
            found[field.name] = _typed(field.default, text)
    return found


def _typed(default: object, text: str) -> object:
    if isinstance(default, bool):
        return _BOOLEANS.get(text.strip().lower(), text)
    if isinstance(default, int) and _NUMBER.fullmatch(text.strip()):
        return int(text)
    return _list(text.strip()) if isinstance(default, tuple) else text


def _list(text: str) -> object:
    """Parses a list like `dragoman.core.settings.loader`. An invalid one stays text, and is reported."""
    if text.startswith("["):
        return (_parsed(f"list = {text}") or {}).get("list", text)
    if text.count("[") != text.count("]"):
        return text
    return [word.strip() for word in text.split(",") if word.strip()]


def _read(path: Path) -> str | None:
    """None if the file exists and must not be used: a file that others can write decides nothing about a person's
    terminal."""
    try:
        with path.open("rb") as file:
            status = os.fstat(file.fileno())
            data = file.read(_SIZE_LIMIT + 1)
    except FileNotFoundError:
        return ""
    except OSError:
        return None
    is_trusted = status.st_uid in (os.getuid(), 0) and not status.st_mode & stat.S_IWOTH
    if not is_trusted or len(data) > _SIZE_LIMIT:
        return None
    return data.decode("utf-8-sig", errors="replace")


def _parsed(text: str) -> dict[str, object] | None:
    import tomllib  # noqa: PLC0415  most people have no settings file, and a start must be fast

    try:
        return tomllib.loads(text)
    except (ValueError, RecursionError):
        return None


def _key(value: object) -> Any:
    return value if isinstance(value, str) and _KEY.fullmatch(value) else None


def _accept_key(value: object) -> object:
    return value if value in ("right", "tab") else None


def _boolean(value: object) -> object:
    return value if isinstance(value, bool) else None


def _seconds(value: object) -> object:
    is_number = isinstance(value, int) and not isinstance(value, bool)
    return value if is_number and 1 <= int(str(value)) <= 86_400 else None


def _patterns(most: int) -> Callable[[object], Any]:
    def patterns(value: object) -> object:
        if not isinstance(value, list) or len(value) > most:
            return None
        return tuple(value) if all(isinstance(each, str) and 1 <= len(each) <= 200 for each in value) else None

    return patterns


_KINDS: dict[str, Callable[[object], Any]] = {
    "ask_key": _key,
    "accept_key": _accept_key,
    "pause_key": _key,
    "suggest_commands": _boolean,
    "record_raw_input": _boolean,
    "ignore_commands": _patterns(100),
    "watch_output": _patterns(20),
    "explain_failures": _boolean,
    "explain_failures_every_s": _seconds,
}
