"""Commands that bash would wait for the rest of, refused before any of their lines runs.

zsh and fish read a whole text before they run it, and end with a code and the reason. bash runs the lines in front of
an unclosed quote, and then shows a prompt that has lost the exit code.
"""

from __future__ import annotations

import re

from dragoman.errors import DragomanError
from dragoman.phrases import say
from dragoman.transport.short_command import ShortCommandError, printed_by

_WITHIN_S = 2.0
# `-n` reads and runs nothing; what aliases and options of the shell make of the text is for that shell to say.
_CHECK = '"$BASH" --norc -O extglob -n -c "$1" 2>&1 || :'
_UNFINISHED = re.compile(
    rb"line \d+: (?:unexpected EOF while looking for matching|syntax error: unexpected end of file)[^\n]*"
)


async def require_finished(command: str, bash: str, path: str) -> None:
    """`bash` is the program, `path` the PATH it is looked for in."""
    argv = [bash, "--norc", "-c", _CHECK, "bash", command]
    try:
        said = await printed_by(argv, {"PATH": path, "LC_ALL": "C"}, within_s=_WITHIN_S)
    except ShortCommandError:  # then the shell itself says what it makes of it
        return
    if found := _UNFINISHED.search(said):
        raise DragomanError(
            "unfinished_command",
            say("The command is not finished: {reason}.", reason=found[0].decode(errors="replace")),
            hint=say("Nothing of it ran. Close every quote and block, and run the whole again."),
        )
