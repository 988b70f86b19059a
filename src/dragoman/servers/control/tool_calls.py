"""The role `tools` of the daemon's socket: the tools, for callers that only have a shell.

The hello says who calls (workspace, working folder, environment). Calls follow as in the role `control`, but several
may be open at once, so that one call can interrupt the wait of another. A call that takes long reports progress every
few seconds.
"""

from __future__ import annotations

import contextlib
import logging
import re
import shlex
from collections.abc import AsyncIterator, Awaitable, Callable, Collection, Mapping
from dataclasses import dataclass, field, replace
from typing import Any

import anyio
import anyio.to_thread
from anyio.abc import ByteStream

from dragoman.chat.approvals import start_description
from dragoman.core.errors import DragomanError, ErrorSpec, RemoteProtocolError, internal_error
from dragoman.core.localization import localize
from dragoman.debug.session.launch_request import LaunchPreview
from dragoman.io.processes.process_info import is_run_by
from dragoman.protocols.control import ControlAnswer, ControlCall, ControlFailure, ControlItem, Hello, ServerConnection
from dragoman.servers.control.debug_runs import DebugRuns
from dragoman.servers.control.rerun_worktrees import HeldWorktree, RerunWorktrees
from dragoman.servers.control.server import CALLING_PROCESS, Params, failure_reply
from dragoman.servers.control.shell_text import shell_lines
from dragoman.servers.mcp.stdio_endpoint import caller_of
from dragoman.tools import ToolOutcome, ToolRegistry
from dragoman.tools.debug import OpenWaits, StartParameters, launch_request_of
from dragoman.workspace.caller import Caller

bad_request = ErrorSpec(
    "bad_request",
    "Invalid request: a parameter is missing or has the wrong type.",
    "The CLI may be newer than the daemon. Run `dragoman restart` to update the daemon.",
)


_needs_trust = ErrorSpec(
    "needs_trust",
    "Nothing was started: {workspace} is not trusted.",
    "Review what would run. The owner of this machine can allow it with: dragoman trust {folder}",
)
_too_many_worktrees = ErrorSpec(
    "limit", "Too many sessions run in copies of a commit.", "End one of them with `dragoman debug stop` first."
)
_start_changed = ErrorSpec(
    "start_changed",
    "What would run has changed since it was shown. Nothing was started.",
    "Run the command again.",
)

log = logging.getLogger(__name__)

# One client for all shells: a command finds the session that the previous command started, and learns if it has moved
# since.
CALLER = "shell"
MAX_OPEN_CALLS = 16
PROGRESS_EVERY_S = 5.0
SENT_WITHIN_S = 10.0
NEXT_CALL_WITHIN_S = 7200.0  # The longest wait of a tool is one hour.
MAX_BREAKPOINTS = 1000
_INTERRUPT_TIMEOUT_S = 60.0
_POLL_INTERVAL_S = 0.02
_READ = 65536
_COMMIT = re.compile(r"[0-9a-f]{40}(?:[0-9a-f]{24})?")
_DISCONNECTED = (OSError, anyio.BrokenResourceError, anyio.ClosedResourceError, anyio.EndOfStream)


@dataclass(frozen=True, slots=True)
class ToolCallServer:
    """Serves the role `tools`: one `_ToolConnection` per connection."""

    registry: ToolRegistry
    waits: OpenWaits
    runs: DebugRuns
    worktrees: RerunWorktrees
    agents: Callable[[], Collection[int]] = tuple
    """The processes through which MCP clients are connected now."""

    async def __call__(self, hello: Hello, stream: ByteStream, rest: bytes) -> None:
        caller = replace(caller_of(hello), id=CALLER, is_shared=True, is_agent=False)
        await _ToolConnection(self, caller, hello, stream).hold(rest)


