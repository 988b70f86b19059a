# Dragoman's hook for bash 3.2 and later, read in the place of ~/.bashrc, which it reads first.
# Marks: OSC 133 A B C D, OSC 633 E (the command line) and P (the folder), each with the nonce of this session. The nonce
# comes through a pipe and stands in a variable that no child inherits; PS1 names the variable, never its value.

if [[ -n ${DRAGOMAN_HOOK_FD-} ]]; then
  IFS= builtin read -r -u "$DRAGOMAN_HOOK_FD" __dragoman_nonce
  builtin eval "exec ${DRAGOMAN_HOOK_FD}<&-"
  builtin declare +x __dragoman_nonce
fi
__dragoman_login=${DRAGOMAN_HOOK_LOGIN-}
__dragoman_file=${DRAGOMAN_HOOK_RC-}
__dragoman_at_prompt=${DRAGOMAN_HOOK_AT_PROMPT-}
if [[ -n $__dragoman_at_prompt ]]; then
  # Read before the first prompt by a shell without files: what stood there is put back, and runs for this prompt too.
  builtin unset PROMPT_COMMAND
  if [[ -n ${DRAGOMAN_HOOK_PROMPT_COMMAND+x} ]]; then
    builtin export PROMPT_COMMAND=$DRAGOMAN_HOOK_PROMPT_COMMAND
    builtin eval "$DRAGOMAN_HOOK_PROMPT_COMMAND"
  fi
fi
builtin unset DRAGOMAN_HOOK_FD DRAGOMAN_HOOK_LOGIN DRAGOMAN_HOOK_RC DRAGOMAN_HOOK_AT_PROMPT DRAGOMAN_HOOK_PROMPT_COMMAND

