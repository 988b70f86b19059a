"""From a wish to a backend: the launch file resolved, its tasks run, the adapter of its type started."""

from __future__ import annotations

from collections.abc import Sequence

from anyio.abc import TaskGroup

from dragoman.debug import launch as launches
from dragoman.debug.adapters import BUILT_IN, AdapterSpec, Situation
from dragoman.debug.adapters.spawned import SpawnedAdapter
from dragoman.debug.service import Client, Preparation, Prepared, Wish
from dragoman.debug.session import Launch
from dragoman.errors import DragomanError
from dragoman.phrases import say
from dragoman.transport.supervisors import Supervisors


class AdapterStarter:
    def __init__(self, supervisors: Supervisors, group: TaskGroup, adapters: Sequence[AdapterSpec] = BUILT_IN) -> None:
        self._supervisors = supervisors
        self._group = group
        self._spec_by_type = {type: spec for spec in adapters for type in spec.types}

    async def prepare(self, client: Client, wish: Wish) -> Preparation:
        resolved = _only(self._resolve(client, wish))
        spec = self._spec(resolved.type)
        launches.require_program(resolved)
        situation = Situation(
            request=resolved.request,
            arguments=resolved.arguments,
            environment=launches.environment_with(resolved.env, client.environment),
            workspace=client.workspace,
        )
        arguments = spec.arguments(situation)
        backend = await SpawnedAdapter.open(self._supervisors, self._group, spec, situation)
        launch = _launch(spec, resolved.request, arguments, no_debug=wish.no_debug)
        return Preparation((Prepared(resolved.name, backend, launch, wish),))

    def _resolve(self, client: Client, wish: Wish) -> launches.Launch:
        asked = launches.Wish(
            name=wish.configuration_name or None,
            configuration=dict(wish.configuration) or None,
            program=wish.program or None,
            args=wish.args,
            cwd=wish.cwd or None,
            env=wish.env,
        )
        asking = launches.Client(workspace=client.workspace, environment=client.environment)
        return launches.resolve(asked, asking, launches.Caller(inputs=wish.inputs, process_id=wish.process_id))

    def _spec(self, type: str) -> AdapterSpec:
        if type not in self._spec_by_type:
            raise DragomanError(
                "no_adapter",
                say("There is no debug adapter for the type {type} yet.", type=ascii(type[:60])),
                hint=say("Types there are: {types}.", types=", ".join(sorted(self._spec_by_type))),
            )
        return self._spec_by_type[type]


def _launch(spec: AdapterSpec, request: str, arguments: dict[str, object], *, no_debug: bool) -> Launch:
    return Launch(
        request=request,
        arguments=arguments,
        adapter_id=spec.adapter_id,
        dialect=spec.dialect,
        exception_filters=spec.exception_filters,
        no_debug=no_debug,
    )


def _only(launch: launches.Launch) -> launches.Resolved:
    """Compounds and tasks need more than one session and a person's trust: told, not half done."""
    needs_tasks = launch.before or any(session.before or session.after for session in launch.sessions)
    if len(launch.sessions) != 1 or needs_tasks:
        raise DragomanError(
            "not_yet",
            say("Compounds and configurations with tasks cannot be started yet."),
            hint=say("Start one configuration of it without preLaunchTask, and run the task by hand."),
        )
    return launch.sessions[0]
