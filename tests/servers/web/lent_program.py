"""A program that a person debugs in an editor, as the editor reports it."""

from __future__ import annotations

from typing import Any

from tests.daemons import eventually
from tests.page.page_fixture import DebugWorkspace
from tests.servers.web.fake_editor import Answers, FakeEditor, Json

CAPABILITIES = {
    "supportsConditionalBreakpoints": True,
    "supportsSetVariable": True,
    "supportsRestartRequest": True,
    "supportsTerminateRequest": True,
}


class Program:
    """A program of a person's that stands in a debugger: what the editor answers for it."""

    def __init__(self, place: DebugWorkspace) -> None:
        self.path = str(place.folder / "adding.py")
        self.line = 3
        self.total = "0"
        self.commands: list[str] = []
        self.breakpoints: list[Json] = []
        self.editor: FakeEditor

    @property
    def answers(self) -> Answers:
        return {"debug.request": self.request, "debug.breakpoints": self.set_breakpoints}

    def request(self, params: Json) -> Json:
        command = str(params["command"])
        self.commands.append(command)
        answer = getattr(self, command, None)
        return {"body": answer(params["arguments"])} if answer else {"refused": f"no {command}"}

    def set_breakpoints(self, params: Json) -> Json:
        self.breakpoints = params["arguments"]["breakpoints"]
        return {"body": {"breakpoints": [{"id": 7, "verified": True, "line": it["line"]} for it in self.breakpoints]}}

    def threads(self, _: Json) -> Json:
        return {"threads": [{"id": 1, "name": "main"}]}

    def stackTrace(self, _: Json) -> Json:  # noqa: N802
        source = {"path": self.path, "name": "adding.py"}
        return {"stackFrames": [{"id": 5, "name": "add", "line": self.line, "column": 1, "source": source}]}

    def scopes(self, _: Json) -> Json:
        return {"scopes": [{"name": "Locals", "variablesReference": 9, "expensive": False}]}

    def variables(self, _: Json) -> Json:
        return {"variables": [{"name": "total", "value": self.total, "type": "int", "variablesReference": 0}]}

    def evaluate(self, arguments: Json) -> Json:
        return {"result": self.total if arguments["expression"] == "total" else "?", "variablesReference": 0}

    def next(self, _: Json) -> Json:
        self.stop_at(self.line + 1)
        return {}

    def stop_at(self, line: int) -> None:
        self.line = line
        self.event("stopped", reason="step", threadId=1, allThreadsStopped=True)

    def event(self, event: str, **body: Any) -> None:
        self.editor.notify("debug.event", {"session": "s1", "event": event, "body": body})

    def offer(self, place: DebugWorkspace, **more: Any) -> Json:
        data = {"session": "s1", "name": "Mine", "type": "debugpy", "folder": str(place.folder)}
        stopped = {"reason": "breakpoint", "threadId": 1, "allThreadsStopped": True}
        return self.editor.call("debug.offered", {**data, "capabilities": CAPABILITIES, "stops": [stopped], **more})


def live(place: DebugWorkspace) -> list[Json]:
    return [it for it in place.tool("list_sessions")["sessions"] if it["state"] != "Terminated"]


def stopped(place: DebugWorkspace, program: Program) -> str:
    session = str(program.offer(place)["result"]["session_id"])
    eventually(lambda: [it["state"] for it in live(place)] == ["Stopped"], every_s=0.02)
    return session
