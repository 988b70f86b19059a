"""A claim at a place, over a whole run: it holds, it is broken at a hit, or the place was never reached."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Literal

import msgspec

from dragoman.debug.evidence.languages import is_true
from dragoman.debug.evidence.names import names_in
from dragoman.debug.evidence.points import Point
from dragoman.debug.evidence.run import Evidence, Subject
from dragoman.debug.evidence.sheet import Cell, Limits, Row
from dragoman.debug.evidence.trace import Trace, traced
from dragoman.debug.service import Client

Verdict = Literal["holds", "broken", "never reached"]


@dataclass(frozen=True, slots=True)
class Checked:
    verdict: Verdict
    hits: int
    trace: Trace
    asked: tuple[str, ...] = ()
    before: Row | None = None
    """The last row that held, where one did."""
    broken: Row | None = None

    def values(self, row: Row) -> list[tuple[str, Cell]]:
        return list(zip(self.asked, row.cells[1:], strict=False))

    @property
    def error(self) -> str:
        """Why the claim could not be judged at the hit where it is taken for broken."""
        return self.broken.cells[0].text if self.broken and self.broken.cells and self.broken.cells[0].failed else ""


async def checked(
    evidence: Evidence,
    client: Client,
    subject: Subject,
    point: Point,
    claim: str,
    limits: Limits,
    *,
    besides: Sequence[str] = (),
    stops: bool = False,
) -> Checked:
    asked = tuple(dict.fromkeys((*names_in(claim), *besides)))
    point = msgspec.structs.replace(point, claim=claim, expressions=asked)
    limits = replace(limits, rows=2)
    trace = await traced(evidence, client, subject, [point], limits, goes_on=_holds, is_kept=stops)
    rows, hits = trace.sheet.rows, trace.sheet.hits
    if trace.broke_off is not None:
        before = rows[-2] if len(rows) > 1 else None
        return Checked("broken", hits, trace, asked, before, trace.broke_off)
    return Checked("holds" if hits else "never reached", hits, trace, asked)


def _holds(row: Row) -> bool:
    return bool(row.cells) and is_true(row.cells[0])
