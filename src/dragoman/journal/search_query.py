"""Converts a search as a person types it to an FTS5 expression that is never a syntax error.

All words must match, "quoted words" are a phrase, a trailing `*` matches prefixes; everything else is literal.
"""

from __future__ import annotations

import re
from collections.abc import Iterable

from dragoman.core.localization import localize
from dragoman.journal.errors import bad_query
from dragoman.journal.event_rows import split_words

QUERY_LIMIT_CHARACTERS = 1_000
_TERM_LIMIT = 32
_TERM = re.compile(r'"(?P<phrase>[^"]*)"?|(?P<word>[^\s"]+)')


def fts_expression(query: str) -> str:
    return " AND ".join(_expressions(_terms(query)))


def substring_terms(query: str, shortest: int) -> tuple[str, str]:
    """For a search inside words: the terms that a substring index can find (none shorter than `shortest`), and the
    rest as prefixes. Either may be empty, never both."""
    terms = _terms(query)
    long = [it for it in terms if len(_literal(it)) >= shortest and not _is_beginning(it)]
    rest = [it for it in terms if it not in long]
    quoted = ['"{}"'.format(_literal(it).replace('"', '""')) for it in long]
    return " AND ".join(quoted), " AND ".join(_expressions(rest, begins=True))


def _expressions(terms: Iterable[re.Match[str]], *, begins: bool = False) -> list[str]:
    return [
        f'"{split_words(_literal(it)).strip()}"' + ("*" if _is_beginning(it) or (begins and it["word"]) else "")
        for it in terms
    ]


def _terms(query: str) -> list[re.Match[str]]:
    if len(query) > QUERY_LIMIT_CHARACTERS:
        raise bad_query(reason=localize("it is longer than {limit} characters", limit=QUERY_LIMIT_CHARACTERS))
    terms = [it for it in _TERM.finditer(_plain(query)) if any(each.isalnum() for each in _literal(it))]
    if not terms:
        raise bad_query(reason=localize("it contains no words"))
    if len(terms) > _TERM_LIMIT:
        raise bad_query(reason=localize("it has more than {limit} words", limit=_TERM_LIMIT))
    return terms


def _plain(query: str) -> str:
    return query.encode("utf-8", "replace").decode().replace("\0", " ")


def _literal(term: re.Match[str]) -> str:
    phrase = term["phrase"]
    return phrase if phrase is not None else term["word"].removesuffix("*") if _is_beginning(term) else term["word"]


def _is_beginning(term: re.Match[str]) -> bool:
    word = term["word"] or ""
    return len(word) > 1 and word.endswith("*") and word[-2].isalnum()
