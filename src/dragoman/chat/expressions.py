"""Whether an expression can do more than look. Judged by its form alone, whatever the language; in doubt it can.

Names, members, subscripts, literals and operators look. Calls, assignments, statements, commands of a debugger and
everything that is not understood act; so does what is a call, a comment or the end of a string in one language and
something else in another. What a getter or an operator does is beyond any form; so is a method that is called without
brackets, but for the languages that are known to have them (`reaches`). A debugger with a console may take any text for
a command: `total` can be one, `n > 3` writes a file where it is a shell. There no form but a number looks
(`console_acts`).
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
"""May stand where a value is to come: a colon does in `rows[:3]`, and `in` goes on from `not`."""
_BEFORE_ALL = _BEFORE - {",", ":", "**", "in"}
"""Of these, what an expression may begin with: a comma or a colon begins a command in some debuggers."""
_BETWEEN = "between"
"""The kind of a mark that has a value before it."""
_ONLY_BEFORE = frozenset({"!", "~", "#"})
_MEMBER = frozenset({".", "?.", "->", "::"})
_HITS = re.compile(r"\s*(?:[<>=!]=|[<>%=])?\s*\d{1,9}\s*(?:==\s*\d{1,9}\s*)?")
_FILLED = re.compile(r"\{([^{}]*)\}")
_REACHED = re.compile(r"\.\s*[^\W\d]|::\s*[^\W\dA-Z]")
_NUMBER = re.compile(r"-?\d{1,18}(?:\.\d{1,18})?", re.ASCII)
_FUNCTION = re.compile(r"[^\W\d][\w.:$]*")
_FUNCTION_SHAPE = re.compile(r"[\w.:$~<>()\[\],*&=!+/%|^ -]+")
_PLAIN_WORDS = re.compile(r"[\w ,.]*")
_MOST = 2_000


class _Token(NamedTuple):
    kind: str
    text: str
    is_spaced: bool


def acts(expression: str) -> bool:
    before, depth = _Token("start", "", is_spaced=True), 0
    for token in _tokens(expression):
        depth += {"open": 1, "close": -1}.get(token.kind, 0)
        if depth < 0 or not _follows(before, token):
            return True
        has_value = before.kind in ("value", "close")
        before = token._replace(kind=_BETWEEN) if has_value and token.kind == "mark" else token
    return depth != 0 or before.kind in ("word", "mark", _BETWEEN)


def reaches(text: str) -> bool:
    """Whether it names a member: a call, where a name alone calls. Of a module's, what is no constant by its case."""
    return _REACHED.search(text) is not None


def console_acts(text: str) -> bool:
    """Whether a console could take it for a command."""
    return _NUMBER.fullmatch(text.strip()) is None


def function_acts(name: str) -> bool:
    """The name of a function with its parameters' types, as native debuggers take it, is looked up and never run."""
    return _FUNCTION_SHAPE.fullmatch(name) is None


def function_acts_in_console(name: str) -> bool:
    return _FUNCTION.fullmatch(name) is None


def message_reaches(message: str) -> bool:
    return any(reaches(found[1]) for found in _FILLED.finditer(message))


def message_acts_in_console(message: str) -> bool:
    """What is said is quoted for a console, as well as its adapter can."""
    filled = [found[1] for found in _FILLED.finditer(message)]
    return _PLAIN_WORDS.fullmatch(_FILLED.sub("", message)) is None or any(map(console_acts, filled))


def hits_act(condition: str) -> bool:
    """Which hits count: a number with a comparison before it is none of the program's code."""
    return _HITS.fullmatch(condition) is None


def message_acts(message: str) -> bool:
    """What stands between the braces of a log message is evaluated, the rest is said."""
    spoken = _FILLED.sub("", message)
    return "{" in spoken or "}" in spoken or any(acts(found[1]) for found in _FILLED.finditer(message))


def _follows(before: _Token, token: _Token) -> bool:
    """A value where one is to come and a mark between two; a bracket after a value only to look into it.

    With a space on its left alone a mark begins an argument: `system *words` and `system ["ls"]` in Ruby,
    `shell /bin/ls` in a debugger. Nobody sets a member's dot apart: `shell . notes` runs a file.
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
    """`a?.(x)` and `a.(x)` are calls where they mean anything; `not(x)` is one in a language without `not`."""
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
