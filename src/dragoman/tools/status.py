"""`dragoman_status`: what runs, where, since when, and for whom."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any

from dragoman.errors import write_fault_lines
from dragoman.phrases import Phrase, say
from dragoman.tools.operation import READS, Caller, Operation, Outcome, Parameters, Result
from dragoman.tools.showing import one_line
from dragoman.words import word_of

_TITLE = 200


class StatusParameters(Parameters):
    pass


class Live(Result):
    id: str
    kind: str
    title: str


class Status(Result):
    version: str
    address: str
    pid: int
    workspace: str
    daemon_workspace: str
    started_at: str
    uptime_s: int
    sessions: list[Live]
    journal_sequence: int
    write_fault: dict[str, str] | None = None


@dataclass(frozen=True, slots=True)
class ShowStatus:
    status: Callable[[], Mapping[str, Any]]

    def operation(self) -> Operation:
        return Operation(
            name="dragoman_status",
            title="Dragoman status",
            description="What Dragoman is doing: version, address, workspace, since when, and the live sessions.",
            parameters=StatusParameters,
            result=Status,
            run=self.run,
            effects=READS,
        )

    async def run(self, caller: Caller, _: StatusParameters) -> Outcome:
        now = self.status()
        shared = {name: now[name] for name in Status.model_fields if name in now}
        shared["sessions"] = [{**it, "title": one_line(str(it["title"]), _TITLE)} for it in now.get("sessions", ())]
        status = Status.model_validate(
            {**shared, "workspace": str(caller.workspace), "daemon_workspace": now["workspace"]}
        )
        return Outcome(_lines(status), status)


def _lines(status: Status) -> list[Phrase]:
    first = say(
        "Dragoman {version} at {address}, since {since}. Workspace: {workspace}.",
        version=status.version,
        address=status.address,
        since=status.started_at,
        workspace=status.workspace,
    )
    live = [
        say("Live: {kind} {title} ({id})", kind=word_of(it.kind), title=it.title, id=it.id) for it in status.sessions
    ]
    return [first, *write_fault_lines(status.write_fault), *(live or [say("No live sessions.")])]
