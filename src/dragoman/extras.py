"""How a package that is not needed by all comes into the environment that we run in."""

from __future__ import annotations

import shlex
import sys
from pathlib import PurePath


def install_command(package: str, *, prefix: str = sys.prefix, python: str = sys.executable) -> str:
    """By whoever made the environment: those of pipx and uv have no pip that a person should use."""
    *_, maker, kind, name = ("", "", *PurePath(prefix).parts)
    if (maker, kind) == ("pipx", "venvs"):
        return f"pipx inject {shlex.quote(name)} {package}"
    if (maker, kind) == ("uv", "tools"):
        return f"uv pip install --python {shlex.quote(python)} {package}"
    return f"{shlex.quote(python)} -m pip install {package}"
