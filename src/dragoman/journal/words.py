"""What a person types into a search box, as an FTS5 expression that can never be a syntax error.

Words are all wanted, "quoted words" are a phrase, a closing `*` finds beginnings; everything else is literal.
"""

from __future__ import annotations

import re

from dragoman.errors import DragomanError
from dragoman.journal.records import split_words
from dragoman.phrases import say

QUERY_LIMIT_CHARACTERS = 1_000
_TERM_LIMIT = 32
_TERM = re.compile(r'"(?P<phrase>[^"]*)"?|(?P<word>[^\s"]+)')


def expression(query: str) -> str:
    if len(query) > QUERY_LIMIT_CHARACTERS:
        raise _bad(say("it is longer than {limit} characters", limit=QUERY_LIMIT_CHARACTERS))
    terms = [term for match in _TERM.finditer(_plain(query)) if (term := _term(match))]
    if not terms:
        raise _bad(say("it contains no word"))
    if len(terms) > _TERM_LIMIT:
        raise _bad(say("it has more than {limit} words", limit=_TERM_LIMIT))
    return " AND ".join(terms)


def _plain(query: str) -> str:
    return query.encode("utf-8", "replace").decode().replace("\0", " ")


def _term(match: re.Match[str]) -> str:
    phrase = match["phrase"]
    raw = phrase if phrase is not None else match["word"]
    words = split_words(raw)
    if not any(character.isalnum() for character in words):
        return ""
    prefix = phrase is None and raw.endswith("*") and raw[-2].isalnum()
    return f'"{words.strip()}"*' if prefix else f'"{words.strip()}"'


def _bad(reason: object) -> DragomanError:
    return DragomanError(
        "bad_query",
        say("The search cannot be run: {reason}.", reason=reason),
        hint=say('Give one or more words; "quotes" make a phrase, a closing * finds beginnings.'),
    )
