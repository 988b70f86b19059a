"""A run whose points say what they see at each hit, to its end or to a limit."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace

import msgspec

from dragoman.debug.evidence.points import Point, id_of
from dragoman.debug.evidence.probing import GoesOn, Probing
from dragoman.debug.evidence.run import End, Evidence, Subject
from dragoman.debug.evidence.sheet import Limits, Row, Sheet
from dragoman.debug.model import Binding
from dragoman.debug.service import Client

_ENDS_BY_ITSELF_WITHIN_S = 2.0


@dataclass(frozen=True, slots=True)
class Trace:
    points: tuple[Point, ...]
    bindings: tuple[Binding, ...]
    sheet: Sheet
    end: End
    never_ended: str = ""
    broke_off: Row | None = None
    faults: Mapping[int, str] = field(default_factory=dict)
    session_id: str = ""
    """Of a session that is left to go on with."""
    state: str = ""
    ran_as: str = ""
    """The session that ran, whether it is left or not."""


def together(points: Sequence[Point]) -> tuple[Point, ...]:
    """Those of one place and condition as one: a debugger stops there once."""
    found: dict[tuple[object, ...], Point] = {}
    for point in points:
        key = (*point.place, point.condition)
        before = found[key].expressions if key in found else ()
        asked = tuple(dict.fromkeys((*before, *point.expressions)))
        found[key] = msgspec.structs.replace(point, expressions=asked)
    return tuple(found.values())


async def traced(
    evidence: Evidence,
    client: Client,
    subject: Subject,
    points: Sequence[Point],
    limits: Limits,
    *,
    goes_on: GoesOn = lambda _: True,
    by_stops: bool = False,
    is_kept: bool = False,
) -> Trace:
    """By stops also where the program could write its rows down: to be measured, and compared with the other way."""
    sheet = Sheet(limits)
    probing = Probing(points, sheet, goes_on=goes_on, by_stops=by_stops)
    async with evidence.run(client, subject, probing) as run:
        end = await run.finished()
        bindings = tuple(run.session.bindings.of(id_of(at)) for at in range(len(probing.points)))
        run.is_kept = is_kept and end.how == "stopped"
        if end.how == "exception" and run.is_own and not run.is_kept:
            end = replace(end, ended=await run.let_end(_ENDS_BY_ITSELF_WITHIN_S))
        is_left = run.session.ended is None and (run.is_kept or not run.is_own)
    session = run.session
    return Trace(
        probing.points,
        bindings,
        sheet,
        end,
        probing.never_ended,
        probing.broke_off,
        probing.faults,
        session.id if is_left else "",
        session.state.value if is_left else "",
        session.id,
    )