# VS Code's way of writing a text inside a mark.
__dragoman_quote() {
  local LC_ALL=C text=${1:0:60000} out= at char code
  text=${text//\\/\\\\}
  text=${text//;/\\x3b}
  text=${text//$'\n'/\\x0a}
  text=${text//$'\t'/\\x09}
  if [[ $text == *[[:cntrl:]]* ]]; then
    for ((at = 0; at < ${#text}; at++)); do
      char=${text:at:1}
      if [[ $char == [[:cntrl:]] ]]; then
        builtin printf -v code '\\x%02x' "'$char"
        char=$code
      fi
      out+=$char
    done
    text=$out
  fi
  __dragoman_quoted=${text:0:60000}
}

# The line that begins to run, before bash 4.4. The history's number shows whether the shell has listed it: what it hides
# is not reported. In later versions the wrapper reads it, which costs one process less.
__dragoman_begin() {
  local line= listed=0
  if [[ -o history ]]; then
    line=$(HISTTIMEFORMAT= builtin history 1)
    line=${line#"${line%%[![:space:]]*}"}
    if [[ ${line%%[!0-9]*} == "$__dragoman_number" ]]; then listed=1; fi
    line=${line#"${line%%[!0-9]*}"}
    line=${line:2}
  fi
  __dragoman_quote "$line"
  builtin printf '\e]633;E;%s;%s\a\e]133;C;listed=%s;nonce=%s%s\a' \
    "$__dragoman_quoted" "$__dragoman_nonce" "$listed" "$__dragoman_nonce" "$__dragoman_doubled"
}

# Before bash 4.4 there is no PS0: the first command after a prompt, unless it is the first of PROMPT_COMMAND's.
__dragoman_debug() {
  if [[ -n ${__dragoman_armed-} && -z ${COMP_LINE-} ]]; then
    __dragoman_armed=
    if [[ $1 != __dragoman_arm && ${PROMPT_COMMAND-} != "$1"* ]]; then
      __dragoman_ran=1
      __dragoman_begin
    fi
  fi
}

__dragoman_arm() {
  __dragoman_wrap
  __dragoman_armed=1
}

# From here on: what a person's own hooks see must be the same with us and without. A command of ours in PROMPT_COMMAND
# would run a DEBUG trap (a timer's, bash-preexec's) once more, so expansions print everything: those of PS1 and PS0,
# and those of a redirection around the definition of a function, before which bash runs no trap. `__dragoman_yes[-TEXT]`
# is set where TEXT is empty: so an expansion decides.
__dragoman_wrap() {
  local others=${PS0-}
  if ! builtin shopt -q promptvars; then return; fi
  if [[ ${PS1-} != *__dragoman_nonce* ]]; then
    __dragoman_doubled=
    if [[ ${PS1-}${others//"${__dragoman_ps0-}"} == *[16]33\;* ]]; then __dragoman_doubled=';doubled=1'; fi
    # Both may be exported: in a shell inside, which has no nonce, they are what they were without us.
    PS1='${__dragoman_nonce+\['$__dragoman_before'\]}'${PS1-}'${__dragoman_nonce+\[\e]133;B'$__dragoman_tail'\a\]}'
  fi
  if [[ -n ${__dragoman_ps0-} && ${PS0-} != *__dragoman_ran* ]]; then PS0=${PS0-}$__dragoman_ps0; fi
}

# A prompt that is made anew each time is wrapped again by a command, which runs only where no trap would see it.
__dragoman_prompt() {
  __dragoman_ran=$__dragoman_kept
  __dragoman_wrap
}

# In a process of its own, for a prompt that is not wrapped. Beside a DEBUG trap the marks are printed in front of it, and
# the wrapper finds out by itself where it ends. Printing anything here says that no command may run.
__dragoman_unwrapped() {
  if [[ -n $(builtin trap -p DEBUG) ]]; then
    __dragoman_quote "$PWD"
    builtin printf '\e]133;D;%s;nonce=%s\a\e]633;P;Cwd=%s;nonce=%s\a\e]133;A;ends=quiet;nonce=%s\a' \
      "$1" "$__dragoman_nonce" "$__dragoman_quoted" "$__dragoman_nonce" "$__dragoman_nonce" >/dev/tty
    builtin printf /
  fi
}

# Before a person's files are read: after them it is too late for a command.
__dragoman_prepare() {
  local version=$((BASH_VERSINFO[0] * 100 + BASH_VERSINFO[1])) quoted='$(__dragoman_quote "$PWD"; builtin printf %s "$__dragoman_quoted")'
  __dragoman_none= __dragoman_ran=0 __dragoman_kept=0 __dragoman_number=0 __dragoman_doubled= __dragoman_armed= __dragoman_late=
  __dragoman_codes=([1]=1)
  __dragoman_tail=';nonce=${__dragoman_nonce-}${__dragoman_doubled-}'
  __dragoman_before='\e]133;D;${__dragoman_codes[__dragoman_ran]+$?}'$__dragoman_tail'\a\e]633;P;Cwd=FOLDER;nonce=${__dragoman_nonce-}\a\e]133;A'$__dragoman_tail'\a${__dragoman_none:$((__dragoman_ran = 0, __dragoman_number = \!)):0}'
  if ((version < 404)); then
    __dragoman_hook='{ __dragoman_arm; } 2>/dev/null'
    __dragoman_before=${__dragoman_before/FOLDER/"$quoted"}
    __dragoman_old=/dev/null
    return
  fi
  __dragoman_old=/dev/null/
  builtin declare -gA __dragoman_yes
  __dragoman_yes[-]=
  # A folder is reported as it is; quoting one with special characters costs a process.
  __dragoman_plain='[!;\\[:cntrl:]]'
  __dragoman_before=${__dragoman_before/FOLDER/'${__dragoman_yes[-${PWD//$__dragoman_plain}]+$PWD}${__dragoman_yes[-${PWD//$__dragoman_plain}]-'"$quoted"'}'}
  # The wrapper takes what stands between these marks as the line, with its number. Where subshells are traced ($- has a T)
  # a DEBUG trap would run in this one: then no line is reported.
  __dragoman_ps0='${__dragoman_nonce+${__dragoman_none:$((__dragoman_ran = 1)):0}\e]633;P;Line=$__dragoman_number;nonce=${__dragoman_nonce-}\a${__dragoman_yes[-${SHELLOPTS##*history*}${-//[!T]}]+$(HISTTIMEFORMAT= builtin history 1 2>/dev/null)}\e]133;C'$__dragoman_tail'\a}'
  # The file can be opened where the prompt is not wrapped and no trap would see the command that wraps it.
  __dragoman_hook='{ if { __dragoman_nothing() { :; }; } <"/dev/null${__dragoman_yes[-${PS1##*__dragoman_nonce*}]+/}${__dragoman_yes[-${PS1##*__dragoman_nonce*}]-${__dragoman_yes[-${-//[!T]}]-/}${__dragoman_yes[-${-//[!T]}]+$(__dragoman_unwrapped "${__dragoman_codes[__dragoman_ran]+$?}")}${__dragoman_none:$((__dragoman_kept = __dragoman_ran, __dragoman_ran = 0, __dragoman_number = HISTCMD)):0}}"; then __dragoman_prompt; fi; } 2>/dev/null'
  # From 5.1 on PROMPT_COMMAND is an array, to which an expansion can add.
  if ((version >= 501)); then __dragoman_late=1; fi
}

__dragoman_install() {
  if [[ -z $__dragoman_late ]]; then
    PROMPT_COMMAND=${PROMPT_COMMAND:+$PROMPT_COMMAND$'\n'}$__dragoman_hook
  fi
  __dragoman_wrap
}

# What this shell would have read without us. Not in a function: there `declare` would make locals of a person's own.
if [[ -n $__dragoman_login ]]; then
  logout() {
    if [[ -r ~/.bash_logout ]]; then builtin source ~/.bash_logout; fi
    builtin exit "$@"
  }
fi
__dragoman_files=(~/.bashrc)  # not the system's: a bash that has one reads it by itself, also with an --rcfile
if [[ -n $__dragoman_file ]]; then
  __dragoman_files=("$__dragoman_file")
elif [[ -n $__dragoman_login ]]; then
  if [[ -r /etc/profile ]]; then builtin source /etc/profile; fi
  __dragoman_files=(~/.bash_profile ~/.bash_login ~/.profile)
fi
__dragoman_file=/dev/null
for __dragoman_each in "${__dragoman_files[@]}"; do
  if [[ -r $__dragoman_each ]]; then
    __dragoman_file=$__dragoman_each
    builtin break
  fi
done
if [[ -n ${__dragoman_nonce-} ]]; then __dragoman_prepare; fi
builtin unset -f __dragoman_prepare
builtin unset __dragoman_login __dragoman_files __dragoman_each __dragoman_at_prompt
builtin source "$__dragoman_file"

# No command from here on, but where no DEBUG trap is set.
{
  if { __dragoman_nothing() { :; }; } <"/dev/null${__dragoman_none-/}${__dragoman_late:+${__dragoman_yes[-${-//[!T]}]-/}${__dragoman_yes[-${-//[!T]}]+$(builtin trap -p DEBUG)}}"; then
    __dragoman_install
  fi
  if { __dragoman_nothing() { :; }; } <"${__dragoman_old-/}"; then
    # Not in a function, which would see no trap. A person's own goes first, and sees what it saw without us.
    __dragoman_trap=$(builtin trap -p DEBUG)
    if [[ -n $__dragoman_trap ]]; then
      builtin eval "__dragoman_trap=${__dragoman_trap:8:${#__dragoman_trap}-14}"$'\n'
      __dragoman_trap+=$'\n'
    fi
    builtin trap "$__dragoman_trap"'__dragoman_debug "$BASH_COMMAND"' DEBUG
  fi
} 2>/dev/null <<<"${__dragoman_late:+${PROMPT_COMMAND[1000]:=$__dragoman_hook}${__dragoman_yes[-${BASHOPTS##*promptvars*}]+${PS0:=$__dragoman_ps0}}}"
