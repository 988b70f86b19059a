"""Every tool for debugging on a session that a person lends: it works, or says plainly why it does not."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import pytest

from dragoman.io.drivers.control_client import ControlClient
from tests.daemons import eventually
from tests.page.page_fixture import DebugWorkspace, debug_workspace
from tests.servers.web.fake_editor import Json, fake_editor
from tests.servers.web.lent_program import Program, live, stopped

# The lines of `add([1, 2, 3])`, each with what `total` and `value` are there.
STEPS = [(3, 0, None), (4, 0, 1), (3, 1, 1), (4, 1, 2), (3, 3, 2), (4, 3, 3), (3, 6, 3), (5, 6, 3)]


class Adding(Program):
    """It goes through its lines, stops where it was told to, and ends."""

    def __init__(self, place: DebugWorkspace) -> None:
        super().__init__(place)
        self.step = 0

    @property
    def _here(self) -> dict[str, Any]:
        return dict(zip(("line", "total", "value"), STEPS[self.step], strict=True))

    def variables(self, _: Json) -> Json:
        shown = {name: repr(it) for name, it in self._here.items() if name != "line"}
        return {"variables": [{"name": name, "value": it, "variablesReference": 0} for name, it in shown.items()]}

    def evaluate(self, arguments: Json) -> Json:
        """A name that is not there is told as debuggers tell it that answer all the same: in the result."""
        try:
            result = repr(eval(arguments["expression"], {}, self._here))
        except NameError as error:
            result = f"NameError: {error}"
        return {"result": result, "variablesReference": 0}

    def setVariable(self, arguments: Json) -> Json:  # noqa: N802
        return {"value": arguments["value"]}

    def next(self, _: Json) -> Json:
        self._go(lambda _: True, "step")
        return {}

    def pause(self, _: Json) -> Json:
        self.event("stopped", reason="pause", threadId=1, allThreadsStopped=True)
        return {}

    def exceptionInfo(self, _: Json) -> Json:  # noqa: N802
        return {"exceptionId": "ValueError", "description": "too much", "breakMode": "always"}

    def __getattr__(self, name: str) -> Any:
        if name == "continue":  # a word of the language's own
            return self._continue
        raise AttributeError(name)

    def _continue(self, _: Json) -> Json:
        lines = {it["line"] for it in self.breakpoints}
        self._go(lambda line: line in lines, "breakpoint")
        return {"allThreadsContinued": True}

    def _go(self, is_stop: Any, reason: str) -> None:
        self.event("continued", threadId=1, allThreadsContinued=True)
        for step in range(self.step + 1, len(STEPS)):
            if is_stop(STEPS[step][0]):
                self.step, self.line = step, STEPS[step][0]
                self.event("stopped", reason=reason, threadId=1, allThreadsStopped=True)
                return
        self.event("exited", exitCode=0)
        self.editor.notify("debug.ended", {"session": "s1"})


@pytest.fixture(scope="module")
def place(tmp_path_factory: pytest.TempPathFactory) -> Iterator[DebugWorkspace]:
    with debug_workspace(tmp_path_factory.mktemp("matrix")) as place:
        yield place


@pytest.fixture
def adding(place: DebugWorkspace) -> Iterator[Adding]:
    adding = Adding(place)
    with fake_editor(place, adding.answers) as adding.editor:
        yield adding
    place.tool("remove_breakpoint", clear_all=True)


AT_4: Json = {"file_path": "adding.py", "line_number": 4}


def test_a_trace_continues_from_where_it_stopped_and_reads_every_hit(place: DebugWorkspace, adding: Adding) -> None:
    session = stopped(place, adding)
    answer = place.tool("trace", session_id=session, points=[{**AT_4, "expressions": ["total", "value"]}])
    assert [row["values"] for row in answer["rows"]] == [
        {"total": "0", "value": "1"}, {"total": "1", "value": "2"}, {"total": "3", "value": "3"},
    ], answer  # fmt: skip
    assert answer["ended"]["exit_code"] == 0


def test_a_claim_is_checked_and_the_program_stops_where_it_breaks(place: DebugWorkspace, adding: Adding) -> None:
    session = stopped(place, adding)
    answer = place.tool("check", session_id=session, claim="total < 3", stop=True, **AT_4)
    assert (answer["verdict"], answer["hits"]) == ("broken", 3), answer
    assert adding.line == 4
    assert adding.breakpoints == []  # what it needed in the editor is taken out again


def test_a_change_is_found_by_steps(place: DebugWorkspace, adding: Adding) -> None:
    session = stopped(place, adding)
    answer = place.tool("find_change", session_id=session, expression="total", **AT_4)
    assert (answer["verdict"], answer["by"], answer["old"], answer["new"]) == ("changed", "steps", "0", "1"), answer


def test_an_exception_that_it_stopped_at_is_explained(place: DebugWorkspace, adding: Adding) -> None:
    stops = [{"reason": "exception", "threadId": 1, "allThreadsStopped": True, "text": "too much"}]
    adding.offer(place, stops=stops, capabilities={"supportsExceptionInfoRequest": True})
    session = eventually(lambda: next((it["session_id"] for it in live(place) if it["state"] == "Stopped"), ""))
    answer = place.tool("explain_crash", session_id=session)
    assert "ValueError" in str(answer)
    assert "total" in str(answer)


def test_its_stops_are_kept_as_any_others(place: DebugWorkspace, adding: Adding) -> None:
    session = stopped(place, adding)
    place.tool("step_execution", session_id=session, step_type="over")
    eventually(lambda: len(place.tool("stop_history", session_id=session)["stops"]) == 2, every_s=0.02)


WORKS: dict[str, Json] = {
    "get_scopes": {},
    "evaluate_expression": {"expression": "total"},
    "step_execution": {"step_type": "over"},
    "wait_for_stop": {"timeout_s": 0},
    "get_output": {},
    "set_breakpoint": AT_4,
}


@pytest.mark.parametrize("tool", WORKS)
def test_what_looks_and_steps_works(place: DebugWorkspace, adding: Adding, tool: str) -> None:
    session = stopped(place, adding)
    more: Json = {} if tool == "set_breakpoint" else {"session_id": session}
    answer = place.tool(tool, **WORKS[tool], **more)
    assert "code" not in answer, answer


def test_a_variable_is_looked_up_in_its_scope_and_set(place: DebugWorkspace, adding: Adding) -> None:
    session = stopped(place, adding)
    (scope,) = place.tool("get_scopes", session_id=session)["scopes"]
    result = place.tool("get_variables", session_id=session, variables_reference=scope["variables_reference"])
    assert [it["name"] for it in result["variables"]] == ["total", "value"]
    about = {"workspace": str(place.folder), "cwd": str(place.folder), "environment": {}}
    with ControlClient.open(place.daemon.paths, role="tools", about=about) as link:
        wanted = {"session_id": session, "name": "total", "value": "5"}
        answer = link.call("call", {"tool": "set_variable", "arguments": wanted})["data"]
    assert answer["value"] == "5", answer
    assert "setVariable" in adding.commands


REFUSED: dict[str, tuple[Json, str]] = {
    "restart_debugging": ({}, "user"),
    "compare_runs": ({"points": [{**AT_4, "expressions": ["total"]}], "against": {"args": ["x"]}}, "session"),
}


@pytest.mark.parametrize("tool", REFUSED)
def test_what_is_the_persons_alone_is_refused_with_the_reason(place: DebugWorkspace, adding: Adding, tool: str) -> None:
    session = stopped(place, adding)
    arguments, word = REFUSED[tool]
    answer = place.tool(tool, session_id=session, **arguments)
    assert answer.get("code"), answer
    assert word in str(answer).lower()
    assert not {"restart", "terminate", "disconnect", "launch"} & set(adding.commands)


@pytest.mark.parametrize(
    "wanted",
    [{"function": "add"}, {"exception": "uncaught"}, {"variable": "total"}],
    ids=["function", "raised", "data"],
)
def test_breakpoints_that_only_the_person_may_set_say_so(place: DebugWorkspace, adding: Adding, wanted: Json) -> None:
    session = stopped(place, adding)
    more: Json = {"session_id": session} if "variable" in wanted else {}
    answer = place.tool("set_breakpoint", **wanted, **more)
    breakpoint = answer.get("breakpoint") or {}
    assert answer.get("code") or (not breakpoint["verified"] and breakpoint["message"]), answer
