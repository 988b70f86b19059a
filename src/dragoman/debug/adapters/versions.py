"""Which version an adapter is, by asking it or by what lies beside it; empty where neither tells."""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Mapping
from importlib.metadata import version as version_of_package
from pathlib import Path

from dragoman.debug.adapters.commands import output_of

_NUMBER = re.compile(r"\d+(?:\.\d+)+")
_HELLO = {"seq": 1, "type": "request", "command": "initialize", "arguments": {"adapterID": "lldb-dap"}}


def version_of(name: str, path: Path) -> str:
    return _ASK[name](path)


def _first_number(text: str) -> str:
    found = _NUMBER.search(text)
    return found[0] if found else ""


def _of_lldb(path: Path) -> str:
    """It has no option for this; its first answer says it."""
    body = json.dumps(_HELLO).encode()
    told = output_of([str(path)], stdin=b"Content-Length: %d\r\n\r\n%b" % (len(body), body))
    found = re.search(r"lldb version (\d+(?:\.\d+)+)", told)
    return found[1] if found else ""


def _beside(*names: str) -> Callable[[Path], str]:
    """A file beside it, or above, that holds `version`."""

    def read(path: Path) -> str:
        for name in names:
            try:
                told = json.loads((path.parent / name).read_text())["version"]
            except (OSError, ValueError, KeyError, TypeError):
                continue
            return str(told).removeprefix("v")
        return ""

    return read


_ASK: Mapping[str, Callable[[Path], str]] = {
    "python": lambda _: version_of_package("debugpy"),
    "javascript": _beside("manifest.json", "../package.json"),
    "go": lambda path: _first_number(output_of([str(path), "version"])),
    "lldb": _of_lldb,
    "codelldb": _beside("../version.json", "../package.json"),
    "ruby": lambda path: _first_number(output_of([str(path), "--version"])),
}
