"""The addresses that a debugger connects to by itself, read from its configuration, so that we can check who listens
there.

Every key that adapters and editors use for an address is read, also those that an adapter of ours ignores. Addresses
in debugger console commands are not seen here; those commands are shown before they run.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from typing import Any

_HOSTS = ("address", "host", "hostName", "hostname", "remoteHost")
_PORTS = ("port", "debugPort", "remotePort")
"""Keys of an attach. In a launch, such a port is one that the program is to listen on."""
_ALWAYS_DIALLED = ("gdb-remote-port", "debugServer", "attachSimplePort")
_TEXTS = ("websocketAddress", "miDebuggerServerAddress", "gdbTarget", "target", "debugPort")
_TEXT = re.compile(r"(?:\w+://)?(?:\[(?P<six>[^\]]+)\]|(?P<host>[^:/\s]*)):(?P<port>\d{1,5})(?:/.*)?")
_NODE = frozenset({"node", "pwa-node", "node2", "javascript"})
_INSPECTOR = 9229
_SAYS_WHERE = ("port", "websocketAddress", "processId")

Endpoint = tuple[str, int]
"""A host, empty where none is named: then it is this machine."""


def endpoints_to_connect(type: str, request: str, arguments: Mapping[str, Any]) -> Iterator[Endpoint]:
    host = _host(arguments)
    for key in (*(_PORTS if request == "attach" else ()), *_ALWAYS_DIALLED):
        if (port := _port(arguments.get(key))) is not None:
            yield _host_for(key, arguments) or host, port
    for key in _TEXTS:
        if isinstance(text := arguments.get(key), str) and (match := _TEXT.fullmatch(text.strip())):
            yield match["six"] or match["host"], int(match["port"])
    if isinstance(where := arguments.get("connect"), Mapping) and (port := _port(where.get("port"))) is not None:
        yield _host(where), port
    if type in _NODE and request == "attach" and not any(arguments.get(key) for key in _SAYS_WHERE):
        yield host, _INSPECTOR


def _host(where: Mapping[str, Any]) -> str:
    return next((it for key in _HOSTS if isinstance(it := where.get(key), str) and it), "")


def _host_for(key: str, arguments: Mapping[str, Any]) -> str:
    """lldb has a key of its own for it; an editor looks for a debug server only on this machine."""
    if key == "gdb-remote-port":
        return str(arguments.get("gdb-remote-hostname") or "localhost")
    return "localhost" if key == "debugServer" else ""


def _port(value: object) -> int | None:
    """A number also as a text, as variables of launch.json give it."""
    text = str(value) if isinstance(value, int | str) and not isinstance(value, bool) else ""
    return int(text) if text.isascii() and text.isdecimal() and 0 < int(text[:6]) < 1 << 16 else None
