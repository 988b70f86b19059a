"""Starts backends for a launch request: resolves launch.json, checks trust, runs tasks and opens the adapter of each
type.
"""

from __future__ import annotations

from collections.abc import AsyncIterator, Awaitable, Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import partial
from pathlib import Path
from typing import Any, Protocol

import anyio
import anyio.to_thread
from anyio.abc import TaskGroup

from dragoman.core.errors import DragomanError
from dragoman.core.localization import localize
from dragoman.debug import launch as launches
from dragoman.debug.backends.adapters import BUILT_IN, AdapterSpec, LaunchContext
from dragoman.debug.backends.adapters.dap_backend import DapBackend
from dragoman.debug.backends.endpoints import endpoints_to_connect
from dragoman.debug.backends.port import Backend, BackendOwnership
from dragoman.debug.backends.prelaunch_tasks import PrelaunchTaskBackend, TaskProcesses
from dragoman.debug.backends.quirks import AdapterQuirks
from dragoman.debug.launch.commands.command_line import read_command_words
from dragoman.debug.model import LaunchRequest
from dragoman.debug.session.handshake import AdapterLaunch
from dragoman.debug.session.launch_request import LaunchPreview, PreparedLaunch, PreparedSession
from dragoman.io.errors import foreign_peer
from dragoman.io.net.peers import has_foreign_listener
from dragoman.io.processes.nodelay import NoDelayScheduler
from dragoman.io.processes.supervisor_pool import SupervisorPool
from dragoman.workspace.caller import Caller
from dragoman.workspace.file_access import FileAccessPolicy
from dragoman.workspace.trust import CodeLocations, project_of

_MAX_EDITOR_VARIABLES = 32
_MAX_LISTED_TYPES = 60
_EDITOR_FALLBACK_CODES = frozenset({"no_adapter", "adapter_missing", "no_browser"})
"""Errors of a start here after which the debugger of an editor may still succeed."""


class LaunchTrust(Protocol):
    async def trusts(self, workspace: Path) -> bool: ...


ResolveVariable = Callable[[Path, str], Awaitable[str | None]]
"""Asks a person's editor for the value of a variable of launch.json; None if no editor has it."""


ApproveStarts = Callable[[Sequence[Mapping[str, Any]], Sequence[str]], None]
"""Told what would run, in order, and the digest of each start; raises where nobody has approved exactly these."""


async def _unknown_variable(workspace: Path, variable: str) -> str | None:  # noqa: ARG001
    return None


class EditorDebugger(Protocol):
    """A debugger of a connected editor."""

    @property
    def editor(self) -> str: ...

    @property
    def ownership(self) -> BackendOwnership: ...

    @property
    def quirks(self) -> AdapterQuirks: ...

    def open(self, caller: Caller, session: launches.ResolvedConfiguration, *, no_debug: bool) -> Backend: ...


EditorDebuggers = Callable[[Path], Mapping[str, EditorDebugger]]
"""By type, the debuggers of the editors that have a folder open."""


def _no_editor(workspace: Path) -> Mapping[str, EditorDebugger]:  # noqa: ARG001
    return {}


class TrustNothing:
    async def trusts(self, workspace: Path) -> bool:  # noqa: ARG002
        return False


@dataclass(frozen=True, slots=True)
class _SessionStart:
    """One session to be, and everything that could be known to be wrong with it is known not to be."""

    resolved: launches.ResolvedConfiguration
    launch: AdapterLaunch
    launch_request: LaunchRequest
    facts: Mapping[str, str]
    open: Callable[[], Awaitable[Backend]]
    require_runnable: Callable[[], None] = lambda: None
    ownership: BackendOwnership | None = None
    """Set if an editor starts the session."""


def _require_runnable(starts: Sequence[_SessionStart]) -> None:
    """After everybody was asked: interpreters are run for their versions, and which ones a configuration may say."""
    for start in starts:
        start.require_runnable()


