"""What a person's own hooks see and what the terminal shows is the same in a wrapped shell and in a plain one."""

from __future__ import annotations

import os
import re
from pathlib import Path

import pytest

from dragoman.terminal.screen import emulate
from tests.e2e.terminal.fake_daemon import stand_in
from tests.e2e.terminal.held_terminal import WRAPPER, held, short_folder
from tests.e2e.terminal.panes import person

pytestmark = pytest.mark.needs("bash", "zsh", "fish")

_MARK = re.compile(rb"\x1b\](?:133|633);[^\x07]*\x07")
_LINES = ("true", "false | true | false", "", "cd /usr", "echo out", "sh -c 'exit 3'", " echo spaced", "echo 'a\rb'")
_LOG = 'log() { printf "%s\\n" "$*" >>"$HOME/log"; }; '
# As bash-preexec does it: a DEBUG trap that is armed by the last of PROMPT_COMMAND, and set at the first prompt.
_PREEXEC = r"""
__last_ret=0 __mode= precmd_functions=() preexec_functions=()
__invoke_precmd() { __last_ret=$?; local f; for f in "${precmd_functions[@]}"; do "$f"; done; }
__interactive() { __mode=on; }
__invoke_preexec() {
  if [[ -n ${COMP_POINT-} || -z $__mode ]]; then return; fi
  if [[ $BASH_COMMAND == __invoke_precmd || $BASH_COMMAND == __interactive ]]; then __mode=; return; fi
  __mode=
  local line f; line=$(LC_ALL=C HISTTIMEFORMAT='' builtin history 1 | sed '1 s/^ *[0-9][0-9]*[* ] //')
  for f in "${preexec_functions[@]}"; do "$f" "$line"; done
}
__install() {
  trap '__invoke_preexec "$_"' DEBUG
  PROMPT_COMMAND=$'__invoke_precmd\n__interactive'
  __invoke_precmd; __interactive
}
PROMPT_COMMAND=$'__trap_string="$(trap -p DEBUG)"\ntrap - DEBUG\n__install'
preexec() { log "preexec $1"; }
precmd() { log "precmd $__last_ret"; }
precmd_functions+=(precmd) preexec_functions+=(preexec)
"""
# As starship does it in a bash with PS0: the prompt is made anew each time, from the status and the pipe's statuses.
_STARSHIP = r"""
started() { log started; printf 1; }
PS0='${START:$((START="$(started)",READY=0,0)):0}'
made() {
  local status=$? pipes=("${PIPESTATUS[@]}")
  log "made $status ${pipes[*]} ${START-none} $_"; START=
  PS1="[$status:${pipes[*]}] \w prompt> "
}
PROMPT_COMMAND="made;${PROMPT_COMMAND-}"
"""
BASH = {
    "a DEBUG trap": "trap 'log \"$BASH_COMMAND $?\"' DEBUG",
    "a DEBUG trap that prints": "trap 'echo \"<$BASH_COMMAND>\"' DEBUG",
    "a timer": 'begin() { T=${T:-$((++N))}; }; stop() { log "$T $N $?"; unset T; }\n'
    "trap begin DEBUG; PROMPT_COMMAND=stop; PS1='[$N]prompt> '",
    "a DEBUG trap and a prompt made anew": 'made() { PS1="$? \\w prompt> "; }; PROMPT_COMMAND=made; '
    "trap 'log \"$BASH_COMMAND\"' DEBUG",
    "a DEBUG trap in subshells too": "set -T; trap 'log \"$BASH_COMMAND\"' DEBUG",
    "a DEBUG trap and commands after it": "trap 'log \"$BASH_COMMAND\"' DEBUG; x=1; y=2",
    "bash-preexec's way": _PREEXEC,
    "bash-preexec's way and a prompt made anew": _PREEXEC
    + 'precmd() { log "$__last_ret"; PS1="$__last_ret prompt> "; }',
    "starship's way": _STARSHIP,
    "starship's way beside bash-preexec's": _PREEXEC + _STARSHIP + "PROMPT_COMMAND=$'__install\\nmade'",
    "commands of several kinds before a prompt": "PROMPT_COMMAND=('log \"$? ${PIPESTATUS[*]}\"' 'log two')",
    "an ERR trap": "trap 'log \"err $? $BASH_COMMAND\"' ERR; set -E",
    "PS0 of a person's own": "PS0='<$?>'",
}
for _file in os.environ.get("DRAGOMAN_TEST_BASH_PREEXEC", "").split():  # a copy of the real one, where there is one
    BASH[f"the real {_file}"] = (
        f'. {_file}; preexec() {{ log "preexec $1"; }}; precmd() {{ log "precmd $? ${{BP_PIPESTATUS[*]}} $_"; }}'
    )
    BASH[f"the real {_file} and a prompt made anew"] = BASH[f"the real {_file}"] + '\nprecmd() { PS1="$? prompt> "; }'
