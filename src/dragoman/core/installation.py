"""The commands that install a package into Dragoman's environment, or uninstall Dragoman from it."""

from __future__ import annotations

import shlex
import sys
from pathlib import PurePath


def install_command(package: str, *, prefix: str = sys.prefix, python: str = sys.executable) -> str:
    """The install command of the tool that created the environment: pip should not be used in those of pipx and uv."""
    *_, maker, kind, name = ("", "", *PurePath(prefix).parts)
    if (maker, kind) == ("pipx", "venvs"):
        return f"pipx inject {shlex.quote(name)} {package}"
    if (maker, kind) == ("uv", "tools"):
        return f"uv pip install --python {shlex.quote(python)} {package}"
    return f"{shlex.quote(python)} -m pip install {package}"


def uninstall_command(*, prefix: str = sys.prefix, python: str = sys.executable) -> str:
    *_, maker, kind, name = ("", "", *PurePath(prefix).parts)
    if (maker, kind) == ("pipx", "venvs"):
        return f"pipx uninstall {shlex.quote(name)}"
    if (maker, kind) == ("uv", "tools"):
        return f"uv tool uninstall {shlex.quote(name)}"
    return f"{shlex.quote(python)} -m pip uninstall dragoman"
