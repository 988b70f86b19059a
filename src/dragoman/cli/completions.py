"""`dragoman completions`: a script that teaches a shell our commands, made from the commands themselves."""

from __future__ import annotations

from typing import Literal

from dragoman.cli.output import ExitCode, show_text


def completions(shell: Literal["bash", "zsh", "fish"], /) -> int:
    from dragoman.cli.commands import build_app

    show_text(build_app().generate_completion(shell=shell))
    return ExitCode.OK
