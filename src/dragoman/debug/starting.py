"""From a wish to backends: the launch file resolved, trust asked for, tasks run, the adapter of each type started."""

from __future__ import annotations

from collections.abc import AsyncIterator, Awaitable, Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import partial
from pathlib import Path
from typing import Any, Protocol

import anyio
import anyio.to_thread
from anyio.abc import TaskGroup

from dragoman.debug import launch as launches
from dragoman.debug.adapters import BUILT_IN, AdapterSpec, Situation
from dragoman.debug.adapters.spawned import SpawnedAdapter
from dragoman.debug.after_tasks import AfterTasks
from dragoman.debug.backend import Backend, Owns
from dragoman.debug.dialect import Dialect
from dragoman.debug.endpoints import dialled_endpoints
from dragoman.debug.evidence.command_lines import read_words
from dragoman.debug.service import Client, Preparation, Prepared, Wish
from dragoman.debug.session import Launch
from dragoman.debug.task_running import TaskTrees
from dragoman.debug.wishes import Disclosed
from dragoman.errors import DragomanError
from dragoman.phrases import say
from dragoman.transport.curing import Curing
from dragoman.transport.peers import has_foreign_listener
from dragoman.transport.streams import foreign_peer
from dragoman.transport.supervisors import Supervisors
from dragoman.workspace.code_folders import CodeFolders, project_of
from dragoman.workspace.paths import PathRule

_VARIABLES_ASKED = 32
_TYPES_NAMED = 60
_ONLY_ELSEWHERE = frozenset({"no_adapter", "adapter_missing", "no_browser"})
"""What a start here fails with where the debugger of an editor can still do it."""


class Trust(Protocol):
    async def trusts(self, workspace: Path) -> bool: ...


Variable = Callable[[Path, str], Awaitable[str | None]]
"""What a variable of launch.json stands for, by a person's editor; None where there is none."""


Approve = Callable[[Sequence[Mapping[str, Any]], Sequence[str]], None]
"""Told what would run, in order, and the digest of each start; raises where nobody has approved exactly these."""


async def _unknown_variable(workspace: Path, variable: str) -> str | None:  # noqa: ARG001
    return None


class EditorDebugger(Protocol):
    """A debugger of a connected editor."""

    @property
    def editor(self) -> str: ...

    @property
    def owns(self) -> Owns: ...

    @property
    def dialect(self) -> Dialect: ...

    def open(self, client: Client, session: launches.Resolved, *, no_debug: bool) -> Backend: ...


EditorDebuggers = Callable[[Path], Mapping[str, EditorDebugger]]
"""By type, those of the editors that have a folder open."""


def _no_editor(workspace: Path) -> Mapping[str, EditorDebugger]:  # noqa: ARG001
    return {}


class NobodyTrusted:
    async def trusts(self, workspace: Path) -> bool:  # noqa: ARG002
        return False


@dataclass(frozen=True, slots=True)
class _Start:
    """One session to be, and everything that could be known to be wrong with it is known not to be."""

    resolved: launches.Resolved
    launch: Launch
    wish: Wish
    facts: Mapping[str, str]
    open: Callable[[], Awaitable[Backend]]
    require_runnable: Callable[[], None] = lambda: None
    owns: Owns | None = None
    """Where an editor starts it."""


def _require_runnable(starts: Sequence[_Start]) -> None:
    """After everybody was asked: interpreters are run for their versions, and which ones a configuration may say."""
    for start in starts:
        start.require_runnable()


