"""Variables that may travel in a shared session, in both directions.

They change how a program behaves and say nothing about a person or a service. The sender leaves the values of all
others out. The receiver does not set others either, because variables such as LD_PRELOAD or PATH run code.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

_HARMLESS = frozenset(
    {"CI", "COLUMNS", "FORCE_COLOR", "LANG", "LC_ALL", "LINES", "NODE_ENV", "NO_COLOR", "RUST_BACKTRACE", "TERM", "TZ"}
)
_HARMLESS_PREFIXES = ("PYTHONDONTWRITE", "PYTHONHASHSEED", "PYTHONIOENCODING", "PYTHONUNBUFFERED", "PYTHONUTF8")
_KEYS = ("env", "environment")


def harmless_variables(env: Mapping[str, Any]) -> tuple[dict[str, str], list[str]]:
    """Those that may travel, and the names of the others."""
    kept = {name: str(value) for name, value in env.items() if _is_harmless(name)}
    return kept, [name for name in env if name not in kept]


def with_harmless_variables(configuration: Mapping[str, Any]) -> tuple[dict[str, Any], list[str]]:
    """The configuration without the other variables, also in its blocks and lists, and their names."""
    shown: dict[str, Any] = {}
    names: list[str] = []
    for key, value in configuration.items():
        if key in _KEYS and isinstance(value, Mapping):
            shown[key], left = harmless_variables(value)
            names += left
        elif key in _KEYS and isinstance(value, list):
            shown[key] = [it for it in value if _is_harmless(_name_of(it))]
            names += [_name_of(it) for it in value if not _is_harmless(_name_of(it))]
        elif isinstance(value, Mapping):
            shown[key], left = with_harmless_variables(value)
            names += left
        elif isinstance(value, list):
            shown[key], left = _list_with_harmless_variables(value)
            names += left
        else:
            shown[key] = value
    return shown, names


def _list_with_harmless_variables(items: Sequence[Any]) -> tuple[list[Any], list[str]]:
    shown: list[Any] = []
    names: list[str] = []
    for item in items:
        kept, left = (
            with_harmless_variables(item)
            if isinstance(item, Mapping)
            else _list_with_harmless_variables(item)
            if isinstance(item, list)
            else (item, [])
        )
        shown.append(kept)
        names += left
    return shown, names


def _is_harmless(name: str) -> bool:
    return name in _HARMLESS or name.startswith(_HARMLESS_PREFIXES)


def _name_of(item: Any) -> str:
    return str(item.get("name", "")) if isinstance(item, Mapping) else ""
