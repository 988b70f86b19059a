"""One editor in one session, from attach or launch until it disconnects.

Run-control requests are decided on the stop that the editor last saw. They take their turn in the session's mailbox.
"""

from __future__ import annotations

from collections.abc import Awaitable, Callable
from dataclasses import dataclass, replace
from typing import Any

import anyio

from dragoman.core.errors import DragomanError
from dragoman.core.localization import Language
from dragoman.debug.model import LIVE_STATES, StepKind
from dragoman.debug.registry import FollowedSession
from dragoman.debug.service import DebugService
from dragoman.io.drivers.dap_editor_driver import DapEditorDriver
from dragoman.servers.dap import arguments as take
from dragoman.servers.dap import errors as dap_errors
from dragoman.servers.dap import event_publisher
from dragoman.servers.dap.bodies import EditorCoordinates
from dragoman.servers.dap.breakpoints import BreakpointRequests
from dragoman.servers.dap.event_publisher import DapEventPublisher
from dragoman.servers.dap.inspection import InspectionRequests, PassthroughRequests
from dragoman.workspace.caller import Caller

_OVERTAKEN_CODES = frozenset({"not_stopped", "moved_on"})


class RunControlRequests:
    """Handles continue, step, pause, restart and terminate."""

    def __init__(
        self, service: DebugService, caller: Caller, followed: FollowedSession, publisher: DapEventPublisher
    ) -> None:
        self._service = service
        self._client = caller
        self._followed = followed
        self._publisher = publisher

    async def resume(self, args: take.ThreadArguments) -> dict[str, Any]:
        run_control, by = self._followed.session.run_control, self._client.id
        await self._run_command(run_control.resume(thread_id=args.thread_id, seen_stop=self._seen_stop, by=by))
        return {"allThreadsContinued": True}

    async def step_over(self, args: take.StepArguments) -> dict[str, Any]:
        return await self._step("over", args)

    async def step_into(self, args: take.StepArguments) -> dict[str, Any]:
        return await self._step("into", args)

    async def step_out(self, args: take.StepArguments) -> dict[str, Any]:
        return await self._step("out", args)

    async def goto(self, args: take.GotoArguments) -> dict[str, Any]:
        return await self._jump("goto", {"targetId": args.target_id}, thread_id=args.thread_id)

    async def restart_frame(self, args: take.FrameArguments) -> dict[str, Any]:
        return await self._jump("restartFrame", {}, frame=args.frame_id)

    async def step_back(self, args: take.StepArguments) -> dict[str, Any]:
        return await self._jump("stepBack", args.more, thread_id=args.thread_id)

    async def reverse_continue(self, args: take.ThreadArguments) -> dict[str, Any]:
        return await self._jump("reverseContinue", {}, thread_id=args.thread_id)

    async def pause(self, _: take.ThreadArguments) -> dict[str, Any]:
        """Pause the program. If it is stopped already, the stop is published or about to be."""
        if not self._followed.session.is_at_stop:
            await self._followed.session.run_control.pause(by=self._client.id)
        return {}

    async def hold(self, args: take.HoldArguments) -> dict[str, Any]:
        """Put off the countdown of the present stop."""
        self._followed.session.countdown.hold(args.seconds)
        return {"resumesInSeconds": self._followed.session.countdown.remaining_s}

    async def restart(self, _: take.AnyArguments) -> dict[str, Any]:
        await self._service.restart(self._client, self._followed.session.id, within_s=0)
        return {}

    async def terminate(self, _: take.AnyArguments) -> dict[str, Any]:
        await self._followed.session.terminate(by=self._client.id)
        return {}

    @property
    def _seen_stop(self) -> int | None:
        return self._publisher.published_stop or None

    async def _step(self, kind: StepKind, args: take.StepArguments) -> dict[str, Any]:
        run_control, by = self._followed.session.run_control, self._client.id
        thread = args.thread_id
        await self._run_command(
            run_control.step(kind, thread_id=thread, seen_stop=self._seen_stop, by=by, more=args.more)
        )
        return {}

    async def _jump(self, command: str, more: dict[str, Any], **target: int) -> dict[str, Any]:
        run_control, by = self._followed.session.run_control, self._client.id
        await self._run_command(run_control.jump(command, more, seen_stop=self._seen_stop, by=by, **target))
        return {}

    async def _run_command(self, command: Awaitable[None]) -> None:
        with self._publisher.deferred():
            try:
                await command
            except DragomanError as error:
                by, did = self._followed.session.run_control.by, self._followed.session.run_control.command
                if error.code in _OVERTAKEN_CODES and by not in {"", self._client.id}:
                    raise dap_errors.overtaken(
                        who=event_publisher.actor_text(self._followed.session, by), command=did
                    ) from error
                raise
            self._publisher.mark_resumed()


