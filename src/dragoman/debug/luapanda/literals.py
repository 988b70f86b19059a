"""Python values as Lua source: for what is asked of the helper, in which no byte may end a string early."""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import Any

_PLAIN = re.compile(rb"[^A-Za-z0-9 !#$%&'()*+,\-./:;<=>?@\[\]^_`{}~]")


def lua_string(text: str) -> str:
    """Printable ASCII alone; everything else as `\\ddd`, which every Lua reads alike."""
    data = text.encode("utf-8", "surrogateescape")
    return '"' + _PLAIN.sub(lambda found: b"\\%03d" % found[0][0], data).decode("ascii") + '"'


def lua_value(value: Any) -> str:
    if value is None or isinstance(value, bool):
        return "nil" if value is None else str(value).lower()
    if isinstance(value, int):
        return str(value)
    if isinstance(value, str):
        return lua_string(value)
    if isinstance(value, Mapping):
        return "{" + ",".join(f"[{lua_value(key)}]={lua_value(item)}" for key, item in value.items()) + "}"
    return "{" + ",".join(lua_value(item) for item in value) + "}"