class AdapterStarter:
    """The only way to a running program: what is not trusted ends here."""

    def __init__(
        self,
        supervisors: SupervisorPool,
        group: TaskGroup,
        adapters: Sequence[AdapterSpec] = BUILT_IN,
        *,
        trust: LaunchTrust | None = None,
        rule: FileAccessPolicy | None = None,
        variable: ResolveVariable = _unknown_variable,
        approve: ApproveStarts = lambda *_: None,
        port_users: frozenset[int] = frozenset(),
        editor_debuggers: EditorDebuggers = _no_editor,
    ) -> None:
        """`port_users` besides this one may be at the other end of a debug port: see `LaunchContext`."""
        self._supervisors = supervisors
        self._group = group
        self._nodelay = NoDelayScheduler(group)
        self._spec_by_type = {type: spec for spec in adapters for type in spec.types}
        self._trust = trust or TrustNothing()
        self._rule = rule or FileAccessPolicy()
        self._variable = variable
        self._approve = approve
        self._port_users = port_users
        self._editor_debuggers = editor_debuggers

    async def prepare(self, caller: Caller, launch_request: LaunchRequest) -> PreparedLaunch:
        launch, starts = await self._resolve_trusted(caller, launch_request)
        # From here on no file is read again, so what was approved is what runs.
        self.approve([_disclosure(caller, launch_request, launch, starts)])
        if not _has_tasks(launch):
            await anyio.to_thread.run_sync(_require_runnable, starts)
        backends = await self._backends(caller, launch, starts)
        sessions = [self._prepared(caller, *pair) for pair in zip(starts, backends, strict=True)]
        return PreparedLaunch(tuple(sessions), stop_all=launch.stop_all)

    async def preview(self, caller: Caller, launch_request: LaunchRequest) -> LaunchPreview:
        return _disclosure(caller, launch_request, *await self._resolve_trusted(caller, launch_request))

    def approve(self, starts: Sequence[LaunchPreview]) -> None:
        self._approve([it for start in starts for it in start.would_run], [start.digest for start in starts])

    async def _resolve_trusted(
        self, caller: Caller, launch_request: LaunchRequest
    ) -> tuple[launches.LaunchPlan, Sequence[_SessionStart]]:
        is_trusted = caller.trusts_workspace or await self._trust.trusts(caller.workspace)
        launch, starts = await self._resolve_with_editor(caller, launch_request, is_trusted=is_trusted)
        await self._require_trusted_code(caller, launch, starts)
        return launch, starts

    async def _resolve_with_editor(
        self, caller: Caller, launch_request: LaunchRequest, *, is_trusted: bool
    ) -> tuple[launches.LaunchPlan, Sequence[_SessionStart]]:
        """Variables that only an editor can resolve are asked for one by one, if the workspace may run code."""
        editors = self._editor_debuggers(caller.workspace)
        for _ in range(_MAX_EDITOR_VARIABLES):
            try:
                return await anyio.to_thread.run_sync(
                    partial(self._resolve_from_files, caller, launch_request, editors, is_trusted=is_trusted)
                )
            except launches.LaunchError as error:
                variable = str(error.details.get("variable", "")) if is_trusted else ""
                value = await self._variable(caller.workspace, variable) if variable else None
                if value is None:
                    raise
                launch_request = replace(launch_request, from_editor={**launch_request.from_editor, variable: value})
        return await anyio.to_thread.run_sync(
            partial(self._resolve_from_files, caller, launch_request, editors, is_trusted=is_trusted)
        )

    async def _require_trusted_code(
        self, caller: Caller, launch: launches.LaunchPlan, starts: Sequence[_SessionStart]
    ) -> None:
        """Trust in a folder says nothing about others: code elsewhere, or behind a link there, needs trust of its
        own."""
        folders = CodeLocations(caller.workspace, caller.environment)

        def untrusted_places() -> list[Path]:
            paths = launches.code_paths(launch, (start.facts for start in starts), folders)
            return list(
                dict.fromkeys(place for path in dict.fromkeys(paths) for place in folders.untrusted_places(path))
            )

        for place in await anyio.to_thread.run_sync(untrusted_places):
            if not await self._trust.trusts(place):
                project = await anyio.to_thread.run_sync(project_of, place)
                raise launches.needs_trust(launch, project, [start.facts for start in starts])

    def _resolve_from_files(
        self,
        caller: Caller,
        launch_request: LaunchRequest,
        editors: Mapping[str, EditorDebugger],
        *,
        is_trusted: bool,
    ) -> tuple[launches.LaunchPlan, Sequence[_SessionStart]]:
        """Everything that files can tell. In a thread: a folder may be on a slow network disk."""
        launch = self._resolve(caller, launch_request, is_trusted=is_trusted)
        if not is_trusted:
            raise launches.needs_trust(launch, caller.workspace, [self._facts(caller, it) for it in launch.sessions])
        return launch, [self._start(caller, launch_request, launch, session, editors) for session in launch.sessions]

    def _resolve(self, caller: Caller, launch_request: LaunchRequest, *, is_trusted: bool) -> launches.LaunchPlan:
        asking = launches.LaunchEnvironment(
            workspace=caller.workspace, environment=caller.environment, rule=self._rule, is_trusted=is_trusted
        )
        launch = launches.resolve(
            launch_request, asking, _launch_caller(launch_request), unwrap=partial(_unwrap_command, caller)
        )
        sessions = [launches.with_zipapp_note(launches.with_core_dump(it)) for it in launch.sessions]
        return replace(launch, sessions=tuple(sessions))

    def _start(
        self,
        caller: Caller,
        launch_request: LaunchRequest,
        launch: launches.LaunchPlan,
        session: launches.ResolvedConfiguration,
        editors: Mapping[str, EditorDebugger],
    ) -> _SessionStart:
        alone = (
            launch_request if len(launch.sessions) == 1 else replace(launch_request, configuration_name=session.name)
        )
        require_own_target = partial(_require_own_target, session, self._port_users)
        require_own_target()
        try:
            start = self._start_here(caller, alone, session, editors)
        except DragomanError as error:
            if error.code not in _EDITOR_FALLBACK_CODES or session.type not in editors:
                raise
            start = _start_in_editor(caller, alone, session, editors[session.type])

        async def open() -> Backend:
            """A person was asked, and tasks may have run since: another may listen there now."""
            await anyio.to_thread.run_sync(require_own_target)
            return await start.open()

        return replace(start, open=open)

    def _start_here(
        self,
        caller: Caller,
        launch_request: LaunchRequest,
        session: launches.ResolvedConfiguration,
        editors: Mapping[str, EditorDebugger],
    ) -> _SessionStart:
        spec = self._spec(session.type, caller, editors)
        launches.require_target(session)
        if launch_request.no_debug:
            launches.require_debugging(session)
        situation = replace(_situation(caller, session, launch_request.stdin), port_users=self._port_users)
        facts = spec.facts(situation)  # also reports what is missing, before any task runs
        adapter_launch = _adapter_launch(spec, situation, no_debug=launch_request.no_debug)

        def require_runnable() -> None:
            launches.require_program(session)
            spec.require_runnable(situation)

        return _SessionStart(
            session, adapter_launch, launch_request, facts, self._opener(spec, situation), require_runnable
        )

    def _facts(self, caller: Caller, session: launches.ResolvedConfiguration) -> Mapping[str, str]:
        """What it would run with, as far as that is known without running anything."""
        try:
            return self._spec(session.type, caller, {}).facts(_situation(caller, session, None))
        except DragomanError:
            return {}

    async def _backends(
        self, caller: Caller, launch: launches.LaunchPlan, starts: Sequence[_SessionStart]
    ) -> Sequence[Backend]:
        if _has_tasks(launch):
            return self._after_tasks(caller, launch, starts)
        return await _open_all_or_none([start.open for start in starts])

    def _after_tasks(
        self, caller: Caller, launch: launches.LaunchPlan, starts: Sequence[_SessionStart]
    ) -> Sequence[Backend]:
        task_processes = TaskProcesses(self._supervisors, self._group, sessions=len(starts))
        run = launches.TaskExecution(caller.environment)

        def backend(start: _SessionStart) -> Backend:
            is_here = start.ownership is None
            prepare = lambda runner: launches.prepare(launch, start.resolved, run, runner, is_started_here=is_here)  # noqa: E731
            return PrelaunchTaskBackend(self._group, task_processes, prepare, start.open, start.ownership)

        return [backend(start) for start in starts]

    def _opener(self, spec: AdapterSpec, situation: LaunchContext) -> Callable[[], Awaitable[Backend]]:
        async def open() -> Backend:
            if spec.open_backend is not None:
                return await spec.open_backend(self._supervisors, self._group, situation)
            return await DapBackend.open(self._supervisors, self._nodelay, self._group, spec, situation)

        return open

    def _prepared(self, caller: Caller, start: _SessionStart, backend: Backend) -> PreparedSession:
        after = start.resolved.after
        return PreparedSession(
            title=start.resolved.name,
            backend=backend,
            launch=start.launch,
            launch_request=start.launch_request,
            facts=start.facts,
            notes=start.resolved.notes,
            post_debug=None if after is None else lambda: self._run_post_debug(caller, after),
            may_start_late=getattr(backend, "may_start_late", False),
            later_sessions=self._later_sessions(caller, start, backend),
            made=getattr(backend, "made", None),
        )

    def _later_sessions(
        self, caller: Caller, start: _SessionStart, backend: Backend
    ) -> AsyncIterator[PreparedSession] | None:
        """Without the task for afterwards, which is the first one's."""
        others: AsyncIterator[Backend] | None = getattr(backend, "later_backends", None)
        if others is None:
            return None
        return (replace(self._prepared(caller, start, other), post_debug=None) async for other in others)

    async def _run_post_debug(self, caller: Caller, plan: launches.TaskPlan) -> None:
        task_processes = TaskProcesses(self._supervisors, self._group)
        try:
            await launches.run_plan(plan, task_processes.runner(_discard_output), caller.environment)
        finally:
            with anyio.CancelScope(shield=True):
                await task_processes.leave()

    def _spec(self, type: str, caller: Caller, editors: Mapping[str, EditorDebugger]) -> AdapterSpec:
        if type not in self._spec_by_type:
            known = sorted({*self._types_here(caller), *editors})
            raise DragomanError(
                "no_adapter",
                localize("No debug adapter for type {type}.", type=ascii(type[:60])),
                hint=localize(
                    "Available types: {types}. `dragoman adapters` shows how to install others. Or ask the "
                    "user to open this folder in VS Code with the extension for that type and Dragoman's; the "
                    "session then starts there.",
                    types=", ".join(known[:_MAX_LISTED_TYPES]) or "-",
                ),
            )
        spec = self._spec_by_type[type]
        return spec.fallback(caller.environment) or spec

    def _types_here(self, caller: Caller) -> Iterator[str]:
        """The types of the installed adapters, with what their programs need."""
        for type, spec in self._spec_by_type.items():
            try:
                there = spec.fallback(caller.environment) or spec
                there.facts(LaunchContext("launch", {}, caller.environment, caller.workspace))
            except DragomanError:
                continue
            yield type