_LEAVE_TIMEOUT_S = 3.0

Handler = Callable[[Any], Awaitable[dict[str, Any]]]


@dataclass(frozen=True, slots=True)
class RequestHandler:
    """A DAP request: its arguments and its handler. `in_order`: it starts only after every earlier request is done."""

    arguments: type
    handle: Handler
    changes: bool = False
    halts: bool = False
    """It halts the program, or changes what it does while it stands."""
    in_order: bool = False
    needs: str = ""
    """The capability that the adapter must declare."""


@dataclass(frozen=True, slots=True)
class EditorOptions:
    """How this editor counts lines, which language it reads, and whether it may change anything."""

    coordinates: EditorCoordinates
    language: Language
    invalidates: bool = False
    mirrors: bool = False
    may_change: bool = True


class EditorSession:
    """One editor's part in one session: the table of requests that it may send, and the publisher of its events.

    Leaving ends nothing except a start that nobody continues.
    """

    def __init__(
        self,
        service: DebugService,
        caller: Caller,
        followed: FollowedSession,
        host: DapEditorDriver,
        options: EditorOptions,
        hold: anyio.Event | None = None,
    ) -> None:
        """`hold` is given if this editor started the session and its program waits for the configuration."""
        self.followed = followed
        self.options = options
        self.is_configured = False
        self._client = caller
        self._hold = hold
        self.publisher = DapEventPublisher(
            host,
            followed,
            options.coordinates,
            options.language,
            id=caller.id,
            invalidates=options.invalidates,
            is_breakpoint_set=service.has_breakpoint,
        )
        self._setting = BreakpointRequests(
            service,
            caller,
            followed,
            self.publisher,
            options.coordinates,
            options.language,
            may_change=options.may_change,
            decides=hold is not None,
            mirrors=options.mirrors,
        )
        self.publisher.others = self._setting.others if options.mirrors else None
        inspection_requests = InspectionRequests(
            service, caller, followed, options.coordinates, may_change=options.may_change
        )
        run_requests = RunControlRequests(service, caller, followed, self.publisher)
        self.served = _request_handlers(inspection_requests, run_requests, self._setting) | _passthrough_handlers(
            PassthroughRequests(followed, options.coordinates), run_requests
        )

    def require_permitted(self, command: str, served: RequestHandler) -> None:
        """What this editor may do here, and what its session permits."""
        if served.changes and not self.options.may_change:
            raise dap_errors.read_only(command=command)
        if served.changes:
            self.followed.session.permissions.note_command(self._client)
        if served.halts:
            self.followed.session.permissions.require(command, self._client)

    async def finish_configuration(self) -> bool:
        """Return whether this is the first `configurationDone`. From then on the editor receives events."""
        if self._hold is not None and not self.is_configured:
            await self._setting.decide_exceptions()
        if self._hold is not None:
            self._hold.set()
        before, self.is_configured = self.is_configured, True
        return not before

    def ends_on_disconnect(self, args: take.DisconnectArguments) -> bool:
        """As DAP defines it: a launched program ends with its editor; an attached or joined one does not."""
        if args.terminate_debuggee is not None:
            return args.terminate_debuggee
        return self._hold is not None and self.followed.session.launch.is_launch

    async def end(self) -> None:
        """End the session. If it has ended already, that is not an error."""
        if self.followed.session.state in LIVE_STATES:
            await self.followed.session.terminate(by=self._client.id)

    async def detach(self) -> None:
        """Leave the session.

        Only a start that nobody continues is ended. Shielded, so that it also completes when the connection is lost.
        """
        with anyio.move_on_after(_LEAVE_TIMEOUT_S, shield=True):
            if self._hold is not None and not self._hold.is_set():
                await self.end()
            if self.options.may_change:
                await self._setting.remove_own()


