"""Quote a command for typing into an agent's shell, and read it back from the line that the shell reports.

A shell's line editor treats several lines as several commands, expands `!`, waits for more after an unclosed quote,
and in zsh knows no comments. Inside `eval '…'` a text is one command whatever it holds: it runs line by line as a
script would, its status is that of its last command, and incomplete text is an error instead of a wait. A plain
command line is typed as it is, so that people who watch see what they know.
"""

from __future__ import annotations

import re

_BEGINS, _ENDS = "eval '", "'"
# Words and quoted words without anything that a line editor or a parser could wait for or expand by itself.
_PIECE = r"(?:[\w./=:,@%+~*?-]|\$[A-Za-z_]\w*|'[^'!\n\\]*'|\"(?:[^\"!`$\\\n]|\$[A-Za-z_]\w*)*\")+"
_SIMPLE = rf"{_PIECE}(?:\ {{1,4}}{_PIECE})*"
_PLAIN = re.compile(rf"{_SIMPLE}(?:\ ?(?:\|\|?|&&|;)\ {_SIMPLE})*", re.VERBOSE)
# Each opens something that a later line closes, or means something else where it is not the first word of a script.
_FIRST_WORDS = re.compile(
    r"(?:^|[|&;]\s?)\s*(?:if|then|elif|else|fi|for|while|until|do|done|case|esac|select|function|time|coproc|repeat|"
    r"foreach|nocorrect|noglob|begin|end|switch|and|or|not|eval)\b"
)
_LONGEST_PLAIN = 4000
_POSIX_QUOTE = r"'\''"
# fish takes away tabs at the beginning of a pasted line, quoted or not: there, line ends and tabs are spelled out.
_FISH_ESCAPES = {"\\": "\\\\", "'": "\\'", "\n": "'\\n'", "\t": "'\\t'"}
_FISH_MEANINGS = {escape: character for character, escape in _FISH_ESCAPES.items()}
_FISH_ESCAPED = re.compile(r"\\[\\']|'\\[nt]'")


def to_shell_input(command: str, shell: str) -> str:
    """`shell` is the name of the program, such as `zsh`."""
    text = command.strip("\n")
    if is_plain(text.strip()):
        return text.strip()
    return f"{_BEGINS}{_fish_quoted(text) if shell == 'fish' else text.replace(_ENDS, _POSIX_QUOTE)}{_ENDS}"


def from_shell_input(line: str, shell: str) -> str:
    """The command of a line that `to_shell_input` made; any other line unchanged."""
    text = line.strip()
    if len(text) < len(_BEGINS + _ENDS) or not (text.startswith(_BEGINS) and text.endswith(_ENDS)):
        return line
    inner = text.removeprefix(_BEGINS).removesuffix(_ENDS)
    if shell == "fish":
        return _FISH_ESCAPED.sub(lambda found: _FISH_MEANINGS[found[0]], inner)
    return inner.replace(_POSIX_QUOTE, "'")


def _fish_quoted(text: str) -> str:
    return "".join(_FISH_ESCAPES.get(character, character) for character in text)


def is_plain(text: str) -> bool:
    return len(text) <= _LONGEST_PLAIN and _PLAIN.fullmatch(text) is not None and _FIRST_WORDS.search(text) is None
