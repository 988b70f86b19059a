"""The options that several of the commands share."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated, TypeAlias

from cyclopts import Parameter
from cyclopts.validators import Number

from dragoman.cli import completers
from dragoman.cli.output import shown
from dragoman.phrases import say

Json: TypeAlias = Annotated[
    bool, Parameter(negative="", help=shown(say("Print the tool's structured answer instead of lines.")))
]
Session: TypeAlias = Annotated[
    str | None,
    Parameter(
        help=shown(say("Which session; the workspace's active one if left out.")), completer=completers.debug_sessions
    ),
]
Workspace: TypeAlias = Annotated[
    Path | None, Parameter(help=shown(say("The project's folder; found upwards by .git or .vscode if left out.")))
]
Timeout: TypeAlias = Annotated[
    float | None,
    Parameter(validator=Number(gte=0, lte=3600), help=shown(say("Seconds to wait for a stop or the end (45)."))),
]
Thread: TypeAlias = Annotated[int | None, Parameter(help=shown(say("Which thread; the stopped one if left out.")))]
Frame: TypeAlias = Annotated[
    int | None, Parameter(help=shown(say("Which frame of the stack, counted from 0; the top one if left out.")))
]
If: TypeAlias = Annotated[
    str, Parameter(name="--if", help=shown(say("Stop only if this expression is true.")), allow_leading_hyphen=True)
]
Hit: TypeAlias = Annotated[str, Parameter(name="--hit", help=shown(say("Which hits stop: 3, > 5, % 2 == 0.")))]
Log: TypeAlias = Annotated[
    str,
    Parameter(
        name="--log",
        help=shown(say("Print this instead of stopping; {expression} in braces is filled in.", expression="{x}")),
        allow_leading_hyphen=True,
    ),
]

# Of the start.

Program: TypeAlias = Annotated[str, Parameter(help=shown(say("The file to debug.")))]
Args: TypeAlias = Annotated[
    str, Parameter(help=shown(say("What the program gets; after `--` also what begins with a dash.")))
]
Breaks: TypeAlias = Annotated[
    tuple[str, ...],
    Parameter(
        name=["--break", "-b"],
        negative="",
        help=shown(
            say("Stop at FILE:LINE; again for more places. --if, --hit and --log go behind the one they are for.")
        ),
    ),
]
Traces: TypeAlias = Annotated[
    tuple[str, ...],
    Parameter(
        name="--trace",
        negative="",
        help=shown(say("Run it whole: FILE:LINE EXPR… as a table of what changed at each hit; again for more places.")),
    ),
]
UntilCrash: TypeAlias = Annotated[
    bool,
    Parameter(
        negative="",
        help=shown(say("Run it whole: to what nothing catches, with frames, locals and the failing values.")),
    ),
]
Keep: TypeAlias = Annotated[
    bool, Parameter(negative="", help=shown(say("Leave the breakpoints in the workspace when the session has ended.")))
]
Config: TypeAlias = Annotated[
    str | None, Parameter(help=shown(say("A configuration of .vscode/launch.json instead of a program.")))
]
NoDebug: TypeAlias = Annotated[bool, Parameter(negative="", help=shown(say("Just run it, without stopping.")))]
Cwd: TypeAlias = Annotated[Path | None, Parameter(help=shown(say("The program's working folder.")))]
Env: TypeAlias = Annotated[
    tuple[str, ...], Parameter(negative="", help=shown(say("NAME=VALUE for the program; again for more.")))
]
Pid: TypeAlias = Annotated[
    int | None,
    Parameter(
        help=shown(say("Attach to this process; with --config, the one that an attaching configuration asks for."))
    ),
]
Type: TypeAlias = Annotated[
    str | None,
    Parameter(help=shown(say("The debugger for --pid, as `type` in launch.json; told by the process if left out."))),
]
Module: TypeAlias = Annotated[
    str | None, Parameter(help=shown(say("A module of Python instead of a program, as with python -m.")))
]
Input: TypeAlias = Annotated[
    tuple[str, ...],
    Parameter(negative="", help=shown(say("NAME=VALUE for an input of the configuration; again for more."))),
]
File: TypeAlias = Annotated[
    str | None, Parameter(help=shown(say("The file that ${{file}} of the configuration stands for.")))
]
Stdin: TypeAlias = Annotated[
    str | None,
    Parameter(
        help=shown(say("What the program reads: text, @FILE, or - for our own input.")), allow_leading_hyphen=True
    ),
]
