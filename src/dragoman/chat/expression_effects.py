"""Whether an expression can do more than read. Only its form counts, in any language; in doubt, it can.

Names, members, subscripts, literals and operators read. Calls, assignments, statements, debugger commands and
everything that is not understood have effects. So does text that is a call, a comment or the end of a string in one
language and something else in another. The form does not show what a getter or an operator does, nor a method that is
called without brackets, except in languages that are known to have them (`reads_member`). A debugger with a console may
take any text for a command: `total` can be one, and `n > 3` writes a file if the console is a shell. There, only a
number is safe (`console_has_effects`).
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import NamedTuple

_TOKEN = re.compile(
    r"""(?P<space>\s*)(?:
      (?P<word>(?:and|or|in|is|not|if|else)\b(?!\$))
    | (?P<verb>(?:del|delete|new|await|yield|throw|raise|return|exec|call|import|super|fork|exit|abort)\b(?!\$))
    | (?P<value>[^\W\d][\w$]*|\$\w+
        | (?:0[xXbBoO][\da-fA-F_]+|\d[\d_]*(?:\.\d[\d_]*)?(?:[eE][+-]?\d+)?)(?![\w$])
        | "(?:(?![\#$]\{|\$\(|\{\$|\\\()(?:[^"\\\n]|\\.))*" | '(?:(?![\#$]\{|\$\(|\{\$|\\\()(?:[^'\\\n]|\\.))*')
    | (?P<unknown>\+\+|--|/\*|<-|\[\[)
    | (?P<open>[(\[])
    | (?P<close>[)\]])
    | (?P<mark>===|!==|\*\*|//|==|!=|~=|<=|>=|<<|>>|&&|\|\||\?\?|\?\.|->|::|\.\.|[-+*/%<>&|^.,:?!~\#])
    )""",
    re.VERBOSE,
)
_BEFORE = frozenset({"-", "+", "!", "~", "*", "&", "#", "**", "::", ":", ",", "not", "in"})
"""What may precede a value: a colon does in `rows[:3]`, and `in` follows `not`."""
_BEFORE_ALL = _BEFORE - {",", ":", "**", "in"}
"""The subset that an expression may begin with: a comma or a colon begins a command in some debuggers."""
_BETWEEN = "between"
"""The kind of an operator that has a value before it."""
_ONLY_BEFORE = frozenset({"!", "~", "#"})
_MEMBER = frozenset({".", "?.", "->", "::"})
_HITS = re.compile(r"\s*(?:[<>=!]=|[<>%=])?\s*\d{1,9}\s*(?:==\s*\d{1,9}\s*)?")
_FILLED = re.compile(r"\{([^{}]*)\}")
_MEMBER_ACCESS = re.compile(r"\.\s*[^\W\d]|::\s*[^\W\dA-Z]")
_NUMBER = re.compile(r"-?\d{1,18}(?:\.\d{1,18})?", re.ASCII)
_FUNCTION = re.compile(r"[^\W\d][\w.:$]*")
_FUNCTION_SHAPE = re.compile(r"[\w.:$~<>()\[\],*&=!+/%|^ -]+")
_PLAIN_WORDS = re.compile(r"[\w ,.]*")
_MOST = 2_000


class _Token(NamedTuple):
    kind: str
    text: str
    is_spaced: bool


def has_effects(expression: str) -> bool:
    before, depth = _Token("start", "", is_spaced=True), 0
    for token in _tokens(expression):
        depth += {"open": 1, "close": -1}.get(token.kind, 0)
        if depth < 0 or not _follows(before, token):
            return True
        has_value = before.kind in ("value", "close")
        before = token._replace(kind=_BETWEEN) if has_value and token.kind == "mark" else token
    return depth != 0 or before.kind in ("word", "mark", _BETWEEN)


def reads_member(text: str) -> bool:
    """Whether the expression names a member, which is a call in languages where a bare name calls.

    A module's member counts unless its case marks a constant.
    """
    return _MEMBER_ACCESS.search(text) is not None


def console_has_effects(text: str) -> bool:
    """Whether a console could take the text for a command."""
    return _NUMBER.fullmatch(text.strip()) is None


def function_has_effects(name: str) -> bool:
    """The name of a function with its parameter types, as native debuggers accept it, is looked up and never run."""
    return _FUNCTION_SHAPE.fullmatch(name) is None


def function_has_console_effects(name: str) -> bool:
    return _FUNCTION.fullmatch(name) is None


def message_reads_member(message: str) -> bool:
    return any(reads_member(found[1]) for found in _FILLED.finditer(message))


def message_has_console_effects(message: str) -> bool:
    """For a log message that is quoted for a console, as well as its adapter can."""
    filled = [found[1] for found in _FILLED.finditer(message)]
    return _PLAIN_WORDS.fullmatch(_FILLED.sub("", message)) is None or any(map(console_has_effects, filled))


def hit_condition_has_effects(condition: str) -> bool:
    """A hit condition: a number after a comparison is not code of the program."""
    return _HITS.fullmatch(condition) is None


def message_has_effects(message: str) -> bool:
    """The parts of a log message between braces are evaluated; the rest is text."""
    literal_text = _FILLED.sub("", message)
    return (
        "{" in literal_text or "}" in literal_text or any(has_effects(found[1]) for found in _FILLED.finditer(message))
    )


def _follows(before: _Token, token: _Token) -> bool:
    """Whether a token may follow: a value where one is expected, an operator between two, a bracket after a value only
    as a subscript.

    An operator with a space only on its left begins an argument: `system *words` and `system ["ls"]` in Ruby, `shell
    /bin/ls` in a debugger. Nobody puts spaces around a member's dot: `shell . notes` runs a file.
    """
    has_value = before.kind in ("value", "close")
    if token.is_spaced and (token.text in _MEMBER or (before.text in _MEMBER and before.kind == _BETWEEN)):
        return False
    if before.kind == "start" and token.kind in ("word", "mark"):
        return token.text in _BEFORE_ALL
    if before.kind == _BETWEEN and before.is_spaced and not token.is_spaced:
        return False
    match token.kind:
        case "value":
            return not has_value
        case "open" if token.text == "[":
            return not (has_value and token.is_spaced)
        case "open":
            return not (has_value or _is_called(before, token))
        case "word" | "mark":
            return token.text not in _ONLY_BEFORE if has_value else token.text in _BEFORE
        case kind:
            return kind == "close"


def _is_called(before: _Token, bracket: _Token) -> bool:
    """`a?.(x)` and `a.(x)` are calls in every language that has them; `not(x)` is one in a language without `not`."""
    return before.text in _MEMBER or (before.kind == "word" and not bracket.is_spaced)


def _tokens(expression: str) -> Iterator[_Token]:
    text, at = expression.strip(), 0
    if len(text) > _MOST or len(text.splitlines()) > 1:
        yield _Token("unknown", "", is_spaced=False)
        return
    while at < len(text):
        found = _TOKEN.match(text, at)
        if found is None or found.lastgroup is None:
            yield _Token("unknown", text[at], is_spaced=False)
            return
        yield _Token(found.lastgroup, found[found.lastgroup], is_spaced=bool(found["space"]))
        at = found.end()