class AdapterStarter:
    """The only way to a running program: what is not trusted ends here."""

    def __init__(
        self,
        supervisors: Supervisors,
        group: TaskGroup,
        adapters: Sequence[AdapterSpec] = BUILT_IN,
        *,
        trust: Trust | None = None,
        rule: PathRule | None = None,
        variable: Variable = _unknown_variable,
        approve: Approve = lambda *_: None,
        port_users: frozenset[int] = frozenset(),
        editor_debuggers: EditorDebuggers = _no_editor,
    ) -> None:
        """`port_users` besides this one may be at the other end of a debug port: see `Situation`."""
        self._supervisors = supervisors
        self._group = group
        self._curing = Curing(group)
        self._spec_by_type = {type: spec for spec in adapters for type in spec.types}
        self._trust = trust or NobodyTrusted()
        self._rule = rule or PathRule()
        self._variable = variable
        self._approve = approve
        self._port_users = port_users
        self._editor_debuggers = editor_debuggers

    async def prepare(self, client: Client, wish: Wish) -> Preparation:
        launch, starts = await self._trusted(client, wish)
        # From here on nothing is read again: what was approved is what runs.
        self.approve([_disclosed(client, wish, launch, starts)])
        if not _has_tasks(launch):
            await anyio.to_thread.run_sync(_require_runnable, starts)
        backends = await self._backends(client, launch, starts)
        sessions = [self._prepared(client, *pair) for pair in zip(starts, backends, strict=True)]
        return Preparation(tuple(sessions), stop_all=launch.stop_all)

    async def disclose(self, client: Client, wish: Wish) -> Disclosed:
        return _disclosed(client, wish, *await self._trusted(client, wish))

    def approve(self, starts: Sequence[Disclosed]) -> None:
        self._approve([it for start in starts for it in start.would_run], [start.digest for start in starts])

    async def _trusted(self, client: Client, wish: Wish) -> tuple[launches.Launch, Sequence[_Start]]:
        is_trusted = client.trusts_workspace or await self._trust.trusts(client.workspace)
        launch, starts = await self._told_all(client, wish, is_trusted=is_trusted)
        await self._require_known_code(client, launch, starts)
        return launch, starts

    async def _told_all(
        self, client: Client, wish: Wish, *, is_trusted: bool
    ) -> tuple[launches.Launch, Sequence[_Start]]:
        """What only an editor can resolve is asked of one, variable by variable, where the workspace may run things."""
        editors = self._editor_debuggers(client.workspace)
        for _ in range(_VARIABLES_ASKED):
            try:
                return await anyio.to_thread.run_sync(
                    partial(self._known, client, wish, editors, is_trusted=is_trusted)
                )
            except launches.LaunchError as error:
                variable = str(error.details.get("variable", "")) if is_trusted else ""
                value = await self._variable(client.workspace, variable) if variable else None
                if value is None:
                    raise
                wish = replace(wish, from_editor={**wish.from_editor, variable: value})
        return await anyio.to_thread.run_sync(partial(self._known, client, wish, editors, is_trusted=is_trusted))

    async def _require_known_code(self, client: Client, launch: launches.Launch, starts: Sequence[_Start]) -> None:
        """Trust in a folder says nothing of others: code that lies elsewhere, or behind a link there, needs its own."""
        folders = CodeFolders(client.workspace, client.environment)

        def strange() -> list[Path]:
            paths = launches.code_paths(launch, (start.facts for start in starts), folders)
            return list(dict.fromkeys(place for path in dict.fromkeys(paths) for place in folders.strange(path)))

        for place in await anyio.to_thread.run_sync(strange):
            if not await self._trust.trusts(place):
                project = await anyio.to_thread.run_sync(project_of, place)
                raise launches.needs_trust(launch, project, [start.facts for start in starts])

    def _known(
        self, client: Client, wish: Wish, editors: Mapping[str, EditorDebugger], *, is_trusted: bool
    ) -> tuple[launches.Launch, Sequence[_Start]]:
        """All that can be known by looking at files. In a thread: a folder may be on a disk far away."""
        launch = self._resolve(client, wish, is_trusted=is_trusted)
        if not is_trusted:
            raise launches.needs_trust(launch, client.workspace, [self._told(client, it) for it in launch.sessions])
        return launch, [self._start(client, wish, launch, session, editors) for session in launch.sessions]

    def _resolve(self, client: Client, wish: Wish, *, is_trusted: bool) -> launches.Launch:
        asked = launches.Wish(
            name=wish.configuration_name or None,
            configuration=dict(wish.configuration) or None,
            program=wish.program or None,
            args=wish.args,
            cwd=wish.cwd or None,
            env=wish.env,
        )
        asking = launches.Client(
            workspace=client.workspace, environment=client.environment, rule=self._rule, is_trusted=is_trusted
        )
        launch = launches.resolve(asked, asking, _as_caller(wish), unwrap=partial(_unwrapped, client))
        sessions = [launches.saying_what_cannot_bind(launches.opening_core(it)) for it in launch.sessions]
        return replace(launch, sessions=tuple(sessions))

    def _start(
        self,
        client: Client,
        wish: Wish,
        launch: launches.Launch,
        session: launches.Resolved,
        editors: Mapping[str, EditorDebugger],
    ) -> _Start:
        alone = wish if len(launch.sessions) == 1 else replace(wish, configuration_name=session.name)
        require_own_target = partial(_require_own_target, session, self._port_users)
        require_own_target()
        try:
            start = self._start_here(client, alone, session, editors)
        except DragomanError as error:
            if error.code not in _ONLY_ELSEWHERE or session.type not in editors:
                raise
            start = _start_in_editor(client, alone, session, editors[session.type])

        async def open() -> Backend:
            """A person was asked, and tasks may have run since: another may listen there now."""
            await anyio.to_thread.run_sync(require_own_target)
            return await start.open()

        return replace(start, open=open)

    def _start_here(
        self, client: Client, wish: Wish, session: launches.Resolved, editors: Mapping[str, EditorDebugger]
    ) -> _Start:
        spec = self._spec(session.type, client, editors)
        launches.require_target(session)
        if wish.no_debug:
            launches.require_debugging(session)
        situation = replace(_situation(client, session, wish.stdin), port_users=self._port_users)
        facts = spec.facts(situation)  # also says what is missing, before a task has run
        told = _launch(spec, situation, no_debug=wish.no_debug)

        def require_runnable() -> None:
            launches.require_program(session)
            spec.require_runnable(situation)

        return _Start(session, told, wish, facts, self._opener(spec, situation), require_runnable)

    def _told(self, client: Client, session: launches.Resolved) -> Mapping[str, str]:
        """What it would run with, as far as that can be said without running anything."""
        try:
            return self._spec(session.type, client, {}).facts(_situation(client, session, None))
        except DragomanError:
            return {}

    async def _backends(self, client: Client, launch: launches.Launch, starts: Sequence[_Start]) -> Sequence[Backend]:
        if _has_tasks(launch):
            return self._after_tasks(client, launch, starts)
        return await _all_or_none([start.open for start in starts])

    def _after_tasks(self, client: Client, launch: launches.Launch, starts: Sequence[_Start]) -> Sequence[Backend]:
        trees = TaskTrees(self._supervisors, self._group, sessions=len(starts))
        run = launches.TaskRun(client.environment)

        def backend(start: _Start) -> Backend:
            is_here = start.owns is None
            prepare = lambda runner: launches.prepare(launch, start.resolved, run, runner, is_started_here=is_here)  # noqa: E731
            return AfterTasks(self._group, trees, prepare, start.open, start.owns)

        return [backend(start) for start in starts]

    def _opener(self, spec: AdapterSpec, situation: Situation) -> Callable[[], Awaitable[Backend]]:
        async def open() -> Backend:
            if spec.opens is not None:
                return await spec.opens(self._supervisors, self._group, situation)
            return await SpawnedAdapter.open(self._supervisors, self._curing, self._group, spec, situation)

        return open

    def _prepared(self, client: Client, start: _Start, backend: Backend) -> Prepared:
        after = start.resolved.after
        return Prepared(
            title=start.resolved.name,
            backend=backend,
            launch=start.launch,
            wish=start.wish,
            facts=start.facts,
            notes=start.resolved.notes,
            afterwards=None if after is None else lambda: self._afterwards(client, after),
            takes_its_time=getattr(backend, "takes_its_time", False),
            newcomers=self._newcomers(client, start, backend),
            made=getattr(backend, "made", None),
        )

    def _newcomers(self, client: Client, start: _Start, backend: Backend) -> AsyncIterator[Prepared] | None:
        """Without the task for afterwards, which is the first one's."""
        others: AsyncIterator[Backend] | None = getattr(backend, "newcomers", None)
        if others is None:
            return None
        return (replace(self._prepared(client, start, other), afterwards=None) async for other in others)

    async def _afterwards(self, client: Client, plan: launches.TaskPlan) -> None:
        trees = TaskTrees(self._supervisors, self._group)
        try:
            await launches.run_plan(plan, trees.runner(_unheard), client.environment)
        finally:
            with anyio.CancelScope(shield=True):
                await trees.leave()

    def _spec(self, type: str, client: Client, editors: Mapping[str, EditorDebugger]) -> AdapterSpec:
        if type not in self._spec_by_type:
            known = sorted({*self._types_here(client), *editors})
            raise DragomanError(
                "no_adapter",
                say("There is no debug adapter for the type {type}.", type=ascii(type[:60])),
                hint=say(
                    "Types that can be debugged here: {types}. `dragoman adapters` says how to get others. Or ask the "
                    "person to open this folder in VS Code with the extension for that type and Dragoman's: it is "
                    "then started there.",
                    types=", ".join(known[:_TYPES_NAMED]) or "-",
                ),
            )
        spec = self._spec_by_type[type]
        return spec.stand_in(client.environment) or spec

    def _types_here(self, client: Client) -> Iterator[str]:
        """Of the adapters that are installed, with what their programs need."""
        for type, spec in self._spec_by_type.items():
            try:
                there = spec.stand_in(client.environment) or spec
                there.facts(Situation("launch", {}, client.environment, client.workspace))
            except DragomanError:
                continue
            yield type