def _disclosure(
    caller: Caller, launch_request: LaunchRequest, launch: launches.LaunchPlan, starts: Sequence[_SessionStart]
) -> LaunchPreview:
    facts = [start.facts for start in starts]
    would_run = tuple(one.as_dict() for one in launches.planned_commands(launch, facts))
    return LaunchPreview(would_run, launches.launch_digest(launch, facts, launch_request.stdin, caller.moved))


async def _open_all_or_none(openers: Sequence[Callable[[], Awaitable[Backend]]]) -> Sequence[Backend]:
    """If one cannot be opened, those before it are closed again."""
    opened: list[Backend] = []
    try:
        for open in openers:
            opened.append(await open())  # noqa: PERF401  what was opened must be known when the next one fails
    except BaseException:
        with anyio.CancelScope(shield=True):
            for backend in opened:
                await backend.end()
        raise
    return opened


def _start_in_editor(
    caller: Caller,
    launch_request: LaunchRequest,
    session: launches.ResolvedConfiguration,
    debugger: EditorDebugger,
) -> _SessionStart:
    async def open() -> Backend:
        return debugger.open(caller, session, no_debug=launch_request.no_debug)

    launch = AdapterLaunch(session.request, {}, session.type, debugger.quirks, no_debug=launch_request.no_debug)
    facts = {"editor": debugger.editor, "debugger": session.type}
    return _SessionStart(session, launch, launch_request, facts, open, ownership=debugger.ownership)


