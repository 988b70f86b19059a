"""`dragoman shell --install`: run every new terminal in `dragoman shell`, with a marked block in the shell's start-up
file.

The block comes first, so that only the recorded shell reads the rest of the file. It does not replace the outer shell:
if the wrapper fails before its shell runs, the outer shell continues as if nothing were installed.
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

from dragoman.cli.output import ExitCode, confirm, show_message, show_text
from dragoman.clients.config_file import (
    ConfigFile,
    StaleConfigError,
    UneditableConfigError,
    read_config,
    replace_config,
)
from dragoman.core.errors import DragomanError
from dragoman.core.localization import LocalizedText, localize

BLOCK_START, BLOCK_END = "# >>> dragoman shell >>>", "# <<< dragoman shell <<<"
_BLOCK = re.compile(rf"^{re.escape(BLOCK_START)}\n.*?^{re.escape(BLOCK_END)}\n(?:\n)?", re.DOTALL | re.MULTILINE)
_SHELLS = ("bash", "zsh", "fish")
_COMMENT = (
    "# `dragoman shell --uninstall` takes this away. Where the wrapper cannot start, this shell goes on without it."
)

# Skip scripts, shells without a terminal, dumb terminals of editors, and shells that are already recorded; but not new
# panes of tmux or screen, which are terminals of their own. The wrapper deletes the file when its shell runs.
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
class ShellProfile:
    shell: str
    path: Path
    body: str
    shell_expression: str
    """How the start-up file refers to the shell that reads it."""

    def block(self, program: str) -> str:
        body = self.body.replace("@PROGRAM@", shlex.quote(program)).replace("@SHELL@", self.shell_expression)
        return f"{BLOCK_START}\n{_COMMENT}\n{body}{BLOCK_END}\n\n"


def change_profile(*, removing: bool = False, shell: str = "", yes: bool = False) -> int:
    """Show the change, ask for confirmation, and apply it."""
    profile = _profile(shell or _own_shell())
    try:
        return _change_file(profile, removing=removing, yes=yes)
    except UneditableConfigError as error:
        raise DragomanError(
            "profile_refused",
            localize("{path} is unchanged: {reason}.", path=profile.path, reason=error.reason),
            hint=localize("Fix that, or add the lines from docs/guides/terminal.md yourself."),
        ) from error
    except StaleConfigError as error:
        raise DragomanError(
            "profile_changed",
            localize("Another program changed {path} in the meantime.", path=profile.path),
            hint=localize("Try again."),
        ) from error


def installed_profiles() -> list[ShellProfile]:
    """The start-up files that contain our block."""
    found = []
    for profile in map(_profile, _SHELLS):
        with contextlib.suppress(UneditableConfigError):
            if _BLOCK.search(read_config(profile.path).text):
                found.append(profile)
    return found


def replace_block(text: str, block: str) -> str:
    """The text with `block` at the top, and no other block of ours."""
    return block + _BLOCK.sub("", text)


def _change_file(profile: ShellProfile, *, removing: bool, yes: bool) -> int:
    file = read_config(profile.path)
    wanted = replace_block(file.text, "" if removing else profile.block(_program()))
    if wanted == file.text:
        show_message(_unchanged_message(profile, removing=removing))
        return ExitCode.OK
    show_text("".join(_diff(file, wanted)))
    if not yes and not confirm(localize("Change {path}?", path=profile.path)):
        show_message(localize("Nothing changed. Pass `--yes` to apply these changes without asking."))
        return ExitCode.DECLINED
    replace_config(file, file.encoded(wanted), now=datetime.now())
    show_message(_done_message(profile, removing=removing))
    return ExitCode.OK


def _diff(file: ConfigFile, wanted: str) -> list[str]:
    """The diff, limited to our block."""
    before, after = file.text.splitlines(keepends=True), wanted.splitlines(keepends=True)
    return list(unified_diff(before, after, str(file.path), str(file.path), n=0))


def _unchanged_message(profile: ShellProfile, *, removing: bool) -> LocalizedText:
    if removing:
        return localize("{path} has no Dragoman lines.", path=profile.path)
    return localize("{path} already has these lines.", path=profile.path)


def _done_message(profile: ShellProfile, *, removing: bool) -> LocalizedText:
    if removing:
        return localize("New {shell} terminals no longer run `dragoman shell`.", shell=profile.shell)
    undo = "dragoman shell --uninstall"
    if profile.shell != _own_shell():
        undo += f" --shell {profile.shell}"
    return localize("New {shell} terminals run `dragoman shell`. To undo: `{undo}`", shell=profile.shell, undo=undo)


def _own_shell() -> str:
    return Path(os.environ.get("SHELL", "")).name


def _profile(shell: str) -> ShellProfile:
    home = Path.home()
    known = {
        "bash": ShellProfile("bash", home / ".bashrc", _POSIX, '"$BASH"'),
        "zsh": ShellProfile("zsh", Path(os.environ.get("ZDOTDIR") or home) / ".zshrc", _POSIX, "zsh"),
        "fish": ShellProfile("fish", _fish_folder(home) / "config.fish", _FISH, "(status fish-path)"),
    }
    if shell not in known:
        raise DragomanError(
            "unknown_shell",
            localize("Unsupported shell: {shell}.", shell=shell or "?"),
            hint=localize("Choose bash, zsh or fish with `--shell`."),
        )
    return known[shell]


def _fish_folder(home: Path) -> Path:
    path = Path(os.environ.get("XDG_CONFIG_HOME", ""))
    return (path if path.is_absolute() else home / ".config") / "fish"


def _program() -> str:
    """The absolute path: the block runs before anything sets PATH."""
    beside = Path(sys.executable).with_name("dragoman")
    found = str(beside) if beside.is_file() else shutil.which("dragoman")
    if found is None:
        raise DragomanError(
            "no_program",
            localize("Cannot find `dragoman` next to {python} or on PATH.", python=sys.executable),
            hint=localize("Install the package so that new terminals can find `dragoman`."),
        )
    return found