def _disclosed(client: Client, wish: Wish, launch: launches.Launch, starts: Sequence[_Start]) -> Disclosed:
    facts = [start.facts for start in starts]
    would_run = tuple(one.told() for one in launches.what_would_run(launch, facts))
    return Disclosed(would_run, launches.digest_of(launch, facts, wish.stdin, client.moved))


async def _all_or_none(openers: Sequence[Callable[[], Awaitable[Backend]]]) -> Sequence[Backend]:
    """Where one cannot be opened, those before it are let go."""
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


def _start_in_editor(client: Client, wish: Wish, session: launches.Resolved, debugger: EditorDebugger) -> _Start:
    async def open() -> Backend:
        return debugger.open(client, session, no_debug=wish.no_debug)

    launch = Launch(session.request, {}, session.type, debugger.dialect, no_debug=wish.no_debug)
    facts = {"editor": debugger.editor, "debugger": session.type}
    return _Start(session, launch, wish, facts, open, owns=debugger.owns)


def _has_tasks(launch: launches.Launch) -> bool:
    return any((launch.before, *(session.before for session in launch.sessions)))


async def _unheard(text: str) -> None:
    """The session has gone, and nobody asks it for output."""


def _as_caller(wish: Wish) -> launches.Caller:
    return launches.Caller(
        file=wish.file or None, inputs=wish.inputs, process_id=wish.process_id, from_editor=wish.from_editor
    )


