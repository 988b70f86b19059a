"""`dragoman shell`: open a recorded shell, or make every new terminal one."""

from __future__ import annotations

from dragoman.shell.arguments import ShellOptions


def shell(
    *command: str,
    private: bool = False,
    strip_marks: bool = False,
    login: bool = False,
    agent: str = "",
    install: bool = False,
    uninstall: bool = False,
    shell: str = "",
    yes: bool = False,
) -> int:
    if install or uninstall:
        from dragoman.cli.installation.shell_profile import change_profile

        return change_profile(removing=uninstall, shell=shell, yes=yes)
    from dragoman.shell.main import run

    return run(ShellOptions(list(command), agent=agent, login=login, private=private, strip_marks=strip_marks))
