"""Who calls, as the daemon wants to know it: the workspace, the working folder, the environment for programs."""

from __future__ import annotations

import os
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from dragoman.cli.output import warn
from dragoman.phrases import say
from dragoman.wire.control import LINE_CAP, encode_line

_HELLO_REST = 1 << 16  # of the daemon's cap on the hello, for what is not the environment


def about(workspace: Path) -> Mapping[str, Any]:
    return {
        "workspace": str(workspace),
        "cwd": working_folder(),
        "environment": _fitting(dict(os.environ)),
        "client_pid": os.getppid(),
    }


def working_folder() -> str:
    try:
        return os.getcwd()  # noqa: PTH109
    except OSError:  # removed under us: still no reason not to serve
        return os.sep


def _fitting(environment: dict[str, str]) -> dict[str, str]:
    """The daemon takes a hello up to a cap; what makes it too long is left out, largest first, and named."""
    while len(encode_line(environment)) > LINE_CAP - _HELLO_REST:
        name = max(environment, key=lambda key: len(environment[key]) + len(key))
        del environment[name]
        warn(say("The variable {name} is too long to be passed on to programs.", name=ascii(name[:80])))
    return environment
