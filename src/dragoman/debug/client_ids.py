"""Ids of debug clients: the id of a person says so, and names the program that the person uses."""

from __future__ import annotations

import re

from dragoman.core.ids import new_id
from dragoman.core.localization import LocalizedText, localize
from dragoman.core.safe_text import printable

_PERSON = re.compile(r"person-[^:]+:(?P<program>.*)", re.DOTALL)
_NAME = 60


def new_person_id(program: str) -> str:
    """A new id. What the program calls itself is another's text: one short line of it."""
    return f"{new_id('person')}:{printable(' '.join(program.split()))[:_NAME]}"


def is_person(id: str) -> bool:
    return _PERSON.fullmatch(id) is not None


def person_label(id: str) -> LocalizedText | None:
    """Nothing for a client that is no person: its id says nothing to others."""
    found = _PERSON.fullmatch(id)
    return localize("a person in {program}", program=found["program"] or "?") if found else None
