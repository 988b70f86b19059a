# Dragoman's hook for fish 3.1 and later, read after a person's own files.
# Marks: OSC 133 A B C D, OSC 633 E (the command line) and P (the folder), each with the nonce of this session.

if set -q DRAGOMAN_HOOK_FD
    set -g --unexport __dragoman_nonce
    read -g __dragoman_nonce </dev/fd/$DRAGOMAN_HOOK_FD
end
set -e DRAGOMAN_HOOK_FD

# VS Code's way of writing a text inside a mark.
function __dragoman_quote
    string sub -l 60000 -- (string join \n -- $argv | string replace -a '\\' '\\\\' | string replace -a ';' '\\x3b' |
        string replace -a \t '\\x09' | string replace -ar '[\x00-\x09\x0b-\x1f\x7f]' '\\x20' | string join '\\x0a')
end

function __dragoman_preexec --on-event fish_preexec
    set -l hidden 0
    set -l line $argv
    if string match -q ' *' -- "$argv"; or set -q fish_private_mode
        set hidden 1
        set line
    end
    set -g __dragoman_ran 1
    printf '\e]633;E;%s;%s\a\e]133;C;hidden=%s%s\a' "$(__dragoman_quote $line)" $__dragoman_nonce $hidden $__dragoman_tail
end

function __dragoman_postexec --on-event fish_postexec
    set -l code $status
    set -e __dragoman_ran
    printf '\e]133;D;%s%s\a' $code $__dragoman_tail
end

# fish draws its prompt again whenever it likes; the marks around it are the same each time.
function __dragoman_prompt --on-event fish_prompt
    if not functions fish_prompt | string match -q '*__dragoman_person_prompt*'
        functions -e __dragoman_person_prompt
        functions -c fish_prompt __dragoman_person_prompt
        # The person's prompt comes first: `set` leaves $status and $pipestatus as the last command left them, and any
        # other builtin would not. fish reads a prompt by its lines, so that nothing is lost by reading it so here.
        function fish_prompt
            set -l shown (__dragoman_person_prompt)
            set -q shown[1]; or set shown ''
            set shown[1] \e']133;A'$__dragoman_tail\a$shown[1]
            set shown[-1] $shown[-1]\e']133;B'$__dragoman_tail\a
            string join \n -- $shown
        end
    end
    printf '\e]633;P;Cwd=%s;nonce=%s\a' "$(__dragoman_quote $PWD)" $__dragoman_nonce
end

if set -q __dragoman_nonce[1]
    set -g __dragoman_tail ";nonce=$__dragoman_nonce"
    # From version 4 on fish prints marks by itself.
    if string match -qr '^[4-9]' -- $version
        set -g __dragoman_tail "$__dragoman_tail;doubled=1"
    end
    printf '\e]633;P;Suggests=1;nonce=%s\a' $__dragoman_nonce
else
    functions -e __dragoman_preexec __dragoman_postexec __dragoman_prompt __dragoman_quote
end
