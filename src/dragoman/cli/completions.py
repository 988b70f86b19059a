"""`dragoman completions`: a script that teaches a shell our commands, made from the commands themselves."""

from __future__ import annotations

from typing import Literal

from dragoman.cli.output import ExitCode, show_text

# The generated file only defines its function. As `_dragoman` in a folder of fpath it must also call it, or the first
# Tab of every session does nothing; read with `source` it must be registered instead.
_ENDINGS = {
    "zsh": """
if [[ "$funcstack[1]" == "_dragoman" ]]; then
  _cyclopts_dragoman "$@"
else
  compdef _cyclopts_dragoman dragoman
fi
"""
}


def completions(shell: Literal["bash", "zsh", "fish"], /) -> int:
    from dragoman.cli.commands import build_app

    show_text(build_app().generate_completion(shell=shell) + _ENDINGS.get(shell, ""))
    return ExitCode.OK
