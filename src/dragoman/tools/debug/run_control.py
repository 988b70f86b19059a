"""The tools that start, continue, step, pause, restart, wait for and stop a program."""

from __future__ import annotations

from collections.abc import Awaitable, Callable
from dataclasses import dataclass
from functools import partial
from typing import Annotated, Any

from pydantic import ConfigDict, Field

from dragoman.core.clock import Clock
from dragoman.core.errors import DragomanError
from dragoman.core.labels import label_of, with_label
from dragoman.core.localization import localize
from dragoman.debug.model import LaunchRequest, RunTarget, StepKind
from dragoman.debug.service import DebugService
from dragoman.debug.session.outcome import DebugOutcome
from dragoman.debug.session.session import DebugSession
from dragoman.tools.debug import parameters as params
from dragoman.tools.debug import results, start_failures
from dragoman.tools.debug.parameters import (
    DEFAULT_WAIT_S,
    MAX_STDIN,
    MAX_VARIABLES,
    FilePath,
    HoldSeconds,
    LineNumber,
    LineText,
    Number,
    Seconds,
    SessionParameters,
    Text,
    ThreadId,
    Wait,
)
from dragoman.tools.debug.results import AlsoStarted, OmitNone, SuccessResult, WaitResult, only_required
from dragoman.tools.debug.session_lookup import other_live_sessions, stack_files
from dragoman.tools.debug.source_locations import SourceLocations
from dragoman.tools.debug.values import name
from dragoman.tools.debug.wait_results import (
    CONTINUING,
    PAUSING,
    RESTARTING,
    STARTING,
    STEPPING,
    WAITING,
    WaitRequest,
    WaitResults,
    live_lines,
    session_summaries,
)
from dragoman.tools.json_schema import Maybe
from dragoman.tools.tool import RUNS_CODE, Effects, Parameters, ToolOutcome, tool
from dragoman.tools.waits import OpenWait, OpenWaits
from dragoman.workspace.caller import Caller

_WAYS_TO_START = ("configuration_name", "configuration", "program")


class WaitParameters(SessionParameters):
    """Parameters of a tool that waits for the program."""

    timeout_s: Seconds = DEFAULT_WAIT_S


class ActionParameters(WaitParameters):
    """Parameters of a tool that acts on the program and then waits, or not."""

    wait: Wait = True


class ResumeParameters(ActionParameters):
    """Parameters of a tool that resumes one thread or all threads."""

    thread_id: ThreadId = None


class WaitForStopParameters(WaitParameters):
    hold_s: HoldSeconds = 0


class UntilParameters(Parameters):
    file_path: FilePath
    line_number: Maybe[LineNumber] = None
    line_text: LineText = ""


class ContinueParameters(ResumeParameters):
    until: Annotated[Maybe[UntilParameters], Field(description="Also stop here, once.")] = None


class StepParameters(ResumeParameters):
    step_type: StepKind


class StartParameters(Parameters):
    configuration_name: Annotated[str, Field(max_length=1000, description="Name in launch.json.")] = ""
    configuration: Annotated[dict[str, Any], Field(default_factory=dict, description="Inline, as in launch.json.")]
    program: Annotated[str, Field(max_length=4096, description="File to debug.")] = ""
    args: Annotated[list[Text], Field(default_factory=list, max_length=1000)]
    cwd: Annotated[str, Field(max_length=4096)] = ""
    env: Annotated[dict[str, Text], Field(default_factory=dict, max_length=MAX_VARIABLES)]
    inputs: Annotated[
        dict[str, Text], Field(default_factory=dict, max_length=MAX_VARIABLES, description="For ${input:…}.")
    ]
    process_id: Annotated[Maybe[Number], Field(description="For ${command:pickProcess}.")] = None
    file: Annotated[str, Field(max_length=4096, description="For ${file}.")] = ""
    no_debug: Annotated[bool, Field(description="Run without debugging until the end.")] = False
    stdin: Annotated[Maybe[str], Field(max_length=MAX_STDIN, description="Program input.")] = None
    timeout_s: Seconds = DEFAULT_WAIT_S
    wait: Wait = True


class ResumeResult(WaitResult):
    """Like `WaitResult`, with a shorter schema: `start_debugging` describes it in full."""

    model_config = ConfigDict(json_schema_extra=only_required)


