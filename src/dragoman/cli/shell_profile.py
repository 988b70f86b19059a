"""`dragoman shell --install`: every new terminal is wrapped, by a marked block in the shell's own file.

The block stands first, so that the file is read once, by the wrapped shell. It keeps the outer shell: where the wrapper
does not come as far as a running shell, whatever the reason, the outer one goes on as if nothing were installed.
"""

from __future__ import annotations

import contextlib
import os
import re
import shlex
import shutil
import sys
from dataclasses import dataclass
from datetime import datetime
from difflib import unified_diff
from pathlib import Path

from dragoman.cli.output import ExitCode, ask_yes, show_text, tell
from dragoman.clients.files import ConfigFile, StaleError, read_config, replace_config
from dragoman.clients.refusals import RefusedError
from dragoman.errors import DragomanError
from dragoman.phrases import Phrase, say

BEGINS, ENDS = "# >>> dragoman shell >>>", "# <<< dragoman shell <<<"
_BLOCK = re.compile(rf"^{re.escape(BEGINS)}\n.*?^{re.escape(ENDS)}\n(?:\n)?", re.DOTALL | re.MULTILINE)
_SHELLS = ("bash", "zsh", "fish")
_COMMENT = (
    "# `dragoman shell --uninstall` takes this away. Where the wrapper cannot start, this shell goes on without it."
)

# Not in scripts, without a terminal, for editors that drive a dumb one, nor inside a wrapped shell; but again in a pane
# of tmux or screen, which has a terminal of its own. The wrapper removes the file when its shell runs.
_POSIX = """\
if [[ $- == *i* && -t 0 && -t 1 && ${TERM-} != dumb && -x @PROGRAM@ ]] &&
  [[ -z ${DRAGOMAN_SESSION_ID-} || ${DRAGOMAN_PANE-${TMUX_PANE-}${STY-}} != "${TMUX_PANE-}${STY-}" ]] &&
  DRAGOMAN_BEGAN=$(mktemp); then
  DRAGOMAN_BEGAN=$DRAGOMAN_BEGAN DRAGOMAN_PANE=${TMUX_PANE-}${STY-} @PROGRAM@ shell -- @SHELL@
  DRAGOMAN_ENDED=$?
  if [[ ! -e $DRAGOMAN_BEGAN ]]; then exit "$DRAGOMAN_ENDED"; fi
  rm -f -- "$DRAGOMAN_BEGAN"
  unset DRAGOMAN_BEGAN DRAGOMAN_ENDED
fi
"""
_FISH = """\
if status is-interactive; and isatty stdin; and isatty stdout; and test "$TERM" != dumb -a -x @PROGRAM@
    and begin
        not set -q DRAGOMAN_SESSION_ID
        or begin
            set -q DRAGOMAN_PANE; and test "$DRAGOMAN_PANE" != "$TMUX_PANE$STY"
        end
    end
    set -l began (mktemp)
    and begin
        env DRAGOMAN_BEGAN=$began DRAGOMAN_PANE="$TMUX_PANE$STY" @PROGRAM@ shell -- @SHELL@
        set -l ended $status
        test -e $began; or exec sh -c "exit $ended" # its own exit would only end this file
        rm -f -- $began
    end
end
"""


@dataclass(frozen=True, slots=True)
class Profile:
    shell: str
    path: Path
    body: str
    itself: str
    """How the shell's file names the shell that reads it."""

    def block(self, program: str) -> str:
        body = self.body.replace("@PROGRAM@", shlex.quote(program)).replace("@SHELL@", self.itself)
        return f"{BEGINS}\n{_COMMENT}\n{body}{ENDS}\n\n"