def _request_handlers(
    inspection_requests: InspectionRequests, run_requests: RunControlRequests, setting: BreakpointRequests
) -> dict[str, RequestHandler]:
    return {
        "threads": RequestHandler(take.AnyArguments, inspection_requests.threads),
        "stackTrace": RequestHandler(take.StackTraceArguments, inspection_requests.stack),
        "scopes": RequestHandler(take.ScopesArguments, inspection_requests.scopes),
        "variables": RequestHandler(take.VariablesArguments, inspection_requests.variables),
        "evaluate": RequestHandler(take.EvaluateArguments, inspection_requests.evaluate, halts=True),
        "exceptionInfo": RequestHandler(take.ThreadArguments, inspection_requests.exception),
        "source": RequestHandler(take.SourceArguments, inspection_requests.source),
        "loadedSources": RequestHandler(take.AnyArguments, inspection_requests.loaded_sources),
        "modules": RequestHandler(take.ModulesArguments, inspection_requests.modules),
        "completions": RequestHandler(take.CompletionsArguments, inspection_requests.completions),
        "dataBreakpointInfo": RequestHandler(take.DataBreakpointInfoArguments, setting.data_info),
        "setVariable": RequestHandler(
            take.SetVariableArguments, inspection_requests.set_variable, changes=True, halts=True
        ),
        "setExpression": RequestHandler(
            take.SetExpressionArguments, inspection_requests.set_expression, changes=True, halts=True
        ),
        "continue": RequestHandler(take.ThreadArguments, run_requests.resume, changes=True),
        "next": RequestHandler(take.StepArguments, run_requests.step_over, changes=True, halts=True),
        "stepIn": RequestHandler(take.StepArguments, run_requests.step_into, changes=True, halts=True),
        "stepOut": RequestHandler(take.StepArguments, run_requests.step_out, changes=True, halts=True),
        "pause": RequestHandler(take.ThreadArguments, run_requests.pause, changes=True, halts=True),
        "restart": RequestHandler(take.AnyArguments, run_requests.restart, changes=True, halts=True),
        "terminate": RequestHandler(take.AnyArguments, run_requests.terminate, changes=True),
        "dragomanHold": RequestHandler(take.HoldArguments, run_requests.hold, changes=True, halts=True),
        # Where breakpoints are not permitted, each one carries the reason: an editor sends them without being asked.
        "setBreakpoints": RequestHandler(take.SetBreakpointsArguments, setting.set_line_breakpoints, in_order=True),
        "setFunctionBreakpoints": RequestHandler(
            take.SetFunctionBreakpointsArguments, setting.set_function_breakpoints, in_order=True
        ),
        "setExceptionBreakpoints": RequestHandler(
            take.SetExceptionBreakpointsArguments, setting.set_exception_breakpoints, in_order=True
        ),
        "setDataBreakpoints": RequestHandler(
            take.SetDataBreakpointsArguments, setting.set_data_breakpoints, in_order=True
        ),
        # Breakpoints of other clients: an editor that shows them lets a person change them there.
        "dragomanRemoveBreakpoint": RequestHandler(
            take.RemoveBreakpointArguments, setting.remove_breakpoint, changes=True, in_order=True
        ),
        "dragomanChangeBreakpoint": RequestHandler(
            take.ChangeBreakpointArguments, setting.change_other_breakpoint, changes=True, in_order=True
        ),
    }


def _passthrough_handlers(passing: PassthroughRequests, run_requests: RunControlRequests) -> dict[str, RequestHandler]:
    """The requests that go to the adapter, if the adapter supports them."""
    inspection_requests = {
        "readMemory": RequestHandler(take.ReadMemoryArguments, passing.read_memory, needs="supportsReadMemoryRequest"),
        "disassemble": RequestHandler(
            take.DisassembleArguments, passing.disassemble, needs="supportsDisassembleRequest"
        ),
        "stepInTargets": RequestHandler(
            take.FrameArguments, passing.step_in_targets, needs="supportsStepInTargetsRequest"
        ),
        "gotoTargets": RequestHandler(
            take.SourceRangeArguments, passing.goto_targets, needs="supportsGotoTargetsRequest"
        ),
        "breakpointLocations": RequestHandler(
            take.SourceRangeArguments, passing.breakpoint_locations, needs="supportsBreakpointLocationsRequest"
        ),
    }
    changes = {
        "writeMemory": RequestHandler(
            take.WriteMemoryArguments, passing.write_memory, needs="supportsWriteMemoryRequest"
        ),
        "terminateThreads": RequestHandler(
            take.TerminateThreadsArguments, passing.terminate_threads, needs="supportsTerminateThreadsRequest"
        ),
        "collectGarbage": RequestHandler(
            take.AnyArguments, passing.collect_garbage, needs="supportsCollectGarbageRequest"
        ),
        "goto": RequestHandler(take.GotoArguments, run_requests.goto, needs="supportsGotoTargetsRequest"),
        "restartFrame": RequestHandler(take.FrameArguments, run_requests.restart_frame, needs="supportsRestartFrame"),
        "stepBack": RequestHandler(take.StepArguments, run_requests.step_back, needs="supportsStepBack"),
        "reverseContinue": RequestHandler(
            take.ThreadArguments, run_requests.reverse_continue, needs="supportsStepBack"
        ),
    }
    return inspection_requests | {
        command: replace(served, changes=True, halts=True) for command, served in changes.items()
    }