class StopDebuggingResult(SuccessResult):
    """`live_sessions` are the remaining ones; the first is the new default session."""

    message: str
    session_id: str
    name: str
    state: str
    live_sessions: OmitNone[list[AlsoStarted]] = None


@dataclass(frozen=True, slots=True)
class RunControlTools:
    service: DebugService
    wait_results: WaitResults
    locations: SourceLocations
    waits: OpenWaits
    clock: Clock

    @tool(
        "start_debugging",
        "Start debugging",
        (
            "Start or attach to a program by one of configuration_name, configuration, program; waits for its "
            "first stop or its end. status: stopped (location, stack, locals, output), completed, timeout, "
            "interrupted, error."
        ),
        StartParameters,
        results.WaitResult,
        RUNS_CODE,
    )
    async def start(self, caller: Caller, wanted: StartParameters) -> ToolOutcome:
        began = self.clock.monotonic_s()
        waited = WaitRequest(STARTING, wanted.timeout_s, wait=wanted.wait)
        with start_failures.explain_start_failure(
            caller.workspace / str(wanted.program or wanted.configuration.get("program", ""))
        ):
            first, *others = sessions = await self.service.launch(caller, launch_request_of(wanted))
            wait_until_started = partial(
                self.service.wait_until_started, caller, sessions, within_s=self._left_s(waited, began)
            )
            return await self._await(caller, DebugOutcome(first, None, tuple(others)), waited, wait_until_started)

    @tool(
        "restart_debugging",
        "Restart",
        "Restart the session, even after it ended. Keeps its id and breakpoints.",
        ActionParameters,
        ResumeResult,
        RUNS_CODE,
    )
    async def restart(self, caller: Caller, wanted: ActionParameters) -> ToolOutcome:
        """Restart a session, also an ended one: it keeps its id."""
        began = self.clock.monotonic_s()
        session = self.service.find_or_last(caller, wanted.session_id)
        waited = WaitRequest(RESTARTING, wanted.timeout_s, wait=wanted.wait)
        with start_failures.explain_start_failure():
            happened = await self.service.restart(caller, session.id, within_s=0)
            return await self._restarted(caller, happened, waited, began)

    async def _restarted(
        self, caller: Caller, happened: DebugOutcome, waited: WaitRequest, began_s: float
    ) -> ToolOutcome:
        """Restart. Only the wait after it can be interrupted."""
        left = self._left_s(waited, began_s)
        if happened.outcome is not None or not left:
            return await self.wait_results.answer(caller, happened, waited)
        first = partial(self.service.wait_for_first_outcome, caller, (happened.session,), within_s=left)
        return await self._await(caller, happened, waited, first)

    def _left_s(self, waited: WaitRequest, began_s: float) -> float:
        return max(waited.within_s - (self.clock.monotonic_s() - began_s), 0.0)

    @tool(
        "continue_debugging",
        "Continue",
        "Resume the stopped program and wait for the next stop or its end. Returns as start_debugging.",
        ContinueParameters,
        ResumeResult,
        RUNS_CODE,
    )
    async def resume(self, caller: Caller, wanted: ContinueParameters) -> ToolOutcome:
        session = self.service.find(caller, wanted.session_id)
        waited = WaitRequest(CONTINUING, wanted.timeout_s, wait=wanted.wait)
        until = await self._until(caller, wanted.until) if wanted.until else None

        resume = partial(self.service.resume, caller, session.id, until=until)
        act = partial(resume, thread_id=wanted.thread_id, within_s=waited.within_s)
        return await self._await(caller, _still_running(session), waited, act)

    @tool(
        "step_execution",
        "Step",
        "Step over a line, into a call, or out of a function. Returns as start_debugging.",
        StepParameters,
        ResumeResult,
        RUNS_CODE,
    )
    async def step(self, caller: Caller, wanted: StepParameters) -> ToolOutcome:
        session = self.service.find(caller, wanted.session_id)
        waited = WaitRequest(STEPPING, wanted.timeout_s, wait=wanted.wait)
        step = partial(self.service.step, caller, session.id, wanted.step_type)
        act = partial(step, thread_id=wanted.thread_id, within_s=waited.within_s)
        return await self._await(caller, _still_running(session), waited, act)

    @tool(
        "pause_debugging",
        "Pause",
        "Pause a running program to see where each thread is and waits. Returns as start_debugging.",
        ActionParameters,
        ResumeResult,
        Effects(),
    )
    async def pause(self, caller: Caller, wanted: ActionParameters) -> ToolOutcome:
        session = self.service.find(caller, wanted.session_id)
        waited = WaitRequest(PAUSING, wanted.timeout_s, wait=wanted.wait)
        if session.is_at_stop:
            return await self._present(caller, session, waited)
        pause = partial(self.service.pause, caller, session.id, within_s=waited.within_s)
        return await self._await(caller, _still_running(session), waited, pause)

    @tool(
        "wait_for_stop",
        "Wait for a stop",
        ("Use after timeout, interrupted, moved_on or wait: false. Returns the current or next stop, or the end."),
        WaitForStopParameters,
        ResumeResult,
    )
    async def wait(self, caller: Caller, wanted: WaitForStopParameters) -> ToolOutcome:
        """Return at once if the program has already stopped or ended."""
        session = self.service.find_or_last(caller, wanted.session_id)
        if wanted.hold_s and session.is_at_stop:
            self.service.hold(caller, session.id, wanted.hold_s)
        waited = WaitRequest(WAITING, wanted.timeout_s)
        if session.is_at_stop:
            return await self._present(caller, session, waited)
        wait = partial(self.service.wait, caller, session.id, within_s=waited.within_s)
        return await self._await(caller, _still_running(session), waited, wait)

    @tool(
        "stop_debugging",
        "Stop debugging",
        "End the session now: kills a launched program, detaches from an attached one.",
        params.SessionParameters,
        StopDebuggingResult,
        Effects(destroys=True),
    )
    async def stop(self, caller: Caller, wanted: params.SessionParameters) -> ToolOutcome:
        session = await self.service.stop(caller, wanted.session_id)
        message = localize("Stopping the debug session.")
        live = session_summaries(other_live_sessions(self.service, caller, {session.id}))
        answer = StopDebuggingResult(
            message=message.in_language(caller.language),
            session_id=session.id,
            name=name(session.title),
            state=session.state.value,
            live_sessions=live or None,
        )
        which = with_label(label_of("session"), f"{answer.session_id} {answer.name}")
        return ToolOutcome([message, which, *live_lines(live)], answer)

    async def _until(self, caller: Caller, wanted: UntilParameters) -> RunTarget:
        named = stack_files(self.service, caller)
        path, line = await self.locations.resolve_line(
            wanted.file_path, caller.workspace, named, wanted.line_number, wanted.line_text
        )
        return RunTarget(path=path, line=line)

    async def _present(self, caller: Caller, session: DebugSession, waited: WaitRequest) -> ToolOutcome:
        """Report the current stop, and remember that this client has seen it."""
        current = await self.service.wait(caller, session.id, within_s=0)
        return await self.wait_results.answer(caller, DebugOutcome(session, current.outcome or session.stop), waited)

    async def _await(
        self, caller: Caller, before: DebugOutcome, waited: WaitRequest, act: Callable[[], Awaitable[DebugOutcome]]
    ) -> ToolOutcome:
        wait = OpenWait(waited.messages.tool, before.session.id, caller.workspace, caller.id)
        happened = await self.waits.until(caller, wait, waited.within_s, act)
        if happened is None:
            return self.wait_results.interrupted(caller, before, waited)
        return await self.wait_results.answer(caller, happened, waited)


def _still_running(session: DebugSession) -> DebugOutcome:
    return DebugOutcome(session, None)


def launch_request_of(wanted: StartParameters) -> LaunchRequest:
    given = [name for name in _WAYS_TO_START if getattr(wanted, name)]
    if len(given) != 1:
        raise DragomanError(
            "bad_arguments",
            localize("Pass exactly one of `configuration_name`, `configuration` and `program`."),
            hint=localize("get_debugger_configurations lists the names."),
        )
    return LaunchRequest(
        configuration_name=wanted.configuration_name,
        configuration=wanted.configuration,
        program=wanted.program,
        args=tuple(wanted.args),
        cwd=wanted.cwd,
        env=wanted.env,
        inputs=wanted.inputs,
        process_id=wanted.process_id,
        file=wanted.file,
        no_debug=wanted.no_debug,
        stdin=wanted.stdin,
    )
