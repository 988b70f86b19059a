"""Checks a claim at a place over a whole run: it holds, it is broken at a hit, or the place is never reached."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Literal

import msgspec

from dragoman.debug.evidence.evaluation import is_true
from dragoman.debug.evidence.expressions import names_in
from dragoman.debug.evidence.run import EvidenceService, RunSubject
from dragoman.debug.evidence.trace import RecordedTrace, run_trace
from dragoman.debug.evidence.tracepoints import Cell, TraceLimits, Tracepoint, TraceRow
from dragoman.workspace.caller import Caller

CheckVerdict = Literal["holds", "broken", "never reached"]


@dataclass(frozen=True, slots=True)
class ClaimCheck:
    verdict: CheckVerdict
    hits: int
    trace: RecordedTrace
    asked: tuple[str, ...] = ()
    before: TraceRow | None = None
    """The last row that held, where one did."""
    broken: TraceRow | None = None

    def values(self, row: TraceRow) -> list[tuple[str, Cell]]:
        return list(zip(self.asked, row.cells[1:], strict=False))

    @property
    def error(self) -> str:
        """Why the claim could not be judged at the hit where it is taken for broken."""
        return self.broken.cells[0].text if self.broken and self.broken.cells and self.broken.cells[0].failed else ""


async def run_check(
    evidence: EvidenceService,
    client: Caller,
    subject: RunSubject,
    point: Tracepoint,
    claim: str,
    limits: TraceLimits,
    *,
    besides: Sequence[str] = (),
    stops: bool = False,
) -> ClaimCheck:
    asked = tuple(dict.fromkeys((*names_in(claim), *besides)))
    point = msgspec.structs.replace(point, claim=claim, expressions=asked)
    limits = replace(limits, rows=2)
    trace = await run_trace(evidence, client, subject, [point], limits, should_continue=_holds, keeps_session=stops)
    rows, hits = trace.table.rows, trace.table.hits
    if trace.breaking_row is not None:
        before = rows[-2] if len(rows) > 1 else None
        return ClaimCheck("broken", hits, trace, asked, before, trace.breaking_row)
    return ClaimCheck("holds" if hits else "never reached", hits, trace, asked)


def _holds(row: TraceRow) -> bool:
    return bool(row.cells) and is_true(row.cells[0])