def change_profile(*, removing: bool = False, shell: str = "", yes: bool = False) -> int:
    """Show what would change, ask, and change it."""
    profile = _profile(shell or _own_shell())
    try:
        return _changed(profile, removing=removing, yes=yes)
    except RefusedError as error:
        raise DragomanError(
            "profile_refused",
            say("{path} was left as it is: {reason}.", path=profile.path, reason=error.reason),
            hint=say("Mend that, or change the file yourself: docs/guides/terminal.md shows the lines."),
        ) from error
    except StaleError as error:
        raise DragomanError(
            "profile_changed",
            say("{path} was changed by somebody else meanwhile.", path=profile.path),
            hint=say("Try again."),
        ) from error


def changed_profiles() -> list[Profile]:
    """Those with lines of ours in them."""
    found = []
    for profile in map(_profile, _SHELLS):
        with contextlib.suppress(RefusedError):
            if _BLOCK.search(read_config(profile.path).text):
                found.append(profile)
    return found


def edited(text: str, block: str) -> str:
    """The file with this block and no other of ours."""
    return block + _BLOCK.sub("", text)


def _changed(profile: Profile, *, removing: bool, yes: bool) -> int:
    file = read_config(profile.path)
    wanted = edited(file.text, "" if removing else profile.block(_program()))
    if wanted == file.text:
        tell(_nothing_to_do(profile, removing=removing))
        return ExitCode.OK
    show_text("".join(_diff(file, wanted)))
    if not yes and not ask_yes(say("Change {path}?", path=profile.path)):
        tell(say("Nothing was changed. `--yes` makes the changes shown without asking."))
        return ExitCode.DECLINED
    replace_config(file, file.encoded(wanted), now=datetime.now())
    tell(_done(profile, removing=removing))
    return ExitCode.OK


def _diff(file: ConfigFile, wanted: str) -> list[str]:
    """Only what is ours is shown: the file is added to at its top."""
    before, after = file.text.splitlines(keepends=True), wanted.splitlines(keepends=True)
    return list(unified_diff(before, after, str(file.path), str(file.path), n=0))


def _nothing_to_do(profile: Profile, *, removing: bool) -> Phrase:
    if removing:
        return say("{path} has no lines of ours.", path=profile.path)
    return say("{path} has these lines already.", path=profile.path)


def _done(profile: Profile, *, removing: bool) -> Phrase:
    if removing:
        return say("New terminals of {shell} are not wrapped any more.", shell=profile.shell)
    undo = "dragoman shell --uninstall"
    if profile.shell != _own_shell():
        undo += f" --shell {profile.shell}"
    return say("New terminals of {shell} are wrapped; `{undo}` undoes it.", shell=profile.shell, undo=undo)


def _own_shell() -> str:
    return Path(os.environ.get("SHELL", "")).name


def _profile(shell: str) -> Profile:
    home = Path.home()
    known = {
        "bash": Profile("bash", home / ".bashrc", _POSIX, '"$BASH"'),
        "zsh": Profile("zsh", Path(os.environ.get("ZDOTDIR") or home) / ".zshrc", _POSIX, "zsh"),
        "fish": Profile("fish", _fish_folder(home) / "config.fish", _FISH, "(status fish-path)"),
    }
    if shell not in known:
        raise DragomanError(
            "unknown_shell",
            say("There are no lines for {shell}.", shell=shell or "?"),
            hint=say("Name one of bash, zsh and fish with `--shell`."),
        )
    return known[shell]


def _fish_folder(home: Path) -> Path:
    named = Path(os.environ.get("XDG_CONFIG_HOME", ""))
    return (named if named.is_absolute() else home / ".config") / "fish"


def _program() -> str:
    """With its whole path: the block stands before whatever sets PATH."""
    beside = Path(sys.executable).with_name("dragoman")
    found = str(beside) if beside.is_file() else shutil.which("dragoman")
    if found is None:
        raise DragomanError(
            "no_program",
            say("The program `dragoman` is neither beside {python} nor on PATH.", python=sys.executable),
            hint=say("Install the package, so that new terminals find the program."),
        )
    return found