def _has_tasks(launch: launches.LaunchPlan) -> bool:
    return any((launch.before, *(session.before for session in launch.sessions)))


async def _discard_output(text: str) -> None:
    """The session has ended, so nobody reads its output."""


def _launch_caller(launch_request: LaunchRequest) -> launches.VariableInputs:
    return launches.VariableInputs(
        file=launch_request.file or None,
        inputs=launch_request.inputs,
        process_id=launch_request.process_id,
        from_editor=launch_request.from_editor,
    )


def _unwrap_command(caller: Caller, words: Sequence[str], cwd: Path) -> Mapping[str, Any]:
    found = read_command_words(words, cwd, caller.environment, workspace=caller.workspace).launch_request
    given = {"program": found.program, "args": list(found.args), "cwd": found.cwd, "env": found.env}
    return found.configuration or {key: value for key, value in given.items() if value}


def _situation(caller: Caller, session: launches.ResolvedConfiguration, stdin: str | None) -> LaunchContext:
    return LaunchContext(
        request=session.request,
        arguments=session.arguments,
        environment=launches.environment_with(session.env, caller.environment),
        workspace=caller.workspace,
        stdin=stdin,
        client_environment=caller.environment,
        terminal=caller.terminal,
    )


def _require_own_target(session: launches.ResolvedConfiguration, users: frozenset[int]) -> None:
    """Debuggers that connect to a program themselves (node's inspector) do not check who owns it."""
    for host, port in endpoints_to_connect(session.type, session.request, session.arguments):
        if has_foreign_listener(host, port, users):
            raise foreign_peer(host=host or "127.0.0.1", port=port)


def _adapter_launch(spec: AdapterSpec, situation: LaunchContext, *, no_debug: bool) -> AdapterLaunch:
    return AdapterLaunch(
        request=situation.request,
        arguments=spec.arguments(situation),
        adapter_id=spec.adapter_id,
        quirks=spec.quirks,
        exception_filters=(*spec.exception_filters, *spec.extra_exception_filters(situation)),
        no_debug=no_debug,
    )