_ZSH = 'log() { print -r -- "$*" >>$HOME/log }\n'
ZSH = {
    "hooks of a person's own": 'preexec() { log "pre $1 $2 $3" }; precmd() { log "$? $pipestatus" }',
    "a prompt that is expanded": "setopt prompt_subst; PS1='[$? $pipestatus]prompt> '",
    "a prompt made anew": 'precmd() { PS1="$? $pipestatus %~ prompt> " }',
    "starship's way": "setopt promptsubst; PS1='$(print -r -- \"[$S:$P]\")prompt> '\n"
    'made() { S=$? P=(${pipestatus[@]}); log "made $S $P ${T-none}"; unset T }; began() { T=1; log "began $1" }\n'
    "precmd_functions+=(made); preexec_functions+=(began)",
    "hooks added later, and their order": "autoload -Uz add-zsh-hook; later() { log later $?; }\n"
    "first() { log first $?; add-zsh-hook precmd later }; add-zsh-hook precmd first; chpwd() { log cd $PWD }",
    "an ERR trap": 'TRAPZERR() { log "err $?" }',
    "a DEBUG trap": "trap 'log \"$ZSH_DEBUG_CMD $? $pipestatus\"' DEBUG",
    "a DEBUG trap that is a function, beside hooks": 'TRAPDEBUG() { log "$? ${ZSH_DEBUG_CMD%%$nl*}" }\n'
    'preexec() { log "pre $1" }; precmd() { log "$? $pipestatus"; PS1="$? prompt> " }',
    "a DEBUG trap after each command": "setopt no_debug_before_cmd; trap 'print -r -- \"<$?>\"' DEBUG",
    "a timer": "zmodload zsh/datetime; preexec() { began=$EPOCHREALTIME }\n"
    'precmd() { log "$? ${began:+$(( EPOCHREALTIME - began < 9 ))}"; unset began }; TRAPEXIT() { log bye }',
    "options that change how code is read": "setopt ksh_arrays no_unset sh_word_split glob_subst; "
    'precmd() { log "$? ${pipestatus[*]}" }',
    "functions of the line editor": "zle-line-init() { log init }; zle -N zle-line-init\n"
    'zle-line-finish() { log "finish $BUFFER" }; zle -N zle-line-finish; zshaddhistory() { log "history ${1%$nl}" }',
}
_PLUGINS = [f"/usr/share/{name}/{name}.zsh" for name in ("zsh-autosuggestions", "zsh-syntax-highlighting")]
for _file in os.environ.get("DRAGOMAN_TEST_ZSH_PLUGINS", " ".join(_PLUGINS)).split():
    ZSH[f"the real {_file}"] = f"source {_file}"
ZSH["both real plugins beside a person's hooks"] = "\n".join(
    [
        'preexec() { log "pre $1 $2" }; precmd() { log "$? $pipestatus"; PS1="$? prompt> " }',
        *(f"source {_file}" for _file in _PLUGINS),
        'autoload -Uz add-zsh-hook; first() { log "first $?" }; add-zsh-hook precmd first; add-zsh-hook preexec first',
    ]
)
_FISH = 'function log; echo "$argv" >>$HOME/log; end\n'
FISH = {
    "hooks of a person's own": "function a --on-event fish_preexec; log pre $status $argv; end\n"
    "function b --on-event fish_postexec; log post $status $pipestatus; end\n"
    "function c --on-event fish_prompt; log prompt $status $pipestatus; end",
    "how long it took": "function b --on-event fish_postexec; log $status (set -q CMD_DURATION; and echo told); end\n"
    'function fish_prompt; set -l took $CMD_DURATION; log "$status $pipestatus" (test -n "$took" -a "$took" -lt 9000; '
    "and echo short); echo -n 'prompt> '; end",
    "a status in the prompt": 'function fish_prompt; log $status $pipestatus; echo -n "[$status]prompt> "; end',
}
ROWS = [(shell, what) for shell, rows in (("bash", BASH), ("zsh", ZSH), ("fish", FISH)) for what in rows]
_BEFORE = {"bash": _LOG, "zsh": _ZSH, "fish": _FISH}
_RC = {"bash": ".bashrc", "zsh": ".zshrc", "fish": ".config/fish/config.fish"}


@pytest.mark.parametrize(("shell", "what"), ROWS)
def test_hooks_and_screen_are_the_same_with_us_and_without(shell: str, what: str, tmp_path: Path) -> None:
    rc = _BEFORE[shell] + {"bash": BASH, "zsh": ZSH, "fish": FISH}[shell][what] + "\n"
    if missing := [file for file in re.findall(r"(?:source|\.) (/[^\s;]+)", rc) if not Path(file).exists()]:
        pytest.skip(f"not run: needs {' '.join(missing)}")
    plain, wrapped = (_seen(shell, command, rc, tmp_path) for command in ([shell, "-i"], [*WRAPPER, "--", shell]))
    assert wrapped[0] == plain[0], "what a person's hooks saw"
    assert wrapped[1] == plain[1], "what the terminal showed"


def _seen(shell: str, command: list[str], rc: str, home: Path) -> tuple[str, bytes]:
    """The log of a person's hooks, and the screen without marks."""
    own = {"PATH": os.environ["PATH"], "LANG": "C.UTF-8", "DRAGOMAN_HOME": str(home / "none"), "DRAGOMAN_LANG": "en"}
    own |= person(home)
    with (home / _RC[shell]).open("a") as file:
        file.write(rc)
    log = home / "log"
    log.unlink(missing_ok=True)
    with (
        short_folder() as folder,
        stand_in(folder / "omnish.sock") as daemon,
        held(command, own | {"OMNISH_SOCKET": str(daemon.address)}, folder=home) as terminal,
    ):
        terminal.until(b"prompt> ")
        for line in _LINES:
            terminal.run_until_quiet(0.05)
            terminal.run(line)
        terminal.type("exit\r")
        terminal.ended()
        shown = _MARK.sub(b"", bytes(terminal.screen))
        return log.read_text() if log.exists() else "", _drawn(shown) if shell == "fish" else shown


def _drawn(shown: bytes) -> bytes:
    """fish colours a line beside the typing of it: how often it draws the same letters is a matter of time."""
    screen = emulate(shown, 80, 24, scrollback=1000)
    return "\n".join([*screen.scrollback, *screen.lines]).encode()
