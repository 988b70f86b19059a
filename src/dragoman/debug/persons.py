"""Ids of clients that are a person at a program of theirs: whoever reads one later can say so."""

from __future__ import annotations

import re

from dragoman.ids import new_id
from dragoman.phrases import Phrase, say
from dragoman.visible import visible

_PERSON = re.compile(r"person-[^:]+:(?P<program>.*)", re.DOTALL)
_NAME = 60


def person_at(program: str) -> str:
    """A new id. What the program calls itself is another's text: one short line of it."""
    return f"{new_id('person')}:{visible(' '.join(program.split()))[:_NAME]}"


def is_person(id: str) -> bool:
    return _PERSON.fullmatch(id) is not None


def told(id: str) -> Phrase | None:
    """Nothing for a client that is no person: its id says nothing to others."""
    found = _PERSON.fullmatch(id)
    return say("a person in {program}", program=found["program"] or "?") if found else None
