"""`dragoman shell`: its options for people who ask for help. The plain forms never come here: see `main`."""

from __future__ import annotations

from typing import Annotated, Literal

from cyclopts import Parameter

from dragoman.cli.output import shown
from dragoman.phrases import say
from dragoman.shell.arguments import Options


def shell(
    *command: Annotated[str, Parameter(allow_leading_hyphen=False, help=shown(say("What runs in the shell's place.")))],
    private: Annotated[
        bool, Parameter(negative="", help=shown(say("Record nothing of it but that it lives.")))
    ] = False,
    strip_marks: Annotated[
        bool, Parameter(negative="", help=shown(say("Keep the marks of prompts and commands from the outer terminal.")))
    ] = False,
    login: Annotated[bool, Parameter(negative="", alias="-l", help=shown(say("Run a login shell.")))] = False,
    agent: Annotated[str, Parameter(help=shown(say("The agent on whose behalf the shell runs.")))] = "",
    install: Annotated[bool, Parameter(negative="", help=shown(say("Wrap every new terminal.")))] = False,
    uninstall: Annotated[bool, Parameter(negative="", help=shown(say("Undo --install.")))] = False,
    name: Annotated[
        Literal["", "bash", "zsh", "fish"],
        Parameter(name="--shell", help=shown(say("For --install: another shell than yours."))),
    ] = "",
    yes: Annotated[bool, Parameter(negative="", alias="-y", help=shown(say("Do not ask.")))] = False,
) -> int:
    """Open a shell whose commands are remembered."""
    if install or uninstall:
        from dragoman.cli.shell_profile import change_profile

        return change_profile(removing=uninstall, shell=name, yes=yes)
    from dragoman.shell.main import run

    return run(Options(list(command), agent=agent, login=login, private=private, strip_marks=strip_marks))