@dataclass(slots=True)
class _ToolConnection:
    call_server: ToolCallServer
    caller: Caller
    hello: Hello
    stream: ByteStream
    open: dict[int, Caller] = field(default_factory=dict)
    sending: anyio.Lock = field(default_factory=anyio.Lock)
    connection: ServerConnection = field(default_factory=ServerConnection)
    worktree: HeldWorktree | None = None
    """Made for a run that this connection has not started yet."""

    async def hold(self, rest: bytes) -> None:
        """Serve one connection.

        If the caller leaves, its open calls stop waiting; sessions that they started continue.
        """
        self.connection.hello = self.hello
        async with anyio.create_task_group() as group:
            try:
                async for call in self._calls(rest):
                    self._require_room(call.id)
                    self.open[call.id] = replace(self.caller)
                    group.start_soon(self._answer, call)
            except RemoteProtocolError as error:
                await self._send(ControlFailure(0, error.code, error.message))
            except _DISCONNECTED:
                pass
            finally:
                if self.worktree is not None:
                    self.worktree.released.set()
            group.cancel_scope.cancel("the caller left")

    async def _calls(self, data: bytes) -> AsyncIterator[ControlCall]:
        while True:
            for message in self.connection.receive_data(data):
                if isinstance(message, ControlCall):
                    yield message
            with anyio.fail_after(NEXT_CALL_WITHIN_S):
                data = await self.stream.receive(_READ)

    def _require_room(self, id: int) -> None:
        """Open calls are counted by their ids. If two could share an id, the limit would not hold."""
        if id in self.open:
            raise RemoteProtocolError("repeated_id", f"the call {id} is open already")
        if len(self.open) >= MAX_OPEN_CALLS:
            raise RemoteProtocolError("too_many_calls", f"more than {MAX_OPEN_CALLS} calls are open")

    async def _answer(self, call: ControlCall) -> None:
        try:
            async with anyio.create_task_group() as group:
                group.start_soon(self._report_progress, call)
                reply = await self._reply(call)
                group.cancel_scope.cancel("it is answered")
            await self._send(reply)
        except _DISCONNECTED:
            return
        finally:
            self.open.pop(call.id, None)

    async def _reply(self, call: ControlCall) -> ControlAnswer | ControlFailure:
        methods: Mapping[str, Callable[[ControlCall], Awaitable[Any]]] = {
            "call": self._call,
            "run": self._run,
            "disclose": self._preview_launch,
            "worktree": self._create_worktree,
            "stop_waiting": self._stop_waiting,
        }
        try:
            await self._require_no_paused_agent()
            return ControlAnswer(call.id, await methods.get(call.method, _unknown_method)(call))
        except DragomanError as error:
            return failure_reply(call, error, self.caller.language)
        except Exception:
            log.exception("the call %s failed", ascii(call.method[:60]))
            return failure_reply(call, internal_error(), self.caller.language)

    async def _require_no_paused_agent(self) -> None:
        """A pause holds for the shells of agents too."""
        pause, pid = self.call_server.registry.pause, CALLING_PROCESS.get()
        if pause.since_ns and pid and await anyio.to_thread.run_sync(is_run_by, pid, self.call_server.agents()):
            pause.require_none()

    async def _report_progress(self, call: ControlCall) -> None:
        began = anyio.current_time()
        with contextlib.suppress(*_DISCONNECTED):
            while True:
                await anyio.sleep(PROGRESS_EVERY_S)
                await self._send(ControlItem(call.id, {"waited_s": round(anyio.current_time() - began)}))

    async def _send(self, reply: ControlItem | ControlAnswer | ControlFailure) -> None:
        """Send a whole line under a lock: an answer must not cut into a progress line."""
        async with self.sending:
            with anyio.fail_after(SENT_WITHIN_S, shield=True):
                await self.stream.send(self.connection.send(reply))

    # The methods.

    async def _call(self, call: ControlCall) -> dict[str, Any]:
        tool, arguments = call.params.get("tool"), call.params.get("arguments", {})
        if not isinstance(tool, str) or not isinstance(arguments, dict):
            raise bad_request()
        caller = self.open[call.id]
        if call.params.get("all_workspaces") is True:
            caller = self.open[call.id] = replace(caller, sees_every_workspace=True)
        return self._shaped(await self.call_server.registry.call(tool, arguments, caller))

    async def _run(self, call: ControlCall) -> dict[str, Any]:
        """Set the breakpoints, then start.

        Without `keep` the breakpoints belong to this run and are removed with it. A `digest` is of what `disclose`
        described: nothing else is started.
        """
        start, breakpoints = call.params.get("start", {}), _breakpoints(call.params)
        if (digest := call.params.get("digest")) is not None and (await self._launch_preview(call)).digest != digest:
            raise _start_changed()
        caller = self.open[call.id] = self._in_worktree(self.open[call.id])
        ended = self.worktree.released if self.worktree is not None else None
        async with self.call_server.runs.open_run(caller.workspace, ended) as run:
            self.worktree = None  # it belongs to the run now
            owner = caller if call.params.get("keep") else replace(caller, id=run.client.id)
            for wanted in breakpoints:
                outcome = await self.call_server.registry.call("set_breakpoint", wanted, owner)
                if outcome.is_error:
                    return self._shaped(outcome)
            return self._shaped(await self.call_server.registry.call("start_debugging", start, caller))

    async def _create_worktree(self, call: ControlCall) -> dict[str, Any]:
        """A checkout in which the next run of this connection takes place."""
        commit, worktrees = call.params.get("commit"), self.call_server.worktrees
        if not isinstance(commit, str) or not _COMMIT.fullmatch(commit) or self.worktree is not None:
            raise bad_request()
        if not await worktrees.trusts(self.caller.workspace):
            raise _needs_trust(workspace=self.caller.workspace, folder=shlex.quote(str(self.caller.workspace)))
        if not worktrees.has_room:
            raise _too_many_worktrees()
        self.worktree = await worktrees.create(commit, self.caller.workspace, self.caller.environment)
        return {"path": str(self.worktree.tree.path), "commit": self.worktree.tree.commit}

    def _in_worktree(self, caller: Caller) -> Caller:
        """The checkout is as trusted as the folder that it is a copy of."""
        if self.worktree is None:
            return caller
        tree = self.worktree.tree
        moved = {str(tree.root): f"{self.caller.workspace}@{tree.commit}"}
        return replace(caller, workspace=tree.path, cwd=tree.path, trusts_workspace=True, moved=moved)

    async def _preview_launch(self, call: ControlCall) -> dict[str, Any]:
        """What a start would run, for the person who is asked. Nothing runs for it."""
        preview = await self._launch_preview(call)
        return {"would_run": start_description(preview.would_run), "digest": preview.digest}

    async def _launch_preview(self, call: ControlCall) -> LaunchPreview:
        """The start was written by somebody else, so the folder must be trusted by name: that a person called from it
        says nothing.
        """
        start = call.params.get("start")
        if not isinstance(start, dict):
            raise bad_request()
        caller = self.open[call.id] = self._in_worktree(replace(self.caller, trusts_workspace=False))
        wanted = self.call_server.registry.validated("start_debugging", start, caller)
        assert isinstance(wanted, StartParameters)
        return await self.call_server.runs.preview(caller, launch_request_of(wanted))

    async def _stop_waiting(self, call: ControlCall) -> dict[str, Any]:
        if call.params.get("own"):
            return {"count": await self._stop_own(call.id)}
        session_id = call.params.get("session_id", "")
        return {"count": self.call_server.waits.interrupt(session_id=session_id if isinstance(session_id, str) else "")}

    async def _stop_own(self, asking: int) -> int:
        """Interrupt the waits of this connection.

        A start that is in progress cannot be interrupted; the wait after it is, as soon as it begins.
        """
        with anyio.move_on_after(_INTERRUPT_TIMEOUT_S):
            while waiting := [caller for id, caller in self.open.items() if id != asking]:
                if count := sum(self.call_server.waits.interrupt(call=caller) for caller in waiting):
                    return count
                await anyio.sleep(_POLL_INTERVAL_S)
        return 0

    def _shaped(self, outcome: ToolOutcome) -> dict[str, Any]:
        data = outcome.data.model_dump(mode="json")
        return {"data": data, "lines": shell_lines(outcome, self.caller.language), "is_error": outcome.is_error}


async def _unknown_method(call: ControlCall) -> Any:
    raise DragomanError(
        "unknown_method",
        localize("This daemon does not support `{method}`.", method=ascii(call.method[:60])),
        hint=localize("The CLI may be newer than the daemon. Run `dragoman restart` to update the daemon."),
    )


def _breakpoints(params: Params) -> list[dict[str, Any]]:
    wanted = params.get("breakpoints", [])
    if not isinstance(wanted, list) or not all(isinstance(it, dict) for it in wanted):
        raise bad_request()
    if len(wanted) > MAX_BREAKPOINTS or not isinstance(params.get("start", {}), dict):
        raise bad_request()
    return wanted
