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

# The line that begins to run. The history's number tells whether the shell has listed it: what it hides is not told.
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

# Last of PROMPT_COMMAND, so that it has the prompt as it will be shown. The prompt itself tells the status and the
# history's number, by expansions that fork nothing: what ran before us in PROMPT_COMMAND saw both untouched.
__dragoman_prompt() {
  if [[ ${PS1-} != *__dragoman_nonce* ]]; then
    __dragoman_doubled=
    if [[ ${PS1-}${PS0-} == *[16]33\;* ]]; then __dragoman_doubled=';doubled=1'; fi
    PS1='\[\e]133;D;${__dragoman_codes[__dragoman_ran]+$?}'$__dragoman_tail'\a\e]133;A'$__dragoman_tail'\a${__dragoman_none:$((__dragoman_ran = 0, __dragoman_number = \!)):0}\]'${PS1-}'\[\e]133;B'$__dragoman_tail'\a\]'
  fi
  if [[ -z $__dragoman_traps && ${PS0-} != *__dragoman_begin* ]]; then
    PS0='${__dragoman_none:$((__dragoman_ran = 1)):0}$({ __dragoman_begin; } 2>/dev/null)'${PS0-}
  fi
  __dragoman_quote "$PWD"
  builtin printf '\e]633;P;Cwd=%s;nonce=%s\a' "$__dragoman_quoted" "$__dragoman_nonce"
  __dragoman_armed=1
}

# Before bash 4.4 there is no PS0: the first command after a prompt, unless it is the first of PROMPT_COMMAND's.
__dragoman_debug() {
  if [[ -n ${__dragoman_armed-} && -z ${COMP_LINE-} ]]; then
    __dragoman_armed=
    if [[ $1 != __dragoman_prompt && ${PROMPT_COMMAND-} != "$1"* ]]; then
      __dragoman_ran=1
      __dragoman_begin
    fi
  fi
}

__dragoman_install() {
  __dragoman_none= __dragoman_ran=0 __dragoman_number=0 __dragoman_doubled= __dragoman_armed= __dragoman_traps=
  __dragoman_codes=([1]=1)
  __dragoman_tail=';nonce=${__dragoman_nonce-}${__dragoman_doubled-}'
  if ((BASH_VERSINFO[0] * 100 + BASH_VERSINFO[1] < 404)); then
    __dragoman_traps=1
  fi
  if ((BASH_VERSINFO[0] * 100 + BASH_VERSINFO[1] >= 501)); then
    PROMPT_COMMAND+=('{ __dragoman_prompt; } 2>/dev/null')
  else
    PROMPT_COMMAND="${PROMPT_COMMAND:+$PROMPT_COMMAND"$'\n'"}{ __dragoman_prompt; } 2>/dev/null"
  fi
}

# What this shell would have read without us. Not in a function: there `declare` would make locals of a person's own.
if [[ -n $__dragoman_login ]]; then
  logout() {
    if [[ -r ~/.bash_logout ]]; then builtin source ~/.bash_logout; fi
    builtin exit "$@"
  }
fi
if [[ -n $__dragoman_file ]]; then
  if [[ -r $__dragoman_file ]]; then builtin source "$__dragoman_file"; fi
elif [[ -n $__dragoman_login ]]; then
  if [[ -r /etc/profile ]]; then builtin source /etc/profile; fi
  for __dragoman_file in ~/.bash_profile ~/.bash_login ~/.profile; do
    if [[ -r $__dragoman_file ]]; then
      builtin source "$__dragoman_file"
      builtin break
    fi
  done
elif [[ -r ~/.bashrc ]]; then
  # Not the system's file: a bash that has one reads it by itself, also with an --rcfile.
  builtin source ~/.bashrc
fi
builtin unset __dragoman_login __dragoman_file

if [[ -n ${__dragoman_nonce-} ]] && builtin shopt -q promptvars; then
  __dragoman_install
  if [[ -n $__dragoman_traps ]]; then
    # Not in a function, which would see no trap. A person's own goes first, and sees what it saw without us.
    __dragoman_trap=$(builtin trap -p DEBUG)
    if [[ -n $__dragoman_trap ]]; then
      builtin eval "__dragoman_trap=${__dragoman_trap:8:${#__dragoman_trap}-14}"$'\n'
      __dragoman_trap+=$'\n'
    fi
    builtin trap "$__dragoman_trap"'__dragoman_debug "$BASH_COMMAND"' DEBUG
    builtin unset __dragoman_trap
  fi
fi
builtin unset -f __dragoman_install
if [[ -n $__dragoman_at_prompt && -n ${__dragoman_nonce-} ]]; then __dragoman_prompt 2>/dev/null; fi
builtin unset __dragoman_at_prompt
