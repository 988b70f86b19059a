"""An editor's part in one session: from the moment it joined, or started it, until it leaves."""

from __future__ import annotations

from collections.abc import Awaitable, Callable
from dataclasses import dataclass, replace
from typing import Any

import anyio

from dragoman.dap import arguments as take
from dragoman.dap.looking import Looking
from dragoman.dap.moving import Moving
from dragoman.dap.passing import Passing
from dragoman.dap.places import Places
from dragoman.dap.setting import Setting
from dragoman.dap.teller import Teller
from dragoman.debug.following import Followed
from dragoman.debug.service import Client, DebugService
from dragoman.debug.states import LIVE
from dragoman.phrases import Language
from dragoman.transport.dap_host import DapHost

_LEFT_WITHIN_S = 3.0

Handler = Callable[[Any], Awaitable[dict[str, Any]]]


@dataclass(frozen=True, slots=True)
class Served:
    """`in_order`: not begun before what came before it is done."""

    arguments: type
    handle: Handler
    changes: bool = False
    in_order: bool = False
    needs: str = ""
    """What the debugger below must say that it can."""


@dataclass(frozen=True, slots=True)
class Manners:
    """How this editor wants to be spoken to, and what it may do."""

    places: Places
    language: Language
    invalidates: bool = False
    mirrors: bool = False
    may_change: bool = True


class Part:
    def __init__(
        self,
        service: DebugService,
        client: Client,
        followed: Followed,
        host: DapHost,
        manners: Manners,
        hold: anyio.Event | None = None,
    ) -> None:
        """`hold` is there where this editor started the session, and its program waits for it."""
        self.followed = followed
        self.manners = manners
        self.is_configured = False
        self._client = client
        self._hold = hold
        self.teller = Teller(
            host,
            followed,
            manners.places,
            manners.language,
            id=client.id,
            invalidates=manners.invalidates,
            is_kept=service.has_breakpoint,
        )
        self._setting = Setting(
            service,
            client,
            followed,
            self.teller,
            manners.places,
            manners.language,
            may_change=manners.may_change,
            decides=hold is not None,
            mirrors=manners.mirrors,
        )
        self.teller.others = self._setting.others if manners.mirrors else None
        looking = Looking(service, client, followed, manners.places, may_change=manners.may_change)
        moving = Moving(service, client, followed, self.teller)
        self.served = _table(looking, moving, self._setting) | _passed_on(Passing(followed, manners.places), moving)

    async def configured(self) -> bool:
        """Whether it is so for the first time: from then on it is told what happens."""
        if self._hold is not None and not self.is_configured:
            await self._setting.decide_exceptions()
        if self._hold is not None:
            self._hold.set()
        before, self.is_configured = self.is_configured, True
        return not before

    def is_ended_by_leaving(self, asked: take.Disconnect) -> bool:
        """As DAP has it: what this editor launched ends with it, what it attached to or joined does not."""
        if asked.terminate_debuggee is not None:
            return asked.terminate_debuggee
        return self._hold is not None and self.followed.session.launch.is_launch

    async def end(self) -> None:
        """As asked for; one that has ended already is no error."""
        if self.followed.session.state in LIVE:
            await self.followed.session.terminate(by=self._client.id)

    async def leave(self) -> None:
        """Ends nothing, but a start that nobody goes on with. Shielded: also when the connection was lost."""
        with anyio.move_on_after(_LEFT_WITHIN_S, shield=True):
            if self._hold is not None and not self._hold.is_set():
                await self.end()
            if self.manners.may_change:
                await self._setting.forget()


def _table(looking: Looking, moving: Moving, setting: Setting) -> dict[str, Served]:
    return {
        "threads": Served(take.Anything, looking.threads),
        "stackTrace": Served(take.StackTrace, looking.stack),
        "scopes": Served(take.Scopes, looking.scopes),
        "variables": Served(take.Variables, looking.variables),
        "evaluate": Served(take.Evaluate, looking.evaluate),
        "exceptionInfo": Served(take.Thread, looking.exception),
        "source": Served(take.SourceText, looking.source),
        "loadedSources": Served(take.Anything, looking.loaded_sources),
        "modules": Served(take.Modules, looking.modules),
        "completions": Served(take.Completions, looking.completions),
        "dataBreakpointInfo": Served(take.DataBreakpointInfo, setting.data_info),
        "setVariable": Served(take.SetVariable, looking.set_variable, changes=True),
        "setExpression": Served(take.SetExpression, looking.set_expression, changes=True),
        "continue": Served(take.Thread, moving.resume, changes=True),
        "next": Served(take.Step, moving.over, changes=True),
        "stepIn": Served(take.Step, moving.into, changes=True),
        "stepOut": Served(take.Step, moving.out, changes=True),
        "pause": Served(take.Thread, moving.pause, changes=True),
        "restart": Served(take.Anything, moving.restart, changes=True),
        "terminate": Served(take.Anything, moving.terminate, changes=True),
        # Where they may not be set, each says so in its place: an editor sends them before anybody asked it to.
        "setBreakpoints": Served(take.SetBreakpoints, setting.lines, in_order=True),
        "setFunctionBreakpoints": Served(take.SetFunctionBreakpoints, setting.functions, in_order=True),
        "setExceptionBreakpoints": Served(take.SetExceptionBreakpoints, setting.exceptions, in_order=True),
        "setDataBreakpoints": Served(take.SetDataBreakpoints, setting.data, in_order=True),
        # Of others: an editor that shows their breakpoints among its own lets a person alter them there.
        "dragomanRemoveBreakpoint": Served(take.RemoveBreakpoint, setting.remove, changes=True, in_order=True),
        "dragomanChangeBreakpoint": Served(take.ChangeBreakpoint, setting.change, changes=True, in_order=True),
    }


def _passed_on(passing: Passing, moving: Moving) -> dict[str, Served]:
    """What the debugger below does, where it says so."""
    looks = {
        "readMemory": Served(take.ReadMemory, passing.read_memory, needs="supportsReadMemoryRequest"),
        "disassemble": Served(take.Disassemble, passing.disassemble, needs="supportsDisassembleRequest"),
        "stepInTargets": Served(take.InFrame, passing.step_in_targets, needs="supportsStepInTargetsRequest"),
        "gotoTargets": Served(take.InSource, passing.goto_targets, needs="supportsGotoTargetsRequest"),
        "breakpointLocations": Served(
            take.InSource, passing.breakpoint_locations, needs="supportsBreakpointLocationsRequest"
        ),
    }
    changes = {
        "writeMemory": Served(take.WriteMemory, passing.write_memory, needs="supportsWriteMemoryRequest"),
        "terminateThreads": Served(
            take.TerminateThreads, passing.terminate_threads, needs="supportsTerminateThreadsRequest"
        ),
        "collectGarbage": Served(take.Anything, passing.collect_garbage, needs="supportsCollectGarbageRequest"),
        "goto": Served(take.Goto, moving.go_to, needs="supportsGotoTargetsRequest"),
        "restartFrame": Served(take.InFrame, moving.restart_frame, needs="supportsRestartFrame"),
        "stepBack": Served(take.Step, moving.back, needs="supportsStepBack"),
        "reverseContinue": Served(take.Thread, moving.backwards, needs="supportsStepBack"),
    }
    return looks | {command: replace(served, changes=True) for command, served in changes.items()}
