"""What the canvas shows with one call, out of what the debug tools and the terminal tools answer."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from dragoman.debug import faults
from dragoman.debug.service import DebugService
from dragoman.debug.states import State
from dragoman.errors import DragomanError
from dragoman.phrases import say
from dragoman.redaction import Redactor
from dragoman.tools import Caller, Operation, Toolbox
from dragoman.tools.canvas.subjects import Subjects
from dragoman.tools.debug import FileSources
from dragoman.tools.debug.client import client_of
from dragoman.tools.debug.stops import Stops
from dragoman.tools.debug.threads import ThreadList
from dragoman.tools.debug.values import Values
from dragoman.workspace.paths import PathRule


def subjects(service: DebugService, terminal: Sequence[Operation], *, rule: PathRule, redactor: Redactor) -> Subjects:
    stops = Stops(FileSources(rule), Values(redactor), ThreadList(service))
    return {"stop": _Stop(service, stops), "failure": _Failure(Toolbox(terminal))}


@dataclass(frozen=True, slots=True)
class _Stop:
    service: DebugService
    stops: Stops

    async def __call__(self, caller: Caller, session_id: str) -> dict[str, Any]:
        session = self.service.find(client_of(caller), session_id)
        if session.stop is None or session.state is not State.STOPPED:
            raise faults.not_stopped(session.state)
        return (await self.stops.data(caller, session, session.stop)).model_dump(mode="json")


@dataclass(frozen=True, slots=True)
class _Failure:
    terminal: Toolbox

    async def __call__(self, caller: Caller, command_id: str) -> dict[str, Any]:
        """Of a command that is named: its own output, whatever became of it."""
        if not command_id:
            return self._found(await self._asked("get_last_failure", {}, caller))
        shown = await self._asked("get_command_output", {"command_id": command_id}, caller)
        errors = await self._asked("get_command_output", {"command_id": command_id, "part": "errors"}, caller)
        return {
            "command": shown["command"],
            "error_lines": errors["output"].splitlines(),
            "output_tail": shown["output"],
        }

    async def _asked(self, tool: str, arguments: dict[str, Any], caller: Caller) -> dict[str, Any]:
        return (await self.terminal.call(tool, arguments, caller)).data.model_dump(mode="json")

    def _found(self, failure: dict[str, Any]) -> dict[str, Any]:
        if failure["found"]:
            return failure
        raise DragomanError(
            "no_failure",
            say("No failed command is recorded there."),
            hint=say("search_commands finds others; subject_id names one."),
        )
