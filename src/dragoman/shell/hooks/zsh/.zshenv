# Dragoman's hook for zsh: the first file of a person's that zsh reads. It gives ZDOTDIR back, goes on with the person's
# own file, and waits for the first prompt, when all of them have been read.
# Marks: OSC 133 A B C D, OSC 633 E (the command line) and P (the folder), each with the nonce of this session.

if [[ -n ${DRAGOMAN_HOOK_ZDOTDIR+x} ]]; then
  builtin export ZDOTDIR=$DRAGOMAN_HOOK_ZDOTDIR
else
  builtin unset ZDOTDIR
fi
if [[ -n ${DRAGOMAN_HOOK_FD-} ]]; then
  builtin typeset -g +x __dragoman_nonce
  IFS= builtin read -r -u $DRAGOMAN_HOOK_FD __dragoman_nonce
  builtin exec {DRAGOMAN_HOOK_FD}<&-
fi
if [[ -n ${DRAGOMAN_HOOK_BARE-} ]]; then builtin unsetopt rcs; fi
builtin unset DRAGOMAN_HOOK_FD DRAGOMAN_HOOK_ZDOTDIR DRAGOMAN_HOOK_BARE

# VS Code's way of writing a text inside a mark.
__dragoman_quote() {
  builtin emulate -L zsh -o extended_glob -o no_multibyte
  builtin local text=${1[1,60000]}
  text=${text//\\/\\\\}
  text=${text//;/\\x3b}
  text=${text//$'\n'/\\x0a}
  builtin typeset -g __dragoman_quoted=${text//(#m)[[:cntrl:]]/\\x${(l:2::0:)$(( [##16] #MATCH ))}}
}

# The first line of each hook takes a person's DEBUG trap away until the hook returns: it runs for that line at most.
__dragoman_preexec() {
  builtin local hidden=0 ends=0 line="$1" && builtin setopt local_options local_traps && builtin trap - DEBUG
  if [[ -o hist_ignore_space && $1 == ' '* ]]; then
    hidden=1 line=
  fi
  if [[ -o prompt_sp && -o prompt_cr ]]; then ends=1; fi
  builtin emulate -L zsh
  __dragoman_quote "$line"
  __dragoman_ran=1
  if (( ends )); then
    builtin typeset -g __dragoman_eol=${PROMPT_EOL_MARK-'%B%S%#%s%b'} __dragoman_had_eol=${+PROMPT_EOL_MARK}
    builtin typeset -g +x PROMPT_EOL_MARK=$'%{\e]133;D;%?'$__dragoman_tail$'\a%}'$__dragoman_eol
  fi
  builtin print -rn -- $'\e]633;E;'$__dragoman_quoted';'$__dragoman_nonce$'\a\e]133;C;hidden='$hidden$__dragoman_tail$'\a'
}

# Last of the functions before a prompt, so that it has the prompt as it will be shown; zsh gives each the same status.
# The mark zsh prints after an unfinished line is not output of the command, so the command ends before it.
__dragoman_precmd() {
  builtin local code=$? reported=0 && builtin setopt local_options local_traps && builtin trap - DEBUG
  if [[ ${PROMPT_EOL_MARK-} == *"nonce=$__dragoman_nonce"* ]]; then
    if [[ -o prompt_sp && -o prompt_cr ]]; then reported=1; fi
    if (( __dragoman_had_eol )); then PROMPT_EOL_MARK=$__dragoman_eol; else builtin unset PROMPT_EOL_MARK; fi
  fi
  builtin emulate -L zsh
  if [[ $precmd_functions[-1] != __dragoman_precmd ]]; then
    precmd_functions=(${precmd_functions:#__dragoman_precmd} __dragoman_precmd)
  fi
  if (( ! __dragoman_ran )); then code=; fi
  __dragoman_ran=0
  if [[ $PS1 != *"nonce=$__dragoman_nonce"* ]]; then
    builtin typeset -g __dragoman_tail=";nonce=$__dragoman_nonce"
    if [[ $PS1 == *[16]33\;* ]]; then __dragoman_tail+=';doubled=1'; fi
    builtin typeset -g +x PS1=$'%{\e]133;A'$__dragoman_tail$'\a%}'$PS1$'%{\e]133;B'$__dragoman_tail$'\a%}'
  fi
  if (( ! reported )); then builtin print -rn -- $'\e]133;D;'$code$__dragoman_tail$'\a'; fi
  __dragoman_quote "$PWD"
  builtin print -rn -- $'\e]633;P;Cwd='$__dragoman_quoted';nonce='$__dragoman_nonce$'\a'
}

# Makes functions that no DEBUG trap sees: with these options, which are theirs whenever they are called, it would run
# after their first line, which takes it away. They do not see a person's options: what begins with a space is hidden.
__dragoman_unseen() {
  builtin local name
  for name; do
    builtin emulate zsh -o no_debug_before_cmd -o hist_ignore_space -o no_prompt_sp -c "$name() { ${functions[$name]} }"
  done
}

__dragoman_install() {
  builtin local traps="$(builtin trap && builtin trap - DEBUG)" && builtin setopt local_traps && builtin trap - DEBUG
  if [[ $traps == *DEBUG* ]]; then __dragoman_unseen __dragoman_preexec __dragoman_precmd; fi
  builtin unset -f __dragoman_unseen
  builtin emulate -L zsh
  builtin typeset -gi __dragoman_ran=0
  precmd_functions=(${precmd_functions:#__dragoman_install} __dragoman_precmd)
  preexec_functions+=(__dragoman_preexec)
  if (( $+functions[_zsh_autosuggest_start] )); then
    builtin print -rn -- $'\e]633;P;Suggests=1;nonce='$__dragoman_nonce$'\a'
  fi
  __dragoman_precmd
  builtin unset -f __dragoman_install
}

if [[ -o rcs && -r ${ZDOTDIR:-$HOME}/.zshenv ]]; then
  builtin source ${ZDOTDIR:-$HOME}/.zshenv
fi

if [[ -o interactive && -n ${__dragoman_nonce-} ]]; then
  builtin typeset -ga precmd_functions preexec_functions
  precmd_functions+=(__dragoman_install)
  __dragoman_unseen __dragoman_install
fi
