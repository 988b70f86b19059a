"""Why a text is left as it is. The file's name and the way out are added where the file is known."""

from __future__ import annotations

from dragoman.phrases import Phrase, say


class RefusedError(Exception):
    def __init__(self, reason: Phrase) -> None:
        super().__init__(reason)
        self.reason = reason


def not_understood(line: int, column: int, problem: str) -> RefusedError:
    return RefusedError(say("line {line}, column {column}: {problem}", line=line, column=column, problem=problem))


def wrong_type(where: str) -> RefusedError:
    return RefusedError(say("{where} is not an object of named servers", where=where))


def unusual_form(where: str) -> RefusedError:
    return RefusedError(say("{where} is written in a form that can be read but not safely edited", where=where))
