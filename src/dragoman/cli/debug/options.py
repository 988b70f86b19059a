"""Options that several `dragoman debug` commands share."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated, TypeAlias

from cyclopts import Parameter

from dragoman.cli.output import render
from dragoman.cli.parser import fast_commands
from dragoman.cli.parser.parameters import option_parameter
from dragoman.core.localization import localize

Json: TypeAlias = Annotated[bool, option_parameter(fast_commands.DEBUG_JSON)]
Session: TypeAlias = Annotated[str | None, option_parameter(fast_commands.DEBUG_SESSION)]
Workspace: TypeAlias = Annotated[Path | None, option_parameter(fast_commands.DEBUG_WORKSPACE)]
Timeout: TypeAlias = Annotated[float | None, option_parameter(fast_commands.DEBUG_TIMEOUT)]
Thread: TypeAlias = Annotated[int | None, option_parameter(fast_commands.DEBUG_THREAD)]
Frame: TypeAlias = Annotated[
    int | None, Parameter(help=render(localize("Stack frame, counted from 0; the top frame if omitted.")))
]
If: TypeAlias = Annotated[
    str,
    Parameter(name="--if", help=render(localize("Stop only if this expression is true.")), allow_leading_hyphen=True),
]
Hit: TypeAlias = Annotated[str, Parameter(name="--hit", help=render(localize("Stop on these hits: 3, > 5, % 2 == 0.")))]
Log: TypeAlias = Annotated[
    str,
    Parameter(
        name="--log",
        help=render(
            localize(
                "Print this message instead of stopping. Expressions in braces, such as {expression}, are evaluated.",
                expression="{x}",
            )
        ),
        allow_leading_hyphen=True,
    ),
]

# Options of `dragoman debug` itself.

Program: TypeAlias = Annotated[str, Parameter(help=render(localize("File to debug.")))]
Args: TypeAlias = Annotated[
    str, Parameter(help=render(localize("Arguments for the program. Put arguments that start with a dash after `--`.")))
]
Breaks: TypeAlias = Annotated[
    tuple[str, ...],
    Parameter(
        name=["--break", "-b"],
        negative="",
        help=render(
            localize("Stop at FILE:LINE. Repeatable. Put --if, --hit and --log after the --break they apply to.")
        ),
    ),
]
Traces: TypeAlias = Annotated[
    tuple[str, ...],
    Parameter(
        name="--trace",
        negative="",
        help=render(
            localize("Run to the end and print a table of how EXPR… changed at each hit of FILE:LINE. Repeatable.")
        ),
    ),
]
UntilCrash: TypeAlias = Annotated[
    bool,
    Parameter(
        negative="",
        help=render(
            localize("Run until an uncaught exception or crash, then print frames, locals and the failing values.")
        ),
    ),
]
Keep: TypeAlias = Annotated[
    bool,
    Parameter(negative="", help=render(localize("Keep the breakpoints in the workspace after the session ends."))),
]
Config: TypeAlias = Annotated[
    str | None, Parameter(help=render(localize("Use a configuration from .vscode/launch.json instead of a program.")))
]
NoDebug: TypeAlias = Annotated[bool, Parameter(negative="", help=render(localize("Run without stopping.")))]
Cwd: TypeAlias = Annotated[Path | None, Parameter(help=render(localize("Working directory of the program.")))]
Env: TypeAlias = Annotated[
    tuple[str, ...],
    Parameter(negative="", help=render(localize("Environment variable for the program, as NAME=VALUE. Repeatable."))),
]
Pid: TypeAlias = Annotated[
    int | None,
    Parameter(help=render(localize("Attach to this process. With --config, the process for an attach configuration."))),
]
Type: TypeAlias = Annotated[
    str | None,
    Parameter(
        help=render(localize("Debugger for --pid, as `type` in launch.json; detected from the process if omitted."))
    ),
]
Module: TypeAlias = Annotated[
    str | None, Parameter(help=render(localize("Run a Python module instead of a program, like python -m.")))
]
Input: TypeAlias = Annotated[
    tuple[str, ...],
    Parameter(negative="", help=render(localize("Input of the configuration, as NAME=VALUE. Repeatable."))),
]
File: TypeAlias = Annotated[
    str | None, Parameter(help=render(localize("File to use for ${{file}} in the configuration.")))
]
Stdin: TypeAlias = Annotated[
    str | None,
    Parameter(
        help=render(localize("Standard input of the program: text, @FILE, or - for this command's input.")),
        allow_leading_hyphen=True,
    ),
]
