"""`dragoman completions`: a script that teaches a shell our commands, made from the commands themselves."""

from __future__ import annotations

from typing import Literal

from dragoman.cli.output import ExitCode, show_text

# Where nothing of ours fits, a word is a file's name, as it is without us. zsh: the generated file only defines its
# function. As `_dragoman` in a folder of fpath it must also call it, or the first Tab of every session does nothing;
# read with `source` it must be registered instead.
_ENDINGS = {
    "bash": "complete -o bashdefault -o default -F _dragoman dragoman\n",
    "zsh": """
_dragoman_or_files() {
  _cyclopts_dragoman "$@"
  (( compstate[nmatches] )) || _files
}
if [[ "$funcstack[1]" == "_dragoman" ]]; then
  _dragoman_or_files "$@"
else
  compdef _dragoman_or_files dragoman
fi
""",
}


def completions(shell: Literal["bash", "zsh", "fish"], /) -> int:
    from dragoman.cli.commands import build_app

    show_text(build_app().generate_completion(shell=shell) + _ENDINGS.get(shell, ""))
    return ExitCode.OK