def _unwrapped(client: Client, words: Sequence[str], cwd: Path) -> Mapping[str, Any]:
    found = read_words(words, cwd, client.environment, workspace=client.workspace).wish
    given = {"program": found.program, "args": list(found.args), "cwd": found.cwd, "env": found.env}
    return found.configuration or {key: value for key, value in given.items() if value}


def _situation(client: Client, session: launches.Resolved, stdin: str | None) -> Situation:
    return Situation(
        request=session.request,
        arguments=session.arguments,
        environment=launches.environment_with(session.env, client.environment),
        workspace=client.workspace,
        stdin=stdin,
        client_environment=client.environment,
        terminal=client.terminal,
    )


def _require_own_target(session: launches.Resolved, users: frozenset[int]) -> None:
    """Debuggers that connect to a program by themselves (node's inspector) ask nobody whose it is."""
    for host, port in dialled_endpoints(session.type, session.request, session.arguments):
        if has_foreign_listener(host, port, users):
            raise foreign_peer(host or "127.0.0.1", port)


def _launch(spec: AdapterSpec, situation: Situation, *, no_debug: bool) -> Launch:
    return Launch(
        request=situation.request,
        arguments=spec.arguments(situation),
        adapter_id=spec.adapter_id,
        dialect=spec.dialect,
        exception_filters=(*spec.exception_filters, *spec.more_filters(situation)),
        no_debug=no_debug,
    )
