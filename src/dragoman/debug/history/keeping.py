"""How a stop comes into the store: beside what the record says of it."""

from __future__ import annotations

from collections.abc import Callable, Sequence

from dragoman.debug.history.kept import KeptStop, Redacted, seen_at
from dragoman.debug.history.store import STORE
from dragoman.debug.model import Stop
from dragoman.journal import Statement

Keeping = Callable[[str, str, str, Stop], Sequence[Statement]]
"""Of a session's id, its title and its workspace."""


def keeping(redacted: Redacted) -> Keeping:
    def keep(session: str, title: str, workspace: str, stop: Stop) -> Sequence[Statement]:
        return STORE.keep(
            KeptStop(
                session=session,
                number=stop.number,
                at_ns=stop.at_ns,
                title=redacted("", title),
                workspace=workspace,
                reason=stop.reason,
                seen=seen_at(stop, redacted),
            )
        )

    return keep


def nothing_kept(session: str, title: str, workspace: str, stop: Stop) -> Sequence[Statement]:  # noqa: ARG001
    return ()
