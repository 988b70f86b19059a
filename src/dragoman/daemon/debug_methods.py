"""What the command line asks about debug sessions besides the tools: the whole story of one."""

from __future__ import annotations

from collections.abc import AsyncIterator, Mapping
from dataclasses import dataclass
from typing import Any

import msgspec

from dragoman.daemon.control import Method, Params, Part
from dragoman.debug.history.report import Reports


@dataclass(frozen=True, slots=True)
class DebugMethods:
    reports: Reports

    def table(self) -> Mapping[str, Method]:
        return {"debug_report": self._report}

    async def _report(self, params: Params) -> AsyncIterator[Any]:
        """Its entries one by one, since a line of the socket has a cap; then what holds for all of it."""
        workspace = None if params.get("workspace") is None else str(params["workspace"])
        session = str(params.get("session") or await self.reports.newest(workspace))
        report = await self.reports.of(session, workspace)
        for entry in report.entries:
            yield Part(msgspec.to_builtins(entry))
        yield {
            "session": report.session,
            "title": report.title,
            "workspace": report.workspace,
            "output": report.output,
        }
