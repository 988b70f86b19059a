"""Who did something in a session, as the person at an editor of it is told."""

from __future__ import annotations

from dragoman.debug import persons
from dragoman.debug.lives import OURSELVES
from dragoman.debug.session import Session
from dragoman.phrases import Phrase, say
from dragoman.visible import visible

_NAME = 60


def told(session: Session, by: str) -> Phrase:
    """A name is what a client says of itself: one short line of it. Its id says nothing to anybody."""
    name = OURSELVES if by == OURSELVES else visible(" ".join(session.name_of(by).split()))[:_NAME]
    return persons.told(by) or (say("{text}", text=name) if name else say("another client"))
